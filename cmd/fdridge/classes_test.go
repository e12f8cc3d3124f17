package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
)

// oddLabels are labels that need quotes in csv.
var oddLabels = []string{"", `a "b", c`, "línea\nzwei", "=1+1"}

// writeLabels writes a csv file whose last column has the given labels. The feature x is near the index of the label.
func writeLabels(t *testing.T, name string, labels []string, of func(i int) int, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, r := csv.NewWriter(f), rand.New(rand.NewPCG(1, 2))
	rows := [][]string{{"x", "z", "kind"}}
	for i := range n {
		k := of(i)
		rows = append(
			rows,
			[]string{fmt.Sprint(float64(k) + 0.2*r.NormFloat64()), fmt.Sprint(r.NormFloat64()), labels[k]},
		)
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClasses: labels with odd characters are learnt, saved and predicted, and every decision is proved.
func TestClasses(t *testing.T) {
	for k := 2; k <= 3; k++ {
		labels := oddLabels[1 : 1+k]
		data, out := writeLabels(
			t,
			"odd.csv",
			labels,
			func(i int) int { return i % k },
			60,
		), filepath.Join(
			t.TempDir(),
			"m.json",
		)
		fit := []string{
			"fit",
			"--data",
			data,
			"--target",
			"kind",
			"--classes",
			"--class-weight",
			"balanced",
			"--holdout",
			"0.3",
			"--out",
			out,
			"--report",
			out + ".html",
			"--log-format",
			"none",
		}
		code, text, errs := call(fit...)
		if code != 0 || !strings.Contains(text, "accuracy on held-out rows") ||
			!strings.Contains(text, "left out one by one") {
			t.Fatalf("exit %d, %s%s", code, text, errs)
		}
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := model.Read(f)
		if err != nil || !slices.Equal(m.Classes, slices.Sorted(slices.Values(labels))) {
			t.Fatalf("%v, classes %q", err, m.Classes)
		}
		page, err := os.ReadFile(out + ".html")
		matrix := regexp.MustCompile(`(?s)<section id="decisions".*?</section>`).FindString(string(page))
		counted := 0
		for _, cell := range regexp.MustCompile(`<td>(\d+)</td>`).FindAllStringSubmatch(matrix, -1) {
			n, _ := strconv.Atoi(cell[1])
			counted += n
		}
		held := reported(t, fit...)["classes"].(map[string]any)["holdout"].([]any)[0].(map[string]any)["rows"].(float64)
		if err != nil ||
			counted != int(held) {
			t.Errorf("%v, the page's confusion matrix counts %d rows of %g\n%s", err, counted, held, matrix)
		}
		_, shown, _ := call("show", out)
		_, shownJSON, _ := call("show", out, "--json")
		var about struct{ Classes []string }
		if err := json.Unmarshal([]byte(shownJSON), &about); err != nil || !slices.Equal(about.Classes, m.Classes) ||
			!strings.Contains(shown, fmt.Sprintf("%d classes: ", k)) {
			t.Errorf("%v, show names classes %q\n%s", err, about.Classes, shown)
		}
		code, text, errs = call("predict", "--model", out, "--data", data, "--target", "kind")
		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if code != 0 || err != nil || len(lines) != 60 || !strings.Contains(errs, "accuracy on these rows") {
			t.Fatalf("exit %d, %v, %d lines, %s", code, err, len(lines), errs)
		}
		right := 0
		for i, line := range lines {
			if line[2] != "true" {
				t.Errorf("row %d is not proved: %q", i, line)
			}
			if line[0] == labels[i%k] {
				right++
			}
		}
		if right < 50 && k == 2 || right < 30 {
			t.Errorf("%d classes: %d of 60 are right", k, right)
		}
		code, text, errs = call("predict", "--model", out, "--data", data, "--json")
		if code != 0 {
			t.Errorf("exit %d, %s", code, errs)
		}
		var found struct {
			Labels []string
			Proved []bool
		}
		if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Labels) != 60 ||
			found.Labels[3] != lines[3][0] {
			t.Errorf("%v, %q", err, found.Labels)
		}
		for _, as := range []string{"npy", "arrow"} {
			code, _, errs := call(
				"predict",
				"--model",
				out,
				"--data",
				data,
				"--out",
				filepath.Join(t.TempDir(), "p."+as),
			)
			if code != 0 {
				t.Errorf("%s: exit %d, %s", as, code, errs)
			}
		}
	}
}

// TestClassesSelect: the text, the page, the JSON and a plot of the JSON show the error rate that chose γ.
func TestClassesSelect(t *testing.T) {
	for by, score := range map[string]string{"accuracy": "leave-one-out error rate", "balanced-accuracy": "balanced error rate"} {
		for k := 2; k <= 3; k++ {
			dir := t.TempDir()
			data := writeLabels(t, "odd.csv", oddLabels[1:], func(i int) int { return i % k }, 60)
			page, report := filepath.Join(dir, "r.html"), filepath.Join(dir, "r.json")
			fit := []string{
				"fit",
				"--data",
				data,
				"--target",
				"kind",
				"--classes",
				"--select",
				by,
				"--log-format",
				"none",
				"--report",
				page,
			}
			if text := must(t, fit...); !strings.Contains(text, "smallest "+score+" of 11 candidates (proved)") ||
				!strings.Contains(text, score+": 1 minus the ") {
				t.Errorf("%s", text)
			}
			text, err := os.ReadFile(page)
			if err != nil || !strings.Contains(string(text), score) ||
				strings.Contains(string(text), score+", sum of") {
				t.Errorf("%v, no %s in the page", err, score)
			}
			_, json, _ := call(append(fit, "--json")...)
			v := reported(t, fit...)
			choice, left := v["choice"].(map[string]any), v["classes"].(map[string]any)["left_out"].(map[string]any)
			value := left[strings.ReplaceAll(by, "-", "_")].(float64)
			for _, p := range choice["path"].([]any) {
				p := p.(map[string]any)
				if rate := p["error_rate"].([]any)[0].([]any); p["gamma"] == choice["gamma"] && rate[0] != 1-value {
					t.Errorf("error rate %v, accuracy %v", rate, value)
				}
			}
			if err := os.WriteFile(report, []byte(json), 0o600); err != nil || choice["by"] != by {
				t.Errorf("by %v, %v", choice["by"], err)
			}
			must(t, "plot", "--kind", "path", report, "--out", filepath.Join(dir, "p.svg"))
		}
	}
}

// TestClassesTrivial: the output says that all rows get one label, and that several γ have the same error rate.
func TestClassesTrivial(t *testing.T) {
	for args, want := range map[string][]string{
		"":                        {"all training rows get the label gas; --class-weight balanced", "and the largest gamma of "},
		"--class-weight balanced": nil,
	} {
		fit := append(
			strings.Fields(
				"fit --data ../../testdata/flats.csv --target heating --prepare auto --classes --select accuracy --log-format none ",
			),
			strings.Fields(args)...)
		code, text, errs := call(fit...)
		text = strings.Join(strings.Fields(text), " ")
		if code != 0 || (want == nil) == strings.Contains(text, "all training rows get") {
			t.Errorf("%s: exit %d, %s%s", args, code, text, errs)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is missing in %s", w, text)
			}
		}
	}
}

