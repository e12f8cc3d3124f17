package csv

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
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// A byLine reads record after record, by the parser that tells what is wrong.
type byLine struct {
	*reader
	file *rawfile.File
	err  error // error behind the rows of the last block, or nil
}

func (r *byLine) Close() error { return r.file.Close() }

func (r *byLine) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows {
		err := r.err
		if err == nil {
			err = r.read(b)
		}
		if err != nil && b.N > 0 {
			r.err = err
			return nil
		}
		if err != nil {
			return r.file.Place(err)
		}
	}
	return nil
}

// begun opens a file where its rows begin.
func (l *layout) begun(name string, part dataset.Range) (*rawfile.File, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if l.header {
		err = newRecords(f, l).next()
	}
	if err == nil {
		err = f.Limit(part)
	}
	return f, err
}

// blocks returns the blocks of one pass and its error as text.
func blocks(t interface {
	Fatal(...any)
}, r dataset.Reader, rows int) string {
	var out strings.Builder
	var b dataset.Buffer
	for {
		b.Reset()
		err := r.Read(&b, rows)
		if err != nil {
			if e, ok := errors.AsType[*dataset.InputError](err); ok {
				e.Texts = nil // which columns hold only texts is guessed from the records that follow in a chunk
			}
			fmt.Fprintln(&out, err, errors.Is(err, dataset.ErrInput))
			if e, ok := errors.AsType[*dataset.InputError](err); ok {
				fmt.Fprintln(&out, e.NonFinite, e.Omittable, e.Missing)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		fmt.Fprintf(&out, "%d: %x %x\n", b.N, b.X, b.Y)
	}
}

// agree holds chunks of any size to the reader by lines: the same blocks, the same error.
func agree(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, path string, opts Options, size, rows int) {
	l, err := choose(path, opts)
	if err != nil {
		return // the same code reads the first line for both
	}
	f, err := l.begun(path, opts.Range)
	if err != nil {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if l.hasOneColumn() && f.Packed() == "" { // the reader by lines gets a file without empty lines at its end
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		text = trimLines(text)
		part := opts.Range
		part.Lo, part.Hi = min(part.Lo, int64(len(text))), min(part.Hi, int64(len(text)))
		trimmed := path + ".trimmed"
		if err := os.WriteFile(trimmed, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err = l.begun(trimmed, part)
		if err != nil {
			t.Fatal(err)
		}
	}
	records := newRecords(f, l)
	records.single = l.hasOneColumn()
	want := blocks(
		t,
		&byLine{reader: &reader{layout: l, records: records, row: make([]float64, l.Features+l.Targets)}, file: f},
		rows,
	)
	want = strings.ReplaceAll(want, ".trimmed", "")
	f, err = l.begun(path, opts.Range)
	if err != nil {
		t.Fatal(err)
	}
	got := blocks(t, chunk.New(f, newFormat(l), chunk.Options{Size: size, EmptyRows: l.hasOneColumn()}), rows)
	if got != want {
		t.Fatalf("%.1000q, %+v, chunks of %d, blocks of %d:\n%s\nby lines:\n%s", text, opts, size, rows, got, want)
	}
}

// trimLines returns the text without its last lines that consist of CR and LF only.
func trimLines(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for len(lines) > 0 && len(bytes.Trim(lines[len(lines)-1], "\r\n")) == 0 {
		lines = lines[:len(lines)-1]
	}
	return bytes.Join(lines, nil)
}

// TestChunks holds chunks to the reader by lines on texts of what makes trouble, on one core
// and on several.
func TestChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	for _, cores := range []int{1, 3} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		rapid.Check(t, func(t *rapid.T) {
			delimiter := rapid.SampledFrom([]string{",", ";", "\t", " ", "5", "e"}).Draw(t, "delimiter")
			pieces := rapid.SliceOf(rapid.SampledFrom([]string{
				"1", "-2.5", "+3", "1e3", "0.12345678901234567", "123456789012345678901", "x", "NaN", "1e999", "", " ", "  ", `"`,
				`""`, "\n", "\n", "\r\n", "\r", "\ufeff",
				delimiter, delimiter, delimiter, `"4"`, "\"5\n\"", `" 6"`, `"a"`, `"a""b"`, `5"x`, `a "b" c`,
				"1" + delimiter + "5\"\n", "1" + delimiter + "2\n", "3" + delimiter + "4\n", "7" + delimiter + `"8"` + "\r\n",
				"\"a\nb\"" + delimiter + "9\n",
			})).Draw(t, "pieces")
			if rapid.Bool().Draw(t, "one column") {
				for i, s := range pieces {
					pieces[i] = strings.ReplaceAll(s, delimiter, "\n")
				}
				pieces = append([]string{"1\n"}, pieces...)
			}
			text := strings.Repeat(
				"1"+delimiter+"2\n",
				rapid.IntRange(0, 1).Draw(t, "wide")*rapid.IntRange(0, 3).Draw(t, "rows"),
			) + strings.Join(
				pieces,
				"",
			)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			opts := Options{Delimiter: rune(delimiter[0]), Header: Absent}
			if rapid.Bool().Draw(t, "missing") {
				opts.Cells = &prepare.Cells{Missing: prepare.MissingDrop}
			}
			if rapid.Bool().Draw(t, "header") {
				opts.Header = Present
			}
			if rapid.Bool().Draw(t, "columns") {
				opts.Columns = []string{"last"}
			}
			if rapid.Bool().Draw(t, "target") {
				opts.Targets = []string{"first"}
			}
			if rapid.Bool().Draw(t, "part") {
				lo := rapid.IntRange(0, len(text)).Draw(t, "lo")
				opts.Range = dataset.Range{Lo: int64(lo), Hi: int64(rapid.IntRange(lo, len(text)).Draw(t, "hi"))}
			}
			agree(t, path, opts, rapid.IntRange(1, 40).Draw(t, "size"), rapid.IntRange(1, 5).Draw(t, "block"))
		})
	}
}

// TestBlankLinePosition: an empty line of a file of one column, with blanks as delimiter, has an error at its first
// byte.
func TestBlankLinePosition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	for text, column := range map[string]int{"1\n\n1": 1, "1\n   \n1": 1} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := choose(path, Options{Delimiter: ' ', Header: Absent})
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.begun(path, dataset.Range{})
		if err != nil {
			t.Fatal(err)
		}
		records := newRecords(f, l)
		records.single = true
		r := &byLine{reader: &reader{layout: l, records: records, row: make([]float64, 1)}, file: f}
		var b dataset.Buffer
		for err = nil; err == nil; {
			b.Reset()
			err = r.Read(&b, 1)
		}
		e, ok := errors.AsType[*dataset.InputError](err)
		if !ok || e.Line != 2 || e.Column != column {
			t.Errorf("%q: %v, want line 2, column %d", text, err, column)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzChunks holds chunks to the reader by lines on any text.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n3,\"4\"\n"), byte(','), byte(7), uint16(3), uint16(12))
	f.Add([]byte("1 2\n 3  4\r\n\n5 6"), byte(' '), byte(2), uint16(0), uint16(0))
	f.Add([]byte("1,x\n\"2\n\",3\n4,5e400\n"), byte(','), byte(1), uint16(0), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, delimiter, size byte, lo, hi uint16) {
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			t.Skip("a compressed file, which is another reader's")
		}
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := Options{Delimiter: rune(delimiter)}
		if lo < hi {
			opts.Range = dataset.Range{Lo: int64(lo), Hi: int64(hi)}
		}
		agree(t, path, opts, 1+int(size), 3)
	})
}

