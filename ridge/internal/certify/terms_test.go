package certify

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// lossy returns evidence for rows of two features and one target from a sketch of one row: BᵀB = diag(4, 0). eta is
// the loss, roundOff the round-off of the sketch, and displaced the distance by which rounding has moved each column.
func lossy(t *testing.T, eta, roundOff, displaced float64) *Known {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	return New(Evidence{
		Sketch: &fd.Spectrum{
			Dim: 2, Sigma2: []float64{4}, V: []float64{1, 0},
			Bound: fd.Bound{Shrinkage: eta, RoundOff: roundOff, Frobenius2: 4 + 2*eta, Tail: 2 * eta, Rows: 10},
		},
		Backend: be, Rows: 10, Weight: 10,
		Columns: Columns{Displaced: []float64{displaced, displaced, displaced}},
		Sums:    Sums{Cross: []float64{1, 0.5}, TSS: []float64{3}, NonZero: []bool{true, true}},
	})
}

// TestRSSHolds: the bracket on ‖Ax − b‖² holds at both ends of what K, c and ‖b‖² may be, and is hardly
// wider.
func TestRSSHolds(t *testing.T) {
	for _, c := range []struct{ eta, roundOff, displaced float64 }{
		{0, 0, 0}, {0.3, 0, 0}, {0, 0.1, 0}, {0, 0, 0.01}, {0.3, 0.1, 0.01}, {0.3, 1e-9, 1e-8},
	} {
		k := lossy(t, c.eta, c.roundOff, c.displaced)
		for _, x := range [][]float64{{0.3, 0.4}, {-0.2, 0.1}, {0, -0.5}, {2, 3}} {
			xn := math.Hypot(x[0], x[1])
			got := k.RSS(0, x, xn, 4*x[0]*x[0])
			base := 3 - 2*(x[0]+0.5*x[1]) + 4*x[0]*x[0]
			off := k.SquaresError(0) + 2*k.CrossError(0)*xn + k.bound.RoundOff*xn*xn
			if c.displaced > 0 && !(k.CrossError(0) > c.displaced && k.SquaresError(0) > c.displaced) {
				t.Fatalf("%+v: c is off by %g, ‖b‖² by %g", c, k.CrossError(0), k.SquaresError(0))
			}
			lo, hi := math.Max(0, base-off), math.Max(0, base+off+k.bound.Shrinkage*xn*xn)
			slack := 1e-12 * (1 + xn*xn)
			if !(got.Lo <= lo && hi <= got.Hi && got.Lo >= lo-slack && got.Hi <= hi+slack) {
				t.Errorf("%+v at %v: [%g, %g], want [%g, %g]", c, x, got.Lo, got.Hi, lo, hi)
			}
		}
	}
}

// TestErrorHolds: Judge.Error bounds ‖H⁻¹g‖ for every K that the sketch admits, for gradients along
// and across V.
func TestErrorHolds(t *testing.T) {
	for _, gamma := range []float64{1e-6, 0.01, 0.5, 3} {
		for _, c := range []struct{ eta, roundOff float64 }{{0, 0}, {0.3, 0}, {0, 0.1}, {2, 1e-3}} {
			j := lossy(t, c.eta, c.roundOff, 0).Judge(gamma)
			for angle := 0.0; angle < math.Pi; angle += math.Pi / 16 {
				g := [2]float64{math.Cos(angle), math.Sin(angle)}
				p := spectral.Projection{Along: g[:1], Off: math.Abs(g[1]), Norm: 1}
				got := j.Error(&p, 0)
				for _, loss := range [][2]float64{{0, 0}, {c.eta, c.eta}, {c.eta, 0}, {0, c.eta}} {
					for _, off := range []float64{-c.roundOff, c.roundOff} {
						// K is positive semidefinite, whatever the sketch admits.
						k0, k1 := math.Max(0, 4+loss[0]+off), math.Max(0, loss[1]+off)
						if want := math.Hypot(g[0]/(k0+gamma), g[1]/(k1+gamma)); !(got >= want*(1-1e-14)) {
							t.Errorf(
								"%+v, γ = %g, angle %.3g, K = diag(%g, %g): error %g, bound %g",
								c,
								gamma,
								angle,
								k0,
								k1,
								want,
								got,
							)
						}
					}
				}
			}
			if got := j.Error(&spectral.Projection{Along: []float64{1}, Norm: 1}, 7); !(got >= 7+1/(4+gamma+c.eta)) {
				t.Errorf("with round-off 7 the bound is %g", got)
			}
		}
	}
}

