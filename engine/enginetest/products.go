package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// scalars are the pairs alpha, beta that the tests go through.
var scalars = func() (pairs [][2]float64) {
	values := []float64{1, 0, -1, 0.7}
	for _, alpha := range values {
		for _, beta := range values {
			pairs = append(pairs, [2]float64{alpha, beta})
		}
	}
	return pairs
}()

func pick[T any](xs []T, i int) T { return xs[i%len(xs)] }

// A sweep calls f for shapes in three dimensions, numbering them.
type sweep func(f func(trial, m, n, k int))

// few takes edge sizes in all three dimensions: each size with a few others rather
// than the whole cube.
func few(f func(trial, m, n, k int)) {
	trial, steps := 0, []int{0, 1, 5, 11}
	if testing.Short() {
		steps = steps[2:3]
	}
	for i, m := range sizes {
		for _, step := range steps {
			f(trial, m, pick(sizes, i+step), pick(sizes, 3*i+7*step))
			f(trial+1, pick(sizes, 2*i+step), pick(sizes, i+3*step), m)
			trial += 2
		}
	}
}

func gemm(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, m, n, k int) {
		for flags := range 4 {
			ta, tb := flags&1 != 0, flags&2 != 0
			s := pick(scalars, trial+5*flags)
			rng := random(uint64(trial))
			a, b := operand(ta, m, k, normal(rng)), operand(tb, k, n, normal(rng))
			fill := normal(rng)
			if s[1] == 0 {
				fill = nan
			}
			c := newOutput(m, n, fill)
			be.Gemm(ta, tb, s[0], a.view(), b.view(), s[1], c.view())
			what := fmt.Sprintf("Gemm(%v, %v, %d, %d, %d, %v)", ta, tb, m, n, k, s)
			a.unchanged(t, what)
			b.unchanged(t, what)
			c.guarded(t, what, anywhere)
			for i := range m {
				for j := range n {
					within(t, what, c.at(i, j), product(s, c, i, j, k, func(l int) (float64, float64) { return entry(a, ta, i, l), entry(b, tb, l, j) }), promised(be, !ta && tb, k))
				}
			}
		}
	})
}

// operand makes op(A) r×c, stored transposed when trans is set.
func operand(trans bool, r, c int, f func(i, j int) float64) *matrix {
	if trans {
		r, c = c, r
	}
	return newMatrix(r, c, f)
}

func entry(a *matrix, trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return a.was(i, j)
}

// product is the reference for alpha·Σ xy + beta·C_ij.
func product(s [2]float64, c *matrix, i, j, k int, xy func(l int) (float64, float64)) sum {
	var want sum
	if s[0] != 0 {
		for l := range k {
			x, y := xy(l)
			want.add(s[0]*x, y)
		}
	}
	if s[1] != 0 {
		want.add(s[1], c.was(i, j))
	}
	return want
}

// promised is the bound of a sum of k products, along rows or not.
func promised(be engine.Backend, alongRows bool, k int) float64 {
	if alongRows {
		return be.Accuracy().Dot(k)
	}
	return be.Accuracy().Sum(k)
}

func syrk(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, n, _, k int) {
		for _, trans := range []bool{false, true} {
			s := pick(scalars, trial)
			rng := random(uint64(trial))
			a := operand(trans, n, k, normal(rng))
			fill := normal(rng)
			if s[1] == 0 {
				fill = nan
			}
			c := newOutput(n, n, lowerOnly(fill))
			be.Syrk(trans, s[0], a.view(), s[1], c.view())
			what := fmt.Sprintf("Syrk(%v, %d, %d, %v)", trans, n, k, s)
			a.unchanged(t, what)
			c.guarded(t, what, lower)
			for i := range n {
				for j := range i + 1 {
					within(t, what, c.at(i, j), product(s, c, i, j, k, func(l int) (float64, float64) { return entry(a, trans, i, l), entry(a, trans, j, l) }), promised(be, !trans, k))
				}
			}
		}
	})
}

func gram(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, n, first, k int) {
		first = min(first, n)
		rng := random(uint64(trial))
		a := newMatrix(n, k, normal(rng))
		asked := func(i, j int) bool { return i >= first && j <= i }
		c := newOutput(n, n, func(i, j int) float64 {
			if asked(i, j) {
				return math.NaN()
			}
			return rng.NormFloat64()
		})
		be.Gram(first, a.view(), c.view())
		what := fmt.Sprintf("Gram(%d, %d, %d)", first, n, k)
		a.unchanged(t, what)
		c.guarded(t, what, asked)
		for i := first; i < n; i++ {
			for j := range i + 1 {
				within(t, what, c.at(i, j), product([2]float64{1, 0}, c, i, j, k, func(l int) (float64, float64) { return a.was(i, l), a.was(j, l) }), promised(be, true, k))
			}
		}
	})
}

func leftMul(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, m, n, k int) {
		m = min(m, k)
		rng := random(uint64(trial))
		w, b := newMatrix(m, k, normal(rng)), newMatrix(k, n, normal(rng))
		be.LeftMul(w.view(), b.view(), workspace(be.LeftMulWork(m, n, k)))
		what := fmt.Sprintf("LeftMul(%d, %d, %d)", m, n, k)
		w.unchanged(t, what)
		b.guarded(t, what, anywhere)
		for i := range m {
			for j := range n {
				within(t, what, b.at(i, j), product([2]float64{1, 0}, b, i, j, k, func(l int) (float64, float64) { return w.was(i, l), b.was(l, j) }), promised(be, false, k))
			}
		}
	})
}

func gemv(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, m, n, _ int) {
		for _, trans := range []bool{false, true} {
			s := pick(scalars, trial)
			rng := random(uint64(trial))
			a := newMatrix(m, n, normal(rng))
			rows, k := m, n
			if trans {
				rows, k = n, m
			}
			x := newMatrix(1, k, normal(rng))
			fill := normal(rng)
			if s[1] == 0 {
				fill = nan
			}
			y := newMatrix(1, rows, fill)
			be.Gemv(trans, s[0], a.view(), x.data, s[1], y.data)
			what := fmt.Sprintf("Gemv(%v, %d, %d, %v)", trans, m, n, s)
			a.unchanged(t, what)
			x.unchanged(t, what)
			y.guarded(t, what, anywhere)
			for i := range rows {
				within(t, what, y.at(0, i), product(s, y, 0, i, k, func(l int) (float64, float64) { return entry(a, trans, i, l), x.was(0, l) }), promised(be, !trans, k))
			}
		}
	})
}
