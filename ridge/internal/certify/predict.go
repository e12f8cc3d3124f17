package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Prediction bounds the errors of predictions for rows a at one penalty γ. With an intercept, the rows are
// centred. [Anchor] has the formula of the bounds. It contains H = AᵀA + γI, and D, the difference between the
// upper and the lower bound on H⁻¹. The rows of the matrix V are the right singular vectors of the sketch.
type Prediction struct {
	gap, inverse       []float64 // eigenvalues of D, and of an upper bound on H⁻¹, for each row of V
	gapOff, inverseOff float64   // the same eigenvalues for vectors orthogonal to V
	gapMost, most      float64   // the largest eigenvalue in gap and gapOff, and in inverse and inverseOff
	dot                float64   // bounds the round-off of a product of a dense row with coefficients, in units of eps
	skew               float64   // bounds the distance of V from orthonormal rows, in units of eps
	// lost bounds the effect of underflow on the product of a row with coefficients, and on the computed bounds.
	lost float64

	// Scaling may have rounded the entries of the rows, see [Columns.Rounded]. entry·eps then bounds the relative error
	// of an entry. meanSize bounds the norm of the means that were subtracted from the rows.
	entry, meanSize float64
}

// An Anchor describes coefficients x of one target, and bounds the errors of their predictions. For a row a and the
// exact ridge solution x*, the fields gap, energy and distance give
//
//	|aᵀ(x − x*)| ≤ min(√(aᵀDa)·gap + √(aᵀH⁻¹a)·energy, ‖a‖·distance) + round-off.
//
// Here H is AᵀA + γI, and D is the difference between the upper and the lower bound on H⁻¹ (docs/math.md §5).
type Anchor struct {
	Base     float64 // the mean of the target
	Mean     float64 // the product of x and the means of the features
	gap      float64
	energy   float64
	distance float64
	size     float64 // ‖x‖
	round    float64 // bounds the norm of the rounding errors of x
	fixed    float64 // bounds the effect of the errors of the means on any prediction
}

// Prediction returns the Prediction at γ.
func (a At) Prediction() *Prediction {
	p := &Prediction{
		gapOff:     a.gap(a.eigen.Rest),
		inverseOff: a.above(a.eigen.Rest),
		gapMost:    a.widestGap(),
		most:       a.above(a.eigen.Rest),
		dot:        a.factor.dense,
		skew:       a.factor.skew,
		lost:       lostProduct(a.eigen.Dim),
		entry:      a.entry(),
	}
	if a.Intercept {
		means := vec.Norm(a.Means[:a.eigen.Dim])
		p.meanSize = (means + a.norm.meanOff) * inflate
	}
	for _, s2 := range a.eigen.Values {
		p.gap = append(p.gap, a.gap(s2))
		p.inverse = append(p.inverse, a.above(s2))
	}
	return p
}

// Plain returns the Prediction for a fit without a sketch, for rows with d entries. Its bounds depend only on the
// norm of the row. They allow for four roundings of each entry, because the rows may have been scaled.
func Plain(accuracy engine.Accuracy, d int) *Prediction {
	return &Prediction{
		inverseOff: 1,
		most:       1,
		dot:        roundoff.DenseDot(accuracy.Dot(d)),
		lost:       lostProduct(d),
		entry:      2 * inflate,
	}
}

// lostProduct bounds the effect of underflow on the product of two vectors of length d and on a few more
// operations.
func lostProduct(d int) float64 {
	return float64(d+16) * roundoff.Underflow
}

// Middle returns coefficients M·Aᵀb for each target b, as a t×d matrix for t targets and d features. M is the mean
// of the lower and the upper bound on (AᵀA + γI)⁻¹. Target j uses the bounds and the penalty γ of ats[index[j]].
func (k *Known) Middle(ats []*At, index []int) []float64 {
	phi := make([]func(s2 float64) float64, len(index))
	x := make([]float64, len(index)*k.eigen.Dim)
	for j, g := range index {
		phi[j] = ats[g].middle
	}
	k.ApplyEach(0, phi, x)
	return x
}

// Near returns the Anchor at x, the coefficients that [Known.Middle] returns for target j.
func (a At) Near(j int, x []float64) Anchor {
	c := &a.targets[j].c
	// Round-off of x.
	round := a.factor.onto * eps * c.Norm
	distance := a.middleDistance(j) + (round+a.CrossError(j))*a.inverse()
	out := a.anchor(j, x, distance)
	out.gap = a.normAbove(c, a.rootGap)/2 + round*math.Sqrt(a.widestGap())
	out.energy = a.CrossError(j) * math.Sqrt(a.inverse())
	out.round += round * a.inverse()
	return out
}

