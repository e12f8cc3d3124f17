package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/rss"
)

// The table of wrong and odd input, at the command.

// npyFile is an array of float64 in the file format of NumPy.
func npyFile(descr, order, shape string, x ...float64) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	dict += strings.Repeat(" ", 127-(10+len(dict))%64) + "\n"
	text := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
	text = append(text, dict...)
	for _, v := range x {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
	}
	return string(text)
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var z strings.Builder
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.String()
}

// refused runs a command line that must end with exit code 2, nothing on standard
// output, one line that holds want on standard error, and nothing new in dir.
func refused(t *testing.T, what, dir, want string, args ...string) {
	t.Helper()
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(args...)
	if code != usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%s: %v: exit %d, stdout %.200q, stderr %.300q; want %q", what, args, code, stdout, stderr, want)
	}
	after, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) {
		t.Errorf("%s: %v: wrote %v", what, args, after)
	}
}

// TestBadData: data that are wrong are refused with their place by every command that
// reads them, and none of the files that it was to write is there.
func TestBadData(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	good := write(t, "good.csv", rowsCSV(30))
	must(
		t,
		"fit",
		"--data",
		good,
		"--target",
		"y",
		"--gamma",
		"1",
		"--size",
		"2",
		"--method",
		"cg",
		"--out",
		in("model"),
		"--save-sketch",
		in("sketch"),
	)
	f8 := func(order, shape string, x ...float64) string { return npyFile("<f8", order, shape, x...) }
	cut := gzipped(t, rowsCSV(3000))
	for _, c := range []struct{ row, file, text, want string }{
		{"not finite", "nan.csv", "x1,x2,y\n1,2,3\n4,nan,6\n", ":3:3: column x2: nan is not finite"},
		{"not finite", "inf.csv", "x1,x2,y\n1,2,3\n4,5,-inf\n", ":3:5: column y: -inf is not finite"},
		{"not finite", "large.csv", "x1,x2,y\n1e999,2,3\n", ":2:1: column x1: 1e999 exceeds the range of float64"},
		{"not finite", "nan.npy", f8("False", "(2, 3)", 1, 2, 3, 4, math.NaN(), 6), ":2:2: row 2, column 2 is NaN"},
		{"not finite", "nan.svm", "1 1:1\n2 2:nan\n", ":2:5: value nan is not finite"},
		{"range", "square.csv", "x1,x2,y\n1,2,3\n1,1e200,2\n", ": the squared norm of row 2"},
		{"no rows", "empty.csv", "", ": is empty"},
		{"no rows", "header.csv", "x1,x2,y\n", ": no rows"},
		{"no rows", "empty.npy", f8("False", "(0, 3)"), ": has no rows"},
		{"ragged", "short.csv", "x1,x2,y\n1,2,3\n4,5\n", ":3:3: the row has 2 fields"},
		{"ragged", "long.csv", "x1,x2,y\n1,2,3\n4,5,6,7\n", ":3:5: the row has 4 fields"},
		{"quoted", "open.csv", "x1,x2,y\n1,2,3\n4,5,\"6\n", ":3:"},
		{"header", "text.csv", "x1,x2,y\n1,2,3\n4,red,6\n", ":3:3: column x2: \"red\" is not a number"},
		{"indices", "negative.svm", "1 1:1\n1 -1:1\n", ":2:3: "},
		{"indices", "twice.svm", "1 1:1 1:2\n", ":1:7: index 1 after index 1"},
		{"indices", "order.svm", "1 1:1\n2 2:1 1:1\n", ":2:7: index 1 after index 2"},
		{"indices", "huge.svm", "1 2147483648:1\n", ":1:3: index 2147483648 is more than"},
		{"dtype", "object.npy", npyFile("|O", "False", "(2, 3)"), ": holds entries of type"},
		{
			"Fortran", "fortran.npy.gz", gzipped(t, f8("True", "(2, 3)", 1, 4, 2, 5, 3, 6)),
			": is in Fortran order and compressed",
		},
		{"truncated", "cut.csv.gz", cut[:len(cut)-9], ":3002: the gzip stream is truncated"},
		{"truncated", "cut.npy", f8("False", "(2, 3)", 1, 2, 3), ": is truncated: 2×3 entries"},
		{"shape overflow", "shape.npy", f8("False", "(9223372036854775807, 3)"), ": has shape"},
		{"many fields", "wide.csv.gz", gzipped(t, strings.Repeat(",", 1<<21)), ":1: the row has more than 1048576 fields"},
	} {
		data := write(t, c.file, c.text)
		target := []string{"--data", data}
		if !strings.Contains(c.file, ".svm") {
			target = append(target, "--target", "last")
		}
		// Rows that a method doesn't notice are another's to refuse: all are asked.
		for name, args := range map[string][]string{
			"fit": {
				"fit", "--gamma", "1", "--method", "cg", "--out", in("o"), "--report", in("r"), "--coef", in("c"), "--save-sketch",
				in("s"),
			},
			"one-shot": {
				"fit", "--gamma", "1", "--method", "one-shot", "--out", in("o"), "--report", in("r"), "--coef", in("c"),
				"--save-sketch", in("s"),
			},
			"exact":  {"fit", "--gamma", "1", "--method", "exact", "--out", in("o"), "--report", in("r"), "--coef", in("c")},
			"auto":   {"fit", "--gamma", "auto", "--out", in("o")},
			"sketch": {"sketch", "--out", in("s")},
			"plan":   {"plan", "--every", "1"},
		} {
			if name == "sketch" && c.file == "header.csv" {
				continue // the sketch of no rows, a part like any other
			}
			refused(t, c.row+", "+name, dir, data+c.want, append(args, target...)...)
		}
	}
	for _, c := range []struct{ row, text, want string }{
		{"not finite", "x1,x2,y\n1,2,3\n4,nan,6\n", ":3:3: column x2: nan is not finite"},
		{"range", "x1,x2,y\n1,2,3\n1.5e308,-1.7e308,6\n", "row 2: the prediction exceeds the range of float64"},
		{"no rows", "", ": is empty"},
		{"ragged", "x1,x2,y\n1,2,3\n4,5\n", ":3:3: the row has 2 fields"},
		{"shapes", "x1,y\n1,2\n", "there is no column \"x2\""},
	} {
		data := write(t, "data.csv", c.text)
		refused(
			t,
			c.row+", predict",
			dir,
			c.want,
			"predict",
			"--model",
			in("model"),
			"--data",
			data,
			"--target",
			"y",
			"--out",
			in("p"),
		)
		if c.row != "range" {
			refused(
				t,
				c.row+", solve",
				dir,
				"",
				"solve",
				in("sketch"),
				"--gamma",
				"1",
				"--data",
				data,
				"--out",
				in("o"),
			)
		}
	}
	for _, gamma := range []string{"-1", "nan", "inf", "-inf", "1e999", "0", "", "1,,2"} {
		refused(
			t,
			"γ "+gamma,
			dir,
			"--gamma: ",
			"fit",
			"--data",
			good,
			"--target",
			"y",
			"--method",
			"cg",
			"--gamma",
			gamma,
			"--out",
			in("o"),
		)
		refused(t, "γ "+gamma, dir, "--gamma: ", "solve", in("sketch"), "--gamma", gamma, "--out", in("o"))
	}
	for _, weights := range []struct{ text, want string }{
		{"nan", ":30:1: "}, {"-1", "weights:30: row 30 has the weight -1; a weight must not be negative"}, {"inf", ":30:1: "},
		{"1\n1", "row 31 of "},
	} {
		file := write(t, "w.csv", strings.Repeat("1\n", 29)+weights.text+"\n")
		refused(
			t,
			"weights "+weights.text,
			dir,
			weights.want,
			"fit",
			"--data",
			good,
			"--target",
			"y",
			"--method",
			"cg",
			"--gamma",
			"1",
			"--weights",
			file,
			"--out",
			in("o"),
		)
	}
}

