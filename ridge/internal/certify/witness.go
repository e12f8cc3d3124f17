package certify

import (
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Witness detects that a pass over the rows read other rows than the summary did. The summary computes the
// product Kh of K = AᵀA with a fixed vector h of norm 1. Every product Kv that a pass computes with a vector v, and
// every gradient Kv − c with c = Aᵀb, must satisfy
//
//	hᵀ(Kv) = (Kh)ᵀv,   hᵀ(Kv − c) = (Kh)ᵀv − hᵀc.
//
// A change of the rows is missed only if it is tiny compared with ‖A‖², or if its effect is orthogonal to h.
type Witness struct {
	Probe   []float64 // h
	Product []float64 // Kh as computed; nil if unknown
}

// Probe returns the vector of a [Witness] for d features. It has norm 1 and fixed pseudorandom elements.
func Probe(d int) []float64 {
	r := rand.New(rand.NewPCG(0x66647269646765, uint64(d)))
	h := make([]float64, d)
	for j := range h {
		h[j] = math.Copysign(0.5+r.Float64(), r.Float64()-0.5)
	}
	vec.Scale(1/vec.Norm(h), h)
	return h
}

// ProductDiffers checks a product out = AᵀAx of a pass by the equation of [Witness]. If affine is true, out is
// AᵀAx − Aᵀb for the target b with index j. differs is true if the pass must have read other rows than the
// summary. If out is not finite, differs is false, because the iteration has diverged.
func (k *Known) ProductDiffers(
	j int,
	affine bool,
	x, out []float64,
) (difference float64, differs bool) {
	if k.Product == nil {
		return 0, false
	}
	n := &k.norm
	// bounds the error of Kh
	witness := k.factor.sum*eps*n.size*n.size +
		n.displaced*(2*math.Sqrt(n.staged2)+n.displaced)*inflate
	got := vec.Dot(k.Probe, out)
	want := vec.Dot(k.Product, x)
	slack := (roundoff.SameRows*n.read*n.read +
		witness +
		n.root*n.meanOff*n.root*n.meanOff) * vec.Norm(x)
	if affine {
		want -= vec.Dot(k.Probe, k.C(j))
		slack += k.crossSlack(j)
	}
	return apart(got, want, slack)
}

// crossSlack bounds the difference between Aᵀb in a summary and in a pass over the same rows, where b is target j.
// It includes the effect of errors of the means on both vectors.
func (k *Known) crossSlack(j int) float64 {
	return roundoff.SameRows*k.norm.read*k.targetNorm(j) +
		k.CrossError(j) +
		k.centring(k.rhs(j), 0)
}

// ResidualDiffers compares rss, the value of ‖Ax − b‖² that a pass computed, with a second value. b is target j.
// The second value uses ‖b‖² and c = Aᵀb from the summary:
//
//	want = ‖b‖² − cᵀx + xᵀ(AᵀAx − c).
//
// The argument out = AᵀAx − c comes from the same pass as rss.
func (k *Known) ResidualDiffers(
	j int,
	x, out []float64,
	rss float64,
) (want float64, differs bool) {
	want = k.TSS[j] -
		vec.Dot(k.C(j), x) +
		vec.Dot(x, out)
	xn := vec.Norm(x)
	size := k.norm.read*xn + k.targetNorm(j)
	slack := roundoff.SameRows*size*size +
		k.SquaresError(j) +
		2*k.CrossError(j)*xn +
		math.Pow(k.meanShift(k.rhs(j), xn), 2)
	slack += float64(k.Rows) * roundoff.LostResidual * roundoff.LostResidual
	_, differs = apart(rss, want, slack)
	return want, differs
}

// apart returns the distance |a − b|. beyond reports whether this distance is finite and larger than slack. A
// distance that is not finite is no evidence, because the iteration has diverged.
func apart(a, b, slack float64) (distance float64, beyond bool) {
	distance = math.Abs(a - b)
	return distance, distance <= math.MaxFloat64 &&
		slack <= math.MaxFloat64 &&
		!(distance <= slack)
}

// CrossDiffers reports whether a pass at coefficients 0 contradicts the summary for the target b with index j. The
// pass has computed out = −Aᵀb and rss = ‖b‖². distance is the norm of the difference between both values of
// Aᵀb.
func (k *Known) CrossDiffers(
	j int,
	out []float64,
	rss float64,
) (distance float64, differs bool) {
	d := make([]float64, len(out))
	copy(d, out)
	vec.Axpy(1, k.C(j), d)
	b := k.targetNorm(j)
	squares := roundoff.SameRows*b*b +
		k.SquaresError(j) +
		math.Pow(k.norm.root*k.targets[j].meanOff, 2)
	distance = vec.Norm(d)
	return distance, !(distance <= k.crossSlack(j)) ||
		!(math.Abs(rss-k.TSS[j]) <= squares)
}
