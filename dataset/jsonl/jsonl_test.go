package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
)

func written(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows returns the rows of a source as text, features and targets.
func rows(t testing.TB, s dataset.Source) (string, error) {
	var out []string
	for b, err := range s.Blocks(t.Context()) {
		if err != nil {
			return strings.Join(out, " "), err
		}
		_, d, k := s.Dims()
		for i := range b.N {
			out = append(out, fmt.Sprint(b.X[i*d:(i+1)*d], b.Y[i*k:(i+1)*k]))
		}
	}
	return strings.Join(out, " "), nil
}

// TestOpen: what lines mean. want is the rows, or after "!" the error behind the name of the file.
func TestOpen(t *testing.T) {
	y := Options{Targets: []string{"y"}}
	drop, onehot := y, y
	drop.Cells = &prepare.Cells{Missing: prepare.MissingDrop}
	onehot.Cells = &prepare.Cells{OneHot: []string{"a"}}
	listed := Options{Targets: []string{"y"}, Columns: []string{"a"}}
	without := Options{Targets: []string{"y"}, Columns: []string{"-b"}}
	for name, c := range map[string]struct {
		opts       Options
		text, want string
	}{
		"plain":            {y, "{\"a\":1,\"y\":2}\n{\"a\":-3.5e-1,\"y\":4}\n", "[1] [2] [-0.35] [4]"},
		"another order":    {y, "{\"a\":1,\"y\":2}\n{\"y\":4,\"a\":3}\n", "[1] [2] [3] [4]"},
		"blanks":           {y, " { \"a\" :\t1 , \"y\":2 } \r\n\n  \n{\"a\":3,\"y\":4}", "[1] [2] [3] [4]"},
		"byte order mark":  {y, "\ufeff{\"a\":1,\"y\":2}\n", "[1] [2]"},
		"true and false":   {y, "{\"a\":true,\"y\":false}\n", "[1] [0]"},
		"numbers in texts": {y, "{\"a\":\"1.5\",\"y\":\" 2 \"}\n", "[1.5] [2]"},
		"escapes": {
			y, "{\"\\u0061\":\"\\u0031\\/\",\"y\":2}\n",
			"!:1:11: column a: \"1/\" is not a number; encode the column as numbers, or leave it out",
		},
		"escaped key": {y, "{\"a\":1,\"y\":2}\n{\"\\u0061\":3,\"y\":4}\n", "[1] [2] [3] [4]"},
		"digits": {
			y, "{\"a\":9007199254740993,\"y\":0.1234567890123456789012345678901234567890}\n",
			"[9.007199254740992e+15] [0.12345678901234568]",
		},
		"null":             {drop, "{\"a\":null,\"y\":2}\n", "[NaN] [2]"},
		"NaN":              {drop, "{\"a\":NaN,\"y\":2}\n", "[NaN] [2]"},
		"NA":               {drop, "{\"a\":\"NA\",\"y\":2}\n", "[NaN] [2]"},
		"a key is missing": {drop, "{\"a\":1,\"y\":2}\n{\"y\":2}\n{}\n", "[1] [2] [NaN] [2] [NaN] [NaN]"},
		"a late key":       {drop, "{\"y\":2}\n{\"a\":1,\"y\":2}\n", "[NaN] [2] [1] [2]"},
		"categories": {
			onehot, "{\"a\":\"red\",\"y\":2}\n{\"a\":\"green\",\"y\":3}\n{\"a\":\"\\u0072ed\",\"y\":3}\n",
			"[0] [2] [1] [3] [0] [3]",
		},
		"other keys": {
			listed, "{\"a\":1,\"y\":2,\"x\":[{}]}\n{\"z\":{\"}\":\"\\\"}\"},\"a\":3,\"y\":4}\n", "[1] [2] [3] [4]",
		},
		"a column left out": {without, "{\"a\":1,\"b\":[1,2],\"y\":2}\n", "[1] [2]"},

		"null refused": {
			y, "{\"a\":1,\"y\":2}\n{\"a\":null,\"y\":2}\n",
			"!:2:6: column a: null is a missing value; fill in what is missing, or leave the column out",
		},
		"NaN refused": {y, "{\"a\":NaN,\"y\":2}\n", "!:1:6: column a: NaN is not finite"},
		"missing refused": {
			y, "{\"a\":1,\"y\":2}\n{\"y\":2}\n",
			"!:2:7: the line has no key a; fill in what is missing, or leave the column out",
		},
		"infinite":  {y, "{\"a\":-Infinity,\"y\":2}\n", "!:1:6: column a: -Infinity is not finite"},
		"too large": {y, "{\"a\":1e999,\"y\":2}\n", "!:1:6: column a: 1e999 exceeds the range of float64"},
		"text": {
			y, "{\"a\":\"red\",\"b\":\"x\",\"y\":2}\n",
			"!:1:6: column a: \"red\" is not a number; 2 columns are not numeric: a, b; encode the column as numbers, or " +
				"leave it out",
		},
		"nested": {
			y, "{\"a\":1,\"y\":2}\n{\"a\":[1,2],\"y\":2}\n",
			"!:2:6: column a holds an array or an object; make columns of its parts, or leave it out",
		},
		"nested target": {
			y, "{\"a\":1,\"y\":{\"z\":1}}\n", "!:1:12: column y holds an array or an object; make columns of its parts",
		},
		"a key twice": {
			y, "{\"a\":1,\"y\":2}\n{\"a\":1,\"a\":1,\"y\":2}\n", "!:2:8: the key \"a\" occurs twice in the line",
		},
		"an unknown key": {
			y, "{\"a\":1,\"y\":2}\n" + strings.Repeat("{\"a\":1,\"y\":2}\n", 99) + "{\"a\":1,\"z\":1,\"y\":2}\n",
			"!:101:8: the key \"z\" does not occur in the first 100 lines; list the features (--columns)",
		},
		"another, left out": {without,
			"{\"a\":1,\"b\":1,\"y\":2}\n" + strings.Repeat("{\"a\":1,\"y\":2}\n", 99) + "{\"z\":1}\n",
			"!:101:2: the key \"z\" does not occur in the first 100 lines; list the features (--columns)"},
		"no target": {y, "{\"a\":1}\n", "!:1: there is no column \"y\"; the 1 columns are a"},
		"two objects": {
			y, "{\"a\":1,\"y\":2} {\"a\":1,\"y\":2}\n",
			"!:1:15: another object follows on the line; a line must hold one object, as jq -c . FILE writes it",
		},
		"over lines": {
			y, "{\n\"a\":1}\n",
			"!:1:2: the object does not end on its line; a line must hold one object, as jq -c . FILE writes it",
		},
		"cut": {
			y, "{\"a\":1,\"y\":2}\n{\"a\":1,\"y\":",
			"!:2:12: the object does not end on its line; a line must hold one object, as jq -c . FILE writes it",
		},
		"an array": {
			y, "{\"a\":1,\"y\":2}\n[1,2]\n",
			"!:2:1: the line is a JSON array, not an object with the names of the columns; write objects, for instance by jq " +
				"-c '{a: .[0], b: .[1]}'",
		},
		"csv":              {y, "{\"a\":1,\"y\":2}\n1,2\n", "!:2:1: the line is not a JSON object: \"1\""},
		"a comma too many": {y, "{\"a\":1,\"y\":2,}\n", "!:1:14: a key in double quotes is missing before \"}\""},
		"no comma":         {y, "{\"a\":1 \"y\":2}\n", "!:1:8: \",\" or \"}\" is missing before \"y\""},
		"no colon":         {y, "{\"a\" 1}\n", "!:1:6: \":\" is missing before \"1\""},
		"hexadecimal":      {y, "{\"a\":0x10,\"y\":2}\n", "!:1:6: not a JSON value: \"0x10\""},
		"a leading zero":   {y, "{\"a\":012,\"y\":2}\n", "!:1:6: not a JSON value: \"012\""},
		"a plus":           {y, "{\"a\":+1,\"y\":2}\n", "!:1:6: not a JSON value: \"+1\""},
		"a point":          {y, "{\"a\":1.,\"y\":2}\n", "!:1:6: not a JSON value: \"1.\""},
		"Fortran":          {y, "{\"a\":1.5D+3,\"y\":2}\n", "!:1:6: not a JSON value: \"1.5D+3\""},
		"control": {
			y, "{\"a\":\"x\x01\"}\n", "!:1:8: a text has the control character '\\x01', which JSON writes as \\u0001",
		},
		"a text cut":   {y, "{\"a\":\"x\n", "!:1:6: the text does not end on its line"},
		"a bad escape": {y, "{\"a\":\"\\x\",\"y\":2}\n", "!:1:6: not a valid JSON text: \"\\x\""},
		"a bad array":  {listed, "{\"a\":1,\"y\":2,\"z\":[1,]}\n", "!:1:18: not a valid JSON value: \"[1\""},
		"brackets":     {listed, "{\"a\":1,\"y\":2,\"z\":[1}]}\n", "!:1:18: not a valid JSON value: \"[1\""},
		"not UTF-8":    {y, "{\"\xff\":1,\"y\":2}\n", "!:1:2: the key is not UTF-8: \"\xff\""},
		"no rows":      {y, "\n \n", "!: has no rows"},
		"no keys":      {y, "{}\n{}\n", "!:2: the first objects have no keys"},
		"deep": {listed, "{\"a\":1,\"y\":2,\"z\":" + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}\n",
			"!:1:18: not a valid JSON value: \"" + strings.Repeat("[", 80) + "…\""},
	} {
		path := written(t, c.text)
		got := ""
		s, err := Open(path, c.opts)
		if err == nil {
			got, err = rows(t, s)
		}
		want, bad := strings.CutPrefix(c.want, "!")
		switch {
		case !bad && (err != nil || got != want):
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		case bad && (err == nil || err.Error() != path+want || !errors.Is(err, dataset.ErrInput)):
			t.Errorf("%s: %q, %v; want %s", name, got, err, path+want)
		}
	}
}

