package certify

import (
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Witness detects that a pass read other rows than the summary did. It is the product Kh of K = AᵀA with a fixed
// vector h of norm 1, computed by the summary. Every product Kv of a pass, and every gradient Kv − c with c = Aᵀb,
// must satisfy
//
//	hᵀ(Kv) = (Kh)ᵀv,   hᵀ(Kv − c) = (Kh)ᵀv − hᵀc.
//
// A change of the rows is missed only if it is tiny compared with ‖A‖², or orthogonal to h.
type Witness struct {
	Probe   []float64 // h
	Product []float64 // Kh as computed; nil if unknown
}

// Probe returns the vector h, which has fixed pseudorandom elements.
func Probe(d int) []float64 {
	r := rand.New(rand.NewPCG(0x66647269646765, uint64(d)))
	h := make([]float64, d)
	for j := range h {
		h[j] = math.Copysign(0.5+r.Float64(), r.Float64()-0.5)
	}
	vec.Scale(1/vec.Norm(h), h)
	return h
}

// ProductDiffers checks out = Kx, a product of a pass, by the equation hᵀ(Kx) = (Kh)ᵀx of [Witness]. If affine is
// true, out is Kx − Aᵀb for target j. differs is true if the pass must have read other rows than the summary. It
// is false if out is not finite: then the iteration diverged.
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

// crossSlack returns a bound on the difference between Aᵀb of target j in a summary and in a pass over the same
// rows. It includes the effect of errors of the means on both vectors.
func (k *Known) crossSlack(j int) float64 {
	return roundoff.SameRows*k.norm.read*k.targetNorm(j) +
		k.CrossError(j) +
		k.centring(k.rhs(j), 0)
}

// ResidualDiffers compares two values of ‖Ax − b‖² for target j. rss is the value that a pass computed. The
// other value uses ‖b‖² and c from the summary:
//
//	want = ‖b‖² − cᵀx + xᵀ(Kx − c),   K = AᵀA,   c = Aᵀb.
//
// The product out = Kx − c comes from the same pass.
func (k *Known) ResidualDiffers(j int, x, out []float64, rss float64) (want float64, differs bool) {
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

// apart returns |a − b|. beyond reports whether this distance is finite and larger than slack. A distance that is
// not finite proves nothing, because the iteration diverged.
func apart(a, b, slack float64) (distance float64, beyond bool) {
	distance = math.Abs(a - b)
	return distance, distance <= math.MaxFloat64 &&
		slack <= math.MaxFloat64 &&
		!(distance <= slack)
}

// CrossDiffers reports whether a pass at coefficients 0 contradicts the summary for target j. The pass has found
// out = −Aᵀb and rss = ‖b‖². distance is the norm of the difference in Aᵀb.
func (k *Known) CrossDiffers(j int, out []float64, rss float64) (distance float64, differs bool) {
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