// TestDenormalFeatures: the exact method fits features that are only denormals. Sketching methods square the features,
// and the squares underflow. They certify nothing and fail with an error about ‖A‖².
func TestDenormalFeatures(t *testing.T) {
	file := write(t, "a.csv", "5e-324,1e-310,1\n0,5e-324,2\n")
	for _, method := range []string{"one-shot", "cg", "galerkin"} {
		code, _, stderr := call(
			"fit",
			"--data",
			file,
			"--target",
			"last",
			"--gamma",
			"0.5",
			"--method",
			method,
			"--out",
			filepath.Join(t.TempDir(), "m"),
		)
		if code != 1 || !strings.Contains(stderr, "‖A‖² is 0, too large or too small") {
			t.Errorf("%s: exit %d, %s", method, code, stderr)
		}
	}
	reported(
		t,
		"fit",
		"--data",
		file,
		"--target",
		"last",
		"--gamma",
		"0.5",
		"--method",
		"exact",
		"--tol",
		"1e-7",
		"--out",
		filepath.Join(t.TempDir(), "m"),
	)
}

// TestUnusualDataIsAccepted: unusual but valid data can be read, fitted, sketched and predicted for. Examples are blank
// lines, CRLF, a byte order mark, quotes, one row, n < d, constants and denormals.
func TestUnusualDataIsAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		n, d       float64
	}{
		"CRLF, BOM, quotes": {"a.csv", "\ufeff\"x,1\",y\r\n\r\n\"1\",2\r\n3,\"4\"", 2, 1},
		"one row":           {"a.csv", "1,2,3\n", 1, 2},
		"n < d":             {"a.csv", "1,2,3,4,5\n5,4,3,2,2\n", 2, 4},
		"one column":        {"a.csv", "1,2\n2,3\n3,5\n", 3, 1},
		"zeros":             {"a.csv", "0,0,1\n0,0,2\n", 2, 2},
		"constants":         {"a.csv", "3,1e7,1\n3,1e7,2\n3,1e7,4\n", 3, 2},
		"denormals":         {"a.csv", "5e-324,1e-310,1\n1,5e-324,2\n", 2, 2},
		"nothing but zeros": {"a.csv", "0,0\n0,0\n", 2, 1},
		"duplicated rows":   {"a.csv", strings.Repeat("1,2,3\n", 9), 9, 2},
		"Fortran order":     {"a.npy", npyFile("<f8", "True", "(2, 3)", 1, 4, 2, 5, 3, 7), 2, 2},
		"svmlight":          {"a.svm", "# none\n\n1 1:1 # one\n\n2\n", 2, 1},
	} {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		data := []string{"--data", write(t, c.file, c.text)}
		if c.file != "a.svm" {
			data = append(data, "--target", "last")
		}
		for _, method := range []string{"auto", "one-shot", "cg", "newton", "exact", "dual"} {
			v := reported(
				t,
				append([]string{"fit", "--gamma", "0.5", "--method", method, "--out", in("m")}, data...)...)
			if v["n"] != c.n || v["d"] != c.d {
				t.Errorf("%s, %s: %v×%v, want %v×%v", name, method, v["n"], v["d"], c.n, c.d)
			}
			coef, b := weightsOf(t, in("m"))
			for _, w := range append(coef, b) {
				if !(math.Abs(w) <= math.MaxFloat64) {
					t.Errorf("%s, %s: a weight is %v", name, method, w)
				}
			}
		}
		must(t, append([]string{"sketch", "-o", in("s")}, data...)...)
		must(t, "solve", in("s"), "--gamma", "0.5")
		must(t, append([]string{"predict", "--model", in("m")}, data...)...)
	}
}

