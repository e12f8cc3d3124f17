package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// OneShot bounds the errors of coefficients that come from the sketch B alone: x̂ = (BᵀB + (γ+shift)I)⁻¹c, with
// c = Aᵀb.
type OneShot struct {
	At
	shift float64
	apart float64 // bounds ‖K − BᵀB − shift·I‖
}

// OneShot returns the OneShot for coefficients (BᵀB + (γ+shift)I)⁻¹c from the sketch B.
func (k *Known) OneShot(gamma, shift float64) OneShot {
	b := k.bound
	return OneShot{
		At:    k.At(gamma),
		shift: shift,
		apart: math.Max(shift, b.Shrinkage-shift) + b.RoundOff,
	}
}

// Contraction returns a factor q with ‖x̂ − x*‖ ≤ q‖x*‖. x* is the exact solution, and x̂ are the
// one-shot coefficients before rounding.
func (o OneShot) Contraction() float64 {
	return quotient(o.apart, o.Gamma+o.shift+o.eigen.Rest)
}

// Weights returns the bounds for the coefficients x of target j, after rounding. bx is ‖Bx‖², for the sketch B.
func (o OneShot) Weights(j int, x []float64, bx float64) Weights {
	xn := vec.Norm(x)
	w := Weights{
		TSS:       o.TotalSquares(j),
		RSS:       o.RSS(j, x, xn, bx),
		Objective: o.Objective(j),
	}
	w.Error, w.Relative = o.errors(j, xn)
	return o.complete(w, j, x, xn, o.energy(j, xn), o.ResidualShift(j, xn))
}

// errors returns a bound abs on the error ‖x̂ − x*‖ and a bound rel on ‖x̂ − x*‖/‖x*‖, for the
// one-shot coefficients x̂ of target j and the exact solution x*. xn is ‖x̂‖. With K = AᵀA, H = K + γI and
// the sketch B, abs is the smaller of
//
//	‖H⁻¹‖·‖K − BᵀB − o.shift·I‖·‖x̂‖,   ‖x̂ − Mc‖ + ‖Mc − x*‖.
//
// M is the mean of the lower and the upper bound on H⁻¹, c = Aᵀb, and [At.middleDistance] bounds the last norm.
// rel is the smaller of two bounds: one follows from abs, and the other is [OneShot.Contraction].
func (o OneShot) errors(j int, xn float64) (abs, rel float64) {
	c := &o.targets[j].c
	if xn == 0 && c.Norm == 0 && o.TSS[j] == 0 {
		return 0, 0
	}
	s := o.Gamma + o.shift
	// The round-off in x̂ comes from c = Aᵀb, and from the last product, which computes x̂.
	most := o.inverse()
	cError := o.CrossError(j) + o.factor.onto*eps*c.Norm
	round := cError*most + o.factor.back*eps*xn
	abs = o.apart*most*xn + round
	away := o.normAbove(c, func(s2 float64) float64 {
		return 1/(s2+s) - o.middle(s2)
	})
	away += o.middleDistance(j)
	abs = math.Min(abs, away*(1+16*eps)+3*round)
	rel = Relative(abs, xn)
	q := o.Contraction()
	if xn > round {
		rel = math.Min(rel, q+round*(1+q)/(xn-round))
	}
	return abs, rel
}

// gradient returns a bound on the norm of the gradient at x̂. The gradient is (AᵀA − BᵀB − shift·I)x̂,
// because x̂ solves (BᵀB + (γ + shift)I)x̂ = c with the sketch B. xn is ‖x̂‖.
func (o OneShot) gradient(j int, xn float64) float64 {
	return o.apart*xn +
		o.CrossError(j) +
		o.factor.onto*eps*o.CNorm(j) +
		o.factor.back*eps*(o.norm.largest2+o.Gamma+o.shift)*xn
}

// ResidualShift returns a bound on ‖A(x̂ − x*)‖, the change of the residuals if the exact solution x* replaces
// x̂. xn is ‖x̂‖.
func (o OneShot) ResidualShift(j int, xn float64) float64 {
	return o.gradient(j, xn) * o.timesInverse()
}

// energy returns a bound on ‖H^{½}(x̂ − x*)‖. xn is ‖x̂‖.
func (o OneShot) energy(j int, xn float64) float64 {
	return o.gradient(j, xn) * math.Sqrt(o.inverse()) * (1 + 16*eps)
}

