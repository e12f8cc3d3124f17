package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTransposed: a file with a feature in each row and a sample in each column is fitted, and predicted for, like the
// transposed table. This holds for direct and iterative methods and with --standardize.
func TestTransposed(t *testing.T) {
	const n, d = 12, 30
	byRows, byColumns, y := turnedFiles(t, n, d)
	plain := byRows[1]
	dir := t.TempDir()
	for _, flags := range [][]string{
		{"--method", "exact"}, {"--method", "cg", "--size", "5"}, {"--method", "exact", "--standardize"},
	} {
		predicted := [2][]string{}
		for k, data := range [][]string{byRows, append(byColumns, "--target", y)} {
			out := filepath.Join(dir, "model")
			must(
				t,
				append(append([]string{"fit", "--gamma", "2", "--tol", "1e-12", "--out", out}, data...), flags...)...)
			if k == 1 {
				data = byColumns
			}
			predicted[k] = strings.Fields(must(t, append([]string{"predict", "--model", out}, data...)...))
		}
		if len(predicted[0]) < n || len(predicted[1]) != n {
			t.Fatalf("%v: %q by rows, %q by columns", flags, predicted[0], predicted[1])
		}
		for i := range n {
			a, errA := strconv.ParseFloat(predicted[0][i], 64)
			b, errB := strconv.ParseFloat(predicted[1][i], 64)
			if errA != nil || errB != nil || !(math.Abs(a-b) <= 1e-9*(1+math.Abs(a))) {
				t.Errorf("%v: row %d: %s by rows, %s by columns", flags, i+1, predicted[0][i], predicted[1][i])
			}
		}
	}
	for _, args := range [][]string{
		append([]string{"fit", "--gamma", "2", "--target", "last"}, byColumns...),
		{"predict", "--model", filepath.Join(dir, "model"), "--data", plain, "--columns", "1"},
	} {
		if code, _, errs := call(args...); code != usage || errs == "" {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
}

// TestSolveTransposed: a sketch of such a file is solved for, and refined by the file, as one of the
// same numbers the other way round.
func TestSolveTransposed(t *testing.T) {
	const n, d = 30, 8
	rows, columns, y := turnedFiles(t, n, d)
	dir, x := t.TempDir(), [2][]float64{}
	for k, data := range [][]string{rows, append(columns, "--target", y)} {
		sketch, out := filepath.Join(dir, "sketch"), filepath.Join(dir, "model")
		must(t, append([]string{"sketch", "--size", "3", "-o", sketch}, data...)...)
		must(t, append([]string{"solve", sketch, "--gamma", "2", "--tol", "1e-12", "--out", out}, data...)...)
		coef, b := weightsOf(t, out)
		x[k] = append(coef, b)
	}
	for j, v := range x[0] {
		if !(math.Abs(v-x[1][j]) <= 1e-10*(1+math.Abs(v))) {
			t.Errorf("weight %d: %v by rows, %v by columns", j, v, x[1][j])
		}
	}
}

// TestTransposedCache: text that is read by columns is parsed once where --cache keeps it, however
// often its numbers are wanted, and the answer is the same.
func TestTransposedCache(t *testing.T) {
	const n, d = 12, 200
	_, columns, y := turnedFiles(t, n, d)
	dir := t.TempDir()
	args := append(
		[]string{"fit", "--gamma", "2", "--method", "exact", "--target", y, "--out", filepath.Join(dir, "model")},
		columns...)
	plain := reported(t, args...)
	want, _ := weightsOf(t, filepath.Join(dir, "model"))
	kept := reported(t, append(args, "--cache", dir, "--cache-keep")...)
	got, _ := weightsOf(t, filepath.Join(dir, "model"))
	if !slices.Equal(got, want) {
		t.Errorf("weights %v, without a cache %v", got, want)
	}
	if once, again := kept["reads"].(float64), plain["reads"].(float64); !(once < again) {
		t.Errorf("%v reads of the files, with a cache %v", again, once)
	}
	left, err := filepath.Glob(filepath.Join(dir, "fdridge-*.rows"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v are kept", left, err)
	}
}

// turnedFiles writes n rows of d features and a target, and the transposed features with the targets in a file of their
// own. It returns the flags for the rows, the flags for the transposed file, and the file of the targets.
func turnedFiles(t *testing.T, n, d int) (byRows, byColumns []string, targets string) {
	t.Helper()
	at := func(i, j int) int { return (i*i*7+j*13+i*j)%101 - 50 }
	var rows, columns, y strings.Builder
	for i := range n {
		for j := range d {
			fmt.Fprintf(&rows, "%d,", at(i, j))
		}
		fmt.Fprintf(&rows, "%d\n", at(i, d))
		fmt.Fprintf(&y, "%d\n", at(i, d))
	}
	for j := range d {
		fmt.Fprintf(&columns, "gene%d", j+1)
		for i := range n {
			fmt.Fprintf(&columns, ",%d", at(i, j))
		}
		columns.WriteString("\n")
	}
	return []string{"--data", write(t, "rows.csv", rows.String()), "--header", "no", "--target", "last"},
		[]string{
			"--data",
			write(t, "columns.csv", columns.String()),
			"--transposed",
			"--header",
			"no",
			"--columns",
			"-1",
		},
		write(t, "y.csv", y.String())
}
