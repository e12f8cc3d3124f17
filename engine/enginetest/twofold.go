package enginetest

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// A twofoldCase is the operands of one call of GradientTwofold.
type twofoldCase struct {
	name       string
	n, d, t    int
	a, x, b, w func(i, j int) float64 // b and w may be nil; w is of a column
	shift      func(q, _ int) float64 // c; may be nil
	g          func(i, j int) float64 // what G is added to
	rough      bool                   // no scales of rows and columns are near the magnitudes of entries
	want       *twofoldSums
}

// twofoldSums are the exact results of a case, and the sums of the magnitudes of what is
// added up in them.
type twofoldSums struct {
	r, g         []*big.Float
	rSize, gSize []float64
}

// gradientTwofold holds both results to their own bounds, that of G for the R that was returned,
// and these to what twice the digits come to, against sums of some thousand bits.
func gradientTwofold(t *testing.T, be engine.Backend) {
	dense, sparse := 0.0, 0.0
	for _, c := range exactTwofolds() {
		dense = max(dense, c.hold(t, func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold) {
			be.GradientTwofold(a, x, b, c, w, g, r)
		}))
		sparse = max(sparse, c.hold(t, func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold) {
			s := compressed(a)
			s.GradientTwofold(x, b, c, w, g, r)
		}))
	}
	t.Logf("at most %.2g of a bound is used, %.2g of one of sparse rows", dense, sparse)
	t.Run("OutOfRange", func(t *testing.T) { twofoldOutOfRange(t, be) })
	t.Run("Allocations", func(t *testing.T) { twofoldAllocations(t, be) })
	t.Run("Panics", func(t *testing.T) { twofoldPanics(t, be) })
}

// newTwofold is zeros in three matrices.
func newTwofold(rows, cols int) engine.Twofold {
	zeros := func() engine.Matrix { return engine.View(rows, cols, make([]float64, rows*cols)) }
	return engine.Twofold{Hi: zeros(), Lo: zeros(), Err: zeros()}
}

// twofoldOutOfRange has an entry with which sums overflow, or are none. No bound of what
// it is in may be finite.
func twofoldOutOfRange(t *testing.T, be engine.Backend) {
	const n, d, q = 70, 9, 2
	for _, v := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		a := newMatrix(n, d, normal(random(1)))
		a.data[40*a.ld+3] = v
		x := newMatrix(q, d, func(int, int) float64 { return 1e10 })
		g, r := newTwofold(q, d), newTwofold(n, q)
		be.GradientTwofold(a.view(), x.view(), engine.Matrix{}, nil, nil, g, r)
		s := compressed(a.view())
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

func twofoldAllocations(t *testing.T, be engine.Backend) {
	const n, d, q = 500, 130, 3
	a, x, g, r := newMatrix(n, d, normal(random(2))), newMatrix(q, d, normal(random(3))), newTwofold(q, d), newTwofold(n, q)
	f := func() { be.GradientTwofold(a.view(), x.view(), engine.Matrix{}, nil, nil, g, r) }
	f()
	if got := testing.AllocsPerRun(10, f); !(got == 0) {
		t.Errorf("%v allocations a call", got)
	}
	if got := allocationsInParallel(20, f); !(got == 0) {
		t.Errorf("%v allocations a call on all processors", got)
	}
}

func twofoldPanics(t *testing.T, be engine.Backend) {
	a, x, b := engine.View(3, 2, make([]float64, 6)), engine.View(1, 2, make([]float64, 2)), engine.View(3, 1, make([]float64, 3))
	g, r := newTwofold(1, 2), newTwofold(3, 1)
	short := g
	short.Err = engine.View(1, 1, make([]float64, 1))
	for name, f := range map[string]func(){
		"other x":       func() { be.GradientTwofold(a, engine.View(1, 3, make([]float64, 3)), b, nil, nil, g, r) },
		"other b":       func() { be.GradientTwofold(a, x, engine.View(2, 1, make([]float64, 2)), nil, nil, g, r) },
		"short weights": func() { be.GradientTwofold(a, x, b, nil, make([]float64, 2), g, r) },
		"other c":       func() { be.GradientTwofold(a, x, b, []float64{}, nil, g, r) },
		"other g":       func() { be.GradientTwofold(a, x, b, nil, nil, r, r) },
		"short bounds":  func() { be.GradientTwofold(a, x, b, nil, nil, short, r) },
		"other r":       func() { be.GradientTwofold(a, x, b, nil, nil, g, g) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic with a string", name)
				}
			}()
			f()
		}()
	}
}

// exactly is a number of so many bits that no sum here rounds.
func exactly(v float64) *big.Float { return new(big.Float).SetPrec(1200).SetFloat64(v) }