// TestLikeCSV: the same table as JSON lines and as csv gives the same rows, bit for bit, and the same encoding.
func TestLikeCSV(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // codes of texts are in the order of parsing
	rng := rand.New(rand.NewPCG(4, 5))
	words := []string{"red", "green", "blue", "", "NA", "a \"b\"", "é", "tab\there"}
	for try := range 60 {
		n, d := 1+rng.IntN(3000), 1+rng.IntN(8)
		var lines, table strings.Builder
		header := make([]string, d)
		for j := range header {
			header[j] = fmt.Sprint("column ", j)
		}
		header = append(header, "word")
		table.WriteString(strings.Join(header, ",") + "\n")
		for i := range n {
			values := map[string]any{}
			fields := make([]string, d+1)
			for j := range d {
				switch v := math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100); {
				case i > 0 && rng.IntN(8) == 0:
				case i > 0 && rng.IntN(8) == 0:
					values[header[j]] = nil
				case rng.IntN(4) == 0:
					values[header[j]] = json.Number(strconv.FormatFloat(v, 'f', 30, 64))
				case rng.IntN(4) == 0:
					values[header[j]] = v > 0
				case rng.IntN(4) == 0:
					values[header[j]] = strconv.FormatFloat(v, 'g', -1, 64)
				default:
					values[header[j]] = v
				}
				if v := values[header[j]]; v != nil {
					fields[j] = fmt.Sprint(v)
				}
			}
			word := words[rng.IntN(len(words))]
			values["word"] = word
			fields[d] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
			table.WriteString(strings.Join(fields, ",") + "\n")
			line, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		cells := func() *prepare.Cells {
			return &prepare.Cells{Missing: prepare.MissingDrop, OneHot: []string{"word"}}
		}
		columns := []string{"word", header[d-1]}
		a, err1 := csv.Open(
			written(t, table.String()),
			csv.Options{Columns: columns, Targets: header[:1], Cells: cells(), Header: csv.Present},
		)
		b, err2 := Open(written(t, lines.String()), Options{Columns: columns, Targets: header[:1], Cells: cells()})
		if d == 1 { // the column is the target
			if err1 == nil || err2 == nil {
				t.Fatal(err1, err2)
			}
			continue
		}
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		want, err1 := rows(t, a)
		got, err2 := rows(t, b)
		if got != want || err1 != nil || err2 != nil {
			t.Fatalf("try %d: %v, %v\n%.500s\n%.500s", try, err1, err2, got, want)
		}
	}
}