// TestClassesHostileLabels: the terminal and the page show labels with control characters, markup and any length
// without harm, and predict writes the labels back as they are.
func TestClassesHostileLabels(t *testing.T) {
	labels := []string{"<b>&amp;\x1b[31m", strings.Repeat("L", 5000), "\u202eright", "tab\there", "it's; rm -rf"}
	data, out := writeLabels(
		t,
		"hostile.csv",
		labels,
		func(i int) int { return i % len(labels) },
		60,
	), filepath.Join(
		t.TempDir(),
		"m.json",
	)
	shown := must(
		t,
		"fit",
		"--data",
		data,
		"--target",
		"kind",
		"--classes",
		"--gamma",
		"0.01",
		"--holdout",
		"0.2",
		"--out",
		out,
		"--report",
		out+".html",
	) + must(
		t,
		"show",
		out,
	)
	page, err := os.ReadFile(out + ".html")
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"text": shown, "page": string(page)} {
		if strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, labels[1]) ||
			where == "page" && strings.Contains(text, "<b>&amp;") {
			t.Errorf("the %s has a label as it is", where)
		}
	}
	rows, err := csv.NewReader(
		strings.NewReader(must(t, "predict", "--model", out, "--data", data, "--target", "kind")),
	).ReadAll()
	if err != nil || len(rows) != 60 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows {
		if !slices.Contains(labels, row[0]) || i == 0 && row[0] != labels[0] || i == 4 && row[0] != labels[4] {
			t.Errorf("row %d: %q", i, row)
		}
	}
}

