package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

const realRows = "../../testdata/w8a.svm.gz"

// TestMergings: however a sketch is merged, 0 ⪯ K − BᵀB ⪯ ηI, η is within its a-priori
// bound, and Newton contracts as promised; all but round-off.
func TestMergings(t *testing.T) {
	all, err := mergeAll(context.Background(), 4096, 96, 32, realRows)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 5 {
		t.Fatalf("%d samples", len(all))
	}
	for _, sample := range all {
		if want := 1 + 2*5; len(sample) != want {
			t.Errorf("%s: %d mergings, not %d", sample[0].data, len(sample), want)
		}
		for _, m := range sample {
			switch {
			case !(m.error <= m.eta+m.pad):
				t.Errorf("%s, %d parts, %s: error %g, above η = %g", m.data, m.parts, m.order, m.error, m.eta)
			case !(m.below <= m.pad):
				t.Errorf("%s, %d parts, %s: BᵀB is above K by %g", m.data, m.parts, m.order, m.below)
			case !(m.eta <= m.bound+m.pad):
				t.Errorf("%s, %d parts, %s: η = %g, above its bound %g", m.data, m.parts, m.order, m.eta, m.bound)
			case !(m.contraction <= m.proved+2*float64(m.d)*m.pad):
				t.Errorf("%s, %d parts, %s: contraction %g, above %g", m.data, m.parts, m.order, m.contraction, m.proved)
			case m.parts > 1 && !(m.live <= 1+1.25):
				t.Errorf("%s, %d parts, %s: %g·m rows are sent", m.data, m.parts, m.order, m.live)
			}
			// A shrink takes away p rows, but for what is linearly dependent: their
			// number does not depend on the order.
			if m.data == "normal" && m.shrinks != sample[0].shrinks {
				t.Errorf("%s, %d parts, %s: %d shrinks, not %d", m.data, m.parts, m.order, m.shrinks, sample[0].shrinks)
			}
		}
	}
}

// TestTreeIsDist: tree merges as dist.Merge does, bit for bit.
func TestTreeIsDist(t *testing.T) {
	const n, d, m = 900, 20, 5
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSample("rows", n, d, bench.Slow(n, d))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]float64, n)
	for _, p := range []int{1, 2, 3, 8, 13} {
		parts, err := s.parts(p, m, be)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]*ridge.Summary, p)
		for r := range sums {
			if sums[r], err = ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: m, Backend: be, Store: fd.StoreRows}); err != nil {
				t.Fatal(err)
			}
			lo, hi := n*r/p, n*(r+1)/p
			if err := sums[r].AppendBlock(dataset.Block{N: hi - lo, X: s.a[lo*d : hi*d], Y: zeros[lo:hi]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := tree(parts); err != nil {
			t.Fatal(err)
		}
		var union *ridge.Summary
		err = each(dist.Loopback(p), func(tr dist.Transport) error {
			sum, err := dist.Merge(context.Background(), tr, sums[tr.Rank()])
			if tr.Rank() == 0 {
				union = sum
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want, err := union.Sketch().MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parts[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d parts: the tree's sketch is not that of dist.Merge", p)
		}
	}
}

// TestQuick: a quick run writes all it says, and fills the tables of the text.
func TestQuick(t *testing.T) {
	out := t.TempDir()
	text, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	blank := text
	for _, name := range tableNames(string(text)) {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		head, rest, _ := strings.Cut(string(blank), begin)
		_, tail, _ := strings.Cut(rest, end)
		blank = []byte(head + begin + end + tail)
	}
	if err := os.WriteFile(filepath.Join(out, "scaling.md"), blank, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (options{out: out, data: realRows, quick: true, measure: true, storage: 2e9, memory: 64e9, bandwidth: 300e9}).run(context.Background()); err != nil {
		t.Fatal(err)
	}
	filled, err := os.ReadFile(filepath.Join(out, "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tableNames(string(filled)) {
		_, rest, _ := strings.Cut(string(filled), "<!-- begin "+name+" -->\n")
		body, _, _ := strings.Cut(rest, "<!-- end "+name+" -->")
		if lines := strings.Split(strings.TrimSpace(body), "\n"); len(lines) < 3 {
			t.Errorf("table %s has no rows", name)
		}
		for _, bad := range []string{"NaN", "+Inf"} {
			if strings.Contains(body, bad) {
				t.Errorf("table %s has %s:\n%s", name, bad, body)
			}
		}
	}
	for _, name := range []string{"constants.json", "simulation.csv", "eta.csv", "scaling.svg", "stragglers.svg", "eta.svg", "size.svg"} {
		if info, err := os.Stat(filepath.Join(out, "scaling", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tableNames are those of the marks in a text.
func tableNames(text string) []string {
	var names []string
	for _, part := range strings.Split(text, "<!-- begin ")[1:] {
		name, _, _ := strings.Cut(part, " -->")
		names = append(names, name)
	}
	return names
}