// Measured returns the Anchor at coefficients x of target j. Let x* be the exact solution and H = AᵀA + γI.
// distance must bound ‖x − x*‖, and energy must bound ‖H^{½}(x − x*)‖.
func (a At) Measured(j int, x []float64, distance, energy float64) Anchor {
	byEnergy := energy * math.Sqrt(a.inverse()) * (1 + 16*eps)
	c := a.anchor(j, x, math.Min(distance, byEnergy))
	c.energy = energy
	return c
}

// anchor returns an Anchor at coefficients x of target j. radius bounds the distance of x from the exact solution.
func (a At) anchor(j int, x []float64, radius float64) Anchor {
	c := Anchor{distance: radius, size: vec.Norm(x)}
	if a.Intercept {
		d := a.eigen.Dim
		c.Base = a.Means[d+j]
		c.Mean = vec.Dot(a.Means[:d], x)
		c.fixed = a.targets[j].meanOff +
			a.norm.meanOff*(c.size+radius) +
			few*eps*math.Abs(c.Base)
	}
	return c
}

// Alone returns the [Anchor] at coefficients x, for a fit without a sketch and rows that are not centred. The
// argument radius bounds the distance of x from the exact solution, and interceptError bounds the error of the
// intercept.
func Alone(x []float64, radius, intercept, interceptError float64) Anchor {
	return Anchor{
		Base:     intercept,
		fixed:    interceptError,
		distance: radius,
		energy:   radius,
		size:     vec.Norm(x),
	}
}

// Forms holds bounds on √(aᵀDa) and √(aᵀH⁻¹a) in the formula of [Anchor] for a row a, divided by the field
// norm. It also bounds the round-off of products with a.
type Forms struct {
	norm         float64 // ‖a‖ or a bound on it, or the norm of the row before centring
	gap, inverse float64 // bounds on √(aᵀDa)/norm and √(aᵀH⁻¹a)/norm
	chain        float64 // bounds the round-off of a product with coefficients x, in units of eps·norm·‖x‖
	lost         float64 // bounds the underflow error of such a product
	moved        float64 // bounds the norm of the rounding of the row
}

// Forms evaluates the quadratic forms aᵀDa and aᵀH⁻¹a of [Anchor] for a row a. The arguments are
//   - along: Va, where the rows of V are the right singular vectors of the sketch
//   - norm2: ‖a‖²
//   - size: the norm of the row before centring
//   - nnz: the number of entries of a sparse row, or a negative number for a dense row
//
// The forms are computed for a/size to avoid underflow. docs/math.md §9 bounds their round-off.
func (p *Prediction) Forms(along []float64, norm2, size float64, nnz int) Forms {
	if size == 0 {
		return Forms{moved: p.entry * eps * p.meanSize * inflate}
	}
	chain := p.dot
	if nnz >= 0 { // one sum over the entries, and the product with the means
		chain += float64(nnz) / 2
	}
	out := Forms{
		norm:  size*(1+16*eps) + roundoff.Underflow,
		chain: chain,
		lost:  p.lost,
		moved: p.entry * eps * (size + p.meanSize) * inflate,
	}
	if size < 0x1p-450 { // squares may underflow, so the largest eigenvalues bound the forms
		out.gap = math.Sqrt(p.gapMost)
		out.inverse = math.Sqrt(p.most)
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
	out.gap = math.Sqrt(gap) * (1 + 16*eps)
	out.inverse = math.Sqrt(inverse) * (1 + 16*eps)
	return out
}

// Interval returns a bracket of the exact solution's prediction for a row. The argument product is the product of
// the row with the coefficients of c, and f holds the quadratic forms of the row.
func (c *Anchor) Interval(product float64, f Forms) interval.Interval {
	y := c.Base + product
	radius := f.norm * (math.Min(f.gap*c.gap+f.inverse*c.energy, c.distance) +
		c.round +
		f.chain*eps*c.size)
	radius += c.fixed + 4*eps*math.Abs(y) + f.lost
	if f.moved > 0 {
		radius += f.moved * (c.size + c.distance) * (1 + 16*eps)
	}
	if !(math.Abs(y)+radius <= math.MaxFloat64) { // infinite bounds may give 0·∞
		return interval.Unknown()
	}
	return interval.Interval{Lo: y - radius, Hi: y + radius}
}