func times(x, y float64) *big.Float { return exactly(0).Mul(exactly(x), exactly(y)) }

// compressed leaves out what is zero.
func compressed(a engine.Matrix) engine.CSR {
	s := engine.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: []int{0}}
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if v != 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return s
}

// hold returns how much of a bound is used, at most.
func (c twofoldCase) hold(t *testing.T, compute func(a, x, b engine.Matrix, c, w []float64, g, r engine.Twofold)) float64 {
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
	compute(a.view(), x.view(), b, shift, w, engine.Twofold{Hi: gh.view(), Lo: gl.view(), Err: ge.view()}, engine.Twofold{Hi: rh.view(), Lo: rl.view(), Err: re.view()})
	for i, m := range []*matrix{gh, gl, ge, rh, rl, re} {
		m.guarded(t, fmt.Sprint(c.name, ", output ", i), anywhere)
	}
	a.unchanged(t, c.name)
	x.unchanged(t, c.name)
	worst := 0.0
	check := func(what string, i, j int, hi, lo, err *matrix, want *big.Float, size float64) {
		got := exactly(0).Add(exactly(hi.at(i, j)), exactly(lo.at(i, j)))
		off, _ := got.Sub(got, want).Float64()
		bound := err.at(i, j)
		if !(math.Abs(off) <= bound) {
			t.Fatalf("%s: %s of (%d, %d) is off by %.3g, its bound is %.3g", c.name, what, i, j, off, bound)
		}
		if bound > 0 {
			worst = max(worst, math.Abs(off)/bound)
		}
		if !c.rough && !(bound <= 0x1p-70*size+0x1p-1000) {
			t.Fatalf("%s: the bound of %s of (%d, %d) is %.3g for terms that add up to %.3g", c.name, what, i, j, bound, size)
		}
		if !(math.Abs(lo.at(i, j)) <= 0x1p-53*math.Abs(hi.at(i, j))) {
			t.Fatalf("%s: %s of (%d, %d) is %.17g and %g beside", c.name, what, i, j, hi.at(i, j), lo.at(i, j))
		}
	}
	for i, want := range c.want.r {
		check("R", i/c.t, i%c.t, rh, rl, re, want, c.want.rSize[i])
	}
	for i, want := range c.ofReturned(rh, rl) {
		check("G", i/c.d, i%c.d, gh, gl, ge, want, c.want.gSize[i])
	}
	return worst
}

// ofReturned is the exact G for the R that was returned: less Σ w·a times what R is off by.
func (c twofoldCase) ofReturned(rh, rl *matrix) []*big.Float {
	out := make([]*big.Float, len(c.want.g))
	for i, v := range c.want.g {
		out[i] = exactly(0).Set(v)
	}
	for i, r := range c.want.r {
		row, q := i/c.t, i%c.t
		off := exactly(0).Sub(r, exactly(0).Add(exactly(rh.at(row, q)), exactly(rl.at(row, q))))
		if c.w != nil {
			off.Mul(off, exactly(c.w(row, 0)))
		}
		for j := range c.d {
			sum := out[q*c.d+j]
			sum.Sub(sum, exactly(0).Mul(off, exactly(c.a(row, j))))
		}
	}
	return out
}

// exact computes R and G by sums that do not round.
func (c twofoldCase) exact() *twofoldSums {
	s := &twofoldSums{g: make([]*big.Float, c.t*c.d), gSize: make([]float64, c.t*c.d)}
	for i := range s.g {
		v := 0.0
		if c.g != nil {
			v = c.g(i/c.d, i%c.d)
		}
		s.g[i], s.gSize[i] = exactly(v), math.Abs(v)
	}
	for i := range c.n {
		for q := range c.t {
			r, size := exactly(0), 0.0
			for j := range c.d {
				r.Add(r, times(c.a(i, j), c.x(q, j)))
				size += math.Abs(c.a(i, j) * c.x(q, j))
			}
			if c.b != nil {
				r.Sub(r, exactly(c.b(i, q)))
				size += math.Abs(c.b(i, q))
			}
			if c.shift != nil {
				r.Add(r, exactly(c.shift(q, 0)))
				size += math.Abs(c.shift(q, 0))
			}
			s.r, s.rSize = append(s.r, r), append(s.rSize, size)
			weighted := exactly(0).Set(r)
			if c.w != nil {
				weighted.Mul(r, exactly(c.w(i, 0)))
				size *= c.w(i, 0)
			}
			for j := range c.d {
				s.gSize[q*c.d+j] += size * math.Abs(c.a(i, j))
				s.g[q*c.d+j].Add(s.g[q*c.d+j], exactly(0).Mul(weighted, exactly(c.a(i, j))))
			}
		}
	}
	return s
}
