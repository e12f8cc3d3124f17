package certify

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// matrices are tridiagonal and positive semidefinite, but for rounding.
func matrices(rng *rand.Rand) map[string]*Tridiagonal {
	out := map[string]*Tridiagonal{}
	for _, d := range []int{1, 2, 9, 16} {
		for name, entry := range map[string]func(i int) (a, e float64){
			"1-2-1":    func(int) (a, e float64) { return 2, -1 },
			"diagonal": func(i int) (a, e float64) { return float64(i), 0 },
			"zero":     func(int) (a, e float64) { return 0, 0 },
			"graded":   func(i int) (a, e float64) { return math.Exp2(float64(-4 * i)), 0.2 * math.Exp2(float64(-4*i-2)) },
			"rising":   func(i int) (a, e float64) { return math.Exp2(float64(3 * i)), 0.3 * math.Exp2(float64(3*i)) },
			"random":   func(int) (a, e float64) { return 1 + rng.Float64(), 0.5 * rng.NormFloat64() / 3 },
			"huge":     func(int) (a, e float64) { return 0x1p500, 0x1p498 },
			"tiny":     func(int) (a, e float64) { return 0x1p-500, 0x1p-502 },
			"denormal": func(int) (a, e float64) { return 0x1p-1040, 0x1p-1043 },
		} {
			a, b := make([]float64, d), make([]float64, d)
			for i := range d {
				a[i], b[i] = entry(i)
			}
			out[fmt.Sprintf("%s, d = %d", name, d)] = NewTridiagonal(a, b[:d-1], make([]float64, d), 0)
		}
		a, b := make([]float64, d), make([]float64, d-1) // rows add up to nothing, so that T is singular
		for i := range b {
			b[i] = -float64(1 + rng.IntN(100))
			a[i], a[i+1] = a[i]-b[i], a[i+1]-b[i]
		}
		out[fmt.Sprintf("singular, d = %d", d)] = NewTridiagonal(a, b, make([]float64, d), 0)
	}
	return out
}

// dense is T in extended precision.
func (t *Tridiagonal) dense() [][]*big.Float {
	d := len(t.Diagonal)
	out := make([][]*big.Float, d)
	for i := range out {
		out[i] = make([]*big.Float, d)
		for j := range out[i] {
			v := 0.0
			switch j {
			case i:
				v = t.Diagonal[i]
			case i + 1:
				v = t.Beside[i]
			case i - 1:
				v = t.Beside[j]
			}
			out[i][j] = refbig.Float(v)
		}
	}
	return out
}

// TestTridiagonal: the least eigenvalue and the effective dimension are bounded, closely, against
// eigenvalues of hundreds of bits.
func TestTridiagonal(t *testing.T) {
	for name, m := range matrices(rand.New(rand.NewPCG(1, 2))) {
		lambda := refbig.Eigenvalues(m.dense())
		least, most := math.Inf(1), 0.0
		for _, v := range lambda {
			f, _ := v.Float64()
			least, most = math.Min(least, f), math.Max(most, math.Abs(f))
		}
		if !(m.norm >= most) || !(m.least <= least) || !(m.least >= least-64*eps*most-1e-300) {
			t.Errorf("%s: least eigenvalue %g, bound %g; norm %g, bound %g", name, least, m.least, most, m.norm)
		}
		d := float64(len(lambda))
		for _, gamma := range []float64{1e-12 * most, 1e-9 * most, 1e-3 * most, most, 1e6 * most, 1} {
			if gamma == 0 {
				continue
			}
			for _, off := range []float64{0, gamma / 100} {
				// df where all eigenvalues are off by that
				lo, hi := new(big.Float).SetPrec(refbig.Prec), new(big.Float).SetPrec(refbig.Prec)
				for _, v := range lambda {
					for sign, sum := range map[float64]*big.Float{-1: lo, 1: hi} {
						h := new(big.Float).Add(v, refbig.Float(gamma+sign*off))
						sum.Add(sum, new(big.Float).Sub(refbig.Float(1), new(big.Float).Quo(refbig.Float(gamma), h)))
					}
				}
				l, _ := lo.Float64()
				h, _ := hi.Float64()
				got := m.dimension(gamma, off, d)
				if !(got.Lo <= math.Max(0, l)) || !(got.Hi >= math.Min(d, h)) {
					t.Errorf("%s, γ = %g ± %g: effective dimension in %v, is in [%g, %g]", name, gamma, off, got, l, h)
				}
				slack := d * (1e-13 + 64*eps*most/gamma + 0.05*off/gamma)
				if most < 0x1p-1000 { // what underflows is not little
					continue
				}
				if !(got.Lo >= l-slack) || !(got.Hi <= h+slack) {
					t.Errorf("%s, γ = %g ± %g: [%g, %g] is loose: %v", name, gamma, off, l, h, got)
				}
			}
		}
	}
}

