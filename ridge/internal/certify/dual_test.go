package certify

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// TestDualWeights: the bounds hold for any weights x and any α. A = diag(a) is 2×3 with a zero last column, so that
// everything has a closed form. α, x − Aᵀα and the rounding of x are off, each alone or all together.
func TestDualWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	tightest := 0.0
	for range 4000 {
		gamma := math.Exp2(float64(r.IntN(20) - 10))
		a := [2]float64{math.Exp2(6*r.Float64() - 3), math.Exp2(6*r.Float64() - 3)}
		if r.IntN(2) == 0 {
			a[0] = math.Sqrt(gamma) // where ‖H⁻¹Aᵀ‖ is 1/(2√γ)
		}
		b := [2]float64{r.NormFloat64(), r.NormFloat64()}
		off := [3]float64{} // of α, of x from Aᵀα, of its rounding
		off[r.IntN(3)] = 1e-3
		if r.IntN(3) == 0 {
			off = [3]float64{1e-3, 1e-3, 1e-3}
		}
		var exact, x, low, apart [3]float64
		var left [2]float64
		rss := 0.0
		for j := range 2 {
			alpha := b[j]/(a[j]*a[j]+gamma) + off[0]*r.NormFloat64()
			exact[j] = a[j] * b[j] / (a[j]*a[j] + gamma)
			apart[j], low[j] = off[1]*r.NormFloat64(), off[2]*r.NormFloat64()
			x[j] = a[j]*alpha + apart[j]
			left[j] = b[j] - a[j]*x[j] - gamma*alpha
			v := a[j]*x[j] - b[j]
			rss += v * v
			x[j] -= low[j]
		}
		apart[2] = off[1] * r.NormFloat64()
		x[2] = apart[2]
		e := &Dual{
			Rows:      2,
			Dim:       3,
			Intercept: true,
			Size:      math.Hypot(a[0], a[1]),
			TSS:       []twofold.Number{twofold.Of(b[0]*b[0] + b[1]*b[1])},
		}
		w := e.Weights(0, &DualPoint{
			Gamma: gamma, X: x[:], Low: low[:], Apart: norm3(apart), Norm: math.Hypot(left[0], left[1]),
			MeanNorm: 1, RSS: twofold.Number{Hi: rss, Err: 1e-15 * (1 + rss)},
		}, Dimension{Interval: interval.Interval{Hi: 1}})
		var error, energy, unrounded, objective float64
		for j := range 3 {
			d, aj, bj := x[j]-exact[j], 0.0, 0.0
			if j < 2 {
				aj, bj = a[j], b[j]
			}
			error = math.Hypot(error, d)
			energy = math.Hypot(energy, math.Sqrt(aj*aj+gamma)*d)
			unrounded = math.Hypot(unrounded, d+low[j])
			objective += ((aj*exact[j]-bj)*(aj*exact[j]-bj) + gamma*exact[j]*exact[j]) / 2
		}
		const slack = 1 + 1e-9
		if !(error <= w.Error*slack+1e-13) || !(energy <= w.Energy*slack+1e-13) ||
			!(unrounded <= w.Intercept.Error*slack+1e-13) {
			t.Fatalf(
				"γ = %g, off %v: errors %g, %g, %g; bounds %g, %g, %g",
				gamma,
				off,
				error,
				energy,
				unrounded,
				w.Error,
				w.Energy,
				w.Intercept.Error,
			)
		}
		if !(objective >= w.Objective.Lo*(1-1e-9) && objective <= w.Objective.Hi*slack) {
			t.Fatalf("f* = %g is not in %v", objective, w.Objective)
		}
		if w.Error > 1e-6 {
			tightest = math.Max(tightest, error/w.Error)
		}
	}
	if !(tightest > 0.95) {
		t.Errorf("the bound is at least %.3g times the error", 1/tightest)
	}
}

func norm3(v [3]float64) float64 { return math.Hypot(math.Hypot(v[0], v[1]), v[2]) }

// TestDualLeftOut: the bracket holds where G is off by what it says, of A = diag(a), and where the
// weights are off by their energy.
func TestDualLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for range 2000 {
		gamma := math.Exp2(float64(r.IntN(16) - 8))
		a := [2]float64{math.Exp2(4*r.Float64() - 2), math.Exp2(4*r.Float64() - 2)}
		b := [2]float64{r.NormFloat64(), r.NormFloat64()}
		size2 := a[0]*a[0] + a[1]*a[1]
		streamed, energy := 1e-3*gamma*r.Float64(), 1e-3*r.Float64()*float64(r.IntN(2))
		// G differs from the matrix of T by less than streamed. The residuals differ from the residuals of x* by less than
		// energy.
		sign := float64(2*r.IntN(2) - 1)
		var diagonal, missed, norms []float64
		want := 0.0
		for j := range 2 {
			h := a[j] * a[j] / (a[j]*a[j] + gamma)
			miss := b[j] * (1 - h)
			want += miss / (1 - h) * miss / (1 - h) / 2
			diagonal = append(diagonal, 1/(a[j]*a[j]+sign*streamed+gamma))
			missed = append(missed, miss+sign*math.Copysign(energy, miss))
			norms = append(norms, a[j])
		}
		g := []float64{a[0]*a[0] + sign*streamed, a[1]*a[1] + sign*streamed}
		tri := NewTridiagonal(g, []float64{0}, norms, streamed)
		tri.Reduced = 1e-14 * size2
		e := &Dual{Rows: 2, Dim: 2, Size: math.Sqrt(size2), Off: []float64{0, 0}}
		v := e.LeftOut(
			&Factored{Gamma: gamma, T: tri},
			&DualLeft{Diagonal: diagonal, Norms: []float64{math.Inf(1), math.Inf(1)}, Missed: missed, Energy: energy},
		)
		if !(v.Lo <= want*(1+1e-12) && want <= v.Hi*(1+1e-12)) ||
			!(v.Hi <= 1.1*v.Lo+20*energy*(1+want)+1e-9) && energy == 0 {
			t.Fatalf("γ = %g, a = %v: %v, is %g", gamma, a, v, want)
		}
	}
}