// TestErrorOfProjection: a gradient that lies along V but for what a projection may be off by, where γ is so small
// that this part makes the error.
func TestErrorOfProjection(t *testing.T) {
	for _, eta := range []float64{0, 0.3} { // different bounds are the smallest
		for _, gamma := range []float64{1e-10, 1e-14, 1e-18, 1e-32} {
			j := lossy(t, eta, 0, 0).Judge(gamma)
			across := 0.99 * j.factor.onto * eps
			p := spectral.Projection{Along: []float64{1}, Norm: 1} // as computed
			if got, want := j.Error(&p, 0), math.Hypot(1/(4+gamma), across/gamma); !(got >= want) {
				t.Errorf("η = %g, γ = %g: error %g, bound %g", eta, gamma, want, got)
			}
		}
	}
}

// TestLeftRowReaches: the bound on ‖a‖² of a row holds if the means are wrong, if squares underflow, and if a is a
// small difference of large vectors. Otherwise it is hardly larger than ‖a‖².
func TestLeftRowReaches(t *testing.T) {
	for _, c := range []struct{ norm2, size, meanOff, far float64 }{
		{1, 1, 0, 1},
		{1, 1, 1e-3, 1.001},
		{0, 1e-162, 0, 1e-162}, // ‖a‖² underflows
		{0, 1e8, 0, 0x1p-26 * 1e8},
		{4, 1e8, 0.5, 2.5},
	} {
		k := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, c.meanOff)
		row := k.LeftOut([]float64{1}).Row(1, c.norm2, c.norm2, c.size, -1)
		if !(row.far >= c.far) {
			t.Errorf("%+v: ‖a‖ is bounded by %g", c, row.far)
		}
		if c.size == 1 && !(row.far <= c.far*(1+1e-12)) {
			t.Errorf("%+v: ‖a‖ is bounded by %g, far above", c, row.far)
		}
	}
}

// TestExactUnderflow: an error of a gradient that is tiny beside γ moves the weights by less than the smallest number,
// and not by 0.
func TestExactUnderflow(t *testing.T) {
	g := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, 0).Judge(0x1p200)
	for _, c := range [][2]float64{{1e-300, 0}, {0, 1e-300}} {
		if e := g.Exact(nil, interval.Interval{}, []float64{c[0], 0, 0, 0}, c[1]); !(e.Weights > 0) || !(e.Energy > 0) {
			t.Errorf(
				"a gradient off by %g and residuals by %g: weights off by %g, energy by %g",
				c[0],
				c[1],
				e.Weights,
				e.Energy,
			)
		}
	}
	// ‖A‖·‖H⁻¹‖ = 2⁻¹⁰⁸⁰ underflows, and the errors of the residuals are large.
	far := hadamard(t, 4, []float64{0x1p-160, 0x1p-160, 0x1p-160, 0x1p-160}, 100, 0).Judge(0x1p1000)
	if e := far.Exact(nil, interval.Interval{}, make([]float64, 4), 0x1p400); !(e.Weights >= 0x1p-680) {
		t.Errorf("residuals off by 2⁴⁰⁰: weights off by %g, bound below 2⁻⁶⁸⁰", e.Weights)
	}
	if e := g.Exact(nil, interval.Interval{}, make([]float64, 4), 0); e.Weights != 0 || e.Energy != 0 {
		t.Errorf("an exact gradient: weights off by %g, energy by %g", e.Weights, e.Energy)
	}
}

// TestRelativeOfTinyError: the bound on a relative error that underflows is not 0.
func TestRelativeOfTinyError(t *testing.T) {
	if r := Relative(5e-324, 1e8); !(r > 0) || r > 1e-300 {
		t.Errorf("an error of 5e-324 of coefficients of norm 1e8 has the relative bound %g", r)
	}
	if r := Relative(0, 1e8); r != 0 {
		t.Errorf("no error has the relative bound %g", r)
	}
}

