package paper

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// spectralError is ‖AᵀA − BᵀB − shift·I‖₂/‖A‖²_F by gonum's eigenvalues.
func spectralError(t *testing.T, a, b *mat.Dense, shift float64) float64 {
	t.Helper()
	_, d := a.Dims()
	var e, bb mat.SymDense
	e.SymOuterK(1, a.T())
	frobenius := mat.Trace(&e)
	bb.SymOuterK(-1, b.T())
	e.AddSym(&e, &bb)
	for i := range d {
		e.SetSym(i, i, e.At(i, i)-shift)
	}
	var eig mat.EigenSym
	if !eig.Factorize(&e, false) {
		t.Fatal("no eigenvalues")
	}
	w := eig.Values(nil)
	return math.Max(-w[0], w[d-1]) / frobenius
}

// TestSketchErrors: the recorded errors of a sketch size equal the errors of sketches made from the same seeds, which
// gonum computes. The errors of FD and RFD are within their proved bounds.
func TestSketchErrors(t *testing.T) {
	const n, d, m, seed = 300, 40, 16, 9
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i*i%9973)) / float64(1+i%d)
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	k, err := newGram(context.Background(), src, be)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Config: Config{Seed: seed, Backend: be}}
	points, err := r.sketches(context.Background(), src, k, m)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(n, d, x)
	methods := map[string]bool{}
	for _, p := range points {
		methods[p.method] = true
		if len(p.errors) != sketchTrials || p.size != m || !(p.rate > 0) {
			t.Errorf("%s: %+v", p.method, p)
		}
		for trial, got := range p.errors {
			from := p.method
			if from == "RFD" {
				from = "FD"
			}
			s, err := newCovarianceSketch(from, d, m, seed+uint64(trial), be)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.append(n, x, d); err != nil {
				t.Fatal(err)
			}
			b, bound, err := s.read()
			if err != nil {
				t.Fatal(err)
			}
			shift := 0.0
			if p.method == "RFD" {
				shift = bound.Shift()
			}
			if want := spectralError(t, a, b, shift); !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("%s, trial %d: %v, want %v", p.method, trial, got, want)
			}
			// K̂ ⪯ K whatever the test matrix.
			if lo, _, err := k.minus(b); err != nil || p.method == "Nyström" && !(lo >= -1e-13*k.trace) {
				t.Errorf("Nyström, trial %d: the least eigenvalue of K − K̂ is %v, %v", trial, lo, err)
			}
			if (p.method == "FD" || p.method == "RFD") != !math.IsNaN(p.bound) || got > p.bound {
				t.Errorf("%s, trial %d: %v with the bound %v", p.method, trial, got, p.bound)
			}
		}
	}
	if len(methods) != 5 || len(points) != 5 {
		t.Errorf("methods %v", methods)
	}
}

// TestCovarianceFigure: on the real data, quickly, every line of the figure has a
// point for each m, and every number is in the table.
func TestCovarianceFigure(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Config: Config{Quick: true, Backend: be, Features: "rff:48"}}
	var found []*covariance
	last := -1.0
	for _, name := range datasets {
		c, err := r.covarianceOf(context.Background(), name, func(_ string, done float64) { last = done })
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, c)
	}
	if !(last > 0 && last < 1) {
		t.Errorf("the last that was told of is %v", last)
	}
	const sizes = 2 // 64 rows are more than 48 features
	f := drawCovariances(found)
	if len(f.Panels) != 6 || len(f.Table.Rows) != 3*5*sizes {
		t.Fatalf("%d panels, %d rows in the table", len(f.Panels), len(f.Table.Rows))
	}
	for i, p := range f.Panels {
		if want := []int{6, 4}[i/3]; len(p.Lines) != want {
			t.Errorf("panel %d has %d lines, want %d", i, len(p.Lines), want)
		}
		for _, l := range p.Lines {
			if len(l.X) != sizes || len(l.Y) != sizes {
				t.Errorf("panel %d, %s: %v over %v", i, l.Method, l.Y, l.X)
			}
			for _, y := range l.Y {
				if !(y > p.YMin && y < p.YMax) {
					t.Errorf("panel %d, %s: %v is not within %v to %v", i, l.Method, y, p.YMin, p.YMax)
				}
			}
		}
	}
	r.Features = "rff:16"
	if _, err := r.covarianceOf(context.Background(), "covtype", func(string, float64) {}); err == nil {
		t.Error("sketches of 16 rows of 16 features are made")
	}
}
