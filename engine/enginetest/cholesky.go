package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

func cholesky(t *testing.T, be engine.Backend) {
	for _, n := range sizes {
		x := tabulate(n, normal(random(uint64(n))))
		spd := func(i, j int) float64 {
			var s sum
			for l := range n {
				s.add(x(i, l), x(j, l))
			}
			if i == j {
				return s.value() + 1
			}
			return s.value()
		}
		a := newMatrix(n, n, lowerOnly(spd))
		what := fmt.Sprintf("Cholesky(%d)", n)
		if _, ok := be.Cholesky(a.view()); !ok {
			t.Fatalf("%s: not positive definite", what)
		}
		a.checkGuards(t, what, lower)
		for i := range n {
			for j := range i + 1 {
				var s sum
				for l := range j + 1 {
					s.add(a.at(i, l), a.at(j, l))
				}
				if !(math.Abs(s.value()-a.was(i, j)) <= float64(n+2)*eps*(s.abs+math.Abs(a.was(i, j)))) {
					t.Fatalf("%s: LLᵀ(%d, %d) is %g, want %g", what, i, j, s.value(), a.was(i, j))
				}
			}
		}
		for _, nrhs := range []int{0, 1, 3, 8} {
			choleskySolve(t, be, a, nrhs)
		}
	}
	// Each change below turns the matrix 2·I into a matrix that is not positive definite or not finite.
	for _, n := range []int{1, 2, 3, 64, 129} {
		for name, change := range map[string]struct {
			i, j int
			to   float64
		}{
			"indefinite":        {n - 1, 0, -3},
			"negative":          {n / 2, n / 2, -1},
			"singular":          {n - 1, n - 1, 0},
			"NaN first":         {0, 0, math.NaN()},
			"NaN last":          {n - 1, n - 1, math.NaN()},
			"NaN off-diagonal":  {n - 1, 0, math.NaN()},
			"infinite negative": {n - 1, n - 1, math.Inf(-1)},
			"infinite first":    {0, 0, math.Inf(1)},
			"infinite last":     {n - 1, n - 1, math.Inf(1)},
		} {
			a := newMatrix(n, n, lowerOnly(diagonal(func(int) float64 { return 2 })))
			a.data[change.i*a.ld+change.j] = change.to
			if pivot, ok := be.Cholesky(a.view()); ok || pivot != change.i {
				t.Errorf("Cholesky(%d), %s: reports pivot %d, success %v; pivot %d fails", n, name, pivot, ok, change.i)
			}
		}
	}
}

// choleskySolve checks that CholeskySolve finds the solutions x of L·Lᵀ·x = b for nrhs right-hand sides b.
func choleskySolve(t *testing.T, be engine.Backend, l *matrix, nrhs int) {
	t.Helper()
	n := l.r
	before := append([]float64(nil), l.all...)
	b := newMatrix(nrhs, n, normal(random(uint64(n+nrhs))))
	be.CholeskySolve(l.view(), b.view())
	what := fmt.Sprintf("CholeskySolve(%d, %d)", n, nrhs)
	b.checkGuards(t, what, anywhere)
	for i, v := range l.all {
		if math.Float64bits(v) != math.Float64bits(before[i]) {
			t.Fatalf("%s: L was written", what)
		}
	}
	for q := range nrhs {
		y := make([]float64, n) // Lᵀx, and the magnitudes of its terms
		abs := make([]float64, n)
		for i := range n {
			var s sum
			for k := i; k < n; k++ {
				s.add(l.at(k, i), b.at(q, k))
			}
			y[i], abs[i] = s.value(), s.abs
		}
		for i := range n {
			var s, scale sum
			for k := range i + 1 {
				s.add(l.at(i, k), y[k])
				scale.add(math.Abs(l.at(i, k)), abs[k])
			}
			if !(math.Abs(s.value()-b.was(q, i)) <= 4*float64(n+2)*eps*(scale.abs+math.Abs(b.was(q, i)))) {
				t.Fatalf("%s: LLᵀx is off by %g", what, s.value()-b.was(q, i))
			}
		}
	}
}
