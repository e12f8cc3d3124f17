package certify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// full returns the evidence of a lossless sketch with round-off: BᵀB = diag(values).
func full(t *testing.T, roundOff float64, values ...float64) *Known {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	return New(Evidence{
		Sketch: &fd.Spectrum{
			Dim: 2, Sigma2: values, V: []float64{1, 0, 0, 1},
			Bound: fd.Bound{RoundOff: roundOff, Frobenius2: values[0] + values[1], Rows: 10},
		},
		Backend: be, Rows: 10, Weight: 10,
		Columns: Columns{Displaced: make([]float64, 3)},
		Sums:    Sums{Cross: []float64{0, 0}, TSS: []float64{1}, NonZero: []bool{true, true}},
	})
}

// TestOneShotHolds: the bounds on one-shot weights hold for every K, c and ‖b‖² that the sketch and the
// round-off admit, K being diagonal.
func TestOneShotHolds(t *testing.T) {
	const slack = 1e-12
	for _, gamma := range []float64{0.01, 0.2, 3} {
		for _, e := range []struct{ eta, roundOff, displaced float64 }{
			{0, 0, 0}, {0.3, 0, 0}, {0, 0.1, 0}, {0.3, 0.02, 0}, {0, 0, 1e-3}, {0.3, 0, 1e-3}, {0.3, 0, 0.03},
		} {
			k := lossy(t, e.eta, e.roundOff, e.displaced)
			for _, shift := range []float64{0, e.eta / 2} {
				o := k.OneShot(gamma, shift)
				x := []float64{1 / (4 + gamma + shift), 0.5 / (gamma + shift)}
				xn := math.Hypot(x[0], x[1])
				abs, rel := o.errors(0, xn)
				objective, off := o.Objective(0), k.CrossError(0)
				for _, loss := range [][2]float64{{0, 0}, {e.eta, e.eta}, {e.eta, 0}, {0, e.eta}} {
					for _, pad := range []float64{-k.bound.RoundOff, 0, k.bound.RoundOff} {
						kk := [2]float64{4 + loss[0] + pad, math.Max(0, loss[1]+pad)}
						h := [2]float64{kk[0] + gamma, kk[1] + gamma}
						for angle := 0.0; angle < 2*math.Pi; angle += math.Pi / 8 {
							c := [2]float64{1 + off*math.Cos(angle), 0.5 + off*math.Sin(angle)}
							exact := [2]float64{c[0] / h[0], c[1] / h[1]}
							d := [2]float64{x[0] - exact[0], x[1] - exact[1]}
							g := [2]float64{d[0] * h[0], d[1] * h[1]}
							for _, v := range []struct {
								what      string
								is, bound float64
							}{
								{"‖x̂ − x*‖", math.Hypot(d[0], d[1]), abs},
								{"‖x̂ − x*‖/‖x*‖", math.Hypot(d[0], d[1]) / math.Hypot(exact[0], exact[1]), rel},
								{"‖g‖", math.Hypot(g[0], g[1]), o.gradient(0, xn)},
								{"‖H^{½}(x̂ − x*)‖", math.Hypot(d[0]*math.Sqrt(h[0]), d[1]*math.Sqrt(h[1])), o.energy(0, xn)},
								{"‖A(x̂ − x*)‖", math.Hypot(d[0]*math.Sqrt(kk[0]), d[1]*math.Sqrt(kk[1])), o.ResidualShift(0, xn)},
							} {
								if !(v.is <= v.bound*(1+slack)+1e-14) {
									t.Errorf(
										"%+v, γ = %g, shift %g, H = diag%v: %s = %g, bound %g",
										e,
										gamma,
										shift,
										h,
										v.what,
										v.is,
										v.bound,
									)
								}
							}
							for _, tss := range []float64{3 - k.SquaresError(0), 3 + k.SquaresError(0)} {
								f := math.Max(0, (tss-c[0]*exact[0]-c[1]*exact[1])/2)
								if !(objective.Lo <= f*(1+slack)+1e-14 && f*(1-slack) <= objective.Hi) {
									t.Errorf(
										"%+v, γ = %g, H = diag%v: f* = %g, bracket [%g, %g]",
										e,
										gamma,
										h,
										f,
										objective.Lo,
										objective.Hi,
									)
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestNormsHold: the norms that bounds are made of hold where the sketch is off, and where rounding had moved the rows.
func TestNormsHold(t *testing.T) {
	for _, c := range []struct{ eta, roundOff, displaced float64 }{
		{0, 0, 0}, {0.3, 0, 0}, {0, 0.1, 0}, {0, 0, 0.2}, {0.3, 0.1, 0.2},
	} {
		k := lossy(t, c.eta, c.roundOff, c.displaced)
		for j, most := range []float64{4 + c.eta + c.roundOff, c.eta + c.roundOff} {
			if got := k.norm.columns[j]; !(got*got >= most*(1-1e-15)) {
				t.Errorf("%+v: column %d has the norm² %g, bound %g", c, j, most, got*got)
			}
		}
		moved := math.Sqrt2 * c.displaced // of both columns
		size := math.Sqrt(math.Min(4+c.eta+c.roundOff, 4+2*c.eta) + c.roundOff)
		if want := (size + moved) * (size + moved); !(k.norm.largest2 >= want*(1-1e-15)) {
			t.Errorf("%+v: ‖A‖² is %g, bound %g", c, want, k.norm.largest2)
		}
		if want := c.roundOff + (size+moved)*(size+moved) - size*size; !(k.bound.RoundOff >= want*(1-1e-12)) {
			t.Errorf("%+v: K is off by %g, bound %g", c, want, k.bound.RoundOff)
		}
		if want := math.Sqrt(3) + c.displaced; !(k.targetNorm(0) >= want*(1-1e-15)) {
			t.Errorf("%+v: ‖b‖ is %g, bound %g", c, want, k.targetNorm(0))
		}
	}
	for _, c := range []struct{ roundOff, value, least float64 }{{0, 0.05, 0.05}, {0.02, 0.05, 0.03}, {0.1, 0.05, 0}} {
		if got := full(t, c.roundOff, 4, c.value).norm.least; !(got >= 0) || !(got <= c.least*(1+1e-15)) {
			t.Errorf("%+v: the least eigenvalue of K is at least %g", c, got)
		}
	}
}

// TestComponentsHold: perEnergy and perWeights bound ‖H^{-½}δ‖ and ‖H⁻¹δ‖ for an error δ of a gradient
// whose components are as large as the norms of their columns.
func TestComponentsHold(t *testing.T) {
	for _, gamma := range []float64{0.01, 0.1, 1} {
		for _, c := range []struct {
			k    *Known
			kept bool
		}{{full(t, 0, 4, 1), true}, {full(t, 0, 4, 0.01), true}, {lossy(t, 0.3, 0, 0), false}} {
			j := c.k.Judge(gamma)
			least := []float64{0, gamma, 0.3}
			if c.kept {
				least = c.k.eigen.Values[1:]
			}
			for _, l := range least {
				if l > 0.3 && !c.kept {
					continue
				}
				k := [2]float64{4, l}
				energy := math.Sqrt(k[0]/(k[0]+gamma) + k[1]/(k[1]+gamma))
				weights := math.Hypot(math.Sqrt(k[0])/(k[0]+gamma), math.Sqrt(k[1])/(k[1]+gamma))
				if !(j.perEnergy >= energy) || !(j.perWeights >= weights) {
					t.Errorf(
						"γ = %g, K = diag%v: %g and %g, bounds %g and %g",
						gamma,
						k,
						energy,
						weights,
						j.perEnergy,
						j.perWeights,
					)
				}
			}
		}
	}
}

// TestMeasuredHolds: what rounding does to a gradient, to a residual and to the objective is within its bounds, where
// each alone is most of it.
func TestMeasuredHolds(t *testing.T) {
	j := full(t, 0, 1e-20, 1e-20).Judge(1) // features next to nothing: γx is rounded alone
	if weights, energy := j.RoundOff(0, []float64{3, 4}, 0); !(weights >= 5*0x1p-53) || !(energy >= 5*0x1p-53) {
		t.Errorf("γx is rounded by %g, bounds %g and %g", 5*0x1p-53, weights, energy)
	}
	j = full(t, 0, 4, 1).Judge(0.5)
	sums := j.factor.pass * eps * 10 // Aᵀr is summed alone
	if weights, energy := j.RoundOff(0, []float64{0, 0}, 10); !(weights >= j.perWeights*sums) ||
		!(energy >= j.perEnergy*sums) {
		t.Errorf("Aᵀr is off by %g and %g, bounds %g and %g", j.perWeights*sums, j.perEnergy*sums, weights, energy)
	}

	k := hadamard(t, 4, []float64{1, 1, 1, 1}, 100, 1e-3)
	k.norm.root, k.norm.columns = 10, []float64{1, 1, 1, 1}
	k.TSS, k.targets[0].meanOff = []float64{1e6}, 0.5
	x := []float64{1e3, 0, 0, 0}
	b := k.rhs(0)
	pad, shift := k.residualError(b, x, 1000)+10*roundoff.LostResidual, k.meanShift(b, 1e3)
	if !(shift >= 10*(0.5+1e-3*1e3)*(1-1e-12)) || !(pad > 0) {
		t.Fatalf("the means move ‖Ax − b‖ by %g, rounding by %g", shift, pad)
	}
	if got := k.squares(b, x, 1000); !(got.Lo <= (1000-pad)*(1000-pad)-shift*shift) ||
		!(got.Hi >= (1000+pad)*(1000+pad)) {
		t.Errorf("‖Ax − b‖ of 1000 ± %g, moved by %g: %v", pad, shift, got)
	}

	rng := rand.New(rand.NewPCG(31, 7))
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	half := func(gamma, x, rss, gap float64) *big.Float {
		f := number(gamma)
		f.Mul(f, number(x)).Mul(f, number(x)).Add(f, number(rss)).Sub(f, number(gap))
		return f.Quo(f, number(2))
	}
	for range 200 {
		gamma, x := rng.Float64(), rng.Float64()
		rss := interval.Interval{Lo: 3 + rng.Float64(), Hi: 4 + rng.Float64()}
		gap := interval.Interval{Lo: rng.Float64(), Hi: 1 + rng.Float64()}
		got := objectiveMeasured(gamma, x, rss, gap)
		if half(gamma, x, rss.Lo, gap.Hi).Cmp(number(got.Lo)) < 0 ||
			half(gamma, x, rss.Hi, gap.Lo).Cmp(number(got.Hi)) > 0 {
			t.Fatalf("γ = %g, ‖x‖ = %g, ‖Ax − b‖² in %v, gap in %v: %v", gamma, x, rss, gap, got)
		}
	}
}
