package main

import (
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

// TestSparkEscapes: quotes that Spark escapes by a backslash are refused, with the option of Spark that doubles them.
func TestSparkEscapes(t *testing.T) {
	for _, row := range []string{"\"He said \\\"hi\\\"\",1\n", "\"5\\\" pipe\",1\n"} {
		dir := sparkFolder(t, ".csv", "name,y\nplain,2\n"+row+"plain,3\n")
		refused(t, row, dir, "escape = \"\\\"\" in Spark", "fit", "--data", dir, "--target", "y", "--prepare", "auto")
	}
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
