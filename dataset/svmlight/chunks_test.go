package svmlight

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// byLine leaves all rows to Record, which reads line after line and tells what is wrong.
type byLine struct{ *format }

func (byLine) Rows(_ *dataset.Buffer, _ []byte, at, _ int) int { return at }

// blocks returns the blocks of one pass and its error as text.
func blocks(
	t interface{ Fatal(...any) },
	path string,
	part dataset.Range,
	f chunk.Format,
	opts chunk.Options,
	rows int,
) string {
	var out strings.Builder
	file, err := rawfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	file.SkipBOM()
	if err := file.Limit(part); err != nil {
		t.Fatal(err)
	}
	r := chunk.New(file, f, opts)
	b := dataset.Buffer{Sparse: true}
	for {
		b.Reset()
		err := r.Read(&b, rows)
		if err != nil {
			fmt.Fprintln(&out, err, errors.Is(err, dataset.ErrInput))
			if e, ok := errors.AsType[*dataset.InputError](err); ok {
				fmt.Fprintln(&out, e.NonFinite, e.Omittable)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		fmt.Fprintf(&out, "%d: %v %v %x %x\n", b.N, b.CSR.RowPtr, b.CSR.ColIdx, b.CSR.Val, b.Y)
	}
}

// agree holds chunks of any size to lines: the same blocks, the same error.
func agree(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, path string, part dataset.Range, f *format, size, rows, entries int) {
	got := blocks(t, path, part, f, chunk.Options{Entries: entries, Size: size}, rows)
	want := blocks(t, path, part, byLine{f}, chunk.Options{Entries: entries, Size: 1 << 20}, rows)
	if got != want {
		text, _ := os.ReadFile(path) // for the message
		t.Fatalf("%q, %+v, %+v, chunks of %d, blocks of %d:\n%s\nby lines:\n%s", text, part, *f, size, rows, got, want)
	}
}

// TestChunks holds chunks to the reader by lines on texts of what makes trouble, on one core
// and on several.
func TestChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	for _, cores := range []int{1, 3} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		rapid.Check(t, func(t *rapid.T) {
			pieces := rapid.SliceOf(rapid.SampledFrom([]string{
				"1", "-2.5 ", "+1 ", " 1:1", " 2:0.12345678901234567", " 3:0", " 4:-1e3", " 00005:6", "\t6:7\v", "2:3", " 7", ":",
				" +8:9", " 0:1", " 99:1", " 12345678901234567:1",
				" qid:3", " qid:", "#", " # x 1:2", "\n", "\n", "\n", "\r\n", " ", "\x00", " 1:NaN", " 1:1e999", " 1:1_0",
				"1 1:1 3:2\n", "-1 2:0.5 # y\n", "3 qid:1 1:1\n",
			})).Draw(t, "pieces")
			text := strings.Join(pieces, "")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f := &format{d: rapid.IntRange(2, 9).Draw(t, "d"), targets: rapid.IntRange(0, 1).Draw(t, "targets")}
			var part dataset.Range
			if rapid.Bool().Draw(t, "part") && text != "" && text != "\x1f\x8b" {
				lo := rapid.IntRange(0, len(text)).Draw(t, "lo")
				part = dataset.Range{Lo: int64(lo), Hi: int64(rapid.IntRange(lo, len(text)).Draw(t, "hi"))}
			}
			agree(
				t,
				path,
				part,
				f,
				rapid.IntRange(1, 40).Draw(t, "size"),
				rapid.IntRange(1, 5).Draw(t, "block"),
				rapid.IntRange(1, 9).Draw(t, "entries"),
			)
		})
	}
}

// FuzzChunks holds chunks to the reader by lines on any text.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("1 1:1 3:2\n-1 2:0.5 # y\n"), byte(7), uint16(3), uint16(12))
	f.Add([]byte("# x\n3 qid:1 1:1\r\n\n4 7:x"), byte(2), uint16(0), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, size byte, lo, hi uint16) {
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			t.Skip("a compressed file, which is another reader's")
		}
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var part dataset.Range
		if lo < hi {
			part = dataset.Range{Lo: int64(lo), Hi: int64(hi)}
		}
		agree(t, path, part, &format{d: 1000, targets: 1}, 1+int(size), 3, 5)
	})
}

// TestManyChunks: the same blocks and the same error, in a file of hundreds of chunks, on any
// number of cores, which no goroutine outlives.
func TestManyChunks(t *testing.T) {
	var text strings.Builder
	for i := range 200000 {
		fmt.Fprintf(&text, "%d 3:%d.5 %d:1\n", i%2, i, 10+i%5000)
	}
	text.WriteString("1 5:1 5:1\n1 x\n")
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &format{d: 6000, targets: 1}
	want := blocks(
		t,
		path,
		dataset.Range{},
		byLine{f},
		chunk.Options{Entries: blockEntries, Size: 1 << 26},
		dataset.SparseRows,
	)
	if !strings.Contains(want, ":200001:7: index 5 after index 5") {
		t.Fatal(want[max(0, len(want)-200):])
	}
	for _, cores := range []int{1, 2, 3, 8} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			leaktest.Check(t)
			got := blocks(t, path, dataset.Range{}, f, chunk.Options{Entries: blockEntries}, dataset.SparseRows)
			if got != want {
				t.Errorf("%d cores: other blocks, or another error: %s", cores, got[max(0, len(got)-200):])
			}
		}()
	}
}

// TestBlocks: a block ends with the row that fills it, by rows or by entries.
func TestBlocks(t *testing.T) {
	var text strings.Builder
	for i := range 20000 {
		text.WriteString("1")
		for j := range i % 40 {
			fmt.Fprintf(&text, " %d:1", j+1)
		}
		text.WriteString("\n")
	}
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{Features: 40, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	n, filled := 0, map[string]int{}
	for b, err := range s.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ptr := b.Sparse.RowPtr
		last := ptr[b.N-1]
		switch {
		case last >= blockEntries || b.N > dataset.SparseRows:
			t.Fatalf("%d rows and %d entries, before the last row %d", b.N, ptr[b.N], last)
		case ptr[b.N] >= blockEntries:
			filled["entries"]++
		case b.N == dataset.SparseRows:
			filled["rows"]++
		}
		for i := range b.N {
			if got := ptr[i+1] - ptr[i]; got != n%40 {
				t.Fatalf("row %d has %d entries", n, got)
			}
			n++
		}
	}
	if n != 20000 || filled["entries"] < 20 {
		t.Errorf("%d rows, blocks %v", n, filled)
	}
}
