package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPredictHeader: a file of csv has a header with a name for each column, and the lines of the plain text. Other
// files and standard output have no header.
func TestPredictHeader(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	one, many := write(t, "one.csv", rowsCSV(20)), write(t, "many.csv", targetsCSV(20, 2))
	labels := writeLabels(t, "labels.csv", []string{"red", "a,b"}, func(i int) int { return i % 2 }, 20)
	must(t, "fit", "--data", one, "--target", "y", "--gamma", "1", "--out", in("one"))
	must(t, "fit", "--data", many, "--target", "y1,y2", "--gamma", "1", "--out", in("many"))
	must(t, "fit", "--data", labels, "--target", "kind", "--classes", "--gamma", "1", "--out", in("labels"))
	for _, c := range []struct {
		model, data, want string
		more              []string
	}{
		{"one", one, "prediction", nil},
		{"one", one, "prediction,low,high", []string{"--interval", in("one")}},
		{"one", one, "prediction", []string{"--interval", in("one"), "--digits"}},
		{"many", many, "prediction_1,prediction_2", nil},
		{"many", many, "prediction_1,low_1,high_1,prediction_2,low_2,high_2", []string{"--interval", in("many")}},
		{"labels", labels, "class,margin,proved", nil},
	} {
		args := append([]string{"predict", "--model", in(c.model), "--data", c.data}, c.more...)
		plain := must(t, args...)
		must(t, append(args, "--out", in("p.txt"))...)
		must(t, append(args, "--out", in("p.csv"))...)
		if got := contents(t, in("p.txt")); got != plain {
			t.Errorf("%v: a file of text differs from standard output: %.80s", c, got)
		}
		for name, got := range map[string]string{"p.csv": contents(t, in("p.csv")), "standard output": must(t, append(args, "--out-format", "csv")...)} {
			if got != c.want+"\n"+plain {
				t.Errorf("%v, %s: %.80s", c, name, got)
			}
			columns := strings.Count(c.want, ",") + 1
			if c.model != "labels" && strings.Count(strings.Split(got, "\n")[1], ",")+1 != columns {
				t.Errorf("%v: %d names for %s", c, columns, strings.Split(got, "\n")[1])
			}
		}
	}
	must(t, "predict", "--model", in("one"), "--data", one, "--json", "--out", in("j.csv"))
	if text := contents(t, in("j.csv")); !strings.HasPrefix(text, "{") {
		t.Errorf("--json writes %.80s", text)
	}
}