// A slow format has every line parsed by Record.
type slow struct{ *format }

func (slow) Rows(_ *dataset.Buffer, _ []byte, at, _ int) int { return at }

// pass returns the blocks and the error of a pass in words.
func pass(t interface{ Fatal(...any) }, path string, opts Options, size int, byRecord bool) string {
	l, err := choose(path, opts)
	if err != nil {
		return err.Error()
	}
	f, err := rawfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.SkipBOM()
	if err := f.Limit(opts.Range); err != nil {
		t.Fatal(err)
	}
	var rows chunk.Format = newFormat(l)
	if byRecord {
		rows = slow{newFormat(l)}
	}
	r := chunk.New(f, rows, chunk.Options{Size: size})
	var out strings.Builder
	var b dataset.Buffer
	for {
		b.Reset()
		err = r.Read(&b, 3)
		if err != nil {
			break
		}
		fmt.Fprintf(&out, "%d: %x %x\n", b.N, b.X, b.Y)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String() + fmt.Sprintf("%+v", err)
}

// agree holds chunks of any size, and the quick way, to the slow way by lines.
func agree(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, path string, opts Options, size int) {
	want := pass(t, path, opts, 1<<17, true)
	if got := pass(t, path, opts, size, false); got != want {
		t.Fatalf("chunks of %d:\n%s\nby lines:\n%s", size, got, want)
	}
}

// TestChunks holds chunks to lines on texts of what makes trouble.
func TestChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			"{\"a\":1,\"b\":2}\n", "{\"a\":-1.5e3,\"b\":\"2\"}\n", "{\"b\":1}\n", "{}\n", "{\"a\":null,\"b\":true}\n",
			"{\"b\":0.1,\"a\":NaN}\r\n", "\n", " ", "\r", "{", "}", "\"a\":", "\"c\":", ",", "1", "[2]", "\"\\u0041\"",
			"\"x\"", "{\"a\":1,\"b\":[{\"c\":\"}\"}]}\n", "\ufeff", "x", "{\"a\":1,\"a\":2}\n",
		})).Draw(t, "pieces")
		text := "{\"a\":1,\"b\":2}\n" + strings.Join(pieces, "")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := Options{Targets: []string{"b"}}
		if rapid.Bool().Draw(t, "missing") {
			opts.Cells = &prepare.Cells{Missing: prepare.MissingDrop}
		}
		if rapid.Bool().Draw(t, "listed") {
			opts.Columns = []string{"a"}
		}
		if rapid.Bool().Draw(t, "part") {
			lo := rapid.IntRange(0, len(text)).Draw(t, "lo")
			opts.Range = dataset.Range{Lo: int64(lo), Hi: int64(rapid.IntRange(lo, len(text)).Draw(t, "hi"))}
		}
		agree(t, path, opts, rapid.IntRange(1, 40).Draw(t, "size"))
	})
}

