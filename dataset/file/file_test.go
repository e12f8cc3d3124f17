package file_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// npy is a version 1 file with the given dictionary entries and body.
func npy(descr, order, shape string, body []byte) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	dict += strings.Repeat(" ", 127-(10+len(dict))%64) + "\n"
	head := []byte("\x93NUMPY\x01\x00")
	head = binary.LittleEndian.AppendUint16(head, uint16(len(dict)))
	return string(head) + dict + string(body)
}

func floats(order binary.AppendByteOrder, x ...float64) []byte {
	var b []byte
	for _, v := range x {
		b = order.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func singles(x ...float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// contents reads all rows, targets behind features.
func contents(src dataset.Source) (string, error) {
	_, d, t := src.Dims()
	var b strings.Builder
	for blk, err := range src.Blocks(context.Background()) {
		if err != nil {
			return b.String(), err
		}
		for i := range blk.N {
			row := make([]float64, d)
			if blk.Sparse == nil {
				copy(row, blk.X[i*d:(i+1)*d])
			} else {
				idx, val := blk.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			fmt.Fprint(&b, row, blk.Y[i*t:(i+1)*t], " ")
		}
	}
	return strings.TrimSpace(b.String()), nil
}

var (
	le, be = binary.LittleEndian, binary.BigEndian
	nan    = math.NaN()
)

// TestRead: what is in a file, or what is wrong with it and where. want is either
// rows or, after "!", a part of the error after the file's name.
func TestRead(t *testing.T) {
	good := "1,2,3\n4,5,6\n"
	last := []string{"last"}
	for name, c := range map[string]struct {
		text    string
		target  []string
		targets int
		want    string
	}{
		"csv":                {good, last, 1, "[1 2] [3] [4 5] [6]"},
		"first":              {good, []string{"first"}, 1, "[2 3] [1] [5 6] [4]"},
		"number":             {good, []string{"2"}, 1, "[1 3] [2] [4 6] [5]"},
		"two targets":        {good, []string{"3", "1"}, 2, "[2] [3 1] [5] [6 4]"},
		"no target":          {good, nil, 0, "[1 2 3] [] [4 5 6] []"},
		"header":             {"a,b,y\n1,2,3\n", []string{"y"}, 1, "[1 2] [3]"},
		"header named last":  {"last,b,y\n1,2,3\n", last, 1, "[2 3] [1]"},
		"numeric name":       {"2,b,y\n1,2,3\n", []string{"2"}, 1, "[2 3] [1]"},
		"semicolons":         {"1;2;3\n", last, 1, "[1 2] [3]"},
		"tabs":               {"x\ty\n1\t2\n", last, 1, "[1] [2]"},
		"CRLF":               {"1,2\r\n3,4\r\n", last, 1, "[1] [2] [3] [4]"},
		"BOM":                {"\ufeff1,2\n3,4\n", last, 1, "[1] [2] [3] [4]"},
		"BOM, quotes":        {"\ufeff\"a\",\"b\"\n1,2\n", []string{"a"}, 1, "[2] [1]"},
		"empty lines":        {"\n\n1,2\n\n3,4\n\n", last, 1, "[1] [2] [3] [4]"},
		"no newline":         {"1,2\n3,4", last, 1, "[1] [2] [3] [4]"},
		"blanks":             {" 1 , 2 \n3,\t4\n", last, 1, "[1] [2] [3] [4]"},
		"quoted":             {"\"1\",\"-2.5e1\"\n", last, 1, "[1] [-25]"},
		"denormal":           {"5e-324,1e-400\n", last, 1, "[5e-324] [0]"},
		"gzip":               {zipped(t, good), last, 1, "[1 2] [3] [4 5] [6]"},
		"two gzip members":   {zipped(t, "1,2\n") + zipped(t, "3,4\n"), last, 1, "[1] [2] [3] [4]"},
		"ragged":             {"1,2,3\n4,5\n", last, 1, "!:2:3: the row has 2 fields, the first line has 3"},
		"too long":           {"1,2\n3,4,5\n", last, 1, "!:2:3: the row has 3 fields"},
		"NaN":                {"1,2\n3,NaN\n", last, 1, "!:2:3: column 2: NaN is not finite"},
		"infinite":           {"1,2\n-inf,4\n", last, 1, "!:2:1: column 1: -inf is not finite"},
		"overflow":           {"1,2\n3,1e999\n", last, 1, "!:2:3: column 2: 1e999 exceeds"},
		"text":               {"a,b\n1,2\n3,red\n", last, 1, "!:3:3: column b: \"red\" is not a number; encode the column as numbers"},
		"missing":            {"a,b\n1,\n", last, 1, "!:2:3: column b is empty"},
		"bad quote":          {"1,2\n\"3,4\n", last, 1, "!:2:"},
		"no such column":     {"a,b\n1,2\n", []string{"price"}, 1, "!:1: there is no column \"price\"; the 2 columns are a, b"},
		"column 3 of 2":      {"1,2\n", []string{"3"}, 1, "!:1: there is no column"},
		"column 0":           {"1,2\n", []string{"0"}, 1, "!:1: there is no column"},
		"twice":              {"1,2,3\n", []string{"3", "last"}, 2, "!:1: column \"last\" is named twice"},
		"nothing but target": {"1\n", last, 1, "!:1: no column is left"},
		"target unnamed":     {good, nil, 1, "!: no target is selected"},
		"two where one":      {good, []string{"1", "2"}, 1, "!: gives 2 targets, but 1 is required"},
		"one or more":        {good, []string{"1", "2"}, -1, "[3] [1 2] [6] [4 5]"},
		"one of two or more": {good, last, -2, "!: no target is selected"},
		"none of one":        {good, nil, -1, "!: no target is selected"},
		"one label or more":  {"1 1:2\n", nil, -1, "[2] [1]"},
		"header alone":       {"a,b\n", last, 1, ""},
		"empty":              {"", last, 1, "!: is empty"},
		"blank":              {"\n \n", last, 1, "!: has no rows"},
		"truncated gzip":     {zipped(t, strings.Repeat("1,2\n", 5000))[:40], last, 1, "!:2130: the gzip stream is truncated"},
		"damaged gzip":       {zipped(t, good)[:20] + "xxxx" + zipped(t, good)[24:], last, 1, "!"},

		"svmlight":       {"1 1:2 3:4\n-1 2:0.5 # note\n\n# all\n+1\n", nil, 1, "[2 0 4] [1] [0 0.5 0] [-1] [0 0 0] [1]"},
		"svmlight CRLF":  {"1 1:2 \r\n2 2:3 \r\n", nil, 1, "[2 0] [1] [0 3] [2]"},
		"qid":            {"1 qid:7 1:2\n", nil, 1, "[2] [1]"},
		"labels left":    {"5 1:2\n", nil, 0, "[2] []"},
		"svmlight gzip":  {zipped(t, "1 1:2\n"), nil, 1, "[2] [1]"},
		"long line":      {"1 1:1" + strings.Repeat(" ", 600000) + "2:3\n2 1:4", nil, 1, "[1 3] [1] [4 0] [2]"},
		"unsorted":       {"1 2:1 1:1\n", nil, 1, "!:1:7: index 1 after index 2"},
		"duplicate":      {"1 2:1 2:1\n", nil, 1, "!:1:7: index 2 after index 2"},
		"zero":           {"1 1:1\n1 0:1\n", nil, 1, "[0 1] [1] [1 0] [1]"},
		"negative":       {"1 1:1\n1 -4:1\n", nil, 1, "!:2:3: index -4 is less than 1"},
		"huge":           {"1 99999999999:1\n", nil, 1, "!:1:3: index 99999999999 is more than"},
		"no value":       {"1 1:1\n1 2:\n", nil, 1, "!:2:5: value \"\" is not a number"},
		"no colon":       {"1 1:1\n1 2\n", nil, 1, "!:2:3: \"2\" is not index:value"},
		"no index":       {"1 1:1\n1 x:2\n", nil, 1, "!:2:3: \"x\" is not an index"},
		"svmlight NaN":   {"1 1:1\n1 1:nan\n", nil, 1, "!:2:5: value nan is not finite"},
		"label text":     {"1 1:1\nyes 1:1\n", nil, 1, "!:2:1: label \"yes\" is not a number"},
		"labels":         {"1,2 1:1\n", nil, 1, "!:1:1: label \"1,2\" has several targets instead of one"},
		"only labels":    {"1 # 1:1\n", nil, 1, "!"},
		"svmlight named": {"1 1:1\n", last, 1, "!: the target of a svmlight file is its label"},

		"npy":              {npy("<f8", "False", "(2, 3)", floats(le, 1, 2, 3, 4, 5, 6)), last, 1, "[1 2] [3] [4 5] [6]"},
		"npy first":        {npy("<f8", "False", "(2, 3)", floats(le, 1, 2, 3, 4, 5, 6)), []string{"first"}, 1, "[2 3] [1] [5 6] [4]"},
		"big-endian":       {npy(">f8", "False", "(1, 2)", floats(be, 1, -2)), last, 1, "[1] [-2]"},
		"float32":          {npy("<f4", "False", "(1, 2)", singles(0.5, 3)), last, 1, "[0.5] [3]"},
		"bytes":            {npy("|u1", "False", "(2, 2)", []byte{1, 255, 0, 7}), last, 1, "[1] [255] [0] [7]"},
		"int16":            {npy("<i2", "False", "(1, 2)", []byte{255, 255, 1, 0}), last, 1, "[-1] [1]"},
		"one dimension":    {npy("<f8", "False", "(2,)", floats(le, 8, 9)), nil, 0, "[8] [] [9] []"},
		"npy gzip":         {zipped(t, npy("<f8", "False", "(1, 2)", floats(le, 1, 2))), last, 1, "[1] [2]"},
		"Fortran column":   {npy("<f8", "True", "(2, 1)", floats(le, 8, 9)), nil, 0, "[8] [] [9] []"},
		"Fortran":          {npy("<f8", "True", "(2, 3)", floats(le, 1, 4, 2, 5, 3, 6)), last, 1, "[1 2] [3] [4 5] [6]"},
		"objects":          {npy("|O", "False", "(2, 2)", nil), last, 1, "!: holds entries of type"},
		"npy truncated":    {npy("<f8", "False", "(2, 3)", floats(le, 1, 2, 3, 4)), last, 1, "!: is truncated: 2×3 entries of 8 bytes need"},
		"gzip truncated":   {zipped(t, npy("<f8", "False", "(2, 3)", floats(le, 1, 2, 3, 4))), last, 1, "!: is truncated: row 2 of 2"},
		"many columns":     {npy("<f8", "False", "(1, 2000000000)", nil), last, 1, "!: has shape"},
		"trailing":         {npy("<f8", "False", "(1, 2)", floats(le, 1, 2, 3)), last, 1, "!: has more bytes than its 1 rows"},
		"npy NaN":          {npy("<f8", "False", "(2, 2)", floats(le, 1, 2, 3, math.NaN())), last, 1, "!:2:2: row 2, column 2 is NaN"},
		"three dimensions": {npy("<f8", "False", "(1, 1, 1)", floats(le, 1)), last, 1, "!: has 3 dimensions"},
		"negative shape":   {npy("<f8", "False", "(-1, 2)", nil), last, 1, "!: has shape"},
		"overflow shape":   {npy("<f8", "False", "(9223372036854775807, 2)", nil), last, 1, "!: has shape"},
		"no rows":          {npy("<f8", "False", "(0, 2)", nil), last, 1, "!: has no rows"},
		"header ends":      {"\x93NUMPY\x01\x00\xff\x00{", last, 1, "!: ends within its header"},
		"huge header":      {"\x93NUMPY\x02\x00\xff\xff\xff\x7f{", last, 1, "!: has a header of"},
		"no dictionary":    {"\x93NUMPY\x01\x00\x02\x00{\n", last, 1, "!: has a malformed header"},
		"no newline, npy":  {"\x93NUMPY\x01\x00\x02\x00{}", last, 1, "!: has a malformed header"},
		"npy no column":    {npy("<f8", "False", "(1, 2)", floats(le, 1, 2)), []string{"price"}, 1, "!: there is no column"},
	} {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := open(path, file.Options{Target: c.target, Targets: c.targets})
		if part, bad := strings.CutPrefix(c.want, "!"); bad {
			var e *dataset.InputError
			if !errors.As(err, &e) || e.File != path || !strings.HasPrefix(err.Error(), path+part) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, part)
			}
			finite := strings.Contains(part, "finite") || strings.Contains(part, "exceeds the") ||
				strings.Contains(part, "is NaN")
			if e != nil &&
				finite != e.NonFinite &&
				part != ":2:3: column 2: 1e999 exceeds" {
				t.Errorf("%s: NonFinite is %v", name, e.NonFinite)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func open(path string, opts file.Options) (string, error) {
	s, err := file.Open([]string{path}, opts)
	if err != nil {
		return "", err
	}
	return contents(s)
}

func write(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("part%d.csv", i)))
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestSeveralFiles(t *testing.T) {
	s, err := file.Open(write(t, "1 1:2\n", "2 3:4\n", "3 2:1\n"), file.Options{Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(s); err != nil || got != "[2 0 0] [1] [0 0 4] [2] [0 1 0] [3]" {
		t.Errorf("svmlight files of different widths: %q, %v", got, err)
	}
	if s.Passes() != 2 || s.Scans != 1 {
		t.Errorf("%d passes, %d scans", s.Passes(), s.Scans)
	}
	for name, texts := range map[string][]string{
		"different widths":  {"1,2\n", "1,2,3\n"},
		"different formats": {"1,2\n", "1 1:2\n"},
	} {
		paths := write(t, texts...)
		if _, err := file.Open(paths, file.Options{Targets: 1, Target: []string{"first"}}); err == nil ||
			!strings.Contains(err.Error(), paths[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTargetFile(t *testing.T) {
	paths := write(t, "1,2\n3,4\n", "7\n8\n", "1,2\n3,4\n")
	got, err := open(paths[0], file.Options{Target: paths[1:2], Targets: 1})
	if err != nil || got != "[1 2] [7] [3 4] [8]" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := open(paths[0], file.Options{Target: paths[2:3], Targets: 1}); err == nil ||
		!strings.Contains(err.Error(), "gives 2 targets, but 1 is required") {
		t.Errorf("two columns: %v", err)
	}
	if got, err := open(paths[0], file.Options{Target: paths[2:3], Targets: 2}); err != nil ||
		got != "[1 2] [1 2] [3 4] [3 4]" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{filepath.Join(dir, "absent"): "no such file", dir: "is a directory"} {
		if _, err := open(path, file.Options{Targets: 1}); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := open(write(t, "1,2\n")[0], file.Options{Format: "excel"}); err == nil ||
		!strings.Contains(err.Error(), "excel") {
		t.Errorf("unknown format: %v", err)
	}
	if got, err := open(write(t, "3\n")[0], file.Options{Format: "svmlight", Features: 2, Targets: 1}); err != nil ||
		got != "[0 0] [3]" {
		t.Errorf("an explicit format: %q, %v", got, err)
	}
	if _, err := open(write(t, "3 3:1\n")[0], file.Options{Features: 2, Targets: 1}); err == nil ||
		!strings.Contains(err.Error(), "index 3 is more than the 2 features") {
		t.Errorf("an index above the features given: %v", err)
	}
}

// public finds a public data set in the folder FDRIDGE_DATA or in the clone.
func public(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{os.Getenv("FDRIDGE_DATA"), "../../testdata", "../../paper/data"} {
		if path := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skipf("%s is not in the repository, and not in the folder FDRIDGE_DATA", name)
	return ""
}

// TestRealData reads the public data sets.
func TestRealData(t *testing.T) {
	for name, c := range map[string]struct {
		target string
		n      int64
		d      int
		nnz    int
	}{
		"w8a.svm.gz":                          {"", 49749, 300, 579586},
		"w8a.t.svm.gz":                        {"", 14951, 300, 174276},
		"covtype.data.gz":                     {"last", 100000, 54, 1185553},
		"diabetes.tab.txt":                    {"Y", 442, 10, 4420},
		"YearPredictionMSD.head1176.txt.gz":   {"first", 1176, 90, -1},
		"YearPredictionMSD.sample7000.txt.gz": {"first", 7000, 90, -1},
		"cal_housing.data.gz":                 {"last", 20640, 8, -1},
	} {
		t.Run(name, func(t *testing.T) {
			opts := file.Options{Targets: 1}
			if c.target != "" {
				opts.Target = []string{c.target}
			}
			s, err := file.Open([]string{public(t, name)}, opts)
			if err != nil {
				t.Fatal(err)
			}
			nnz := 0
			for b, err := range s.Blocks(context.Background()) {
				if err != nil {
					t.Error(err)
				}
				if b.Sparse != nil {
					nnz += b.Sparse.NNZ()
				}
				for _, v := range b.X {
					if v != 0 {
						nnz++
					}
				}
			}
			if n, d, _ := s.Dims(); n != c.n || d != c.d || (c.nnz >= 0 && nnz != c.nnz) {
				t.Errorf("%s: %d×%d with %d nonzeros, want %+v", name, n, d, nnz, c)
			}
		})
	}
	t.Run("abalone", func(t *testing.T) {
		if _, err := open(public(t, "abalone.data"), file.Options{Target: []string{"last"}, Targets: 1}); err == nil ||
			!strings.Contains(err.Error(), "column 1: \"M\" is not a number; encode the column as numbers") {
			t.Errorf("a categorical column: %v", err)
		}
	})
}

// fuzz holds a reader to: an *InputError, or rows of finite numbers.
func fuzz(t *testing.T, format string, text []byte) {
	path := filepath.Join(t.TempDir(), "fuzz")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := file.Options{Format: format, Targets: 1}
	if format != "svmlight" {
		opts.Target = []string{"last"}
	}
	s, err := file.Open([]string{path}, opts)
	var e *dataset.InputError
	if err != nil {
		if !errors.As(err, &e) {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	_, d, k := s.Dims()
	for b, err := range s.Blocks(context.Background()) {
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		val := b.X
		if b.Sparse != nil {
			val = b.Sparse.Val
			for _, j := range b.Sparse.ColIdx {
				if j < 0 || int(j) >= d {
					t.Fatalf("column %d of %d", j, d)
				}
			}
		} else if len(val) != b.N*d {
			t.Fatalf("%d entries in %d rows of %d", len(val), b.N, d)
		}
		if len(b.Y) != b.N*k {
			t.Fatalf("%d targets in %d rows", len(b.Y), b.N)
		}
		for _, v := range append(append([]float64(nil), val...), b.Y...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v got through", v)
			}
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "1;2\n3;4", "\ufeff\"1\",2\r\n\n3,4", "1,\"2\n3\",4\n", "1,2\n3\n", "1\t2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "csv", text) })
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{"{\"a\":1,\"b\":2}\n", "{\"a\":\"1\",\"b\":true}\r\n\n{\"b\":1e3,\"a\":-0.5}", "{\"a\":null,\"b\":1}\n", "\ufeff{\"a\":1,\"b\":[1]}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "jsonl", text) })
}

func FuzzSvmlight(f *testing.F) {
	for _, s := range []string{"1 1:2 3:4\n", "-1 qid:1 2:1e3 # x\n\n+1", "1,2 1:1\n", "1 1:1 1:1\n", "0 2147483647:1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "svmlight", text) })
}

func FuzzNpy(f *testing.F) {
	f.Add([]byte(npy("<f8", "False", "(1, 2)", floats(le, 1, 2))))
	f.Add([]byte(npy("<f4", "True", "(2, 1)", singles(1, 2))))
	f.Add([]byte(npy(">i2", "False", "(1, 2)", []byte{1, 2, 3, 4})))
	for _, name := range []string{"records", "records-aligned"} {
		text, err := os.ReadFile(filepath.Join("..", "npy", "testdata", name+".npy"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "npy", text) })
}

func FuzzParquet(f *testing.F) {
	for _, name := range []string{"duckdb-v2-delta-lz4", "rust-v2-zstd-delta", "duckdb-v2-null", "arrow-wide-v1-gzip-delta"} {
		text, err := os.ReadFile(filepath.Join("..", "parquet", "testdata", name+".parquet"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "parquet", text) })
}

// FuzzArrow: files and streams, by their places and in their order.
func FuzzArrow(f *testing.F) {
	for _, name := range []string{"node.arrow", "node.arrows", "lists.arrow", "null.arrows", "words.arrow"} {
		text, err := os.ReadFile(filepath.Join("..", "arrow", "testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range forgedArrow(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzz(t, "arrow", text)
		s, err := file.Open(
			[]string{"-"},
			file.Options{
				Format: "arrow",
				Origin: file.Origin{Pipe: dataset.NewPipe(t.Context(), "the pipe", bytes.NewReader(text))},
			},
		)
		if err == nil {
			_, err = contents(s)
		}
		if err != nil && !errors.Is(err, dataset.ErrInput) {
			t.Fatalf("an error that is not of the data: %v", err)
		}
	})
}

// FuzzCompressed: gzip and zstd, known by how they begin.
func FuzzCompressed(f *testing.F) {
	for _, name := range []string{"members.csv.gz", "frames.csv.zst", "cut.csv.zst", "sized.csv.zst"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "csv", text) })
}

func BenchmarkRead(b *testing.B) {
	for name, line := range map[string]string{
		"csv":      "1.25,-3.5,1000,0.001,7,8.125,-9,10.5\n",
		"jsonl":    "{\"a\":1.25,\"b\":-3.5,\"c\":1000,\"d\":0.001,\"e\":7,\"f\":8.125,\"g\":-9,\"h\":10.5}\n",
		"svmlight": "1 3:1 17:1 40:1 41:0.5 77:1 102:1 250:1\n",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(line, 50000)
			path := filepath.Join(b.TempDir(), "data")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			opts := file.Options{Targets: 1, Features: 300}
			if name != "svmlight" {
				opts.Target = []string{"last"}
			}
			s, err := file.Open([]string{path}, opts)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for _, err := range s.Blocks(context.Background()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
