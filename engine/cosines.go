package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A CosineMap is D functions of d inputs,
//
//	z_c(x) = scale·cos(x₀·w_0c + x₁·w_1c + … + u_c),
//
// as random Fourier features are, with W (d×D) laid out for [Backend.Cosines]: in panels of
// 128 components, of which one stays in cache while many rows go by. It is used by any number
// of goroutines at once when its weights are set.
//
// What is inside the cosine is a chain of fused multiply-adds, which begins with u_c and
// takes the inputs in order. So it is known to d roundings, and depends on nothing but x, W
// and u. A term of zero changes no bit of z: W being finite, it adds a zero. A sparse row may
// leave it out or store it, and a dense row gives the same. Of |s| ≤ 2²⁰ and beyond alike the
// cosine of s is within one ulp of the exact one; of a sum that is infinite or NaN it is NaN.
// Times scale, it is rounded once more.
type CosineMap = matrix.CosineMap

// NewCosineMap returns the map with these u, of length D, which are not copied, for rows of
// d = inputs columns. W is zero until [CosineMap.SetWeights] copies its rows:
//
//	func (m *CosineMap) SetWeights(j int, w []float64)
//
// takes row j, the D weights of input j.
func NewCosineMap(inputs int, u []float64, scale float64) *CosineMap {
	return matrix.NewCosineMap(inputs, u, scale)
}
