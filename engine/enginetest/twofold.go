package enginetest

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// A twofoldCase holds the operands of one call of GradientTwofold. The block A has n rows and d columns, and t is
// the number of right-hand sides.
type twofoldCase struct {
	name       string
	n, d, t    int
	a, x, b, w func(i, j int) float64 // b and w may be nil; w is a column
	shift      func(q, _ int) float64 // c of GradientTwofold; may be nil
	g          func(i, j int) float64 // initial value of G
	// rough is true if the magnitudes of the entries of A are far from any products of a row scale and a column
	// scale. The error bounds may then be large.
	rough bool
	want  *twofoldSums
}

// twofoldSums holds the exact residuals r and gradients g of one call of GradientTwofold. rSize and gSize hold the
// sums of the magnitudes of the terms in each element of r and g.
type twofoldSums struct {
	r, g         []*big.Float
	rSize, gSize []float64
}

// gradientTwofold compares the results of GradientTwofold with sums of more than a thousand bits. The errors must
// be within the error bounds that GradientTwofold returns. Except for rough cases, the bounds must be about as
// small as twice the digits of float64 allow.
func gradientTwofold(t *testing.T, be engine.Backend) {
	dense, sparse := 0.0, 0.0
	for _, c := range exactTwofolds() {
		dense = max(dense, c.verify(t, func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold) {
			be.GradientTwofold(a, x, b, c, w, g, r)
		}))
		sparse = max(sparse, c.verify(t, func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold) {
			s := toCSR(a, noZeros)
			s.GradientTwofold(x, b, c, w, g, r)
		}))
	}
	t.Logf("at most %.2g of a bound is used, %.2g for sparse rows", dense, sparse)
	t.Run("OutOfRange", func(t *testing.T) { twofoldOutOfRange(t, be) })
	t.Run("Panics", func(t *testing.T) { twofoldPanics(t, be) })
}

// newTwofold returns a Twofold of zeros.
func newTwofold(rows, cols int) engine.Twofold {
	zeros := func() engine.Matrix { return engine.View(rows, cols, make([]float64, rows*cols)) }
	return engine.Twofold{Hi: zeros(), Lo: zeros(), Err: zeros()}
}

// twofoldOutOfRange sets one entry to a value that makes sums overflow or become NaN. The error bounds of all results
// that depend on this entry must be infinite or NaN.
func twofoldOutOfRange(t *testing.T, be engine.Backend) {
	const n, d, q = 70, 9, 2
	for _, v := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		a := newMatrix(n, d, normal(random(1)))
		a.data[40*a.ld+3] = v
		x := newMatrix(q, d, func(int, int) float64 { return 1e10 })
		g, r := newTwofold(q, d), newTwofold(n, q)
		be.GradientTwofold(a.view(), x.view(), engine.Matrix{}, nil, nil, g, r)
		s := toCSR(a.view(), noZeros)
		gs, rs := newTwofold(q, d), newTwofold(n, q)
		s.GradientTwofold(x.view(), engine.Matrix{}, nil, nil, gs, rs)
		for name, bounds := range map[string][]float64{"R": r.Err.Row(40), "sparse R": rs.Err.Row(40), "G": g.Err.Row(1)[3:4], "sparse G": gs.Err.Row(1)[3:4]} {
			for _, e := range bounds {
				if !math.IsNaN(e) && !math.IsInf(e, 0) {
					t.Errorf("%v: the bound of an element of %s is %v", v, name, e)
				}
			}
		}
	}
}

func twofoldPanics(t *testing.T, be engine.Backend) {
	a, x, b := engine.View(3, 2, make([]float64, 6)), engine.View(1, 2, make([]float64, 2)), engine.View(3, 1, make([]float64, 3))
	g, r := newTwofold(1, 2), newTwofold(3, 1)
	short := g
	short.Err = engine.View(1, 1, make([]float64, 1))
	mustPanic(t, map[string]func(){
		"other x":       func() { be.GradientTwofold(a, engine.View(1, 3, make([]float64, 3)), b, nil, nil, g, r) },
		"other b":       func() { be.GradientTwofold(a, x, engine.View(2, 1, make([]float64, 2)), nil, nil, g, r) },
		"short weights": func() { be.GradientTwofold(a, x, b, nil, make([]float64, 2), g, r) },
		"other c":       func() { be.GradientTwofold(a, x, b, []float64{}, nil, g, r) },
		"other g":       func() { be.GradientTwofold(a, x, b, nil, nil, r, r) },
		"short bounds":  func() { be.GradientTwofold(a, x, b, nil, nil, short, r) },
		"other r":       func() { be.GradientTwofold(a, x, b, nil, nil, g, g) },
	})
}

// newExact returns v as a number with 1200 bits, which is enough so that no sum in these tests is rounded.
func newExact(v float64) *big.Float { return new(big.Float).SetPrec(1200).SetFloat64(v) }

func times(x, y float64) *big.Float { return newExact(0).Mul(newExact(x), newExact(y)) }

func noZeros() bool { return false }

// toCSR returns the rows of a as sparse rows. It stores a zero entry only if storesZero returns true.
func toCSR(a engine.Matrix, storesZero func() bool) engine.CSR {
	s := engine.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: []int{0}}
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if v != 0 || storesZero() {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return s
}

