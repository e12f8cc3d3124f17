package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A LeftOut brackets leverages and leave-one-out errors of rows at several γ. For a row a of
// weight w, less the means where an intercept is fitted, of rows that weigh W together, and
// with r what the exact solution of all rows misses its target by,
//
//	h = w·aᵀH⁻¹a + w/W,   r/(1 − h)
//
// is what that of all other rows misses it by; w/W is there with an intercept. As in At,
// aᵀH⁻¹a lies between the forms of below(BᵀB) and above(BᵀB); and H ⪰ γI + κaaᵀ, where
// κ = w, or wW/(W−w) with an intercept, so that it is at most ‖a‖²/(γ + κ‖a‖²), and
//
//	1 − h ≥ γ/(γ + κ‖a‖²),   times 1 − w/W with an intercept.
type LeftOut struct {
	*Known
	at    []At
	skew  float64 // what the rows of V, of which there are as many as norms of a, put into a, in units of eps·‖a‖
	round float64 // relative error of the forms, which are sums of r numbers that are not negative
}

// LeftOut prepares the bounds at each γ.
func (k *Known) LeftOut(gammas []float64) *LeftOut {
	r := len(k.eigen.Values)
	l := &LeftOut{Known: k, skew: k.factor.skew + few, round: (roundoff.DenseDot(k.Backend.Accuracy().Dot(r)) + 2*k.factor.skew + few) * eps}
	for _, gamma := range gammas {
		l.at = append(l.at, k.At(gamma))
	}
	return l
}

// Functions are, of each eigenvalue of BᵀB, below at each γ, and behind them above at each
// γ (2k×r): a product with the squares of Va makes the forms of the part of a along V.
func (l *LeftOut) Functions() []float64 {
	var below, above []float64
	for _, a := range l.at {
		for _, s2 := range l.eigen.Values {
			below, above = append(below, a.below(s2)), append(above, a.above(s2))
		}
	}
	return append(below, above...)
}

// A LeftRow is one row.
type LeftRow struct {
	weight float64
	size   float64           // ‖a‖, or the norm of what a was computed from
	chain  float64           // round-off of a product with a, in units of eps·size
	far2   float64           // a bound on ‖a‖²
	moved  float64           // how far, in norm, a is off, what was put into Va counting as if it were a
	off    interval.Interval // ‖a − VᵀVa‖²
}

// Row is a row of the given weight, with ‖a‖² and ‖Va‖² as computed, and size and nnz as for
// [Prediction.Forms]. Each of the r entries of Va is off by chain·eps·size.
func (l *LeftOut) Row(weight, norm2, inV, size float64, nnz int) LeftRow {
	r, d := float64(len(l.eigen.Values)), float64(l.eigen.Dim)
	o := LeftRow{weight: weight, size: size, chain: l.factor.dense}
	if nnz >= 0 {
		o.chain += float64(nnz) / 2
	}
	lost := math.Sqrt(d+16) * 0x1p-535 // of squares, and of products, that underflow
	o.moved = (math.Sqrt(r)*o.chain+l.skew)*eps*size*inflate + l.norm.meanOff + lost
	far := math.Sqrt(norm2+(2*o.chain+4*few)*eps*size*size) + l.norm.meanOff + lost
	o.far2 = far * far * (1 + few*eps)
	if int(r) < l.eigen.Dim {
		pad := (4*math.Sqrt(r)*o.chain + 2*l.skew + 4*o.chain + 4*few) * eps * size * size * inflate
		off := math.Max(0, norm2-inV)
		o.off = interval.Interval{Lo: math.Max(0, off-pad), Hi: off + pad}
	}
	return o
}

// A Leverage is that of a row at one γ.
type Leverage struct {
	Free interval.Interval // 1 − h
	root float64           // a bound on √(aᵀH⁻¹a)
}

// Leverage is that of a row at the i-th γ, given the forms of its part along V.
func (l *LeftOut) Leverage(i int, o *LeftRow, below, above float64) Leverage {
	a, w := &l.at[i], o.weight
	rest := a.above(l.eigen.Rest)
	lost := math.Sqrt(float64(len(l.eigen.Values)+few)) * 0x1p-537 // of the forms, products with an eigenvalue that underflow
	slack := o.moved*math.Sqrt(rest)*(1+few*eps) + lost
	near := math.Max(0, math.Sqrt(below+o.off.Lo*a.below(l.eigen.Rest))*(1-l.round)-slack)
	far := math.Sqrt(above+o.off.Hi*rest)*(1+l.round) + slack
	// Bounds on κ from below and above, on 1 − w/W from below, and w/W itself.
	kappa, most, others, share, round := w, w, 1.0, 0.0, few*eps
	if l.Intercept {
		round += float64(l.Rows) * float64(l.Rows) * roundoff.Unit * eps // of the weight
		share = w / l.Weight
		others = math.Max(0, 1-share-round)
		kappa, most = w/(1-share+round), w/others
	}
	alone := o.far2 / (a.Gamma + kappa*o.far2*(1-few*eps)) * (1 + few*eps)
	far = math.Min(far, math.Sqrt(alone)*(1+few*eps))
	free := interval.Interval{
		Lo: 1 - w*far*far*(1+few*eps) - share - round,
		Hi: math.Min(1, 1-w*near*near*(1-few*eps)-share+round),
	}
	if v := others * (a.Gamma / (a.Gamma + most*o.far2)) * (1 - few*eps); v > free.Lo { // false for a NaN
		free.Lo = v
	}
	free.Lo = math.Min(free.Lo, free.Hi)
	return Leverage{free, far}
}

// A LeftFit is what is known of the weights x of a fit of target j.
type LeftFit struct {
	Norm   float64 // ‖x‖
	Energy float64 // a bound on ‖H^{½}(x − x*)‖
	Target int
}

// Residual is what a fit misses the target y of a row by, as computed from the target's mean
// (0 without intercept) and the product aᵀx; off bounds what it is off by for the weights
// themselves.
func (l *LeftOut) Residual(o *LeftRow, f *LeftFit, y, product float64) (r, off float64) {
	base := 0.0
	if l.Intercept {
		base = l.Means[l.eigen.Dim+f.Target]
		off = l.targets[f.Target].meanOff + l.norm.meanOff*f.Norm
	}
	r = y - (base + product)
	off += eps * ((o.chain+few)*o.size*f.Norm + few*(math.Abs(y)+math.Abs(base)+math.Abs(product)))
	return r, off*inflate + lostProduct(l.eigen.Dim)
}

// Squared brackets w·(r/(1 − h))² of the exact solution, given the residual r of a fit, and
// what it is off by.
func (o *LeftRow) Squared(v *Leverage, f *LeftFit, r, off float64) interval.Interval {
	if o.weight == 0 {
		return interval.Interval{}
	}
	off += v.root * f.Energy * (1 + few*eps)
	lo, hi := math.Max(0, math.Abs(r)-off)/v.Free.Hi, (math.Abs(r)+off)/v.Free.Lo
	root := math.Sqrt(o.weight) // as weight·lo may underflow where weight·lo·lo does not
	out := interval.Squared(root*lo, root*hi)
	out.Lo, out.Hi = out.Lo*(1-2*few*eps)-roundoff.Underflow, out.Hi*(1+2*few*eps)+roundoff.Underflow
	if out.IsNaN() || !(v.Free.Lo > 0) {
		return interval.Nonnegative()
	}
	return interval.Interval{Lo: math.Max(0, out.Lo), Hi: out.Hi}
}