// TestLeverageOfTinyRow: the bound on √(aᵀH⁻¹a) holds for a row whose square is below the smallest number, and
// whose square divided by γ is zero.
func TestLeverageOfTinyRow(t *testing.T) {
	for _, size := range []float64{1e-154, 1e-160, 1e-163, 1e-300} {
		for _, gamma := range []float64{0x1p-240, 1, 1e4, 0x1p240} {
			k := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, 0)
			l := k.LeftOut([]float64{gamma})
			row := l.Row(1, size*size, 0, size, -1)
			v := l.Leverage(0, &row, 0, size*size/gamma, 0)
			least := size / math.Sqrt(1+gamma)
			if !(v.root >= least*(1-1e-15)) || !(v.Free.Lo <= 1-least*least) || !(v.Free.Hi >= 1-least*least) {
				t.Errorf(
					"‖a‖ = %g, γ = %g: √(aᵀH⁻¹a) is at most %g, and at least %g; 1 − h is in %v",
					size,
					gamma,
					v.root,
					least,
					v.Free,
				)
			}
		}
	}
}

// TestLeverageAlone: a row that no other has anything along has the leverage w‖a‖²/(γ + κ‖a‖²) + w/W, κ
// = wW/(W − w). The mean by which it was centred is off, so that the row is longer than it seems.
func TestLeverageAlone(t *testing.T) {
	const d, gamma, meanOff = 4, 1.0, 1e-3
	for _, weight := range []float64{2, 4, 1e12} {
		k := hadamard(t, d, []float64{1e-30, 1e-30, 1e-30, 1e-30}, weight, meanOff)
		k.bound.Shrinkage = 2.1 // the row itself, which the sketch has lost
		l := k.LeftOut([]float64{gamma})
		row := l.Row(1, 1, 1, 1, -1)
		v := l.Leverage(0, &row, l.at[0].below(0), l.at[0].above(0), l.at[0].estimate(0))
		const norm2 = (1 + meanOff) * (1 + meanOff)
		kappa := weight / (weight - 1)
		want := 1 - norm2/(gamma+kappa*norm2) - 1/weight
		if !(v.Free.Lo <= want && want <= v.Free.Hi) || !(v.Free.Lo >= 0.99*want) {
			t.Errorf("of weight %g, 1 − h is %g, bracket [%g, %g]", weight, want, v.Free.Lo, v.Free.Hi)
		}
	}
}

// TestLeftSquared: the bracket on w·(r/(1 − h))² reaches from the least residual by the largest 1 − h to the
// largest residual by the least, and no further.
func TestLeftSquared(t *testing.T) {
	f := &LeftFit{energy: 0.1}
	for _, c := range []struct {
		weight, r, off float64
		free           interval.Interval
		want           interval.Interval
	}{
		{1, 3, 0.01, interval.Interval{Lo: 0.4, Hi: 0.6}, interval.Interval{Lo: 2.79 * 2.79 / 0.36, Hi: 3.21 * 3.21 / 0.16}},
		{
			5, -3, 0.01, interval.Interval{Lo: 0.4, Hi: 0.6},
			interval.Interval{Lo: 5 * 2.79 * 2.79 / 0.36, Hi: 5 * 3.21 * 3.21 / 0.16},
		},
		// narrow
		{
			1, 3, 0.01, interval.Interval{Lo: 0.5, Hi: 0.5 + 0x1p-28},
			interval.Interval{Lo: 2.79 * 2.79 / ((0.5 + 0x1p-28) * (0.5 + 0x1p-28)), Hi: 3.21 * 3.21 / 0.25},
		},
		{1, 0.1, 0, interval.Interval{Lo: 1, Hi: 1}, interval.Interval{Lo: 0, Hi: 0.09}},
		{0, 3, 1, interval.Interval{Lo: 0, Hi: 1}, interval.Interval{}},
		{1, 3, 0, interval.Interval{Lo: 0, Hi: 1}, interval.Nonnegative()},
		{1, 3, 0, interval.Interval{Lo: -0.1, Hi: 1}, interval.Nonnegative()},
	} {
		row := LeftRow{weight: c.weight, root: math.Sqrt(c.weight)}
		got, estimate := row.Squared(&Leverage{c.free, (c.free.Lo + c.free.Hi) / 2, 2}, f, c.r, c.off)
		const pad = 1e-13
		if !(got.Lo <= c.want.Lo*(1+pad) && got.Hi >= c.want.Hi*(1-pad)) ||
			!(got.Lo >= c.want.Lo*(1-pad) && got.Hi <= c.want.Hi*(1+pad)) {
			t.Errorf("%+v: %v", c, got)
		}
		if !(got.Lo <= estimate && estimate <= got.Hi) {
			t.Errorf("%+v: the estimate is %v, outside %v", c, estimate, got)
		}
	}
}

