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

// TestStandardErrorsCommand: the standard errors of fit agree with the closed form, with scaled columns, penalties,
// columns without penalty, γ = 0 and a sketch. They are in the units of the file, with the intercept.
func TestStandardErrorsCommand(t *testing.T) {
	const n, d = 40, 3
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	x, y := mat.NewDense(n, d+1, nil), mat.NewVecDense(n, nil)
	for i := range n {
		v := float64(i)
		row := []float64{math.Sin(v), 10 + 30*math.Cos(2*v), math.Mod(v*v, 7)}
		x.SetRow(i, append([]float64{1}, row...))
		y.SetVec(i, 3+row[0]-row[1]/20+math.Sin(9*v*v))
		for _, f := range row {
			text.WriteString(strconv.FormatFloat(f, 'g', -1, 64) + ",")
		}
		text.WriteString(strconv.FormatFloat(y.AtVec(i), 'g', -1, 64) + "\n")
	}
	data := write(t, "rows.csv", text.String())
	scale := make([]float64, d)
	for j := range d {
		mean := mat.Sum(x.ColView(j+1)) / n
		for i := range n {
			scale[j] += (x.At(i, j+1) - mean) * (x.At(i, j+1) - mean) / n
		}
	}
	for _, c := range []struct {
		flags   string
		gamma   float64
		penalty []float64
	}{
		{"", 2, []float64{1, 1, 1}},
		{"", 0, []float64{1, 1, 1}},
		{"--standardize", 2, scale},
		{"--bands 1-1=4,2-3=9", 2, []float64{4, 9, 9}},
		{"--standardize --bands 1-1=4,2-3=9", 2, []float64{4 * scale[0], 9 * scale[1], 9 * scale[2]}},
		{"--unpenalized b", 2, []float64{1, 0, 1}},
		{"--standardize --unpenalized 1,3", 2, []float64{0, scale[1], 0}},
		{"--standardize --unpenalized 3 --bands 1-1=4,2-2=9", 2, []float64{4 * scale[0], 9 * scale[1], 0}},
		{"--method cg --size 2", 2, []float64{1, 1, 1}},
	} {
		var k, h, inverse, s mat.Dense
		k.Mul(x.T(), x)
		h.CloneFrom(&k)
		for j, p := range c.penalty {
			h.Set(j+1, j+1, h.At(j+1, j+1)+c.gamma*p)
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
		sigma := math.Sqrt(mat.Dot(&fitted, &fitted) / (n - mat.Trace(&product)))
		out := must(t, slices.Concat(
			[]string{"fit", "--data", data, "--target", "y", "--gamma", strconv.FormatFloat(c.gamma, 'g', -1, 64)},
			strings.Fields("--standard-errors --json "+c.flags))...)
		var record struct {
			StandardErrors [][]struct {
				Sigma               [2]float64
				Sampling, Posterior [][2]float64
				InterceptSampling   [2]float64 `json:"intercept_sampling"`
				InterceptPosterior  [2]float64 `json:"intercept_posterior"`
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
		same("sampling of the intercept", got.InterceptSampling, sigma*math.Sqrt(s.At(0, 0)))
		same("posterior of the intercept", got.InterceptPosterior, sigma*math.Sqrt(inverse.At(0, 0)))
		for j := range d {
			same("sampling", got.Sampling[j], sigma*math.Sqrt(s.At(j+1, j+1)))
			same("posterior", got.Posterior[j], sigma*math.Sqrt(inverse.At(j+1, j+1)))
		}
	}
	table := must(t, "fit", "--data", data, "--target", "y", "--gamma", "2", "--standard-errors")
	if !strings.Contains(table, "s.e. (sampling)") || !strings.Contains(table, "s.e. (posterior)") {
		t.Error(table)
	}
}

// TestStandardErrorsLargest: a fit with many coefficients prints the largest ones with their standard errors, and where
// all are. A fit with many targets prints the first tables.
func TestStandardErrorsLargest(t *testing.T) {
	const houses = "fit --data ../../testdata/cal_housing.csv.gz --target last --rows 1:500 --standardize --gamma 1 "
	out := must(t, strings.Fields(houses+"--features poly:2 --standard-errors")...)
	for _, want := range []string{
		"s.e. (sampling)", "\n(intercept)",
		"\nThese are the 20 largest of 44 coefficients; --json has the standard errors of all",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	_, list, _ := strings.Cut(out, "\n(intercept)")
	list, _, _ = strings.Cut(list, "\n\n")
	before := math.Inf(1)
	lines := strings.Split(list, "\n")[1:]
	for _, line := range lines {
		fields := strings.Fields(line)
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || len(fields) != 5 || math.Abs(v) > before {
			t.Errorf("%q after %v: %v", line, before, err)
		}
		before = math.Abs(v)
	}
	if len(lines) != 20 {
		t.Errorf("%d coefficients", len(lines))
	}
	out = must(t, strings.Fields(houses+"--features poly:2")...)
	if strings.Contains(out, "largest of 44") || strings.Contains(out, "(intercept)") {
		t.Error("coefficients without --standard-errors")
	}
	out = must(t, strings.Fields(strings.Replace(houses, "--gamma 1", "--gamma 1,2,3,4,5,6,7,8,9,10,11,12,13", 1)+
		"--standard-errors")...)
	if n := strings.Count(out, "s.e. (sampling)"); n != 12 || !strings.Contains(out, "\n1 more table is not shown") {
		t.Errorf("%d tables in\n%s", n, out)
	}
}

// TestStandardErrorsSubnormal: standard errors below the smallest float64 are not 0 for certain.
func TestStandardErrorsSubnormal(t *testing.T) {
	data := write(t, "rows.csv", "a,y\n1e100,1e-120\n2e100,-1e-120\n-1e100,2e-120\n")
	out := must(t, "fit", "--data", data, "--target", "y", "--gamma", "1e300", "--standardize", "--intercept=false",
		"--standard-errors", "--json")
	var got struct {
		StandardErrors [][]struct{ Sampling, Posterior [][2]float64 } `json:"standard_errors"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	one := got.StandardErrors[0][0]
	for _, v := range [][2]float64{one.Sampling[0], one.Posterior[0]} {
		if !(v[0] == 0 && v[1] > 0) {
			t.Errorf("%v", v)
		}
	}
}

// TestStandardErrorsMissing: fits without standard errors tell the reason, and what gives them.
func TestStandardErrorsMissing(t *testing.T) {
	labels := writeLabels(t, "labels.csv", []string{"red", "blue"}, func(i int) int { return i % 2 }, 20)
	twins := write(t, "twins.csv", "a,b,y\n1,1,2\n2,2,3\n4,4,9\n3,3,1\n")
	code, _, errs := call(strings.Fields("fit --target kind --classes --standard-errors --data " + labels)...)
	if code != usage || !strings.Contains(errs, "noise of one variance") {
		t.Errorf("classes: exit %d: %s", code, errs)
	}
	_, text, _ := call(strings.Fields("fit --target y --gamma 0 --standard-errors --data " + twins)...)
	const singular = "standard errors are not available because AᵀA + gamma·P is too close to a singular matrix; " +
		"use a larger gamma, or scale the columns"
	if !strings.Contains(strings.Join(strings.Fields(text), " "), singular) {
		t.Errorf("two equal columns at gamma = 0: %s", text)
	}
	_, text, _ = call(strings.Fields("fit --target y --gamma 1e-18 --method cg --standard-errors --data " + twins)...)
	if !strings.Contains(text, "the standard error of the intercept is not available because") {
		t.Errorf("two equal columns at a tiny gamma: %s", text)
	}
}