// TestClassesExtreme: a feature that is constant within each class, and almost as many classes as rows, can be fitted.
func TestClassesExtreme(t *testing.T) {
	within, nearly := strings.Builder{}, strings.Builder{}
	for i := range 30 {
		fmt.Fprintf(&within, "%d,1,%c\n", i%3, 'a'+i%3)
		fmt.Fprintf(&nearly, "%d,%d,k%d\n", i, i*i%7, min(i, 28))
	}
	for name, c := range map[string]struct {
		rows string
		want string
	}{"within": {within.String(), "3 classes"}, "nearly": {nearly.String(), "29 classes"}} {
		data := write(t, name+".csv", "x,z,kind\n"+c.rows)
		for _, by := range []string{"loo", "gcv", "accuracy", "balanced-accuracy"} {
			text := must(t, "fit", "--data", data, "--target", "kind", "--classes", "--select", by)
			if !strings.Contains(text, c.want) {
				t.Errorf("%s by %s: %s", name, by, text)
			}
		}
	}
	each := write(t, "each.csv", "x,z,kind\n1,2,a\n2,1,b\n3,5,c\n")
	if code, _, errs := call("fit", "--data", each, "--target", "kind", "--classes"); code != usage ||
		!strings.Contains(errs, "each of the 3 rows has a label of its own") {
		t.Errorf("as many classes as rows: exit %d, %s", code, errs)
	}
}

// TestClassesNumbers: labels that are equal numbers are one class, in csv and svmlight.
func TestClassesNumbers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.csv": "y,x\n1,0.5\n1.0,0.75\n+1,0.25\n-1,-0.5\n-1.00,-2\n10,4\n10,5\n",
		"a.svm": "1 1:0.5\n1.0 1:0.75\n+1 1:0.25\n-1 1:-0.5\n-1.00 1:-2\n10 1:4\n10 1:5\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"fit", "--data", path, "--classes", "--json", "--log-format", "none", "--gamma", "1"}
		if name == "a.csv" {
			args = append(args, "--target", "y")
		}
		code, out, errs := call(args...)
		if want := `"labels":["-1","1","10"],"counts":[2,3,2]`; code != 0 ||
			!strings.Contains(strings.Join(strings.Fields(out), ""), want) {
			t.Errorf("%s: exit %d, %s%s", name, code, errs, out)
		}
	}
}

// TestClassesHeldOutLabel: a label that only held-out rows have counts as wrong.
func TestClassesHeldOutLabel(t *testing.T) {
	held := dataset.Holdout{Share: 0.3}
	data := writeLabels(t, "held.csv", oddLabels, func(i int) int {
		if held.Held(int64(i)) && i < 20 {
			return 3
		}
		return 1 + i%2
	}, 60)
	code, text, errs := call(
		"fit",
		"--data",
		data,
		"--target",
		"kind",
		"--classes",
		"--holdout",
		"0.3",
		"--log-format",
		"none",
	)
	if code != 0 || !strings.Contains(text, "5 rows have a label") || !strings.Contains(text, "2 classes") {
		t.Errorf("exit %d, %s%s", code, text, errs)
	}
}