// TestHostileWidth: a few bytes that claim two thousand million columns.
func TestHostileWidth(t *testing.T) {
	if rss.Available() == 0 {
		t.Skip("the memory of this machine is not known")
	}
	dir := t.TempDir()
	wide := write(t, "wide.svm", "1 2147483647:3\n2 1:1\n")
	for _, flags := range [][]string{
		{}, {"--standardize"}, {"--features", "rff:8,gamma=1"}, {"--features", "poly:2"}, {"--cv", "3", "--gamma", "auto"},
		{"--method", "exact"},
	} {
		args := append([]string{"fit", "--data", wide, "--out", filepath.Join(dir, "o")}, flags...)
		if flags == nil || !strings.Contains(strings.Join(flags, " "), "--gamma") {
			args = append(args, "--gamma", "1")
		}
		refused(t, fmt.Sprint(flags), dir, "2147483647", args...)
	}
}

// sealed is a summary's message with numbers changed, and its checksum right.
func sealed(t *testing.T, path string, change map[int]uint64) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inner := int(binary.LittleEndian.Uint64(b[88:])) // length of the sketch in it
	start := len(b) - 4 - inner
	for offset, v := range change {
		binary.LittleEndian.PutUint64(b[start+offset:], v)
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(b[len(b)-8:], crc32.Checksum(b[start:len(b)-8], table))
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], table))
	return write(t, "sealed", string(b))
}

