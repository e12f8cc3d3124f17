package certify

import "github.com/fdridge/fdridge/ridge/internal/roundoff"

// WholeError bounds, in norm, what K is off by as a pass computes it, by its products with all
// unit vectors e_j. By [Judge.RoundOff], with r = Ae_j,
//
//	|δKᵢⱼ| ≤ ‖aᵢ‖·(residual + pass·eps·(‖aⱼ‖ + residual)) + W·δᵢδⱼ,   residual ≤ (dot + 2·few + workers/4)·eps·‖aⱼ‖,
//
// for the columns a of A as the pass reads them, and means that are off by δ. So in the
// Frobenius norm ‖A‖²_F takes the place of ‖aᵢ‖‖aⱼ‖. Half of the sum of Kᵢⱼ and Kⱼᵢ is
// rounded once more.
func (k *Known) WholeError() float64 {
	f, n := &k.factor, &k.norm
	residual := f.dot + 2*few + f.workers/4
	shift := n.root * n.meanOff
	off := (residual+f.pass*(1+residual*eps)+1)*eps*n.read*n.read + shift*shift
	return off*inflate + float64(k.eigen.Dim)*roundoff.LostSquares
}