// long is a file of so many rows of numbers that all chunks are taken.
func long(t *testing.T, rows int, last string) string {
	path := filepath.Join(t.TempDir(), "data")
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d.25,-3\n", i, i+1)
	}
	if err := os.WriteFile(path, []byte(text.String()+last), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestManyChunks: rows in their order and an error at its line, in a file of hundreds of
// chunks, on any number of cores; of two errors the first.
func TestManyChunks(t *testing.T) {
	const rows = 200000
	path := long(t, rows, "1,x,2\n"+strings.Repeat("3,y,4\n", 100000))
	for _, cores := range []int{1, 2, 3, 8} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			leaktest.Check(t)
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.BlockRows = 1000
			n := 0
			for b, failed := range s.Blocks(t.Context()) {
				err = failed
				if failed != nil {
					break
				}
				if b.N != 1000 || b.First != int64(n) {
					t.Fatalf("%d rows from %d on, after %d", b.N, b.First, n)
				}
				for i := range b.N {
					if v := float64(n); b.X[3*i] != v || b.X[3*i+1] != v+1.25 || b.X[3*i+2] != -3 {
						t.Fatalf("row %d is %v", n, b.X[3*i:3*i+3])
					}
					n++
				}
			}
			want := fmt.Sprintf(
				"%s:%d:3: column 2: \"x\" is not a number; encode the column as numbers, or leave it out",
				path,
				rows+1,
			)
			if n != rows || err == nil || err.Error() != want {
				t.Errorf("%d cores: %d rows, %v, want %s", cores, n, err, want)
			}
		}()
	}
}

// TestNoGoroutineStays: none does after a loop that is left, or a pass that was not begun.
func TestNoGoroutineStays(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	leaktest.Check(t)
	path := long(t, 300000, "")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for most := range 4 {
		n := 0
		for _, err := range s.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if n > most {
				break
			}
		}
	}
	l, err := choose(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.open(path, &Options{}, dataset.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestBlanksBeforeARow: blank lines count as part of the row after them, even if each chunk has fewer than the limit.
// The second of two runs of blank lines is too long. The error names the same line as a reader that reads line by line.
func TestBlanksBeforeARow(t *testing.T) {
	const mib = 1 << 20
	line := strings.Repeat(" ", mib-1) + "\n"
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(
		path, []byte("1,2\n"+strings.Repeat(line, 60)+"3,4\n"+strings.Repeat(line, 70)+"5,6\n"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	agree(t, path, Options{}, 1<<17, 100)
	want := path + ":127: the row and the blank lines before it are longer than 64 MiB"
	if err := pass(t, path, Options{}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
