package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sparkFolder returns a folder with the given parts, beside the files that Spark adds.
func sparkFolder(t *testing.T, suffix string, parts ...string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range parts {
		name := "part-0000" + string(rune('0'+i)) + "-5f0c-c000" + suffix
		put(name, text)
		put("."+name+".crc", "crc\x00\x00\x00\x02\x00")
	}
	put("_SUCCESS", "")
	put("._SUCCESS.crc", "crc\x00")
	return dir
}

// coefficientsOf fits with automatic preparation and returns the array of coefficients, and what is printed.
func coefficientsOf(t *testing.T, data, target string) (coef, out string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coef.npy")
	out = must(t, "fit", "--data", data, "--target", target, "--prepare", "auto", "--gamma", "1", "--coef", path)
	return contents(t, path), out
}

// TestSparkCSV: a folder of csv files as Spark writes them gives the bits of its files. Each part has a header, one
// has no rows, and one is empty. Empty texts are "", and missing cells are empty.
func TestSparkCSV(t *testing.T) {
	const header = "id,name,note,x,y\n"
	rows := []string{
		"1,He said hi,\"\",1.5,2.0\n2,plain,,2.5,3.0\n3,\"a,b\",c,3.5,4.5\n",
		"4,back,zz,4.5,5.0\n5,plain,zz,5.5,\n6,plain,,6.5,7.25\n",
	}
	dir := sparkFolder(t, ".csv", header+rows[0], header+rows[1], header, "")
	one := write(t, "one.csv", header+rows[0]) + "," + write(t, "two.csv", header+rows[1])
	want, _ := coefficientsOf(t, one, "y")
	got, out := coefficientsOf(t, dir, "y")
	if got != want || !strings.HasPrefix(out, "5 rows") || !strings.Contains(out, "1 row is left out") {
		t.Errorf("the folder gives %q, and its files %q\n%s", got, want, out)
	}

	model := filepath.Join(t.TempDir(), "m.json")
	must(t, "fit", "--data", dir, "--target", "y", "--prepare", "auto", "--gamma", "1", "--out", model)
	keys := must(t, "predict", "--model", model, "--data", dir, "--key", "id", "--out-format", "csv")
	if lines := strings.Split(keys, "\n"); len(lines) != 8 || !strings.HasPrefix(lines[6], "6,") {
		t.Errorf("predictions of the folder: %q", keys)
	}
}

// TestSparkEscapes: quotes that Spark escapes by a backslash give the fit of doubled quotes. If the first rows do not
// show them, the error names the flag.
func TestSparkEscapes(t *testing.T) {
	table := func(quote string) string {
		texts := []string{`He said "hi"`, `5" pipe`, `a, "b"`, `plain`, `He said "hi"`, `5" pipe`, `"`, `"`}
		var out strings.Builder
		out.WriteString("name,y\n")
		for i, s := range texts {
			fmt.Fprintf(&out, "\"%s\",%d\n", strings.ReplaceAll(s, `"`, quote), i*i)
		}
		return out.String()
	}
	doubled := sparkFolder(t, ".csv", table(`""`), table(`""`))
	want, _ := coefficientsOf(t, doubled, "y")
	for _, parts := range [][]string{{table(`\"`), table(`\"`)}, {table(`\"`), table(`""`)}} {
		dir := sparkFolder(t, ".csv", parts...)
		if got, _ := coefficientsOf(t, dir, "y"); got != want {
			t.Errorf("%q gives %q, want %q", parts, got, want)
		}
		_, _, errs := call("fit", "--data", dir, "--target", "y", "--prepare", "auto", "--gamma", "1")
		if !strings.Contains(errs, `:2: within quotes, \" is read as a quote (--escape '"' overrides this)`) {
			t.Errorf("%q: %s", parts, errs)
		}
	}
	late := "name,y\n" + strings.Repeat("plain,2\n", 200) + table(`\"`)[len("name,y\n"):]
	dir := sparkFolder(t, ".csv", late)
	fit := []string{"fit", "--data", dir, "--target", "y", "--prepare", "auto", "--gamma", "1"}
	refused(t, "late", dir, `, use --escape '\'`, fit...)
	must(t, append(fit, "--escape", `\`)...)
	refused(t, "forbidden", doubled, `extraneous or missing`, "fit", "--data", sparkFolder(t, ".csv", table(`\"`)),
		"--target", "y", "--prepare", "auto", "--gamma", "1", "--escape", `"`)
	sparse := write(t, "x.svm", "1 1:2\n2 1:3\n")
	refused(t, "svmlight", dir, "has no quotes to escape", "fit", "--data", sparse, "--escape", `\`)
}

// TestSparkParquet: a folder of Parquet files with snappy, decimals in FIXED_LEN_BYTE_ARRAY and INT96 gives the rows
// of its files.
func TestSparkParquet(t *testing.T) {
	const name = "../../dataset/parquet/testdata/arrow-wide-v1-snappy-dictionary.parquet"
	text := contents(t, name)
	dir := sparkFolder(t, ".snappy.parquet", text, text)
	want, _ := coefficientsOf(t, name+","+name, "decimal64")
	got, out := coefficientsOf(t, dir, "decimal64")
	if got != want || !strings.Contains(out, "int96      date ") || !strings.Contains(out, "fixed38    number ") {
		t.Errorf("the folder gives %q, and its files %q\n%s", got, want, out)
	}
}

// TestFolders: other folders, and several files without commas, are errors that say what to do.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"part-0.csv", "part-1.csv", "other.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x,y\n1,2\n2,4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	const text = "is a directory; name its files (A,B): a folder is read if"
	refused(t, "folder", dir, text, "fit", "--data", dir, "--target", "y")
	refused(
		t, "files", dir, "; several files are one list (A,B), or a folder of parts",
		"fit", "--target", "y", "--data", in("part-0.csv"), in("part-1.csv"),
	)
}

// TestPatterns: a pattern in --data stands for the files that match, in the order of their numbers.
func TestPatterns(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"r-2.csv": "x,y\n1,2\n2,4.5\n", "r-10.csv": "x,y\n3,7\n4,7\n", "r-1.csv": "x,y\n9,1\n",
		"r-3.csv": "", ".r-4.csv": "no table", "_r-5.csv": "no table", "[ab].csv": "x,y\n1,1\n2,3\n", "a.csv": "x,y\n5,1\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	predicted := func(data string) string {
		model := filepath.Join(t.TempDir(), "m.json")
		must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--out", model)
		return must(t, "predict", "--model", model, "--data", data, "--target", "y")
	}
	list := strings.Join([]string{in("r-1.csv"), in("r-2.csv"), in("r-10.csv")}, ",")
	want := predicted(list)
	for _, data := range []string{in("r-*.csv"), in("r-[12].csv") + "," + in("r-1?.csv"), in("*r-*.csv")} {
		if got := predicted(data); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
	out := must(t, "fit", "--data", in("[ab].csv"), "--target", "y", "--gamma", "1")
	if !strings.HasPrefix(out, "2 rows") {
		t.Errorf("a file whose name is a pattern: %s", out)
	}
	for _, args := range [][]string{
		{"fit", "--gamma", "1"},
		{"sketch", "-o", in("out.fds")},
		{"plan"},
		{"predict", "--model", in("m.json")},
	} {
		args = append(args, "--target", "y", "--data", in("no-*.csv"))
		refused(t, args[0], dir, "--data: no file matches the pattern \""+in("no-*.csv")+"\"", args...)
	}
	refused(t, "bad", dir, "is not a valid pattern of file names", "fit", "--gamma", "1", "--data", in("a[.csv"))
}