// TestTridiagonalIndefinite: where round-off may be all that there is of an eigenvalue, nothing is
// said.
func TestTridiagonalIndefinite(t *testing.T) {
	m := NewTridiagonal([]float64{1, 0, 1}, []float64{1, 0}, make([]float64, 3), 0) // (1 ± √5)/2 and 1
	if !(m.least <= -0.6180339) || !(m.least >= -0.6180341) {
		t.Errorf("least eigenvalue %v", m.least)
	}
	if got := m.dimension(0.5, 0, 3); got.Lo != 0 || got.Hi != 3 {
		t.Errorf("T + γI is indefinite: effective dimension in %v", got)
	}
	if got := m.dimension(0.62, 0.01, 3); got.Lo != 0 {
		t.Errorf("T + γI may be indefinite: effective dimension in %v", got)
	}
}

// TestTridiagonalLargestGammas: almost nothing is fitted at the largest γ, where two pivots add up to more than any
// number.
func TestTridiagonalLargestGammas(t *testing.T) {
	m := NewTridiagonal([]float64{1, 2, 1}, []float64{0.5, 0.5}, make([]float64, 3), 0)
	for _, gamma := range []float64{0x1p1020, 0x1p1022, 0x1p1023, 1.7e308, math.MaxFloat64} {
		if got := m.dimension(gamma, 0, 3); got.Lo != 0 {
			t.Errorf("γ = %g: effective dimension in %v, is below 1e-300", gamma, got)
		}
	}
}

// one returns evidence for a problem of one feature at γ, with K = 1 and the computed sum K̃ = 1.01.
func one(gamma float64) (*Streamed, *Factored) {
	e := &Streamed{Rows: 3, Dim: 1, TSS: []float64{1}, Size: 1, Columns: Columns{Displaced: make([]float64, 2)}}
	t := NewTridiagonal([]float64{1.01}, nil, []float64{1}, 0.01)
	t.Reduced = 0.02
	return e, &Factored{Gamma: gamma, Data: make([]float64, 2), T: t}
}

// TestTridiagonalOff: what K was summed wrong, and what its reduction is off by, are in σ, and in
// what is said of the effective dimension.
func TestTridiagonalOff(t *testing.T) {
	e, f := one(0.5)
	_, s := e.columnErrors(f)
	if s2 := s.sigma * s.sigma; !(s2 <= 0.5+1.01-0.03) || !(s2 >= 0.5+1.01-0.03-1e-3) {
		t.Errorf("σ² is %g", s2)
	}
	lo, hi := 0.98/1.48, 1.04/1.54
	if !(s.df.Lo <= lo) || !(s.df.Hi >= hi) || !(s.df.Lo >= lo-1e-3) || !(s.df.Hi <= hi+1e-3) {
		t.Errorf("effective dimension in %v, may be in [%g, %g]", s.df, lo, hi)
	}
	e.Displaced[0] = 0.1 // ‖A‖ is in [√0.98 − 0.1, √1.04 + 0.1]
	_, s = e.columnErrors(f)
	least, most := math.Pow(math.Sqrt(0.98)-0.1, 2), math.Pow(math.Sqrt(1.04)+0.1, 2)
	if s2 := s.sigma * s.sigma; !(s2 <= 0.5+least) || !(s.df.Lo <= least/(0.5+least)) ||
		!(s.df.Hi >= math.Min(1, most/(0.5+most))) {
		t.Errorf("σ² is %g and the effective dimension in %v, the column is moved by 0.1", s2, s.df)
	}
}

// TestStepped: the bounds on the error of x + low − step hold and are not much too large. K̃ differs from K, the
// step differs a little from the factor's solution, and the gradient is wrong, by itself or because residuals are
// wrong.
func TestStepped(t *testing.T) {
	for _, gamma := range []float64{0.5, 1e-9, 1e6} {
		for _, x := range []float64{0, 0.7, 1e3} {
			for _, miss := range []float64{0, 1e-3} {
				for _, off := range []float64{0, 1e-2} {
					for _, ofResidual := range []bool{false, true} {
						for _, low := range []float64{0, 1e-3} {
							c := stepCase{gamma: gamma, x: x, low: low, miss: miss, off: off, ofResidual: ofResidual}
							c.check(t, true)
							if miss == 0 {
								c.check(t, false)
							}
						}
					}
				}
			}
		}
	}
}

// A stepCase is a correction of the problem of one.
type stepCase struct {
	gamma, x, low, miss, off float64
	ofResidual               bool
}