// TestLeftResidual: what a residual is off by has the errors of both means in it.
func TestLeftResidual(t *testing.T) {
	k := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, 1e-3)
	k.targets[0].meanOff, k.Means[4] = 0.5, 7
	l := k.LeftOut([]float64{1})
	row := l.Row(1, 1, 1, 1, -1)
	r, off := l.Residual(&row, &LeftFit{norm: 100}, 10, 1)
	if !(off >= 0.5+1e-3*100) || !(off <= 0.61) || r != 2 {
		t.Errorf("the residual is %g, off by %g", r, off)
	}
}

// TestFormsHold: gᵀH⁻¹g is in its bracket, x* within its distance of Mc, and ‖H⁻¹‖ and ‖AH⁻¹‖ are
// bounded, for every K that a sketch admits: at any γ, larger or smaller than its round-off.
func TestFormsHold(t *testing.T) {
	const slack = 1e-12
	for _, gamma := range []float64{1e-3, 0.05, 0.15, 0.3, 2} {
		for _, c := range []struct{ eta, roundOff float64 }{{0, 0}, {0.3, 0}, {0, 0.1}, {2, 0.1}, {0.2, 0.09}} {
			a := lossy(t, c.eta, c.roundOff, 0).At(gamma)
			for _, loss := range [][2]float64{{0, 0}, {c.eta, c.eta}, {c.eta, 0}, {0, c.eta}} {
				for _, off := range []float64{-c.roundOff, c.roundOff} {
					h := [2]float64{4 + loss[0] + off + gamma, math.Max(0, loss[1]+off) + gamma}
					for angle := 0.0; angle < math.Pi; angle += math.Pi / 8 {
						g := [2]float64{math.Cos(angle), math.Sin(angle)}
						p := spectral.Projection{Along: g[:1], Off: math.Abs(g[1]), Norm: 1}
						const dg = 1e-3
						x, y := g[0]+dg*math.Cos(3*angle), g[1]+dg*math.Sin(3*angle)
						q := x*x/h[0] + y*y/h[1]
						if v := a.quads(&p, dg); !(v.Lo <= q*(1+slack) && q*(1-slack) <= v.Hi) {
							t.Errorf("%+v, γ = %g, H = diag%v: %g is outside [%g, %g]", c, gamma, h, q, v.Lo, v.Hi)
						}
					}
					middle := [2]float64{a.middle(4), a.middle(0)}
					got, most := math.Hypot(1/h[0]-middle[0], 0.5/h[1]-0.5*middle[1]), a.middleDistance(0)
					if !(got <= most*(1+slack)+1e-14) {
						t.Errorf("%+v, γ = %g, H = diag%v: x* is %g from Mc, bound %g", c, gamma, h, got, most)
					}
					if got := 1 / math.Min(h[0], h[1]); !(got <= a.inverse()*(1+slack)) {
						t.Errorf("%+v, γ = %g, H = diag%v: ‖H⁻¹‖ = %g, bound %g", c, gamma, h, got, a.inverse())
					}
					for _, v := range h {
						if got := math.Sqrt(v-gamma) / v; !(got <= a.timesInverse()*(1+slack)) {
							t.Errorf(
								"%+v, γ = %g, H = diag%v: ‖AH⁻¹‖ = %g, bound %g",
								c,
								gamma,
								h,
								got,
								a.timesInverse(),
							)
						}
					}
				}
			}
		}
	}
}