// TestClassesRefused: what excludes --classes is refused before the fit.
func TestClassesRefused(t *testing.T) {
	two := func(i int) int { return 1 + i%2 }
	data := writeLabels(t, "two.csv", oddLabels, two, 20)
	one := writeLabels(t, "one.csv", oddLabels, func(int) int { return 1 }, 20)
	gap := writeLabels(t, "gap.csv", oddLabels, func(i int) int { return i % 3 }, 20)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"one class":       {[]string{"--data", one, "--classes"}, "all 20 rows have the label"},
		"a number":        {[]string{"--data", data, "--target", "x", "--columns", "z", "--classes"}, "is the target a number?"},
		"infinite labels": {[]string{"--data", write(t, "inf.csv", "x,kind\n1,a\n2,inf\n3,a\n4,inf\n"), "--classes"}, "has a number that is not finite: \"inf\""},
		"large labels":    {[]string{"--data", write(t, "large.csv", "x,kind\n1,9007199254740993\n2,9007199254740992\n3,5\n4,5\n"), "--classes"}, "numbers from 2⁵³ on are not exact"},
		"a class weight":  {[]string{"--data", data, "--classes", "--class-weight", "foo"}, "\"foo\" must be one of balanced"},
		"a gap":           {[]string{"--data", gap, "--classes"}, "column kind is empty"},
		"no --classes":    {[]string{"--data", data}, "--classes, if the target is a column of labels"},
		"prepare":         {[]string{"--data", data, "--prepare", "auto"}, "--classes, if the target is a column of labels"},
		"a pipe":          {[]string{"--data", "-", "--classes"}, "can be read only once"},
		"a part":          {[]string{"--data", data, "--classes", "--part", "0/2"}, "leave out --part"},
		"a kept cache":    {[]string{"--data", data, "--classes", "--cache", t.TempDir(), "--cache-keep"}, "--cache-keep"},
		"a gamma each":    {[]string{"--data", data, "--classes", "--per-target", "--select", "accuracy"}, "--per-target, --select"},
		"a weight alone":  {[]string{"--data", data, "--class-weight", "balanced"}, "it needs --classes"},
	} {
		if !slices.Contains(c.args, "--target") {
			c.args = append(c.args, "--target", "kind")
		}
		code, _, errs := call(append([]string{"fit", "--log-format", "none"}, c.args...)...)
		if code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	for name, more := range map[string][]string{
		"a sketch":        {"--save-sketch", filepath.Join(t.TempDir(), "s")},
		"a gamma each":    {"--per-target"},
		"without penalty": {"--unpenalized", "x", "--gamma", "1"},
		"by accuracy":     {"--unpenalized", "x", "--select", "accuracy", "--tol", "1e-6"},
	} {
		args := []string{"fit", "--log-format", "none", "--data", data, "--target", "kind", "--classes"}
		if code, text, errs := call(append(args, more...)...); code != 0 || !strings.Contains(text, "accuracy") {
			t.Errorf("%s: exit %d, %s%s", name, code, text, errs)
		}
	}
	if code, text, errs := call("fit", "--data", gap, "--target", "kind", "--classes", "--missing", "drop", "--log-format", "none"); code != 0 ||
		!strings.Contains(text, "2 classes") {
		t.Errorf("a gap that is dropped: exit %d, %s%s", code, text, errs)
	}
	if code, text, errs := call("fit", "--data", data, "--target", "kind", "--classes", "--prepare", "auto", "--checkpoint", filepath.Join(t.TempDir(), "c"), "--log-format", "none"); code != 0 {
		t.Errorf("prepared, with a checkpoint: exit %d, %s%s", code, text, errs)
	}
}
