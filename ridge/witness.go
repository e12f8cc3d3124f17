package ridge

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/internal/vec"
)

// A witness tells the rows of a pass from other rows, whatever the targets are: the
// summary keeps Kh of one vector h of length one, that all summaries of d features
// share, and every product that a pass returns has to agree with it,
//
//	hᵀ(Kv) = (Kh)ᵀv,   hᵀ(Kv − c) = (Kh)ᵀv − hᵀc,
//
// at the price of two inner products. A change of the rows is missed only where it is
// next to nothing beside ‖A‖², or orthogonal to h by accident.
type witness struct {
	h, kh []float64
}

// probe is h: of random signs and sizes, always the same.
func probe(d int) []float64 {
	r := rand.New(rand.NewPCG(0x66647269646765, uint64(d)))
	h := make([]float64, d)
	for j := range h {
		h[j] = math.Copysign(0.5+r.Float64(), r.Float64()-0.5)
	}
	vec.Scale(1/vec.Norm(h), h)
	return h
}

// sameRows is how far, relative to ‖A‖² or ‖A‖·‖Y‖, the products of a pass may be from
// those of the summary. Other rows differ by more, the same in another order by
// round-off.
const sameRows = 1e-9

// agree refuses products of a pass (q×d), for the rows of v, that the rows of the summary
// do not have. Where an iteration has diverged there is nothing to compare.
func (k *knowledge) agree(qs []query, v, out []float64) error {
	if k.witness.kh == nil {
		return nil
	}
	for i, q := range qs {
		x := v[i*k.d : (i+1)*k.d]
		got, want := vec.Dot(k.witness.h, out[i*k.d:(i+1)*k.d]), vec.Dot(k.witness.kh, x)
		slack := k.productSlack(vec.Norm(x))
		if q.affine {
			want -= vec.Dot(k.witness.h, k.cross[q.target*k.d:(q.target+1)*k.d])
			slack += k.crossSlack(q.target)
		}
		if off := math.Abs(got - want); differs(off, slack) {
			return fmt.Errorf("%w: the rows of this pass are not those of the summary: one of their products is %.3g away", ErrShape, off)
		}
	}
	return nil
}

// agreeSquares refuses residuals of a pass that the targets of the summary do not have:
// of gradients, out = Kx − c, they are ‖Ax − b‖² = ‖b‖² − cᵀx + xᵀ(Kx − c). That needs no
// witness.
func (k *knowledge) agreeSquares(qs []query, v, out, rss []float64) error {
	for i, q := range qs {
		if !q.affine {
			continue
		}
		j, x := q.target, v[i*k.d:(i+1)*k.d]
		want := k.tss[j] - vec.Dot(k.cross[j*k.d:(j+1)*k.d], x) + vec.Dot(x, out[i*k.d:(i+1)*k.d])
		xn := vec.Norm(x)
		size := k.frob*xn + k.target(j)
		slack := sameRows*size*size + k.squaresError(j) + 2*k.crossError(j)*xn + math.Pow(k.meanShift(j, xn), 2)
		if off := math.Abs(rss[i] - want); differs(off, slack) {
			return fmt.Errorf("%w: the rows of this pass are not those of the summary: of target %d ‖Ax − b‖² is %.6g where they make it %.6g", ErrShape, j, rss[i], want)
		}
	}
	return nil
}

// differs reports a difference beyond the slack; an iteration that has diverged has none.
func differs(off, slack float64) bool {
	return off <= math.MaxFloat64 && slack <= math.MaxFloat64 && !(off <= slack)
}

// productSlack is how far apart hᵀ(Kv) may be that a summary and a pass have of the same
// rows, for a v of norm x, and crossSlack how far AᵀY of target j: means that are off
// count in both.
func (k *knowledge) productSlack(x float64) float64 {
	return (sameRows*k.frob*k.frob + k.witnessError() + k.root*k.mean*k.root*k.mean) * x
}

func (k *knowledge) crossSlack(j int) float64 {
	return sameRows*k.frob*k.target(j) + k.crossError(j) + k.centring(j, 0)
}
