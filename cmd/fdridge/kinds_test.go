package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongKind: a file that holds something else than what a command expects is named for what it
// holds, with what would help.
func TestWrongKind(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	rows := write(t, "rows.csv", rowsCSV(30))
	fitted := must(
		t,
		"fit",
		"--data",
		rows,
		"--target",
		"y",
		"--gamma",
		"1,2",
		"--json",
		"--out",
		in("m.json"),
		"--save-sketch",
		in("s.fds"),
		"--size",
		"2",
		"--report",
		in("page.html"),
	)
	if err := os.WriteFile(in("r.json"), []byte(fitted), 0o600); err != nil {
		t.Fatal(err)
	}
	npy := write(t, "rows.npy", npyFile("<f8", "False", "(1, 2)", 1, 2))
	packed := write(t, "rows.csv.gz", gzipped(t, rowsCSV(3)))
	sparse := write(t, "rows.svm", "1 1:2\n")
	sketch, fit, chart := []string{
		"solve",
		"--gamma",
		"1",
		"--out",
		in("o"),
	}, []string{
		"fit",
		"--gamma",
		"1",
		"--out",
		in("o"),
		"--data",
	}, []string{
		"plot",
		"-o",
		in("o.svg"),
	}
	predict := []string{"predict", "--data", rows, "--gamma", "1", "--model"}
	for _, c := range []struct {
		args []string
		file string
		want string // behind the name
	}{
		{sketch, rows, " is a csv table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{sketch, packed, " is a csv table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{sketch, npy, " is an npy table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{sketch, sparse, " is an svmlight table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{sketch, in("m.json"), " is a model, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{sketch, in("r.json"), " is a report, not a sketch; fdridge sketch"},
		{sketch, in("page.html"), " is a page of HTML, not a sketch; fdridge sketch"},
		{[]string{"merge", in("s.fds"), "--out", in("o")}, rows, " is a csv table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{[]string{"plan", "--sketch"}, rows, " is a csv table, not a sketch; fdridge sketch and fit --save-sketch write one\n"},
		{[]string{"predict", "--model", in("m.json"), "--gamma", "1", "--data", rows, "--interval"}, in("r.json"), " is a report, not a sketch"},
		{[]string{"sketch", "--data", rows, "--target", "y", "--every", "1h", "--out"}, in("m.json"), " is a model, not a sketch"},
		{predict, rows, " is a csv table, not a model; fdridge fit --out and solve --out write one\n"},
		{predict, in("s.fds"), " is a sketch, not a model; fdridge fit --out and solve --out write one\n"},
		{predict, in("r.json"), " is a report, not a model; fdridge fit --out and solve --out write one\n"},
		{predict, in("page.html"), " is a page of HTML, not a model"},
		{chart, rows, " is a csv table, not a report, a model or a sketch; fdridge fit --json prints a report\n"},
		{chart, in("page.html"), " is a page of HTML, not a report, a model or a sketch; fdridge fit --json prints a report\n"},
		{fit, in("s.fds"), ": is a sketch, not a table of rows; fdridge solve fits from it\n"},
		{fit, in("m.json"), ": is a model, not a table of rows; fdridge predict --model predicts from it\n"},
		{fit, in("r.json"), ": is a report, not a table of rows; fdridge plot draws it\n"},
		{fit, in("page.html"), ": is a page of HTML, not a table of rows; a browser shows it\n"},
		{[]string{"fit", "--gamma", "1", "--data", rows, "--target"}, in("s.fds"), ": is a sketch, not a table of rows"},
		{[]string{"fit", "--gamma", "1", "--data", rows, "--target", "y", "--weights"}, in("m.json"), ": is a model, not a table of rows"},
		{[]string{"fit", "--gamma", "1", "--data", rows, "--target", "y", "--penalty"}, in("s.fds"), ": is a sketch, not a table of rows"},
		{[]string{"predict", "--model", in("m.json"), "--gamma", "1", "--data"}, in("s.fds"), ": is a sketch, not a table of rows"},
		{[]string{"solve", in("s.fds"), "--gamma", "1", "--data"}, in("s.fds"), ": is a sketch, not a table of rows"},
	} {
		refused(t, strings.Join(c.args, " "), dir, c.file+c.want, append(c.args, c.file)...)
	}
}

// TestNameTexts: all columns that hold no numbers are named at once, and the flags that read the rows
// do.
func TestNameTexts(t *testing.T) {
	dir := t.TempDir()
	table := write(
		t,
		"flats.csv",
		"city,area,heating,rent\nRome,30,gas,300\nOslo,40,oil,500\nRome,50,gas,600\nOslo,45,gas,550\n",
	)
	fit := []string{"fit", "--data", table, "--target", "rent", "--gamma", "1", "--out", filepath.Join(dir, "m")}
	const said = `column city: "Rome" is not a number; `
	for _, c := range []struct {
		flags []string
		want  string
		works []string // flags that are named
	}{
		{nil, said + "2 columns are not numeric: city, heating; encode the column as numbers, or leave it out (--prepare auto; or --onehot text; or --columns=-city,-heating)\n", []string{"--onehot", "text"}},
		{nil, "", []string{"--columns=-city,-heating"}},
		{[]string{"--onehot", "heating"}, said + "encode the column as numbers, or leave it out (--prepare auto; or --onehot heating,city; or --columns=-city)\n", []string{"--onehot", "heating,city"}},
		{[]string{"--columns=-heating"}, said + "encode the column as numbers, or leave it out (--prepare auto; or --onehot city; or --columns=-heating,-city)\n", []string{"--columns=-heating,-city"}},
		{[]string{"--columns", "city,area"}, said + "encode the column as numbers, or leave it out (--prepare auto; or --onehot city; or --columns without city)\n", []string{"--columns", "area"}},
	} {
		refused(t, strings.Join(c.flags, " "), dir, c.want, append(fit, c.flags...)...)
		code, _, errs := call(append(fit, c.works...)...)
		if code != done {
			t.Errorf("%v: exit %d, %s", c.works, code, errs)
		}
		if err := os.Remove(filepath.Join(dir, "m")); err != nil {
			t.Fatal(err)
		}
	}
	odd := write(t, "odd.csv", "\"a b\",c,y\nx,1,2\n")
	refused(
		t,
		"a name with a blank",
		dir,
		"(--prepare auto, or --onehot text; or see --columns)\n",
		"fit",
		"--data",
		odd,
		"--target",
		"y",
		"--gamma",
		"1",
	)
}

// TestContradictions: flags that contradict each other, or the file, are refused.
func TestContradictions(t *testing.T) {
	dir := t.TempDir()
	rows, sparse := write(t, "rows.csv", rowsCSV(30)), write(t, "rows.svm", "1 1:2\n2 2:1\n")
	fit := []string{"fit", "--gamma", "1", "--data"}
	refused(
		t,
		"a target is a feature",
		dir,
		`column "y" is named as a feature and as a target or weight`,
		append(fit, rows, "--target", "y", "--columns", "y,x1")...)
	refused(
		t,
		"weights are a feature",
		dir,
		`column "x2" is named as a feature and as a target or weight`,
		append(fit, rows, "--target", "y", "--weights", "x2", "--columns", "x1,x2")...)
	refused(
		t,
		"features of csv",
		dir,
		"--n-features: it needs svmlight, and "+rows+" is csv",
		append(fit, rows, "--target", "y", "--n-features", "2")...)
	must(t, append(fit, sparse, "--n-features", "3")...)
}

// TestControlCharacters: a name that has them is written without them, but to models.
func TestControlCharacters(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	table := write(t, "t.csv", "\x1b]0;x\x07a,b\u202ec,y\u009b\nr\x1b[2J,1,2\ns,,4\nr,3,5\n")
	out := must(
		t,
		"fit",
		"--data",
		table,
		"--target",
		"3",
		"--onehot",
		"1",
		"--missing",
		"mean",
		"--gamma",
		"1",
		"--report",
		page,
	)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"page": string(text), "output": out} {
		if strings.ContainsAny(text, "\x1b\x07\u202e\u009b") {
			t.Errorf("the %s has control characters: %q", what, text)
		}
		if !strings.Contains(text, `\x1b]0;x\x07a`) || !strings.Contains(text, `b\u202ec`) {
			t.Errorf("the %s does not name the columns: %s", what, text)
		}
	}
	parsePage(t, page)
}
