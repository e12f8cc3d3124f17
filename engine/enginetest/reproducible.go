package enginetest

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// reproducible holds a backend that promises so to the same bits for any number of
// threads, and from call to call.
func reproducible(t *testing.T, be engine.Backend) {
	if !be.Accuracy().Reproducible {
		t.Skip("not promised")
	}
	const m, n, k, q = 300, 210, 150, 3
	rng := random(2)
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	a, b, x, y := fill(m*k), fill(k*n), fill(q*k), fill(m*q)
	rows := engine.View(m, k, a)
	operations := map[string]func() []float64{
		"Gemm": func() []float64 {
			c := workspace(m * n)
			be.Gemm(false, false, 0.7, rows, engine.View(k, n, b), 0, engine.View(m, n, c))
			return c
		},
		"Syrk": func() []float64 {
			c := make([]float64, k*k)
			be.Syrk(true, 1, rows, 0, engine.View(k, k, c))
			return c
		},
		"Gemv": func() []float64 {
			z := workspace(k)
			be.Gemv(true, 1, rows, y[:m], 0, z)
			return z
		},
		"Gradient": func() []float64 {
			g, r := make([]float64, q*k), workspace(m*q)
			be.Gradient(rows, engine.View(q, k, x), engine.View(m, q, y), engine.View(q, k, g), engine.View(m, q, r))
			return append(g, r...)
		},
		"SymEig": func() []float64 {
			c, w, v := make([]float64, k*k), workspace(k), workspace(k*k)
			be.Syrk(true, 1, rows, 0, engine.View(k, k, c))
			if !be.SymEig(engine.View(k, k, c), w, engine.View(k, k, v), workspace(be.SymEigWork(k, k))) {
				t.Fatal("no convergence")
			}
			return append(w, v...)
		},
	}
	operations["Tridiagonal"] = func() []float64 { return reduced(t, be, a) }
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			want := operation()
			for _, threads := range []int{1, 2, 4} {
				runtime.GOMAXPROCS(threads)
				got := operation()
				if i := slices.IndexFunc(want, func(v float64) bool { return math.IsNaN(v) }); i >= 0 {
					t.Fatalf("element %d is NaN", i)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("GOMAXPROCS %d: other bits", threads)
				}
			}
		})
	}
}

// reduced is T and two rows turned, of a matrix of an order that is shared out.
func reduced(t *testing.T, be engine.Backend, x []float64) []float64 {
	const n = 800
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = x[(i*j+i)%len(x)]
		}
	}
	d, e, tau, two := workspace(n), workspace(n-1), workspace(n), slices.Clone(x[:2*n])
	if !be.Tridiagonal(engine.View(n, n, a), d, e, tau, workspace(be.TridiagonalWork(n))) {
		t.Fatal("Tridiagonal fails")
	}
	be.Turn(true, engine.View(n, n, a), tau, engine.View(2, n, two), workspace(be.TurnWork(n, 2)))
	return slices.Concat(d, e, two)
}