// TestHostileModels: malicious models, sketches and reports do no harm. Files that are not regular are refused instead
// of waited for, and sizes are checked before memory is allocated. A file cannot make the command read another file.
func TestHostileModels(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "data.csv", rowsCSV(30))
	one := write(t, "one.csv", "1\n2\n")
	must(t, "sketch", "--data", data, "--target", "y", "-o", in("a"))
	must(t, "sketch", "--data", data, "--target", "y", "-o", in("b"))
	for _, place := range []string{"/dev/zero", "/dev/null", dir} {
		if info, err := os.Stat(place); err != nil || info.Mode().IsRegular() {
			continue // not on this system
		}
		for _, args := range [][]string{
			{"predict", "--model", place, "--data", data}, {"solve", place, "--gamma", "1"},
			{"merge", in("a"), place, "-o", in("o")}, {"merge", place, in("a"), "-o", in("o")},
			{"plan", "--sketch", place}, {"plot", place, "--kind", "path", "--out", in("o.png")},
			{"fit", "--data", place, "--gamma", "1"},
			{"fit", "--data", data, "--gamma", "1", "--target", place},
			{"fit", "--data", data, "--target", "y", "--gamma", "1", "--weights", place},
			{"fit", "--data", data, "--target", "y", "--gamma", "1", "--penalty", place},
		} {
			want := "regular file"
			if place == dir && args[0] == "fit" {
				want = "is a directory"
			}
			refused(t, place, dir, want, args...)
		}
	}
	large := write(t, "large", "{")
	if err := os.Truncate(large, cli.MaxText+1); err != nil {
		t.Fatal(err)
	}
	model := func(text string) string { return write(t, "m", `{"fdridge_model":1,`+text+`}`) }
	const weights = `"coef":[1,2],"intercept":0`
	for name, c := range map[string]struct{ model, data, want string }{
		"features without number": {
			model(`"d":2,"preparation":{"inputs":1,"features":{"components":30000000,"gamma":1}},` + weights), one,
			"2 features, but its preparation makes 30000000",
		},
		"other features": {
			model(`"d":2,"preparation":{"inputs":1,"features":{"components":3,"gamma":1}},` + weights), one,
			"2 features, but its preparation makes 3",
		},
		"monomials": {
			model(`"d":2,"preparation":{"inputs":1,"polynomial":{"degree":16000000}},` + weights), one,
			"2 features, but its preparation makes 16000000",
		},
		"a degree without end": {
			model(`"d":2,"preparation":{"inputs":1,"polynomial":{"degree":9223372036854775807}},` + weights), one,
			"more than 16777216 polynomial features",
		},
		"negative inputs": {model(`"d":2,"preparation":{"inputs":-1},` + weights), one, "it has -1 columns"},
		"a width without number": {
			model(`"d":2,"preparation":{"inputs":2147483647,"features":{"components":2,"gamma":1}},` + weights),
			write(t, "a.svm", "1 1:1\n"), "2147483647",
		},
		"too deep": {model(`"coef":` + strings.Repeat("[", 20000)), one, "is not a model"},
	} {
		refused(t, name, dir, c.want, "predict", "--model", c.model, "--data", c.data, "--out", in("o"))
	}

	// A sketch of a few bytes with room for two million rows more, whose products would
	// take 32 TiB, or that says it holds them.
	const shrinkRows, live, count = 40, 56, 72
	refused(
		t,
		"rows to come",
		dir,
		"takes about",
		"merge",
		sealed(t, in("a"), map[int]uint64{shrinkRows: 1 << 21}),
		in("b"),
		"-o",
		in("o"),
	)
	refused(
		t,
		"rows there",
		dir,
		"the length is",
		"solve",
		sealed(t, in("a"), map[int]uint64{live: 1 << 20, shrinkRows: 1 << 21, count: 1 << 21}),
		"--gamma",
		"1",
		"--out",
		in("o"),
	)

	// A sketch whose target is a file is solved with that file only where the user names
	// it.
	x, y := write(t, "x.csv", "1,2\n3,4\n5,7\n"), write(t, "y.csv", "1\n2\n4\n")
	must(t, "sketch", "--data", x, "--target", y, "-o", in("c"))
	refused(
		t,
		"a file of its own",
		dir,
		"has no target column "+fmt.Sprintf("%q", y),
		"solve",
		in("c"),
		"--gamma",
		"1",
		"--data",
		x,
		"--out",
		in("o"),
	)
	must(t, "solve", in("c"), "--gamma", "1", "--data", x, "--target", y)

	// Names in files are not commands to the terminal.
	escape := write(t, "e.csv", "\x1b]0;x\x07,y\nred,2\n")
	_, _, stderr := call("fit", "--data", escape, "--target", "y", "--gamma", "1")
	if strings.ContainsAny(strings.TrimSuffix(stderr, "\n"), "\x1b\x07\r\n") {
		t.Errorf("control characters are printed: %q", stderr)
	}
	var v map[string]any
	if err := json.Unmarshal(
		[]byte(must(
			t, "fit", "--data", write(t, "f.csv", "\x1b]0;x\x07,y\n1,2\n3,4\n"), "--target", "y", "--gamma", "1", "--json",
		)),
		&v,
	); err != nil {
		t.Error(err)
	}
	refused(t, "a gigabyte of model", dir, "is not a model", "predict", "--model", large, "--data", data)
}
