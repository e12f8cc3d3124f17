package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestStandardErrorsCommand: the standard errors of fit agree with the closed form, with scaled columns, penalties
// and a sketch, and are in the units of the file.
func TestStandardErrorsCommand(t *testing.T) {
	const n, d, gamma = 40, 3, 2.0
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	x, y := mat.NewDense(n, d, nil), mat.NewVecDense(n, nil)
	for i := range n {
		v := float64(i)
		row := []float64{math.Sin(v), 10 + 30*math.Cos(2*v), math.Mod(v*v, 7)}
		x.SetRow(i, row)
		y.SetVec(i, row[0]-row[1]/20+math.Sin(9*v*v))
		for _, f := range row {
			text.WriteString(strconv.FormatFloat(f, 'g', -1, 64) + ",")
		}
		text.WriteString(strconv.FormatFloat(y.AtVec(i), 'g', -1, 64) + "\n")
	}
	data := write(t, "rows.csv", text.String())
	scale := make([]float64, d)
	for j := range d {
		mean := mat.Sum(x.ColView(j)) / n
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
			scale[j] += x.At(i, j) * x.At(i, j) / n
		}
	}
	mean := mat.Sum(y) / n
	for i := range n {
		y.SetVec(i, y.AtVec(i)-mean)
	}
	for _, c := range []struct {
		flags   string
		penalty []float64
	}{
		{"", []float64{1, 1, 1}},
		{"--standardize", scale},
		{"--bands 1-1=4,2-3=9", []float64{4, 9, 9}},
		{"--standardize --bands 1-1=4,2-3=9", []float64{4 * scale[0], 9 * scale[1], 9 * scale[2]}},
		{"--method cg --size 2", []float64{1, 1, 1}},
	} {
		var k, h, inverse, s mat.Dense
		k.Mul(x.T(), x)
		h.CloneFrom(&k)
		for j, p := range c.penalty {
			h.Set(j, j, h.At(j, j)+gamma*p)
		}
		if err := inverse.Inverse(&h); err != nil {
			t.Fatal(err)
		}
		s.Product(&inverse, &k, &inverse)
		var xy, coef, fitted mat.VecDense
		xy.MulVec(x.T(), y)
		coef.MulVec(&inverse, &xy)
		fitted.MulVec(x, &coef)
		fitted.SubVec(y, &fitted)
		var product mat.Dense
		product.Mul(&inverse, &k)
		sigma := math.Sqrt(mat.Dot(&fitted, &fitted) / (n - 1 - mat.Trace(&product)))
		out := must(t, slices.Concat(
			[]string{"fit", "--data", data, "--target", "y", "--gamma", "2", "--standard-errors", "--json"},
			strings.Fields(c.flags))...)
		var record struct {
			StandardErrors [][]struct {
				Sigma               [2]float64
				Sampling, Posterior [][2]float64
			} `json:"standard_errors"`
		}
		if err := json.Unmarshal([]byte(out), &record); err != nil {
			t.Fatal(err)
		}
		got := record.StandardErrors[0][0]
		same := func(what string, v [2]float64, want float64) {
			if !(v[0] <= want*(1+1e-10) && want*(1-1e-10) <= v[1] && v[1]-v[0] <= 1e-5*want) {
				t.Errorf("%s: %s is %v, in %v", c.flags, what, want, v)
			}
		}
		same("sigma", got.Sigma, sigma)
		for j := range d {
			same("sampling", got.Sampling[j], sigma*math.Sqrt(s.At(j, j)))
			same("posterior", got.Posterior[j], sigma*math.Sqrt(inverse.At(j, j)))
		}
	}
	table := must(t, "fit", "--data", data, "--target", "y", "--gamma", "2", "--standard-errors")
	if !strings.Contains(table, "s.e. (sampling)") || !strings.Contains(table, "s.e. (posterior)") {
		t.Error(table)
	}
}

// TestStandardErrorsMissing: fits without standard errors tell the reason.
func TestStandardErrorsMissing(t *testing.T) {
	data := write(t, "rows.csv", rowsCSV(30))
	labels := writeLabels(t, "labels.csv", []string{"red", "blue"}, func(i int) int { return i % 2 }, 20)
	if text := must(t, "fit", "--data", data, "--target", "y", "--gamma", "0", "--standard-errors"); !strings.Contains(
		text, "standard errors are not available at gamma = 0; use a positive gamma") {
		t.Error(text)
	}
	for _, c := range []struct{ line, data, want string }{
		{"fit --target kind --classes --standard-errors", labels, "noise of one variance"},
		{"fit --target y --unpenalized 1 --standard-errors", data, "not available; give these columns a small penalty"},
	} {
		code, _, errs := call(append(strings.Fields(c.line), "--data", c.data)...)
		if code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d: %s", c.line, code, errs)
		}
	}
}
