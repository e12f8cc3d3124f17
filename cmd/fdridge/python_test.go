package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// withNumpy is a python3 that has numpy. Where there is none the test is left out; not where all is
// tried, as in CI.
func withNumpy(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		t.Fatal("no python3 with numpy: apt-get install python3-numpy")
	}
	t.Skip("no python3 with numpy")
	return ""
}

// writePrograms writes the programs of docs/model.md, as they stand there, to the files that they
// name. None is longer than one reads.
func writePrograms(t *testing.T, dir string) {
	t.Helper()
	shown := strings.Split(contents(t, "../../docs/model.md"), "```python\n# ")[1:]
	if len(shown) != 2 {
		t.Fatalf("docs/model.md shows %d programs", len(shown))
	}
	for _, program := range shown {
		name, _, _ := strings.Cut(program, ":")
		program, _, found := strings.Cut(program, "```\n")
		if lines := strings.Count(program, "\n"); !found || lines < 10 || lines > 50 {
			t.Fatalf("docs/model.md shows %d lines of %s", lines, name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("# "+program), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// table is rows of numbers, truth values and two categories, one of them with quoted cells, with gaps
// in all of these.
func table() string {
	var rows strings.Builder
	rows.WriteString("\ufeff area ,\"the, street\",y,balcony,heating,floor\n")
	r := rand.New(rand.NewPCG(3, 4))
	gap := func(text string) string {
		if r.IntN(8) == 0 {
			return []string{"", "NA", "n/a", "None", "?", " . "}[r.IntN(6)]
		}
		return text
	}
	streets, heatings := []string{`"Am Tor, ""3"""`, "Nord", ` " Süd "`, "1.0", "1"}, []string{"gas", "oil", "True"}
	for i := range 120 {
		fmt.Fprintf(&rows, "%s,%s,%v,%s,%s,%s\n", gap(fmt.Sprint(30+70*r.Float64())), gap(streets[r.IntN(5)]), 100+10*r.NormFloat64(),
			gap([]string{"True", "FALSE", "true"}[i%3]), gap(heatings[r.IntN(3)]), gap(fmt.Sprint(i%6, "e-1")))
	}
	return rows.String()
}

// TestPython: the programs that docs/model.md shows predict what fdridge does. Of the 8·1000 weights of
// the Fourier features some are of the generator's tail, and dozens of the edges of its layers.
func TestPython(t *testing.T) {
	python, dir := withNumpy(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	writePrograms(t, dir)
	var rows strings.Builder
	rows.WriteString("one,two,a label,four,y,five,six,seven,eight,z\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 120 {
		x := make([]any, 10)
		for j := range x {
			x[j] = 3*r.NormFloat64() + float64(j)
		}
		x[4] = 100 + 10*math.Sin(x[0].(float64)) + x[1].(float64)
		fmt.Fprintln(&rows, strings.Trim(strings.ReplaceAll(fmt.Sprint(x), " ", ","), "[]"))
	}
	for name, text := range map[string]string{"rows.csv": rows.String(), "table.csv": table()} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	encoded := []string{"--data", in("table.csv"), "--target", "y", "--onehot", "5,2"}
	for name, flags := range map[string][]string{
		"polynomial": {"--target", "y", "--columns", "two,one,eight", "--features", "poly:3"},
		"mean":       append(slices.Clip(encoded), "--missing", "mean", "--standardize"),
		"drop":       append(slices.Clip(encoded), "--missing", "drop"),
		"expanded":   append(slices.Clip(encoded), "--missing", "mean", "--standardize", "--features", "rff:20,gamma=0.1"),
		"scaled":     {"--target", "y", "--standardize", "--intercept=false", "--columns", "four,one"},
		"fourier":    {"--target", "y", "--standardize", "--columns=-z", "--features", "rff:1000,gamma=0.02,seed=11"},
		"unscaled":   {"--target", "y", "--columns", "eight,two", "--features", "rff:7,gamma=0.1,seed=18446744073709551615"},
		"two":        {"--target", "y,z", "--standardize", "--features", "rff:20,gamma=0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.json")
			data := in("rows.csv")
			if flags[0] == "--data" {
				data, flags = flags[1], flags[2:]
			}
			must(t, append([]string{"fit", "--data", data, "--gamma", "0.5,2", "--method", "exact", "--out", model}, flags...)...)
			predicted := model + ".txt"
			must(t, "predict", "--model", model, "--data", data, "--gamma", "0.5", "--out", predicted)
			out, err := exec.Command(python, in("evaluate.py"), model, data).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got, want := strings.Fields(strings.ReplaceAll(string(out), ",", " ")), strings.Fields(strings.ReplaceAll(contents(t, predicted), ",", " "))
			if len(got) != len(want) || len(want) < 120 {
				t.Fatalf("%d numbers, fdridge predicts %d", len(got), len(want))
			}
			for i := range want {
				a, err1 := strconv.ParseFloat(got[i], 64)
				b, err2 := strconv.ParseFloat(want[i], 64)
				if err1 != nil || err2 != nil || !(math.Abs(a-b) <= 1e-12*math.Abs(b)) && !(math.IsNaN(a) && math.IsNaN(b) && name == "drop") {
					t.Errorf("prediction %d is %s, fdridge has %s", i+1, got[i], want[i])
				}
			}
		})
	}
}

// TestPythonRefuses: what the program of docs/model.md cannot do it says, and what it must not.
func TestPythonRefuses(t *testing.T) {
	python, dir := withNumpy(t), t.TempDir()
	writePrograms(t, dir)
	model, rows := filepath.Join(dir, "model.json"), write(t, "rows.csv", "a,b,y\n1,u,1\n2,v,2\n3,u,4\n")
	must(t, "fit", "--data", rows, "--target", "y", "--onehot", "b", "--gamma", "1", "--out", model)
	bare := filepath.Join(dir, "bare.json")
	must(t, "fit", "--data", write(t, "bare.csv", "1,1\n2,2\n3,4\n"), "--target", "2", "--gamma", "1", "--out", bare)
	newer := write(t, "newer.json", strings.Replace(contents(t, model), `"preparation":`, `"preparation": {"whitening": 1},"was":`, 1))
	for _, c := range []struct{ model, rows, want string }{
		{model, "a,b\n1,w\n", "column b: 'w' is none of the levels that were learnt"},
		{model, "a,b\nNA,u\n", "column a: 'NA' is a missing value, and the model says not what becomes of it"},
		{model, "a,b\n1,\n", "column b: '' is none of the levels"},
		{bare, "1\n2\n", "the columns of the model have no names to find them by"},
		{newer, "a,b\n1,u\n", "preparation {'whitening'}: more than this program knows"},
	} {
		out, err := exec.Command(python, filepath.Join(dir, "evaluate.py"), c.model, write(t, "other.csv", c.rows)).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "Traceback") {
			t.Errorf("%q: %v, %s", c.rows, err, out)
		}
	}
}
