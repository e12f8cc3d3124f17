package certify

import "github.com/fdridge/fdridge/ridge/internal/roundoff"

// MatrixError returns a bound on the norm of the error of a computed AᵀA. Its columns are the products of AᵀA with
// the unit vectors. Elements i,j and j,i are then averaged. docs/math.md §14, "K from products", has the proof.
func (k *Known) MatrixError() float64 {
	f, n := &k.factor, &k.norm
	residual := f.dot + 2*few + f.workers/4
	shift := n.root * n.meanOff
	terms := residual + f.pass*(1+residual*eps) + 1
	off := terms*eps*n.read*n.read + shift*shift
	return off*inflate + float64(k.eigen.Dim)*roundoff.LostSquares
}