// TestDualLeftOutTiny: at a γ whose reciprocal overflows nothing is said.
func TestDualLeftOutTiny(t *testing.T) {
	const gamma = 1e-310 // as are the eigenvalues of G, so that 1 − h = ½
	tri := NewTridiagonal([]float64{gamma, gamma}, []float64{0}, []float64{1e-155, 1e-155}, 0)
	e := &Dual{Rows: 2, Dim: 2, Off: []float64{0, 0}}
	one := 1.0
	v := e.LeftOut(
		&Factored{Gamma: gamma, T: tri},
		&DualLeft{
			Diagonal: []float64{one / gamma, one / gamma},
			Norms:    []float64{1e-155, 1e-155},
			Missed:   []float64{1e-150, 1e-150},
		},
	)
	if !(v.Lo <= 4e-300 && v.Hi >= 4e-300) {
		t.Errorf("%v, is 4e-300", v)
	}
}

// TestDualBeyondRange: what numbers beyond range went into is not known, and no bound is NaN; one that
// would be below all numbers is not 0.
func TestDualBeyondRange(t *testing.T) {
	e := &Dual{Rows: 2, Dim: 3, Intercept: true, Size: 0x1p-530, TSS: []twofold.Number{twofold.Of(1)}}
	w := e.Weights(
		0,
		&DualPoint{
			Gamma: 1e-300,
			X:     []float64{0},
			Low:   []float64{0},
			Norm:  math.NaN(),
			RSS:   twofold.Number{Err: math.NaN()},
		},
		Dimension{Interval: interval.Interval{Hi: 1}},
	)
	for what, v := range map[string]float64{
		"error":          w.Error,
		"relative error": w.Relative,
		"energy":         w.Energy,
		"intercept":      w.Intercept.Error,
	} {
		if !math.IsInf(v, 1) {
			t.Errorf("the bound of the %s is %g", what, v)
		}
	}
	for what, v := range map[string]interval.Interval{"objective": w.Objective, "RSS": w.RSS, "GCV": w.GCV} {
		if v.IsNaN() || v.Lo > 0 || !math.IsInf(v.Hi, 1) {
			t.Errorf("%s: %v", what, v)
		}
	}
	e.Size = 1e-161 // ‖A‖/γ is 0, and ‖A‖·‖r‖/γ is not
	w = e.Weights(
		0,
		&DualPoint{Gamma: 1e219, X: []float64{1e-231}, Low: []float64{0}, Norm: 1e133},
		Dimension{Interval: interval.Interval{Hi: 1}},
	)
	if !(w.Error >= 1e-247 && w.Error <= 1.1e-247) {
		t.Errorf("a bound that is 1e-247 is %g", w.Error)
	}
	if v := gcv(4, 0, interval.Interval{}, interval.Interval{Lo: 1e308, Hi: 1e308}); v.Lo > 0.25e308 {
		t.Errorf("a GCV of 0.25e308: %v", v)
	}
	for _, c := range []struct{ size, gamma, least float64 }{
		{0x1p-530, 0x1p-1060, 1}, // the square underflows
		{0x1p-530, 0x1p1000, 0},  // and the quotient
		{0x1p400, 0x1p400, 1},    // neither does
		{0x1p-530, 0x1p-1000, 0x1p-60},
	} {
		e.Size = c.size
		if v := e.Rank(c.gamma); !(v.Hi > 0) || !(v.Hi >= c.least) {
			t.Errorf("‖A‖ = %g, γ = %g: the effective dimension is in %v", c.size, c.gamma, v)
		}
	}
}

// TestDualLargest: at a γ whose reciprocal is no normal number no more is said than what does without
// it.
func TestDualLargest(t *testing.T) {
	const gamma, a = 0x1.8p1023, 0x1p990
	tri := NewTridiagonal([]float64{a, a}, []float64{0}, []float64{0x1p495, 0x1p495}, 0)
	e := &Dual{Rows: 2, Dim: 2, Size: 0x1p496, Off: []float64{0, 0}}
	f := &Factored{Gamma: gamma, T: tri}
	if v := e.Dimension(f); !(v.Lo <= 2*(a/gamma) && v.Hi >= 2*(a/gamma) && v.Lo < v.Hi) {
		t.Errorf("the effective dimension %g is not in %v", 2*(a/gamma), v)
	}
	one := 1.0
	v := e.LeftOut(
		f,
		&DualLeft{
			Diagonal: []float64{one / gamma, one / gamma},
			Norms:    []float64{0x1p495, 0x1p495},
			Missed:   []float64{1, 1},
		},
	)
	if !(v.Lo <= 1 && v.Hi >= 1+2*(a/gamma)) {
		t.Errorf("the leave-one-out error %g is not in %v", 1+2*(a/gamma), v)
	}
}
