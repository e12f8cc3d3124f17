package certify

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/resolvent"
)

// lossy is what is known of rows of two features and one target by a sketch of one row: BᵀB = diag(4, 0).
// The loss, the round-off of the sketch, and how far rounding has moved each column are given.
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

// TestRSSHolds: the bracket on ‖Ax − b‖² holds at both ends of what K, c and ‖b‖² may be, and is hardly wider.
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
			if slack := 1e-12 * (1 + xn*xn); !(got.Lo <= lo && hi <= got.Hi && got.Lo >= lo-slack && got.Hi <= hi+slack) {
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
				p := resolvent.Projection{Along: g[:1], Off2: g[1] * g[1], Norm: 1}
				got := j.Error(&p, 0)
				for _, loss := range [][2]float64{{0, 0}, {c.eta, c.eta}, {c.eta, 0}, {0, c.eta}} {
					for _, off := range []float64{-c.roundOff, c.roundOff} {
						// K is positive semidefinite, whatever the sketch admits.
						k0, k1 := math.Max(0, 4+loss[0]+off), math.Max(0, loss[1]+off)
						if want := math.Hypot(g[0]/(k0+gamma), g[1]/(k1+gamma)); !(got >= want*(1-1e-14)) {
							t.Errorf("%+v, γ = %g, angle %.3g, K = diag(%g, %g): error %g, bound %g", c, gamma, angle, k0, k1, want, got)
						}
					}
				}
			}
			if got := j.Error(&resolvent.Projection{Along: []float64{1}, Norm: 1}, 7); !(got >= 7+1/(4+gamma+c.eta)) {
				t.Errorf("with round-off 7 the bound is %g", got)
			}
		}
	}
}

// TestErrorOfProjection: a gradient that lies along V but for what a projection may be off by, where γ is so small
// that this part makes the error.
func TestErrorOfProjection(t *testing.T) {
	for _, gamma := range []float64{1e-10, 1e-14, 1e-18} {
		j := lossy(t, 0, 0, 0).Judge(gamma)
		across := 0.99 * j.factor.onto * eps
		p := resolvent.Projection{Along: []float64{1}, Norm: 1} // as computed
		if got, want := j.Error(&p, 0), math.Hypot(1/(4+gamma), across/gamma); !(got >= want) {
			t.Errorf("γ = %g: error %g, bound %g", gamma, want, got)
		}
	}
}

// TestLeftRowReaches: the bound on ‖a‖² of a row holds where the means are off, where squares underflow and
// where a is the small difference of large vectors, and is hardly larger where nothing of this is so.
func TestLeftRowReaches(t *testing.T) {
	for _, c := range []struct{ norm2, size, meanOff, far2 float64 }{
		{1, 1, 0, 1},
		{1, 1, 1e-3, 1.001 * 1.001},
		{0, 1e-162, 0, 0x1p-1074}, // ‖a‖² underflows
		{0, 1e8, 0, 0x1p-52 * 1e16},
		{4, 1e8, 0.5, 2.5 * 2.5},
	} {
		k := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, c.meanOff)
		row := k.LeftOut([]float64{1}).Row(1, c.norm2, c.norm2, c.size, -1)
		if !(row.far2 >= c.far2) {
			t.Errorf("%+v: ‖a‖² is bounded by %g", c, row.far2)
		}
		if c.size == 1 && !(row.far2 <= c.far2*(1+1e-12)) {
			t.Errorf("%+v: ‖a‖² is bounded by %g, far above", c, row.far2)
		}
	}
}

// TestLeverageAlone: a row that no other has anything along has the leverage κ‖a‖²/(γ + κ‖a‖²). The mean by which it was
// centred is off, so that the row is longer than it seems.
func TestLeverageAlone(t *testing.T) {
	const d, weight, gamma, meanOff = 4, 1e12, 1.0, 1e-3
	k := hadamard(t, d, []float64{1e-30, 1e-30, 1e-30, 1e-30}, weight, meanOff)
	k.bound.Shrinkage = 1.1 // the row itself, which the sketch has lost
	l := k.LeftOut([]float64{gamma})
	row := l.Row(1, 1, 1, 1, -1)
	forms := [2]float64{l.at[0].below(0), l.at[0].above(0)}
	v := l.Leverage(0, &row, forms[0], forms[1])
	const norm2 = (1 + meanOff) * (1 + meanOff)
	if want := gamma / (gamma + norm2); !(v.Free.Lo <= want && want <= v.Free.Hi) {
		t.Errorf("1 − h is %g, not within [%g, %g]", want, v.Free.Lo, v.Free.Hi)
	}
}
