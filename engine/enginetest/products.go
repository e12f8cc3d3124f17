package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// scalars are the pairs of alpha and beta to test.
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

// A sweep calls f for many shapes of products C = A·B. C is m×n, and k is the number of terms in an element. The
// argument trial is the index of the call.
type sweep func(f func(trial, m, n, k int))

// few is a sweep over some combinations of the tested sizes. Each of m, n and k takes every size at least once.
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
			a.checkUnchanged(t, what)
			b.checkUnchanged(t, what)
			c.checkGuards(t, what, anywhere)
			c.checkProduct(
				t,
				what,
				anywhere,
				s,
				k,
				promisedBound(be, !ta && tb, k),
				func(i, j, l int) (x, y float64) { return entry(a, ta, i, l), entry(b, tb, l, j) },
			)
		}
	})
}

// orders checks that the elements of one matrix product A·B are summed in at most engine.Orders different orders.
// If all columns of B are equal, the elements in a row of A·B differ only if their summation orders differ.
func orders(t *testing.T, be engine.Backend) {
	few(func(trial, m, n, k int) {
		for _, tb := range []bool{false, true} {
			rng := random(uint64(trial))
			column := newMatrix(k, 1, normal(rng))
			a, b := newMatrix(m, k, normal(rng)), newMatrix(k, n, func(l, _ int) float64 { return column.was(l, 0) })
			if tb {
				b = newMatrix(n, k, func(_, l int) float64 { return column.was(l, 0) })
			}
			c := newOutput(m, n, nan)
			be.Gemm(false, tb, 1, a.view(), b.view(), 0, c.view())
			for i := range m {
				seen := map[float64]bool{}
				for j := range n {
					seen[c.at(i, j)] = true
				}
				if len(seen) > engine.Orders {
					t.Fatalf("Gemm(false, %v, %d, %d, %d): %d orders of addition in row %d", tb, m, n, k, len(seen), i)
				}
			}
		}
	})
}

// operand returns an argument of a product with r rows and c columns. If trans is true, the matrix is stored as its
// transpose with c rows and r columns.
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

// checkProduct checks that the product P was added correctly: C = alpha·P + beta·C. It checks the elements that
// isChecked selects. An element of P is a sum of k products x·y. The function xy returns the factors x and y of
// product l of element (i, j). The argument scalars holds alpha and beta.
func (c *matrix) checkProduct(
	t *testing.T,
	what string,
	isChecked func(i, j int) bool,
	scalars [2]float64,
	k int,
	bound float64,
	xy func(i, j, l int) (x, y float64),
) {
	for i := range c.r {
		for j := range c.c {
			if !isChecked(i, j) {
				continue
			}
			var want sum
			if scalars[0] != 0 {
				for l := range k {
					x, y := xy(i, j, l)
					want.add(scalars[0]*x, y)
				}
			}
			if scalars[1] != 0 {
				want.add(scalars[1], c.was(i, j))
			}
			checkSum(t, what, c.at(i, j), want, bound)
		}
	}
}

// promisedBound returns the backend's bound on the round-off of a sum of k products. Products of the elements of
// two rows have the bound Dot(k), otherwise the bound is Sum(k). See [engine.Accuracy].
func promisedBound(be engine.Backend, alongRows bool, k int) float64 {
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
			a.checkUnchanged(t, what)
			c.checkGuards(t, what, lower)
			c.checkProduct(
				t,
				what,
				lower,
				s,
				k,
				promisedBound(be, !trans, k),
				func(i, j, l int) (x, y float64) { return entry(a, trans, i, l), entry(a, trans, j, l) },
			)
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
		a.checkUnchanged(t, what)
		c.checkGuards(t, what, asked)
		c.checkProduct(
			t,
			what,
			asked,
			[2]float64{1, 0},
			k,
			promisedBound(be, true, k),
			func(i, j, l int) (x, y float64) { return a.was(i, l), a.was(j, l) },
		)
	})
}

func leftMul(t *testing.T, be engine.Backend, shapes sweep) {
	shapes(func(trial, m, n, k int) {
		m = min(m, k)
		rng := random(uint64(trial))
		w, b := newMatrix(m, k, normal(rng)), newMatrix(k, n, normal(rng))
		be.LeftMul(w.view(), b.view(), workspace(be.LeftMulWork(m, n, k)))
		what := fmt.Sprintf("LeftMul(%d, %d, %d)", m, n, k)
		w.checkUnchanged(t, what)
		b.checkGuards(t, what, anywhere)
		b.checkProduct(
			t,
			what,
			func(i, _ int) bool { return i < m },
			[2]float64{1, 0},
			k,
			promisedBound(be, false, k),
			func(i, j, l int) (x, y float64) { return w.was(i, l), b.was(l, j) },
		)
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
			a.checkUnchanged(t, what)
			x.checkUnchanged(t, what)
			y.checkGuards(t, what, anywhere)
			y.checkProduct(
				t,
				what,
				anywhere,
				s,
				k,
				promisedBound(be, !trans, k),
				func(_, i, l int) (float64, float64) { return entry(a, trans, i, l), x.was(0, l) },
			)
		}
	})
}