// RSS returns a bracket of ‖Ax − b‖² = ‖b‖² − 2cᵀx + ‖Ax‖² for any coefficients x, where
// c = Aᵀb. xn is ‖x‖, and bx is ‖Bx‖² for the sketch B. The bracket uses
// ‖Bx‖² ≤ ‖Ax‖² ≤ ‖Bx‖² + η‖x‖², with the shrinkage η.
func (k *Known) RSS(j int, x []float64, xn, bx float64) interval.Interval {
	b := k.bound
	tss := k.TSS[j]
	cx := vec.Dot(k.C(j), x)
	base := tss - 2*cx + bx
	// bounds the error of ‖Bx‖
	along := k.factor.onto*eps*xn + float64(k.eigen.Dim)*roundoff.Underflow
	own := math.Sqrt(k.norm.largest2) * along
	pad := k.SquaresError(j) +
		2*few*eps*(k.CNorm(j)*xn+tss) +
		own*(2*math.Sqrt(bx)+own) +
		2*k.factor.along*eps*bx
	pad += 2*k.CrossError(j)*xn +
		b.RoundOff*xn*xn +
		float64(2*k.eigen.Dim)*lostSquares(xn)
	if !(pad <= math.MaxFloat64) || !(bx <= math.MaxFloat64) {
		return interval.Nonnegative()
	}
	return interval.Interval{
		Lo: math.Max(0, base-pad),
		Hi: math.Max(0, base+b.Shrinkage*xn*xn+pad),
	}
}

// SketchNorms returns ‖Bx‖² for each row of x (q×d).
func (k *Known) SketchNorms(q int, x []float64) []float64 {
	out := make([]float64, q)
	r := len(k.eigen.Values)
	d := k.eigen.Dim
	h := make([]float64, q*r)
	v := engine.View(r, d, k.eigen.V)
	k.Backend.Gemm(false, true, 1, engine.View(q, d, x), v, 0, engine.View(q, r, h))
	for i := range out {
		for l, s2 := range k.eigen.Values {
			out[i] += s2 * h[i*r+l] * h[i*r+l]
		}
	}
	return out
}

// Apply returns φᵢ(BᵀB)c for each function φᵢ in phi and each target, where B is the sketch and c = Aᵀb. The
// result has d columns. Its row i·t + j belongs to φᵢ and target j.
func (k *Known) Apply(phi ...func(s2 float64) float64) []float64 {
	d := k.eigen.Dim
	r := len(k.eigen.Values)
	t := len(k.targets)
	q := len(phi) * t
	h := make([]float64, q*r)
	x := make([]float64, q*d)
	for i, f := range phi {
		for j := range t {
			row := i*t + j
			for l, v := range k.targets[j].c.Along {
				h[row*r+l] = f(k.eigen.Values[l]) * v
			}
			k.applyOff(j, f, x[row*d:])
		}
	}
	k.Backend.Gemm(false, false, 1, engine.View(q, r, h), engine.View(r, d, k.eigen.V), 1, engine.View(q, d, x))
	return x
}

// applyOff sets x to f(BᵀB)u, where u is the part of c = Aᵀb of target j that is orthogonal to the rows of the
// sketch B. u is row j of k.cOff, or 0 if k.cOff is nil.
func (k *Known) applyOff(j int, f func(s2 float64) float64, x []float64) {
	d := k.eigen.Dim
	if k.cOff != nil {
		off := f(k.eigen.Rest)
		for l, v := range k.cOff[j*d : (j+1)*d] {
			x[l] = off * v
		}
		return
	}
	clear(x[:k.eigen.Dim])
}

// ApplyEach overwrites row j of x with φ(BᵀB)c, where φ is phi[j], B is the sketch, and c = Aᵀb of target
// firstTarget+j. It returns ‖Bx‖² for each row of x.
func (k *Known) ApplyEach(firstTarget int, phi []func(s2 float64) float64, x []float64) (bx []float64) {
	d := k.eigen.Dim
	r := len(k.eigen.Values)
	q := len(phi)
	bx = make([]float64, q)
	h := make([]float64, q*r)
	for j, f := range phi {
		for l, v := range k.targets[firstTarget+j].c.Along {
			h[j*r+l] = f(k.eigen.Values[l]) * v
			bx[j] += k.eigen.Values[l] * h[j*r+l] * h[j*r+l]
		}
		k.applyOff(firstTarget+j, f, x[j*d:])
	}
	k.Backend.Gemm(false, false, 1, engine.View(q, r, h), engine.View(r, d, k.eigen.V), 1, engine.View(q, d, x))
	// Rounding changes the part of x orthogonal to the rows of B, and so changes Bx (docs/math.md §14, "Products with
	// V").
	if k.cOff != nil {
		return k.SketchNorms(q, x)
	}
	return bx
}

// LostCross returns a bound on the part of the relative error of coefficients from the sketch that the round-off of
// AᵀY causes. The bound holds for sketches of any size.
func (k *Known) LostCross(gamma float64) float64 {
	var most float64
	a := k.At(gamma)
	for j := range k.targets {
		if off := k.CrossError(j); off > 0 {
			c := &k.targets[j].c
			moved := (off + k.factor.onto*eps*c.Norm) / gamma
			most = math.Max(most, moved*(c.Norm+off)/a.quads(c, off).Lo)
		}
	}
	// the factor is 2, because only the lower bound cᵀH⁻¹c/‖c‖ on ‖x*‖ is known
	return 2 * most
}
