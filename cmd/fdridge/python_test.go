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
	"sync"
	"testing"
)

// withNumpy returns a python3 that has numpy. Without one the test is skipped, or fails if FDRIDGE_THOROUGH is set, as
// in CI.
func withNumpy(t *testing.T) string {
	t.Helper()
	if name := numpyPython(); name != "" {
		return name
	}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		t.Fatal("no python3 with numpy: apt-get install python3-numpy")
	}
	t.Skip("no python3 with numpy")
	return ""
}

// numpyPython returns the name of a python3 with numpy, or "".
var numpyPython = sync.OnceValue(func() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	return ""
})

// evaluateAll runs evaluate.py of dir for each model and its rows, in one interpreter, because numpy takes long to
// load. It returns what each run prints, or its error.
func evaluateAll(t *testing.T, python, dir string, pairs ...string) []string {
	t.Helper()
	const all = `
import runpy, sys
program, *pairs = sys.argv[1:]
sys.path.insert(0, program.rpartition("/")[0])
for model, rows in zip(pairs[::2], pairs[1::2]):
    sys.argv = [program, model, rows]
    try:
        runpy.run_path(program)
    except SystemExit as e:
        print("error:", e)
    print(end="\f")
`
	out, err := exec.Command(
		python,
		append([]string{"-c", all, filepath.Join(dir, "evaluate.py")}, pairs...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := strings.Split(strings.TrimSuffix(string(out), "\f"), "\f")
	if 2*len(found) != len(pairs) {
		t.Fatalf("%d results for %d models", len(found), len(pairs)/2)
	}
	return found
}

// writePrograms copies the programs of docs/model.md to dir, where Python may write its cache.
func writePrograms(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"evaluate.py", "columns.py", "fourier.py"} {
		err := os.WriteFile(filepath.Join(dir, name), []byte(contents(t, "../../docs/programs/"+name)), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mixedTable is rows of numbers, truth values and two categories, one of them with quoted cells, with gaps
// in all of these.
func mixedTable() string {
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
		fmt.Fprintf(
			&rows,
			"%s,%s,%v,%s,%s,%s\n",
			gap(fmt.Sprint(30+70*r.Float64())),
			gap(streets[r.IntN(5)]),
			100+10*r.NormFloat64(),
			gap([]string{"True", "FALSE", "true"}[i%3]),
			gap(heatings[r.IntN(3)]),
			gap(fmt.Sprint(i%6, "e-1")),
		)
	}
	return rows.String()
}

// TestPython: the programs of docs/model.md predict what fdridge does. Of the 8·1000 weights of
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
	for name, text := range map[string]string{
		"rows.csv": rows.String(), "table.csv": mixedTable(), "homes.csv": homes(400, homesHeader),
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names, pairs []string // of the models: name; model and rows
	encoded := []string{"--data", in("table.csv"), "--target", "y", "--onehot", "5,2"}
	for name, flags := range map[string][]string{
		"polynomial": {"--target", "y", "--columns", "two,one,eight", "--features", "poly:3"},
		"mean":       append(slices.Clip(encoded), "--missing", "mean", "--standardize"),
		"drop":       append(slices.Clip(encoded), "--missing", "drop"),
		"expanded":   append(slices.Clip(encoded), "--missing", "mean", "--standardize", "--features", "rff:20,gamma=0.1"),
		"scaled":     {"--target", "y", "--standardize", "--intercept=false", "--columns", "four,one"},
		"fourier":    {"--target", "y", "--standardize", "--columns=-z", "--features", "rff:1000,gamma=0.02,seed=11"},
		"unscaled":   {"--target", "y", "--columns", "eight,two", "--features", "rff:7,gamma=0.1,seed=18446744073709551615"},
		"auto":       {"--data", in("homes.csv"), "--target", "rent", "--prepare", "auto"},
		"by hand": {
			"--data", in("homes.csv"), "--target", "rent", "--onehot", "text", "--missing", "median,currency=drop",
			"--missing-indicator", "--missing-target", "drop", "--dates", "built", "--columns=-size,-key",
		},
		"two": {"--target", "y,z", "--standardize", "--features", "rff:20,gamma=0.1"},
	} {
		model, data := in(name+".json"), in("rows.csv")
		if flags[0] == "--data" {
			data, flags = flags[1], flags[2:]
		}
		must(
			t,
			append(
				[]string{"fit", "--data", data, "--gamma", "0.5,2", "--method", "exact", "--out", model},
				flags...)...)
		must(t, "predict", "--model", model, "--data", data, "--gamma", "0.5", "--out", model+".txt")
		names, pairs = append(names, name), append(pairs, model, data)
	}
	for k, out := range evaluateAll(t, python, dir, pairs...) {
		name := names[k]
		t.Run(name, func(t *testing.T) {
			got, want := strings.Fields(strings.ReplaceAll(out, ",", " ")), strings.Fields(strings.ReplaceAll(
				contents(t, pairs[2*k]+".txt"), ",", " ",
			))
			if len(got) != len(want) || len(want) < 120 {
				t.Fatalf("%d numbers, fdridge predicts %d", len(got), len(want))
			}
			for i := range want {
				a, err1 := strconv.ParseFloat(got[i], 64)
				b, err2 := strconv.ParseFloat(want[i], 64)
				if err1 != nil || err2 != nil ||
					!(math.Abs(a-b) <= 1e-12*math.Abs(b)) && !(math.IsNaN(a) && math.IsNaN(b) && name == "drop") {
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
	newer := write(
		t,
		"newer.json",
		strings.Replace(contents(t, model), `"preparation":`, `"preparation": {"whitening": 1},"was":`, 1),
	)
	cases := []struct{ model, rows, want string }{
		{model, "a,b\n1,w\n", "column b: 'w' is an unknown level"},
		{model, "a,b\nNA,u\n", "column a: 'NA' is missing, and the model does not fill missing values"},
		{model, "a,b\n1,\n", "column b: '' is an unknown level"},
		{bare, "1\n2\n", "the model has no column names"},
		{newer, "a,b\n1,u\n", "preparation {'whitening'}: not supported by this program"},
	}
	var pairs []string
	for _, c := range cases {
		pairs = append(pairs, c.model, write(t, "other.csv", c.rows))
	}
	for i, out := range evaluateAll(t, python, dir, pairs...) {
		if !strings.HasPrefix(out, "error: ") || !strings.Contains(out, cases[i].want) {
			t.Errorf("%q: %s", cases[i].rows, out)
		}
	}
}

// TestPythonSketch: fds.py of docs/format.md computes the coefficients of fdridge for each version of a sketch, and
// refuses a damaged file.
func TestPythonSketch(t *testing.T) {
	python, dir := withNumpy(t), t.TempDir()
	sketch, ours, theirs := filepath.Join(dir, "a.fds"), filepath.Join(dir, "ours.npy"), filepath.Join(dir, "theirs.npy")
	read := func() ([]byte, error) {
		return exec.Command(python, "../../docs/programs/fds.py", sketch, "10", ours).CombinedOutput()
	}
	for _, flags := range [][]string{
		// version 1
		{housing, "--target", "last,3", "--features", "rff:300,gamma=1e-7,seed=1", "--size", "40", "--rows", "1:3000"},
		{w8a, "--rows", "1:4000", "--size", "200"},                     // 2
		{w8a, "--rows", "1:4000", "--size", "64", "--intercept=false"}, // 3
		{w8a, "--rows", "1:4000", "--size", "64"},                      // 4
	} {
		must(t, append([]string{"sketch", "--lanes", "1", "--out", sketch, "--data"}, flags...)...)
		must(t, "solve", sketch, "--gamma", "10", "--coef", theirs)
		if out, err := read(); err != nil {
			t.Fatalf("%s: %v, %s", flags, err, out)
		}
		if out, err := exec.Command(python, "../../.ci/close.py", "1e-10", theirs, ours).CombinedOutput(); err != nil {
			t.Errorf("%s: %v, %s", flags, err, out)
		}
	}
	damaged := []byte(contents(t, sketch))
	damaged[5000] ^= 1
	if err := os.WriteFile(sketch, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := read(); err == nil || !strings.Contains(string(out), "damaged") {
		t.Errorf("a damaged file: %v, %s", err, out)
	}
}
