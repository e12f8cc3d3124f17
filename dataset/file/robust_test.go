package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
)

// named writes a file with this name in a new directory and returns its path.
func named(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCSVCorners(t *testing.T) {
	last := []string{"last"}
	for name, c := range map[string]struct{ text, want string }{
		"empty tab field":          {"1\t\t3\n4\t5\t6\n", "!:1:3: column 2 is empty"},
		"empty tab header field":   {"\ta\tb\n0\t1\t2\n", "[0 1] [2]"},
		"blank line":               {"1,2\n   \n3,4\n", "[1] [2] [3] [4]"},
		"first row lacks a value":  {"1,,3\n4,5,6\n", "!:1:3: column 2 is empty"},
		"header over two lines":    {"\"a\nb\",y\n1,2\n", "[1] [2]"},
		"commas in quoted header":  {"\"a,b,c\";y\n1;2\n", "[1] [2]"},
		"time of day in a cell":    {"when;y\nat 12:30;1\n", "!:2:1: column when: \"at 12:30\" is not a number"},
		"a single column of times": {"y\nx 12:30:00\n", "!"},
	} {
		got, err := open(named(t, "data", c.text), file.Options{Target: last, Targets: 1})
		if part, bad := strings.CutPrefix(c.want, "!"); bad {
			var e *dataset.InputError
			if !errors.As(err, &e) || !strings.HasPrefix(strings.TrimPrefix(err.Error(), e.File), part) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, part)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	if _, err := open(named(t, "data", "y,x,y\n1,2,3\n"), file.Options{Target: []string{"y"}, Targets: 1}); err == nil ||
		!strings.Contains(err.Error(), "more than one column is called") {
		t.Errorf("an ambiguous target: %v", err)
	}
}

func opened(t *testing.T, paths []string, opts file.Options) *file.Opened {
	t.Helper()
	s, err := file.Open(paths, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCSVOptions: header and delimiter as told, whatever the first line looks like.
func TestCSVOptions(t *testing.T) {
	path := named(t, "data", "1|2\n3|4\n")
	for _, c := range []struct {
		opts csv.Options
		want string
	}{
		{csv.Options{Delimiter: '|'}, "[1 2] [] [3 4] []"},
		{csv.Options{Delimiter: '|', Header: csv.Present}, "[3 4] []"},
		{csv.Options{Delimiter: '|', Header: csv.Absent}, "[1 2] [] [3 4] []"},
	} {
		s, err := csv.Open(path, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := contents(s); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.opts, got, err, c.want)
		}
	}
	var e *dataset.InputError
	s, err := csv.Open(named(t, "data", "a,b\n1,2\n"), csv.Options{Header: csv.Absent})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contents(s); !errors.As(err, &e) || e.Line != 1 || e.Column != 1 {
		t.Errorf("names where none are to be: %v", err)
	}
	if _, err := csv.Open(path, csv.Options{Delimiter: '"'}); !errors.As(err, &e) {
		t.Errorf("a quote for a delimiter: %v", err)
	}
}

// TestUnterminatedQuote: a quote that is never closed takes no more memory than
// the longest line allowed, though its lines are short.
func TestUnterminatedQuote(t *testing.T) {
	path := named(t, "data", "1,2\n3,\"")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	chunk := strings.Repeat("0123456789\n", 1<<16)
	for range 100 {
		if _, err := f.WriteString(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = open(path, file.Options{Target: []string{"last"}, Targets: 1})
	runtime.ReadMemStats(&after)
	var e *dataset.InputError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("%.200v", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 600<<20 {
		t.Errorf("%d MiB allocated", grown>>20)
	}
}

// raceDetector is true in a build with the race detector, which uses memory of its own.
var raceDetector bool

// TestReadersAllocateNothing: three times the rows, no more memory. Buffers of earlier
// passes come from a pool, which garbage collection and the race detector empty.
func TestReadersAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector drops pooled buffers at random")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for format, line := range map[string]string{
		"svmlight": "1 3:1 17:0.25 250:1e-3\n",
		"csv":      "1.25,-3.5,1e-3\n",
		"jsonl":    "{\"a\":1.25,\"b\":-3.5,\"c\":1e-3}\n",
		"npy":      string(floats(le, 1, 2, 3)),
	} {
		count := func(rows int) float64 {
			text := strings.Repeat(line, rows)
			opts := file.Options{Format: format, Targets: 1, Features: 300}
			if format != "svmlight" {
				opts.Target = []string{"last"}
			}
			if format == "npy" {
				text = npy("<f8", "False", fmt.Sprintf("(%d, 3)", rows), []byte(text))
			}
			s, err := file.Open([]string{named(t, "data", text)}, opts)
			if err != nil {
				t.Fatal(err)
			}
			return testing.AllocsPerRun(3, func() {
				for _, err := range s.Blocks(context.Background()) {
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		const few, many = 30000, 90000
		if a, b := count(few), count(many); !(b <= a+30) {
			t.Errorf("%s: %v allocations for %d rows, %v for %d", format, a, few, b, many)
		}
	}
}

// TestOneShotReadsOnce: the number of passes counts each reading of the rows. Opening a file is no pass, except for an
// svmlight file of unknown width, which is scanned.
func TestOneShotReadsOnce(t *testing.T) {
	for format, c := range map[string]struct {
		text     string
		target   []string
		features int
		want     int
	}{
		"csv":                   {"a,b\n1,2\n", []string{"b"}, 0, 1},
		"npy":                   {npy("<f8", "False", "(1, 2)", floats(le, 1, 2)), []string{"last"}, 0, 1},
		"svmlight":              {"1 1:2\n", nil, 0, 2},
		"svmlight, width given": {"1 1:2\n", nil, 1, 1},
	} {
		s, err := file.Open(
			[]string{named(t, "data", c.text)},
			file.Options{Target: c.target, Targets: 1, Features: c.features},
		)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := contents(s); err != nil || s.Passes() != c.want {
			t.Errorf("%s: %d passes, want %d; %v", format, s.Passes(), c.want, err)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	if _, err := file.Open(nil, file.Options{Targets: 1}); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no files: %v", err)
	}
}

// TestHeadersAgree: files whose columns are named differently are not stacked;
// columns that are chosen by name may stand anywhere.
func TestHeadersAgree(t *testing.T) {
	opts := file.Options{Target: []string{"y"}, Targets: 1}
	paths := write(t, "a,y\n1,2\n", "b,y\n3,4\n", "a,y\n5,6\n", "7,8\n", "y,a\n9,10\n")
	if got, err := contents(opened(t, []string{paths[0], paths[4]}, opts)); err != nil || got != "[1] [2] [10] [9]" {
		t.Errorf("in another order: %q, %v", got, err)
	}
	if _, err := file.Open(paths[:2], opts); err == nil || !strings.Contains(err.Error(), paths[1]) ||
		!strings.Contains(err.Error(), "columns") {
		t.Errorf("other names: %v", err)
	}
	s, err := file.Open([]string{paths[0], paths[2]}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(s); err != nil || got != "[1] [2] [5] [6]" {
		t.Errorf("the same names: %q, %v", got, err)
	}
	s, err = file.Open([]string{paths[0], paths[3]}, file.Options{Target: []string{"last"}, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(s); err != nil || got != "[1] [2] [7] [8]" {
		t.Errorf("the second without names: %q, %v", got, err)
	}
}

// TestTargetIsColumnOrFile: a header name is a column, whatever it looks like;
// what exists as a file is one, whatever its name.
func TestTargetIsColumnOrFile(t *testing.T) {
	got, err := open(named(t, "data", "price/unit,x\n1,2\n"), file.Options{Target: []string{"price/unit"}, Targets: 1})
	if err != nil || got != "[2] [1]" {
		t.Errorf("a header name with a slash: %q, %v", got, err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"x": "1,2\n3,4\n", "answers": "7\n8\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := open("x", file.Options{Target: []string{"answers"}, Targets: 1}); err != nil ||
		got != "[1 2] [7] [3 4] [8]" {
		t.Errorf("a file without a suffix: %q, %v", got, err)
	}
}

// TestSuffixDecidesWhereContentDoesNot: labels alone are svmlight in a file that
// is called so.
func TestSuffixDecidesWhereContentDoesNot(t *testing.T) {
	for name, want := range map[string]string{
		"a.svm": "svmlight", "a.libsvm.gz": "svmlight", "a.csv": "csv", "a.ndjson": "jsonl", "a": "csv", "a.npy": "npy",
	} {
		if got, err := file.Format(named(t, name, "1\n-1\n"), file.Options{Format: "auto"}); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %s", name, got, err, want)
		}
	}
	if got, err := file.Format(named(t, "a.csv", "1 1:2\n"), file.Options{Format: "auto"}); err != nil ||
		got != "svmlight" {
		t.Errorf("content before suffix: %q, %v", got, err)
	}
}

func TestSvmlightCorners(t *testing.T) {
	if got, err := open(named(t, "data", "\ufeff1 1:2\n"), file.Options{Format: "svmlight", Targets: 1}); err != nil ||
		got != "[2] [1]" {
		t.Errorf("a byte order mark: %q, %v", got, err)
	}
	if _, err := open(named(t, "data", "1 1:2\x003:4\n"), file.Options{Format: "svmlight", Targets: 1}); err == nil ||
		!strings.Contains(err.Error(), ":1:5: ") {
		t.Errorf("a zero byte is no blank: %v", err)
	}
}

func TestDamagedGzip(t *testing.T) {
	whole := zipped(t, strings.Repeat("1,2\n", 5000))
	for name, c := range map[string]struct{ text, want string }{
		"within the header": {whole[:5], "truncated"},
		"garbage after":     {whole + "garbage after the end", "bytes that are not gzip follow the gzip stream: remove them"},
		"bit flipped":       {whole[:30] + string(whole[30]^0x55) + whole[31:], "damaged"},
	} {
		_, err := open(named(t, "data", c.text), file.Options{Target: []string{"last"}, Targets: 1})
		var e *dataset.InputError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
