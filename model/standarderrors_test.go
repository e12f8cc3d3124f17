package model_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestStandardErrors: scaling columns by s is a penalty of s² for the columns of the file. So both fits have the same
// standard errors of coefficients and intercept, in the units of the file. Both agree with the closed form.
func TestStandardErrors(t *testing.T) {
	for seed := range uint64(40) {
		p := newNoisy(rand.New(rand.NewPCG(seed, 57)), 25, 1, 3, 2)
		p.intercept, p.scales = true, true
		scaled := p.fit(t, false)
		src := sourceOf(t, p.x, p.y)
		prep := model.Preparation{Inputs: 3, Scaling: scaled.Folded}
		rows, err := prep.Apply(src, nil)
		if err != nil {
			t.Fatal(err)
		}
		fits, err := ridge.SolveExact(t.Context(), rows, []float64{p.gamma}, ridge.ExactOptions{Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := scaled.StandardErrors(t.Context(), src, fits)
		if err != nil {
			t.Fatal(err)
		}
		const n, d = 25, 3
		x := mat.NewDense(n, d+1, nil)
		for i, row := range p.x {
			x.SetRow(i, append([]float64{1}, row...))
		}
		// The closed form with the columns around their means, in which the inverse has more digits.
		means := scaled.Folded.Mean
		for i := range n {
			for j := range d {
				x.Set(i, j+1, x.At(i, j+1)-means[j])
			}
		}
		var k, h, inverse, s mat.Dense
		k.Mul(x.T(), x)
		h.CloneFrom(&k)
		for j, v := range scaled.Folded.Scale {
			h.Set(j+1, j+1, h.At(j+1, j+1)+p.gamma*v*v)
		}
		if err := inverse.Inverse(&h); err != nil {
			t.Fatal(err)
		}
		s.Product(&inverse, &k, &inverse)
		row := mat.NewVecDense(d+1, []float64{1, -means[0], -means[1], -means[2]})
		for j, got := range all[0] {
			sigma := got.Sigma.Mid()
			close := func(what string, v ridge.Interval, variance float64) {
				want := sigma * math.Sqrt(variance)
				if !(math.Abs(v.Lo/want-1) < 1e-6 && math.Abs(v.Hi/want-1) < 1e-6) {
					t.Errorf("seed %d, target %d: %s is in %v, want %g", seed, j, what, v, want)
				}
			}
			for i := range d {
				close("sampling", got.Sampling[i], s.At(i+1, i+1))
				close("posterior", got.Posterior[i], inverse.At(i+1, i+1))
			}
			close("intercept, sampling", got.Intercept.Sampling, mat.Inner(row, &s, row))
			close("intercept, posterior", got.Intercept.Posterior, mat.Inner(row, &inverse, row))
		}
		if _, err := scaled.StandardErrors(t.Context(), src, nil); !errors.Is(err, model.ErrShape) {
			t.Error(err)
		}
		if _, err := scaled.StandardErrors(t.Context(), sourceOf(t, p.y, p.x), fits); !errors.Is(err, model.ErrShape) {
			t.Error(err)
		}
		if slices.Contains(all[0][0].Sampling, ridge.Interval{}) {
			t.Error("a standard error is missing")
		}
	}
}
