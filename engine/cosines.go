package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A CosineMap is a vector of D functions of d inputs, for example random Fourier features:
//
//	z_c(x) = scale·cos(x₀·w_0c + x₁·w_1c + … + u_c).
//
// W (d×D) is stored for [Backend.Cosines] in panels of 128 columns, so that a panel stays in the cache for many rows.
// Once all weights are set, any number of goroutines may use a CosineMap.
//
// The argument of the cosine is computed by d fused multiply-adds, starting with u_c, in the order of the inputs. An
// input of zero adds a zero, because W is finite, and does not change any bit of z. A sparse row therefore gives the
// same bits as a dense row, whether or not its zeros are stored.
//
// The computed cosine has an error of less than one ulp for an argument of any size. The cosine of an infinite or NaN
// argument is NaN. The product with scale is rounded once more.
type CosineMap = matrix.CosineMap

// NewCosineMap returns the map x ↦ scale·cos(x·W + u) for rows x of the given number of inputs. The slice u holds
// one offset for each of its D outputs and is not copied. The matrix W of weights has one row for each input and D
// columns. W is zero at first. The method SetWeights(j int, w []float64) copies the D weights w of input j to row j
// of W.
func NewCosineMap(inputs int, u []float64, scale float64) *CosineMap {
	return matrix.NewCosineMap(inputs, u, scale)
}