// FuzzLines compares the reader with encoding/json: each line that the reader accepts is valid JSON with the same
// numbers.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":1,\"b\":2}\n{\"b\":1e3,\"a\":\"4\"}\n"), byte(3))
	f.Add([]byte("{\"a\":\"\\u0031\",\"b\":true}\r\n\n{\"c\":[{}],\"a\":null}"), byte(0))
	f.Add([]byte("{\"a\":0.5,\"b\":-0}\n{\"a\":1E-400,\"b\":9007199254740993} "), byte(9))
	f.Fuzz(func(t *testing.T, text []byte, size byte) {
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
			bytes.HasPrefix(text, []byte{0xff, 0xfe}) ||
			bytes.HasPrefix(text, []byte{0xfe, 0xff}) ||
			len(text) > 3 && 0x50 <= text[0] && text[0] <= 0x5f {
			t.Skip("a compressed file, which is another reader's")
		}
		path := written(t, string(text))
		opts := Options{Columns: []string{"a"}, Cells: &prepare.Cells{Missing: prepare.MissingDrop}}
		agree(t, path, opts, 1+int(size))
		s, err := Open(path, opts)
		if err != nil {
			return
		}
		got, err := rows(t, s)
		if err != nil {
			return
		}
		var want []string
		for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
				return // as Python writes it; encoding/json refuses it
			}
			var values map[string]any
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&values); err != nil || d.More() {
				t.Fatalf("%q was read: %v", line, err)
			}
			want = append(want, fmt.Sprint([]float64{valueOf(t, values["a"])}, []float64{}))
		}
		if joined := strings.Join(want, " "); got != joined {
			t.Fatalf("%q: %s, want %s", text, got, joined)
		}
	})
}

// valueOf returns the number that a decoded value stands for.
func valueOf(t *testing.T, v any) float64 {
	switch v := v.(type) {
	case json.Number:
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			t.Fatalf("%v was read", v)
		}
		return x
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if x, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && x == x {
			return x
		}
		if b := strings.TrimSpace(v); b == "true" || b == "True" || b == "TRUE" {
			return 1
		} else if b == "false" || b == "False" || b == "FALSE" {
			return 0
		} else if i := strings.IndexAny(b, "dD"); i > 0 { // as Fortran writes it
			if x, err := strconv.ParseFloat(b[:i]+"e"+b[i+1:], 64); err == nil {
				return x
			}
		}
		return math.NaN()
	case nil:
		return math.NaN()
	}
	t.Fatalf("%v was read", v)
	return 0
}
