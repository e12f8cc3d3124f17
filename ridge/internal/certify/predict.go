package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Prediction brackets aᵀx* for rows a, less the mean of the features where an intercept
// is fitted. The formula, with what D and x_mid are, is that of ridge.Predictor.
type Prediction struct {
	gap, inverse       []float64 // eigenvalues of D, and of a bound on H⁻¹, along V
	gapOff, inverseOff float64   // and orthogonal to V
	gapMost, most      float64   // and the largest of them
	dot                float64   // the factor for the product of a dense row with weights
	skew               float64   // that of how far V is from orthonormal rows
	lost               float64   // what such a product, and the bounds, lose to underflow
}

// An Anchor is weights x near x* of one target, and what is known of the distance: for a
// row a
//
//	|aᵀ(x − x*)| ≤ min(√(aᵀDa)·gap + √(aᵀH⁻¹a)·energy, ‖a‖·distance) + ‖a‖·(round + chain·eps·size) + fixed,
//
// chain·eps‖a‖‖x‖ being the round-off of a product.
type Anchor struct {
	Base     float64 // the target's mean
	Mean     float64 // the product of x and the features' means
	gap      float64
	energy   float64
	distance float64
	size     float64 // ‖x‖
	round    float64 // round-off of x
	fixed    float64 // what the errors of the means add to any prediction
}

// Prediction is the one at γ.
func (a At) Prediction() *Prediction {
	p := &Prediction{
		gapOff: a.gap(a.eigen.Rest), inverseOff: a.above(a.eigen.Rest), gapMost: a.widestGap(), most: a.above(a.eigen.Rest),
		dot: a.factor.dense, skew: a.factor.skew, lost: lostProduct(a.eigen.Dim),
	}
	for _, s2 := range a.eigen.Values {
		p.gap, p.inverse = append(p.gap, a.gap(s2)), append(p.inverse, a.above(s2))
	}
	return p
}

// Plain is the prediction of a fit alone, without a sketch: in place of quadratic forms
// there is ‖a‖. Rows have d entries.
func Plain(accuracy engine.Accuracy, d int) *Prediction {
	return &Prediction{inverseOff: 1, most: 1, dot: roundoff.DenseDot(accuracy.Dot(d)), lost: lostProduct(d)}
}

// lostProduct bounds what a product of two vectors of d, and some operations after it, lose
// to underflow.
func lostProduct(d int) float64 { return float64(d+16) * roundoff.Underflow }

// Middle returns x_mid of each target (t×d).
func (a At) Middle() []float64 { return a.Apply(a.middle) }

// Near is the anchor x_mid of target j.
func (a At) Near(j int, x []float64) Anchor {
	c := &a.targets[j].c
	// What evaluating x_mid adds: the complement of V carries 1/γ.
	round := a.factor.onto * eps * c.Norm
	out := a.anchor(j, x, a.middleDistance(j)+(round+a.CrossError(j))*a.inverse())
	out.gap = a.normAbove(c, a.rootGap)/2 + round*math.Sqrt(a.widestGap())
	out.energy = a.CrossError(j) * math.Sqrt(a.inverse())
	out.round += round * a.inverse()
	return out
}

// Measured is the anchor that is the weights x of a fit, given bounds on ‖x − x*‖ and
// ‖H^{½}(x − x*)‖.
func (a At) Measured(j int, x []float64, distance, energy float64) Anchor {
	c := a.anchor(j, x, math.Min(distance, energy*math.Sqrt(a.inverse())*(1+16*eps)))
	c.energy = energy
	return c
}

// anchor prepares weights of which it is known that ‖x − x*‖ ≤ radius.
func (a At) anchor(j int, x []float64, radius float64) Anchor {
	c := Anchor{distance: radius, size: vec.Norm(x)}
	if a.Intercept {
		d := a.eigen.Dim
		c.Base, c.Mean = a.Means[d+j], vec.Dot(a.Means[:d], x)
		c.fixed = a.targets[j].meanOff + a.norm.meanOff*(c.size+radius) + few*eps*math.Abs(c.Base)
	}
	return c
}

// Alone is the anchor that is weights x of a fit without intercept, of which
// ‖x − x*‖ ≤ radius is all that is known.
func Alone(x []float64, radius float64) Anchor {
	return Anchor{distance: radius, energy: radius, size: vec.Norm(x)}
}

// Forms are the quadratic forms of a row a, and what the round-off of its products follows
// from.
type Forms struct {
	norm         float64 // ‖a‖, or the norm of what a was computed from, at most
	gap, inverse float64 // √(aᵀDa) and √(aᵀH⁻¹a) at most, divided by norm
	chain        float64 // round-off of a product with weights, in units of eps·‖a‖‖x‖
	lost         float64 // what such a product loses to underflow
}

// Forms evaluates the quadratic forms of a row from Va and ‖a‖². size is the norm of
// what a was computed from: to eps times its square, the forms are uncertain by
// round-off. nnz is how many entries a sparse row has, negative for a dense one.
//
// The forms are those of a/size: no product with an eigenvalue underflows, however small the row is.
// Each of the r entries of Va is off by chain·eps·size, which moves ‖Va‖² and each form by
// 2√r·chain·eps·size² times the largest eigenvalue. Summing r terms moves them by r·eps/2 of that.
func (p *Prediction) Forms(along []float64, norm2, size float64, nnz int) Forms {
	if size == 0 {
		return Forms{}
	}
	chain := p.dot
	if nnz >= 0 { // one sum over the entries, and the mean's product
		chain += float64(nnz) / 2
	}
	out := Forms{norm: size*(1+16*eps) + roundoff.Underflow, chain: chain, lost: p.lost}
	if size < 0x1p-450 { // squares may underflow: the largest eigenvalue is as good
		out.gap, out.inverse = math.Sqrt(p.gapMost), math.Sqrt(p.most)
		return out
	}
	var gap, inverse, inV float64
	for l, v := range along {
		v /= size
		v *= v
		inV += v
		gap += v * p.gap[l]
		inverse += v * p.inverse[l]
	}
	off := math.Max(0, norm2/size/size-inV)
	r := float64(len(along))
	pad := (4*math.Sqrt(r)*chain + r + 4*chain + 2*p.skew) * eps
	gap += off*p.gapOff + pad*p.gapMost
	inverse += off*p.inverseOff + pad*p.most
	out.gap, out.inverse = math.Sqrt(gap)*(1+16*eps), math.Sqrt(inverse)*(1+16*eps)
	return out
}

// Interval brackets the prediction for a row of the given forms whose product with
// the weights is known.
func (c *Anchor) Interval(product float64, f Forms) interval.Interval {
	y := c.Base + product
	radius := f.norm * (math.Min(f.gap*c.gap+f.inverse*c.energy, c.distance) + c.round + f.chain*eps*c.size)
	radius += c.fixed + 4*eps*math.Abs(y) + f.lost
	if !(math.Abs(y)+radius <= math.MaxFloat64) { // of what isn't finite there may be 0·∞
		return interval.Unknown()
	}
	return interval.Interval{Lo: y - radius, Hi: y + radius}
}
