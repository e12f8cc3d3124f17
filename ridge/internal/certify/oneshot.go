package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// OneShot is about the weights x̂ = Ĥ⁻¹c, Ĥ = BᵀB + (γ+shift)I.
type OneShot struct {
	At
	shift float64
	apart float64 // bounds ‖K − BᵀB − shift·I‖
}

// OneShot prepares the bounds for weights with that shift at γ.
func (k *Known) OneShot(gamma, shift float64) OneShot {
	b := k.bound
	return OneShot{k.At(gamma), shift, math.Max(shift, b.Shrinkage-shift) + b.RoundOff}
}

// Contraction is q with ‖x̂ − x*‖ ≤ q‖x*‖, but for the rounding of x̂.
func (o OneShot) Contraction() float64 { return o.apart / (o.Gamma + o.shift + o.eigen.Rest) }

// Weights are the bounds for x̂ of target j, given ‖Bx̂‖².
func (o OneShot) Weights(j int, x []float64, bx float64) Weights {
	xn := vec.Norm(x)
	w := Weights{TSS: o.TotalSquares(j), RSS: o.RSS(j, x, xn, bx), Objective: o.Objective(j)}
	w.Error, w.Relative = o.errors(j, xn)
	return o.complete(w, j, x, xn, o.energy(j, xn), o.ResidualShift(j, xn))
}

// errors bounds ‖x̂ − x*‖ and ‖x̂ − x*‖/‖x*‖ for target j, given ‖x̂‖. From
// x̂ − x* = H⁻¹(H − Ĥ)x̂ and = Ĥ⁻¹(H − Ĥ)x*:
//
//	‖x̂ − x*‖ ≤ ‖H⁻¹‖·‖K − BᵀB − shift·I‖·‖x̂‖,   ‖x̂ − x*‖ ≤ q‖x*‖,
//
// and by way of Mc of middleDistance, which is closer where η > γ.
func (o OneShot) errors(j int, x float64) (abs, rel float64) {
	c := &o.targets[j].c
	if x == 0 && c.Norm == 0 && o.TSS[j] == 0 {
		return 0, 0
	}
	s := o.Gamma + o.shift
	// What arithmetic adds to x̂: the error of c, and of applying Ĥ⁻¹.
	most := o.inverse()
	round := (o.CrossError(j)+o.factor.onto*eps*c.Norm)*most + o.factor.along*eps*x
	abs = o.apart*most*x + round
	away := o.normAbove(c, func(s2 float64) float64 { return 1/(s2+s) - o.middle(s2) })
	abs = math.Min(abs, (away+o.middleDistance(j))*(1+16*eps)+3*round)
	q := o.apart / (s + o.eigen.Rest)
	rel = Relative(abs, x)
	if x > round {
		rel = math.Min(rel, q+round*(1+q)/(x-round))
	}
	return abs, rel
}

// gradient bounds ‖g‖ at an x̂ of norm x: g = (K − BᵀB − shift·I)x̂ but for round-off.
func (o OneShot) gradient(j int, x float64) float64 {
	return o.apart*x + o.CrossError(j) + o.factor.onto*eps*o.CNorm(j) + o.factor.along*eps*(o.norm.largest2+o.Gamma+o.shift)*x
}

// ResidualShift bounds ‖A(x̂ − x*)‖ = ‖AH⁻¹g‖ for an x̂ of norm x.
func (o OneShot) ResidualShift(j int, x float64) float64 { return o.gradient(j, x) * o.timesInverse() }

// energy bounds ‖H^{½}(x̂ − x*)‖ = ‖H^{-½}g‖.
func (o OneShot) energy(j int, x float64) float64 {
	return o.gradient(j, x) * math.Sqrt(o.inverse()) * (1 + 16*eps)
}

// RSS brackets ‖Ax − b‖² = ‖b‖² − 2cᵀx + xᵀKx for any weights x of norm xn, with
// xᵀKx ∈ ‖Bx‖² + [0, η]‖x‖² and bx = ‖Bx‖².
func (k *Known) RSS(j int, x []float64, xn, bx float64) interval.Interval {
	b, tss := k.bound, k.TSS[j]
	cx := vec.Dot(k.C(j), x)
	base := tss - 2*cx + bx
	own := math.Sqrt(k.norm.largest2) * (k.factor.onto*eps*xn + float64(k.eigen.Dim)*roundoff.Underflow) // what ‖Bx‖ is off by
	pad := k.SquaresError(j) + 2*few*eps*(k.CNorm(j)*xn+tss) + own*(2*math.Sqrt(bx)+own) + 2*k.factor.along*eps*bx
	pad += 2*k.CrossError(j)*xn + b.RoundOff*xn*xn + float64(2*k.eigen.Dim)*lostSquares(xn)
	if !(pad <= math.MaxFloat64) || !(bx <= math.MaxFloat64) {
		return interval.Nonnegative()
	}
	return interval.Interval{Lo: math.Max(0, base-pad), Hi: math.Max(0, base+b.Shrinkage*xn*xn+pad)}
}

// SketchNorms returns ‖Bx‖² for each row of x (q×d).
func (k *Known) SketchNorms(q int, x []float64) []float64 {
	out, r, d := make([]float64, q), len(k.eigen.Values), k.eigen.Dim
	h := make([]float64, q*r)
	k.Backend.Gemm(false, true, 1, engine.View(q, d, x), engine.View(r, d, k.eigen.V), 0, engine.View(q, r, h))
	for i := range out {
		for l, s2 := range k.eigen.Values {
			out[i] += s2 * h[i*r+l] * h[i*r+l]
		}
	}
	return out
}

// Apply returns φᵢ(BᵀB)c_j as row i·t + j of a matrix of d columns, for functions φ
// of the eigenvalues.
func (k *Known) Apply(phi ...func(s2 float64) float64) []float64 {
	d, r, t := k.eigen.Dim, len(k.eigen.Values), len(k.targets)
	q := len(phi) * t
	h, x := make([]float64, q*r), make([]float64, q*d)
	for i, f := range phi {
		for j := range t {
			row := i*t + j
			for l, v := range k.targets[j].c.Along {
				h[row*r+l] = f(k.eigen.Values[l]) * v
			}
			off := f(k.eigen.Rest)
			for l, v := range k.cOff[j*d : (j+1)*d] {
				x[row*d+l] = off * v
			}
		}
	}
	k.Backend.Gemm(false, false, 1, engine.View(q, r, h), engine.View(r, d, k.eigen.V), 1, engine.View(q, d, x))
	return x
}

// LostCross bounds the relative error that the round-off of AᵀY alone causes in one-shot
// weights at γ, by a sketch of any size. ‖x*‖ is at least cᵀH⁻¹c/‖c‖.
func (k *Known) LostCross(gamma float64) float64 {
	var most float64
	a := k.At(gamma)
	for j := range k.targets {
		if off := k.CrossError(j); off > 0 {
			c := &k.targets[j].c
			most = math.Max(most, (off+k.factor.onto*eps*c.Norm)/gamma*(c.Norm+off)/a.quads(c, off).Lo)
		}
	}
	return 2 * most // ‖x*‖ itself is only bounded
}
