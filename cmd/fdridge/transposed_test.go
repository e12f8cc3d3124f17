package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTransposed: a file of a feature in each row and a sample in each column is fitted, and predicted
// for, as the same numbers the other way round: by every kind of method, and prepared alike.
func TestTransposed(t *testing.T) {
	const n, d = 12, 30
	var rows, columns, targets strings.Builder
	at := func(i, j int) int { return (i*i*7+j*13+i*j)%101 - 50 }
	for i := range n {
		for j := range d {
			fmt.Fprintf(&rows, "%d,", at(i, j))
		}
		fmt.Fprintf(&rows, "%d\n", at(i, d))
		fmt.Fprintf(&targets, "%d\n", at(i, d))
	}
	for j := range d {
		fmt.Fprintf(&columns, "gene%d", j+1)
		for i := range n {
			fmt.Fprintf(&columns, ",%d", at(i, j))
		}
		columns.WriteString("\n")
	}
	plain, turned, y := write(t, "rows.csv", rows.String()), write(t, "columns.csv", columns.String()), write(t, "y.csv", targets.String())
	byRows := []string{"--data", plain, "--header", "no", "--target", "last"}
	byColumns := []string{"--data", turned, "--transposed", "--header", "no", "--columns", "-1"}
	dir := t.TempDir()
	for _, flags := range [][]string{{"--method", "exact"}, {"--method", "cg", "--size", "5"}, {"--method", "exact", "--standardize"}} {
		predicted := [2][]string{}
		for k, data := range [][]string{byRows, append(byColumns, "--target", y)} {
			out := filepath.Join(dir, "model")
			must(t, append(append([]string{"fit", "--gamma", "2", "--tol", "1e-12", "--out", out}, data...), flags...)...)
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
