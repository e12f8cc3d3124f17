package certify

import (
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Witness tells the rows of a pass from other rows, whatever the targets are: the
// summary keeps Kh of one vector h of length one, that all summaries of d features
// share, and every product that a pass returns has to agree with it,
//
//	hᵀ(Kv) = (Kh)ᵀv,   hᵀ(Kv − c) = (Kh)ᵀv − hᵀc,
//
// at the price of two inner products. A change of the rows is missed only where it is
// next to nothing beside ‖A‖², or orthogonal to h by accident.
type Witness struct {
	Probe   []float64 // h
	Product []float64 // Kh as computed; nil where it is not known
}

// Probe is h: of random signs and sizes, always the same.
func Probe(d int) []float64 {
	r := rand.New(rand.NewPCG(0x66647269646765, uint64(d)))
	h := make([]float64, d)
	for j := range h {
		h[j] = math.Copysign(0.5+r.Float64(), r.Float64()-0.5)
	}
	vec.Scale(1/vec.Norm(h), h)
	return h
}

// ProductDiffers compares a product of a pass, out = Kx, or Kx − c of target j where that
// is affine, with the witness. It returns how far they are apart, and whether the rows of
// the summary cannot be so far. Where an iteration has diverged there is nothing to
// compare.
func (k *Known) ProductDiffers(j int, affine bool, x, out []float64) (off float64, differs bool) {
	if k.Product == nil {
		return 0, false
	}
	n := &k.norm
	witness := k.factor.sum*eps*n.size*n.size + n.displaced*(2*math.Sqrt(n.staged2)+n.displaced)*inflate // what Kh is off by
	got, want := vec.Dot(k.Probe, out), vec.Dot(k.Product, x)
	slack := (roundoff.SameRows*n.read*n.read + witness + n.root*n.meanOff*n.root*n.meanOff) * vec.Norm(x)
	if affine {
		want -= vec.Dot(k.Probe, k.C(j))
		slack += k.crossSlack(j)
	}
	return apart(got, want, slack)
}

// crossSlack is how far apart AᵀY of target j may be where a summary and a pass have made it
// of the same rows. The errors of the means count in both.
func (k *Known) crossSlack(j int) float64 {
	return roundoff.SameRows*k.norm.read*k.targetNorm(j) + k.CrossError(j) + k.centring(k.side(j), 0)
}

// ResidualDiffers compares a residual of a pass, rss = ‖Ax − b‖² for target j, with what
// the summary makes of the gradient out = Kx − c that came with it,
//
//	‖Ax − b‖² = ‖b‖² − cᵀx + xᵀ(Kx − c),
//
// which it returns. That needs no witness.
func (k *Known) ResidualDiffers(j int, x, out []float64, rss float64) (want float64, differs bool) {
	want = k.TSS[j] - vec.Dot(k.C(j), x) + vec.Dot(x, out)
	xn := vec.Norm(x)
	size := k.norm.read*xn + k.targetNorm(j)
	slack := roundoff.SameRows*size*size + k.SquaresError(j) + 2*k.CrossError(j)*xn + math.Pow(k.meanShift(k.side(j), xn), 2)
	slack += float64(k.Rows) * roundoff.LostResidual * roundoff.LostResidual
	_, differs = apart(rss, want, slack)
	return want, differs
}

// apart reports a difference beyond the slack; never one that is not finite, as where an
// iteration has diverged.
func apart(a, b, slack float64) (off float64, beyond bool) {
	off = math.Abs(a - b)
	return off, off <= math.MaxFloat64 && slack <= math.MaxFloat64 && !(off <= slack)
}

// CrossDiffers compares AᵀY and ‖Y‖² of target j, as the gradient at zero of a pass has
// them, out = −AᵀY, with those of the summary. It returns how far AᵀY is away.
func (k *Known) CrossDiffers(j int, out []float64, rss float64) (off float64, differs bool) {
	d := make([]float64, len(out))
	copy(d, out)
	vec.Axpy(1, k.C(j), d)
	b := k.targetNorm(j)
	squares := roundoff.SameRows*b*b + k.SquaresError(j) + math.Pow(k.norm.root*k.targets[j].meanOff, 2)
	off = vec.Norm(d)
	return off, !(off <= k.crossSlack(j)) || !(math.Abs(rss-k.TSS[j]) <= squares)
}