// check corrects by T, or by R with R² = K̃ + γ.
func (c stepCase) check(t *testing.T, byT bool) {
	t.Helper()
	h, summed := 1+c.gamma, 1.01+c.gamma
	want := 1 / h // x*, for c = 1
	e, f := one(c.gamma)
	root := math.Sqrt(summed)
	if !byT {
		f = &Factored{
			Gamma:    c.gamma,
			Data:     make([]float64, 2),
			Triangle: Triangle{R: []float64{root}, Ld: 1, Gram: 0.01 / h},
		}
	}
	r := NewRefiner(e, f)
	if r == nil {
		t.Fatalf("%+v: no refiner", c)
	}
	g := h*(c.x+c.low) - 1
	measured := g * (1 + c.off)
	step := measured / summed * (1 + c.miss)
	at := &Corrected{
		X:        []float64{c.x},
		Bounds:   []float64{0},
		RSS:      interval.Interval{Lo: (c.x - 1) * (c.x - 1), Hi: (c.x - 1) * (c.x - 1)},
		Gradient: []float64{measured},
		Step:     []float64{step},
		Left:     []float64{measured - summed*step},
		Half:     []float64{measured / root},
	}
	if c.low != 0 {
		at.Low = []float64{c.low}
	}
	if lost := math.Abs(g*c.off) * (1 + 1e-15); c.ofResidual { // ‖A‖ is 1
		at.Residual = lost
	} else {
		at.Bounds[0] = lost
	}
	next, known := r.Next(0, at)
	is := math.Abs(c.x + c.low - step - want)
	if !known || !(next.Error >= is) || !(next.Weights.Energy >= math.Sqrt(h)*is) {
		t.Errorf("%+v, T %v: error %g, bound %g, in the norm of H %g", c, byT, is, next.Error, next.Weights.Energy)
	}
	if is := math.Abs(next.X[0] - want); !(next.Weights.Error >= is*(1-1e-15)) || next.X[0]+next.Low[0] != next.X[0] ||
		math.Abs(next.X[0]-(c.x+c.low-step)) > 1e-15*(1+c.x) {
		t.Errorf(
			"%+v, T %v: x is %g and %g, off by %g, bound %g",
			c,
			byT,
			next.X[0],
			next.Low[0],
			is,
			next.Weights.Error,
		)
	}
	before := math.Sqrt(h) * math.Abs(c.x-want)
	if !(next.Before <= before*(1+1e-12)) || !(next.Before >= 0.8*before-2.1*math.Sqrt(h)*c.low-1e-12) {
		t.Errorf("%+v, T %v: at least %g before, it was %g", c, byT, next.Before, before)
	}
	objective := (1 - 1/h) / 2
	if o := next.Weights.Objective; !(o.Lo <= objective*(1+1e-12)) || !(o.Hi >= objective*(1-1e-12)) {
		t.Errorf("%+v, T %v: objective in %v, is %g", c, byT, o, objective)
	}
	rss := math.Pow(next.X[0]-1, 2)
	if !(next.Weights.RSS.Lo <= rss*(1+1e-12)) || !(next.Weights.RSS.Hi >= rss*(1-1e-12)) {
		t.Errorf("%+v, T %v: residual in %v, is %g", c, byT, next.Weights.RSS, rss)
	}
	if !(next.Error <= (0.1*math.Abs(step)+3*math.Abs(g*c.off/h))+1e-12) {
		t.Errorf("%+v, T %v: bound %g for an error of %g", c, byT, next.Error, is)
	}
}

// TestCorrectedParts: where the parts of a step all but cancel, it is off by as much as either.
func TestCorrectedParts(t *testing.T) {
	e, f := one(0)
	f = &Factored{Data: f.Data, Triangle: Triangle{R: []float64{1}, Ld: 1}}
	bound := func(part float64) float64 {
		next, known := NewRefiner(e, f).Next(0, &Corrected{
			X: []float64{1.5}, Bounds: []float64{0}, RSS: interval.Interval{Lo: 0.25, Hi: 0.25},
			Half: []float64{0.5}, Step: []float64{0.5}, HalfLow: []float64{part}, StepLow: []float64{part},
		})
		if !known {
			t.Fatal("nothing is known")
		}
		return next.Error
	}
	const part = 1e9
	alone, both := bound(0), bound(part)
	if !(alone <= 1e-14) || !(both-alone >= 2*part*eps) || !(both <= 40*part*eps) {
		t.Errorf("bound %g for one part, %g for two that cancel", alone, both)
	}
}

// TestShare: ‖H^{-½}Aᵀ‖ is bounded for an A that may be displaced, and never above 1.
func TestShare(t *testing.T) {
	for _, c := range []struct{ size, off, gamma, want float64 }{
		{3, 0, 16, 0.6}, {1, 2, 16, 0.6}, {1e-200, 0, 1e300, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {5, 0, 0, 1},
		{math.Inf(1), 0, 1, 1},
	} {
		e := &Streamed{Dim: 1, Size: c.size}
		if got := e.share(c.gamma, []float64{c.off, 1e9}); !(got >= c.want) || !(got <= 1.01*c.want+1e-300) || got > 1 {
			t.Errorf("%+v: %g", c, got)
		}
	}
}
