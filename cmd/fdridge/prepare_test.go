package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// homes returns a table of n rows with a column for each rule of --prepare auto.
func homes(n int, header string) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		size, town, built := fmt.Sprint(30+i*37%90), []string{"Rome", "Oslo", "Bern"}[i%3], fmt.Sprintf(
			"%d-%02d-%02d", 1990+i%30, 1+i%12, 1+i%28,
		)
		if i%20 == 3 {
			size = "NA"
		}
		if i == 7 {
			size = "n.n."
		}
		if i%50 == 9 {
			town = fmt.Sprint("Village ", i)
		}
		rent := fmt.Sprint(300 + 7*(i*37%90) + 100*(i%3) + i%30)
		if i%40 == 39 {
			rent = ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,EUR,key-%d,%v,%s\n", i, size, town, built, i, i%2 == 0, rent)
	}
	return b.String()
}

const homesHeader = "row,size,town,built,currency,key,garden,rent\n"

// TestConsecutiveKey checks that --prepare auto leaves out whole numbers that count the rows from any number, and keeps
// consecutive years, consecutive halves, and numbers with a gap.
func TestConsecutiveKey(t *testing.T) {
	var b strings.Builder
	b.WriteString("customer_id,below,year,half,gap,x,y\n")
	for i := range 40 {
		gap := i
		if i > 20 {
			gap++
		}
		fmt.Fprintf(&b, "%d,%d,%d,%g,%d,%d,%d\n", 100001+i, i-7, 1947+i, float64(i)+0.5, gap, i*i%17, i*i%23)
	}
	out := must(
		t,
		"fit",
		"--data",
		write(t, "keys.csv", b.String()),
		"--target",
		"y",
		"--gamma",
		"1",
		"--prepare",
		"auto",
	)
	for _, want := range []string{
		`customer_id +number +left out +counts the rows from 100001`, `below +number +left out +counts the rows from -7`,
		`year +number +standardised`, `half +number +standardised`, `gap +number +standardised`, `x +number +standardised`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestPrepareUnknownDates: the reason names texts that are like dates, whether the column is left out or has levels.
func TestPrepareUnknownDates(t *testing.T) {
	var text strings.Builder
	text.WriteString("key,level,plain,y\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%02d.%02d.%02d,%02d/14/2024,v%d,%d\n", i%28+1, i%12+1, 10+i/12, i%3+1, i%3, i*i%17)
	}
	data := write(t, "dates.csv", text.String())
	out := must(t, "fit", "--data", data, "--target", "y", "--prepare", "auto", "--gamma", "1", "--json")
	for _, want := range []string{
		`"why": "like dates, unknown layout; a key: 100 different of 100"`, `"why": "like dates, unknown layout"`,
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestPrepareAuto: the rules apply to a table in CSV, and the printed table of decisions is at most 100 characters
// wide. A stored plan gives the same model to the last bit. Rows from a pipe are refused, because preparing needs a
// pass of its own.
func TestPrepareAuto(t *testing.T) {
	dir := t.TempDir()
	data := write(t, "homes.csv", homes(400, homesHeader))
	at := func(name string) string { return filepath.Join(dir, name) }
	fit := []string{"fit", "--target", "rent", "--gamma", "1", "--method", "exact"}
	out := must(
		t,
		append(fit, "--data", data, "--prepare", "auto", "--prepare-out", at("plan.json"), "--out", at("a.json"))...)
	for _, want := range []string{
		"row       number  left out", "counts the rows from 0",
		"size      number  standardised, indicator", "1 text: missing (line 9:",
		"town      text    3 levels, (other)", "6 rare grouped",
		"built     date    elapsed, year, month, weekday\n",
		"currency  text    left out", "constant",
		"key       text    left out", "a key: 390 different of 390",
		"garden    number  standardised\n",
		"10 rows are left out: the target, or another required value, is missing",
		"390 rows × 28 features",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out[:strings.Index(out, "\n\n")]) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("a line is longer than 100 characters: %s", line)
		}
	}
	must(
		t,
		append(
			fit,
			"--data",
			data,
			"--prepare",
			at("plan.json"),
			"--prepare-out",
			at("plan2.json"),
			"--out",
			at("b.json"),
		)...)
	if contents(t, at("a.json")) != contents(t, at("b.json")) ||
		contents(t, at("plan.json")) != contents(t, at("plan2.json")) {
		t.Error("a stored plan gives another model or plan")
	}
	refused(
		t,
		"pipe",
		dir,
		"--prepare: it looks at all rows first, and standard input can be read once",
		append(fit, "--data", "-", "--prepare", "auto")...)

	rows := write(
		t,
		"new.csv",
		homesHeader+"0,40,Rome,1999-05-01,EUR,a,True,\n1,40,Paris,1999-05-01,EUR,a,True,5\n2,big,Rome,soon,USD,b,1,5\n"+
			"3,,,,,,,5\n",
	)
	code, made, errs := call("predict", "--model", at("a.json"), "--data", rows, "--target", "rent")
	if code != done || len(strings.Fields(made)) != 4 || strings.Contains(made, "NaN") {
		t.Fatalf("exit %d, %s%s", code, made, errs)
	}
	for _, want := range []string{
		"2 values have another type than in the training rows", "5 missing values were replaced",
		"2 values of 2 levels that the model does not have", "over 3 rows",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
	code, _, errs = call(
		"predict",
		"--model",
		at("a.json"),
		"--data",
		write(t, "few.csv", "town,built,garden,size\nRome,1999-05-01,True,40\n"),
	)
	if code != done || errs != "" {
		t.Errorf("columns in another order, without those left out: exit %d, %s", code, errs)
	}
}

// TestPrepareByHand: the flags do what the rules do, one by one.
func TestPrepareByHand(t *testing.T) {
	dir := t.TempDir()
	data := write(
		t,
		"t.csv",
		"a,\"b, c\",town,when,y\n1,4,Rome,1 Jan 2020,1\n,,Oslo,\"Feb 3, "+
			"2020\",2\n3,4,,2020/03/05,3\n9,5,Rome,05.04.2020,2\n7,4,Rome,2020-05-06T07:08:09Z,\n",
	)
	model := func(flags ...string) (names []string, columns []map[string]any, n float64) {
		t.Helper()
		out := filepath.Join(dir, "m.json")
		must(
			t,
			append(
				[]string{"fit", "--data", data, "--target", "y", "--gamma", "1", "--method", "exact", "--out", out},
				flags...)...)
		var m struct {
			N           float64
			Preparation struct {
				Names    []string
				Encoding struct{ Columns []map[string]any }
			}
		}
		if err := json.Unmarshal([]byte(contents(t, out)), &m); err != nil {
			t.Fatal(err)
		}
		return m.Preparation.Names, m.Preparation.Encoding.Columns, m.N
	}
	names, columns, n := model(
		"--missing",
		`median,"b, c=most-frequent",town=constant:Bern`,
		"--missing-indicator",
		"--missing-target",
		"drop",
		"--onehot",
		"text",
		"--dates",
		"when",
		"--standardize",
		"numeric",
	)
	want := "a a=missing b, c b, c=missing town=Bern town=Oslo town=Rome town=missing when.elapsed when.month=1 " +
		"when.month=2 when.month=3 when.month=4 when.weekday=1 when.weekday=3 when.weekday=4 when.weekday=7"
	if got := strings.Join(names, " "); got != want || n != 4 {
		t.Errorf("%v rows, columns %s, want 4 and %s", n, got, want)
	}
	if columns[0]["fill"] != 3.0 || columns[1]["fill"] != 4.0 || !(math.Abs(columns[0]["mean"].(float64)-4) < 1e-15) {
		t.Errorf("%v", columns[:2])
	}
	if _, _, n := model("--missing", "drop", "--onehot", "text", "--columns", `"b, c",town`); n != 2 {
		t.Errorf("%v rows, want 2", n)
	}
	if names, _, _ := model(
		"--missing", "mean", "--missing-target", "drop", "--onehot", "town", "--min-share", "0.3", "--columns", "a,town",
	); strings.Join(names, " ") != "a town=Rome town=(other)" {
		t.Errorf("%v", names)
	}
	for _, c := range []struct{ want, flags string }{
		{
			"column town: 3 texts among its values",
			"--missing mean --missing-target drop --min-share 0 --missing-indicator --columns a,town",
		},
		{"2 columns are not numeric: town, when", "--missing mean --missing-target drop"},
		{"--prepare auto; or --onehot text", "--missing mean --missing-target drop"},
		{":3:1: column a is empty", "--dates when --missing-target drop --columns a,when"},
		{
			"it is named as a column of dates, and 3 of its values are no dates",
			"--missing mean --dates a --missing-target drop --columns a",
		},
		{"there is no feature \"whence\"", "--dates whence"},
		{"there is no feature \"z\"", "--missing z=mean"},
		{"--missing: \"a=often\" must be one of", "--missing a=often"},
		{"--min-share: it groups levels", "--min-share 0.1"},
		{"--onehot: --prepare decides it", "--prepare auto --onehot text"},
		{
			"--standardize: cannot be combined with --missing median: use --standardize numeric",
			"--standardize --missing median",
		},
		{"--standardize: cannot be combined with --missing a=mean: use", "--standardize --missing a=mean"},
		{"--standardize: cannot be combined with --onehot text: use", "--standardize --onehot text --missing mean"},
		{"--standardize: cannot be combined with --dates: use", "--standardize --dates a"},
		{
			"--standardize: cannot be combined with --missing-indicator: use",
			"--standardize --missing mean --missing-indicator",
		},
		{"--standardize: cannot be combined with --missing-target drop: use", "--standardize --missing-target drop"},
		{"--standardize: cannot be combined with --min-share: use", "--standardize --onehot a --min-share 0.1"},
		{"it is not a plan", "--prepare " + data},
		{"\"many\" is no number", "--missing constant:many --missing-target drop --columns a"},
	} {
		refused(
			t,
			c.flags,
			dir,
			c.want,
			append([]string{"fit", "--data", data, "--target", "y", "--gamma", "1"}, strings.Fields(c.flags)...)...)
	}
}