// verify calls compute for the case c and checks its results. It returns the largest ratio of an error to its
// bound.
func (c twofoldCase) verify(
	t *testing.T,
	compute func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold),
) float64 {
	t.Helper()
	if c.g == nil {
		c.g = func(int, int) float64 { return 0 }
	}
	a, x := newMatrix(c.n, c.d, c.a), newMatrix(c.t, c.d, c.x)
	var b engine.Matrix
	if c.b != nil {
		b = newMatrix(c.n, c.t, c.b).view()
	}
	var w []float64
	for i := 0; c.w != nil && i < c.n; i++ {
		w = append(w, c.w(i, 0))
	}
	var shift []float64
	for q := 0; c.shift != nil && q < c.t; q++ {
		shift = append(shift, c.shift(q, 0))
	}
	zero := func(int, int) float64 { return 0 }
	gh, gl, ge := newOutput(c.t, c.d, c.g), newOutput(c.t, c.d, zero), newOutput(c.t, c.d, zero)
	rh, rl, re := newOutput(c.n, c.t, nan), newOutput(c.n, c.t, nan), newOutput(c.n, c.t, nan)
	compute(
		a.view(),
		x.view(),
		b,
		shift,
		w,
		engine.Twofold{Hi: gh.view(), Lo: gl.view(), Err: ge.view()},
		engine.Twofold{Hi: rh.view(), Lo: rl.view(), Err: re.view()},
	)
	for i, m := range []*matrix{gh, gl, ge, rh, rl, re} {
		m.checkGuards(t, fmt.Sprint(c.name, ", output ", i), anywhere)
	}
	a.checkUnchanged(t, c.name)
	x.checkUnchanged(t, c.name)
	worst := 0.0
	check := func(what string, i, j int, hi, lo, err *matrix, want *big.Float, size float64) {
		got := newExact(0).Add(newExact(hi.at(i, j)), newExact(lo.at(i, j)))
		off, _ := got.Sub(got, want).Float64()
		bound := err.at(i, j)
		if !(math.Abs(off) <= bound) {
			t.Fatalf("%s: %s of (%d, %d) is off by %.3g, its bound is %.3g", c.name, what, i, j, off, bound)
		}
		if bound > 0 {
			worst = max(worst, math.Abs(off)/bound)
		}
		if !c.rough && !(bound <= 0x1p-70*size+0x1p-1000) {
			t.Fatalf(
				"%s: the bound of %s of (%d, %d) is %.3g for terms that add up to %.3g",
				c.name,
				what,
				i,
				j,
				bound,
				size,
			)
		}
		if !(math.Abs(lo.at(i, j)) <= 0x1p-53*math.Abs(hi.at(i, j))) {
			t.Fatalf("%s: %s of (%d, %d) has the parts %.17g and %g", c.name, what, i, j, hi.at(i, j), lo.at(i, j))
		}
	}
	for i, want := range c.want.r {
		check("R", i/c.t, i%c.t, rh, rl, re, want, c.want.rSize[i])
	}
	for i, want := range c.exactG(rh, rl) {
		check("G", i/c.d, i%c.d, gh, gl, ge, want, c.want.gSize[i])
	}
	return worst
}

// exactG returns the exact matrix G for the computed residuals rh + rl, because the error bounds of G assume these
// residuals. It is the G of exact residuals, c.want.g, plus the effect of the errors of the computed residuals.
func (c twofoldCase) exactG(rh, rl *matrix) []*big.Float {
	out := make([]*big.Float, len(c.want.g))
	for i, v := range c.want.g {
		out[i] = newExact(0).Set(v)
	}
	for i, r := range c.want.r {
		row, q := i/c.t, i%c.t
		off := newExact(rh.at(row, q))
		c.addOuter(out[q*c.d:(q+1)*c.d], row, off.Sub(off.Add(off, newExact(rl.at(row, q))), r))
	}
	return out
}

// addOuter multiplies row i of A by its weight and by r, and adds the products to sums. It overwrites r.
func (c twofoldCase) addOuter(sums []*big.Float, i int, r *big.Float) {
	if c.w != nil {
		r.Mul(r, newExact(c.w(i, 0)))
	}
	product, a := newExact(0), new(big.Float)
	for j, s := range sums {
		s.Add(s, product.Mul(r, a.SetFloat64(c.a(i, j))))
	}
}

// exact computes R and G without round-off.
func (c twofoldCase) exact() *twofoldSums {
	s := &twofoldSums{g: make([]*big.Float, c.t*c.d), gSize: make([]float64, c.t*c.d)}
	for i := range s.g {
		v := 0.0
		if c.g != nil {
			v = c.g(i/c.d, i%c.d)
		}
		s.g[i], s.gSize[i] = newExact(v), math.Abs(v)
	}
	product, a, x := newExact(0), new(big.Float), new(big.Float)
	for i := range c.n {
		for q := range c.t {
			r, size := newExact(0), 0.0
			add := func(u, v float64) {
				r.Add(r, product.Mul(a.SetFloat64(u), x.SetFloat64(v)))
				size += math.Abs(u * v)
			}
			for j := range c.d {
				add(c.a(i, j), c.x(q, j))
			}
			if c.b != nil {
				add(c.b(i, q), -1)
			}
			if c.shift != nil {
				add(c.shift(q, 0), 1)
			}
			s.r, s.rSize = append(s.r, r), append(s.rSize, size)
			if c.w != nil {
				size *= c.w(i, 0)
			}
			for j := range c.d {
				s.gSize[q*c.d+j] += size * math.Abs(c.a(i, j))
			}
			c.addOuter(s.g[q*c.d:(q+1)*c.d], i, newExact(0).Set(r))
		}
	}
	return s
}
