package batch

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// source returns n rows of two features in five blocks. The first feature is zero in every third row.
func source(t *testing.T, n int) dataset.Source {
	t.Helper()
	var parts []dataset.Source
	for k := range 5 {
		var x []float64
		for i := k * n / 5; i < (k+1)*n/5; i++ {
			x = append(x, float64(i%3), 1)
		}
		part, err := dataset.FromDense(len(x)/2, 2, 1, x, make([]float64, len(x)/2))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	src, err := dataset.Concat(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// read makes a pass from a row on, over so many blocks, or to the end.
func read(t *testing.T, c *Counter, first int64, blocks int) (rows int64) {
	t.Helper()
	for b, err := range c.BlocksFrom(context.Background(), first) {
		if err != nil {
			t.Fatal(err)
		}
		rows = b.First + int64(b.N)
		if blocks == 1 {
			return rows
		}
		blocks--
	}
	return rows
}

// TestCounter: nonzeros are counted in the first pass that ends, also where it goes on from
// what another run had counted, and are known ever after.
func TestCounter(t *testing.T) {
	const n = 500
	whole := &Counter{Source: source(t, n)}
	if got := whole.Nonzeros(); got != 0 {
		t.Errorf("%d before any pass", got)
	}
	read(t, whole, 0, -1)
	want := int64(n + n - (n+2)/3)
	if got := whole.Nonzeros(); got != want {
		t.Fatalf("%d nonzeros, there are %d", got, want)
	}
	if all := whole.countBefore(7); !all.All || all.Count != want {
		t.Errorf("before row 7, once all are known: %+v", all)
	}

	interrupted := &Counter{Source: source(t, n)}
	interrupted.resume(nonzeros{})
	at := read(t, interrupted, 0, 2)
	if at == n {
		t.Fatal("the rows are one block")
	}
	from := interrupted.countBefore(at - 1)
	if from.All || from.Row >= at || from.Row == 0 {
		t.Fatalf("interrupted at row %d it had counted %+v", at, from)
	}
	resumed := &Counter{Source: source(t, n)}
	resumed.resume(from)
	read(t, resumed, from.Row, -1)
	if got := resumed.Nonzeros(); got != want {
		t.Errorf("%d nonzeros after going on from %+v, there are %d", got, from, want)
	}
	known := &Counter{Source: source(t, n)}
	known.resume(nonzeros{All: true, Count: 42})
	read(t, known, 0, -1)
	if got := known.Nonzeros(); got != 42 {
		t.Errorf("%d, another run had counted 42", got)
	}
}

// TestDifferences: what is other, new or gone between two runs is told, and what is the same
// is not.
func TestDifferences(t *testing.T) {
	was := []Setting{{"--gamma", "1"}, {"--size", "4"}, {"a.csv", "2 bytes"}}
	if d := differences(was, slices.Clone(was)); len(d) > 0 {
		t.Errorf("of the same: %q", d)
	}
	got := differences(was, []Setting{{"--gamma", "2"}, {"--size", "4"}, {"b.csv", "2 bytes"}})
	want := []string{`--gamma was "1", is "2"`, `b.csv was not set, is "2 bytes"`, `a.csv was "2 bytes", is not set`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRefuseOthers: checkpoints of another number of ranks are refused as the user's to remove.
func TestRefuseOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		left  string
		ranks int
		want  string // "" for none
	}{
		{"ck", 0, ""}, {"ck.previous", 0, ""}, {"ck.rank1-of-3", 3, ""}, {"ck.rank1-of-3.previous", 3, ""}, {"ck2", 3, ""},
		{"ck.rank1-of-x", 2, ""},
		{"ck", 3, "ck belongs to a run of one process, this is a run of 3 ranks; remove ck to begin anew"},
		{"ck.previous", 2, "belongs to a run of one process"},
		{
			"ck.rank1-of-3", 2,
			"belongs to a run of 3 ranks, this one has 2; use as many ranks, or remove ck.rank*-of-3* to begin anew",
		},
		{"ck.rank0-of-3.previous", 0, "belongs to a run of 3 ranks, this one has 1"},
	} {
		if err := os.WriteFile(c.left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err := refuseOthers("ck", c.ranks)
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %d ranks: %v", c.left, c.ranks, err)
		}
		if err := os.Remove(c.left); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiles: a file is told by its size, its time and its ends; what is no file is left out,
// and what is named twice told once.
func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(name, []byte("same"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("c", []byte("size"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := Files([]string{"a", "column", "b", "a", "c"})
	settings := FileSettings(files)
	if len(settings) != 6 || len(files) != 3 {
		t.Fatalf("%v, %v", settings, files)
	}
	a, b, c := settings[1], settings[3], settings[5]
	if a.Name != "a, its first and last 64 KiB" || a.Value != b.Value || a.Value == c.Value || len(a.Value) != 64 {
		t.Errorf("digests %v, %v, %v", a, b, c)
	}
}
