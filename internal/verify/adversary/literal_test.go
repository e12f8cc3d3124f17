package adversary

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// literalProblem has the rows that are given, at these weights if any, and of g what
// is done with them.
func literalProblem(g Genome, x, y [][]float64, w []float64) *problem {
	g.Rows, g.Cols, g.Targets = len(x), len(x[0]), len(y[0])
	p := &problem{g: g, x: x, y: y, w: w, weights: w}
	for i := range x {
		p.stream = append(p.stream, i)
	}
	p.again = p.stream
	for range g.Decays {
		p.betas = append(p.betas, g.Beta)
	}
	p.finish()
	return p
}

// TestLiteral is rows by which certificates were once shown to be false, as they
// were given.
func TestLiteral(t *testing.T) {
	plain := Genome{Block: 16, Parts: 1, Size: 2, Shrink: 2, Absolute: true, Tol: -8, Passes: 60, Folds: 2}
	centred := plain
	centred.Intercept = true
	column := func(v ...float64) (out [][]float64) {
		for _, v := range v {
			out = append(out, []float64{v})
		}
		return out
	}
	outlier := func(n int, first, weight float64) (x, y [][]float64, w []float64) {
		r := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			a, v := r.NormFloat64(), 1.0
			y = append(y, []float64{a + 0.1*r.NormFloat64()})
			if i == 0 {
				a, v = first, weight
			}
			x, w = append(x, []float64{a}), append(w, v)
		}
		return x, y, w
	}
	check := func(what string, g Genome, gamma float64, x, y [][]float64, w []float64) {
		t.Helper()
		g.Gamma = math.Log10(gamma)
		r := evaluate(literalProblem(g, x, y, w))
		for _, name := range r.Names() {
			if !(r.Ratios[name] <= 1) {
				t.Errorf("%s: %s: error/bound = %g", what, name, r.Ratios[name])
			}
		}
	}
	x, y, w := outlier(50, 1e6, 1e-30)
	check("an outlier of 1e6 first", centred, 20, x, y, w)
	x, y, w = outlier(500, 1e7, 1e-30)
	sparse := centred
	sparse.Sparse, sparse.Block = true, 1
	check("the same before sparse rows", sparse, 1e12, x, y, w)
	w = []float64{1e-60, 1, 1}
	check("second order", centred, 800, column(1e18, 20, -20), column(0, 1, -1), w)
	check("second order in the targets", centred, 800, column(0, 20, -20), column(1e18, 1, -1), w)
	check("squares underflow", plain, 1e-72, column(1e-170, 1e-170, 1e-170), column(1e30, 1, -1e30), nil)
	check("weights underflow", centred, 1, column(1, 2, 4), column(1, 2, 3), []float64{1e-310, 1e-310, 1e-310})
}

// TestMergedLevel: a stream whose level was high for ten of a hundred blocks, decayed
// after each, and was merged into a summary of one row.
func TestMergedLevel(t *testing.T) {
	for _, level := range []float64{1e4, 1e7} {
		for _, order := range []Merging{IntoFirst, IntoLast} {
			r := rand.New(rand.NewPCG(2, 2))
			var x, y [][]float64
			for i := range 1001 {
				a := r.NormFloat64()
				if i < 100 {
					a += level
				}
				x, y = append(x, []float64{a}), append(y, []float64{a + r.NormFloat64()})
			}
			g := Genome{
				Block:     10,
				Size:      2,
				Shrink:    2,
				Intercept: true,
				Decays:    100,
				Beta:      0.5,
				Parts:     2,
				Deal:      Lopsided,
				Merging:   order,
				Tol:       -8,
				Passes:    60,
				Folds:     2,
			}
			rep := evaluate(literalProblem(g, x, y, nil))
			for _, name := range rep.Names() {
				if !(rep.Ratios[name] <= 1) {
					t.Errorf("level %g, %v: %s: error/bound = %g", level, order, name, rep.Ratios[name])
				}
			}
		}
	}
}

// TestRefusalLeavesNoTrace: rows that are refused change nothing, wherever in a block
// they stand.
func TestRefusalLeavesNoTrace(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, bad := range []dataset.Block{
			{N: 1, X: []float64{1}, Y: []float64{1}, W: []float64{1e-320}},
			{N: 1, X: []float64{1}, Y: []float64{1}, W: []float64{5e-324}},
			{N: 2, X: []float64{1, 2}, Y: []float64{1, 2}, W: []float64{1, 0x1p501}},
			{N: 2, X: []float64{1, math.NaN()}, Y: []float64{1, 2}},
			{N: 2, X: []float64{1, 1e200}, Y: []float64{1, 2}},
			{N: 2, X: []float64{1, 2}, Y: []float64{1, 2}, W: []float64{1e-310, 1e-310}},
		} {
			s, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: intercept})
			if err != nil {
				t.Fatal(err)
			}
			before, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			err = s.AppendBlock(bad)
			if err == nil {
				continue
			}
			after, other := s.MarshalBinary()
			if other != nil || string(after) != string(before) {
				t.Errorf(
					"intercept %v: rows %v of weights %v are refused (%v) and leave a trace (%v)",
					intercept,
					bad.X,
					bad.W,
					err,
					errors.Join(other),
				)
			}
		}
	}
}
