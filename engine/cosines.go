package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A CosineMap is a vector of D functions of d inputs, for example random Fourier features:
//
//	z_c(x) = scale·cos(x₀·w_0c + x₁·w_1c + … + u_c).
//
// W (d×D) is stored in panels of 128 components for [Backend.Cosines], so that a panel stays in the cache for
// many rows. Once all weights are set, any number of goroutines may use a CosineMap.
//
// The argument of the cosine is a chain of d fused multiply-adds that starts with u_c and takes the inputs in
// order. It therefore depends only on x, W and u. An input of zero adds a zero, because W is finite, and does
// not change any bit of z. A sparse row therefore gives the same bits as a dense row, whether or not it
// stores its zeros.
//
// The computed cosine has an error of less than one ulp for an argument of any size. The cosine of an
// infinite or NaN argument is NaN. The product with scale is rounded once more.
type CosineMap = matrix.CosineMap

// NewCosineMap returns a map with the given u, of length D, for rows of d = inputs columns. It does not copy
// u. W is zero until its rows are set by
//
//	func (m *CosineMap) SetWeights(j int, w []float64)
//
// which copies the D weights of input j to row j.
func NewCosineMap(inputs int, u []float64, scale float64) *CosineMap {
	return matrix.NewCosineMap(inputs, u, scale)
}
