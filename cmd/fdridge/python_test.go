package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// TestPython: the program that docs/model.md shows, as it stands there and no longer than it says,
// predicts what fdridge does. Of the 8·1000 weights of the Fourier features some are of the
// generator's tail, and dozens of the edges of its layers.
func TestPython(t *testing.T) {
	page := contents(t, "../../docs/model.md")
	_, program, _ := strings.Cut(page, "```python\n")
	program, _, found := strings.Cut(program, "```\n")
	if lines := strings.Count(program, "\n"); !found || lines < 10 || lines > 50 {
		t.Fatalf("docs/model.md shows %d lines of Python", lines)
	}
	python, dir := withNumpy(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
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
	for name, text := range map[string]string{"rows.csv": rows.String(), "evaluate.py": program} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, flags := range map[string][]string{
		"scaled":   {"--target", "y", "--standardize", "--intercept=false", "--columns", "four,one"},
		"fourier":  {"--target", "y", "--standardize", "--columns=-z", "--features", "rff:1000,gamma=0.02,seed=11"},
		"unscaled": {"--target", "y", "--columns", "eight,two", "--features", "rff:7,gamma=0.1,seed=18446744073709551615"},
		"two":      {"--target", "y,z", "--targets", "2", "--standardize", "--features", "rff:20,gamma=0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.json")
			fit := append([]string{"fit", "--data", in("rows.csv"), "--gamma", "0.5,2", "--method", "exact", "--out", model}, flags...)
			must(t, fit...)
			predicted := model + ".txt"
			must(t, "predict", "--model", model, "--data", in("rows.csv"), "--gamma", "0.5", "--out", predicted)
			out, err := exec.Command(python, in("evaluate.py"), model, in("rows.csv")).CombinedOutput()
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
				if err1 != nil || err2 != nil || !(math.Abs(a-b) <= 1e-12*math.Abs(b)) {
					t.Errorf("prediction %d is %s, fdridge has %s", i+1, got[i], want[i])
				}
			}
		})
	}
}
