package file_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
)

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// TestColumns: features by name, number and exclusion, delimiters, and what is
// wrong with them. want is either rows or, after "!", the error behind the file's
// name.
func TestColumns(t *testing.T) {
	people := "id,age,sex,y\n1,30,M,7\n2,40,F,8\n"
	array := npy("<f8", "False", "(2, 3)", floats(le, 1, 2, 3, 4, 5, 6))
	for name, c := range map[string]struct {
		text, columns, target string
		delimiter             rune
		want                  string
	}{
		"named":                 {people, "age,id", "y", 0, "[30 1] [7] [40 2] [8]"},
		"one left out":          {people, "-sex", "y", 0, "[1 30] [7] [2 40] [8]"},
		"two left out":          {people, "-id,-sex", "last", 0, "[30] [7] [40] [8]"},
		"by number":             {people, "2,first", "4", 0, "[30 1] [7] [40 2] [8]"},
		"left out by number":    {people, "-3", "y", 0, "[1 30] [7] [2 40] [8]"},
		"target among them":     {people, "id,age,y", "y", 0, "!:1: column \"y\" is named as a feature and as a target or weight"},
		"target left out too":   {people, "-sex,-y", "y", 0, "[1 30] [7] [2 40] [8]"},
		"a name with a minus":   {"-a,b\n1,2\n", "-a", "", 0, "[1] []"},
		"names before numbers":  {"2,x,1\n4,5,6\n", "1,2", "", 0, "[6 4] []"},
		"without a header":      {"1,2,3\n", "7", "", 0, "!:1: there is no column \"7\"; the 3 columns have no names: use first, last or a number from 1 to 3"},
		"numbers, no header":    {"1,2,3\n4,5,6\n", "3,1", "2", 0, "[3 1] [2] [6 4] [5]"},
		"npy":                   {array, "3,1", "2", 0, "[3 1] [2] [6 4] [5]"},
		"npy, one left out":     {array, "-1", "last", 0, "[2] [3] [5] [6]"},
		"npy, NaN left out":     {npy("<f8", "False", "(1, 2)", floats(le, nan, 2)), "-1", "", 0, "[2] []"},
		"npy, NaN in 2":         {npy("<f8", "False", "(1, 3)", floats(le, 1, nan, 2)), "3,2", "", 0, "!:1:2: row 1, column 2 is NaN, which is not finite"},
		"npy, NaN target":       {npy("<f8", "False", "(2, 2)", floats(le, 1, 2, 3, nan)), "", "2", 0, "!:2:2: row 2, column 2 is NaN, which is not finite"},
		"npy, two NaN":          {npy("<f8", "False", "(2, 2)", floats(le, 1, nan, nan, 2)), "", "2", 0, "!:1:2: row 1, column 2 is NaN, which is not finite"},
		"categories alone":      {"M,1,2\nF,3,4\n", "-1", "last", 0, "[1] [2] [3] [4]"},
		"categories, numbers":   {"M,1\nF,2\n", "", "last", 0, "!:1:1: column 1: \"M\" is not a number; encode the column as numbers, or leave it out"},
		"a header of numbers":   {"sex,1,2\n3,4,5\n", "", "sex", 0, "[4 5] [3]"},
		"a header alone":        {"sex,1\n", "", "sex", 0, ""},
		"a ragged second":       {"sex,1\n3\n", "", "sex", 0, "!:2:1: the row has 1 fields, the first line has 2"},
		"text":                  {people, "", "y", 0, "!:2:6: column sex: \"M\" is not a number; encode the column as numbers, or leave it out"},
		"the header again":      {"a,b\n1,2\na,b\n", "", "", 0, "!:3:1: column a: the header is repeated, as in files that were joined"},
		"quoted text":           {"a,b\n1,\"x, y\"\n", "", "", 0, "!:2:3: column b: \"x, y\" is not a number; encode"},
		"quoted over lines":     {"a,b,c\n1,\"x\ny\",3\n4,\"z\",bad\n", "-b", "", 0, "!:4:7: column c: \"bad\" is not a number"},
		"empty":                 {"a,b\n1,2\n,4\n", "", "", 0, "!:3:1: column a is empty; fill in what is missing, or leave the column out"},
		"NA":                    {"a,b\n1,NA\n", "", "", 0, "!:2:3: column b: NA is a missing value; fill in what is missing, or leave the column out"},
		"question mark":         {"1,2\n3, ?\n", "", "", 0, "!:2:3: column 2: ? is a missing value"},
		"missing left out":      {"a,b\n1,NA\n2,\n", "a", "", 0, "[1] [] [2] []"},
		"unknown":               {people, "weight", "y", 0, "!:1: there is no column \"weight\"; the 4 columns are id, age, sex, y"},
		"unknown left out":      {people, "-weight", "y", 0, "!:1: there is no column \"weight\""},
		"twice":                 {people, "age,2", "y", 0, "!:1: column \"2\" is named twice"},
		"both ways":             {people, "age,-sex", "y", 0, "!:1: either all columns begin with \"-\" (left out) or none does, unlike in \"age,-sex\""},
		"none left":             {people, "-id,-age,-sex", "y", 0, "!:1: no column is left for the features"},
		"a bar":                 {"a|b\n1|2\n", "", "b", '|', "[1] [2]"},
		"a tab said":            {"a,1\tb\n1\t2,5\n", "", "", '\t', "[1 2.5] []"},
		"a gap in a target":     {"a,b\n1,NA\n", "", "b", 0, "!:2:3: column b: NA is a missing value; fill in what is missing, or leave the row out"},
		"a decimal comma":       {"a;b\n1;38513,04\n", "", "b", ';', "[1] [38513.04]"},
		"thousands":             {"a,b\n\"-1,234.5\",2\n", "", "b", 0, "[-1234.5] [2]"},
		"a list":                {"a,b\n\"1,x\",2\n", "", "b", 0, "!:2:1: column a: \"1,x\" is not a number; encode the column as numbers, or leave it out"},
		"a colon":               {"1:2:3\n4:5:6\n", "", "", ':', "[1 2 3] [] [4 5 6] []"},
		"blanks":                {"x y\n 1   2\n3 4 \n", "", "y", 0, "[1] [2] [3] [4]"},
		"blanks ragged":         {"1 2\n3 4\n5\n", "", "", 0, "!:3:1: the row has 1 fields, the first line has 2"},
		"not a delimiter":       {"1,2\n", "", "", '"', "!: '\"' cannot be a delimiter"},
		"nor a newline":         {"1,2\n", "", "", '\n', "!: '\\n' cannot be a delimiter"},
		"nor beyond ASCII":      {"1→2\n", "", "", '→', "!: '→' cannot be a delimiter"},
		"npy has no delimiter":  {array, "", "", ';', "!: is npy, which has no delimiter; only csv has one"},
		"svmlight, no columns":  {"1 1:2\n", "1", "", 0, "!: a svmlight file has no columns to select, such as \"1\""},
		"svmlight, a delimiter": {"1 1:2\n", "", "", ' ', "!: is svmlight, which has no delimiter; only csv has one"},
	} {
		opts := file.Options{
			Columns:   list(c.columns),
			Target:    list(c.target),
			Targets:   len(list(c.target)),
			Delimiter: c.delimiter,
		}
		path := named(t, "data", c.text)
		got, err := open(path, opts)
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		if !bad && (err != nil || got != c.want) ||
			bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	paths := []string{named(t, "a", "id,age,y\n1,2,3\n"), named(t, "b", "y,age,id\n4,5,6\n")}
	s := opened(t, paths, file.Options{Columns: []string{"age", "id"}, Target: []string{"y"}, Targets: 1})
	if !slices.Equal(s.Names, []string{"age", "id"}) || !slices.Equal(s.TargetNames, []string{"y"}) {
		t.Errorf("%q, %q", s.Names, s.TargetNames)
	}
	if got, err := contents(s); err != nil || got != "[2 1] [3] [5 6] [4]" {
		t.Errorf("%q, %v", got, err)
	}
	if s := opened(t, []string{named(t, "c", "1,2\n")}, file.Options{}); s.Names != nil {
		t.Errorf("%q without a header", s.Names)
	}
	s = opened(
		t,
		[]string{named(t, "x", "p,q\n1,2\n")},
		file.Options{Target: []string{named(t, "y.csv", "z\n3\n")}, Targets: 1},
	)
	if !slices.Equal(s.Names, []string{"p", "q"}) || !slices.Equal(s.TargetNames, []string{"z"}) {
		t.Errorf("%q, %q with a file of targets", s.Names, s.TargetNames)
	}
}

// TestHeaderSaid: the header as it is said, not as it looks.
func TestHeaderSaid(t *testing.T) {
	path := named(t, "data", "1,2\n3,4\n")
	opts := file.Options{Header: csv.Present, Target: []string{"2"}, Targets: 1}
	if got, err := open(path, opts); err != nil || got != "[3] [4]" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := open(named(t, "data", "1 1:2\n"), file.Options{Header: csv.Absent}); err == nil ||
		!strings.HasSuffix(err.Error(), ": is svmlight, which has no header line; only csv has one") {
		t.Error(err)
	}
}

func zstandard(t *testing.T, text string, opts ...zstd.EOption) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

// TestZstd: a zstd stream is read wherever a gzip stream is.
func TestZstd(t *testing.T) {
	rows := strings.Repeat("1,2\n", 5000)
	whole := zstandard(t, rows)
	wide := "\x28\xb5\x2f\xfd\x00\x90" + whole[6:] // a window of 256 MiB
	for name, c := range map[string]struct{ text, want string }{
		"csv":                 {zstandard(t, "1,2\n"), "[1] [2]"},
		"two frames":          {zstandard(t, "1,2\n") + zstandard(t, "3,4\n"), "[1] [2] [3] [4]"},
		"npy":                 {zstandard(t, npy("<f8", "False", "(1, 2)", floats(le, 1, 2))), "[1] [2]"},
		"npy truncated":       {zstandard(t, npy("<f8", "False", "(2, 2)", floats(le, 1, 2, 3))), "!: is truncated: row 2 of 2 is incomplete"},
		"Fortran":             {zstandard(t, npy("<f8", "True", "(2, 2)", floats(le, 1, 2, 3, 4))), "!: is in Fortran order and compressed"},
		"truncated":           {whole[:len(whole)-6], "!"},
		"within the header":   {whole[:5], "!:1: the zstd stream is truncated"},
		"damaged":             {whole[:len(whole)-3] + "abc", "!:5001: the zstd stream is damaged"},
		"a window of 256 MiB": {wide, "!:1: the zstd stream needs a window of more than 128 MiB"},
		"garbage after":       {whole + "garbage", "!:5001: the zstd stream is damaged"},
		"gzip within":         {zstandard(t, zipped(t, "1,2\n")), "!"},
		"zstd, no rows":       {zstandard(t, "\n"), "!: has no rows"},
		"zstd, nothing":       {zstandard(t, ""), "!: is empty"},
		"magic number alone":  {"\x28\xb5\x2f\xfd", "!"},
	} {
		path := named(t, "data", c.text)
		got, err := open(path, file.Options{Target: []string{"last"}, Targets: 1})
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		if !bad && (err != nil || got != c.want) ||
			bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)) {
			t.Errorf("%s: %.80q, %v; want %q", name, got, err, c.want)
		}
	}
	if got, err := open(named(t, "data", zstandard(t, "1 1:2\n")), file.Options{Targets: 1}); err != nil ||
		got != "[2] [1]" {
		t.Errorf("svmlight: %q, %v", got, err)
	}
}
