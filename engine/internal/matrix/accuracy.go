package matrix

// Accuracy holds the numbers from which the round-off of a backend's products is bounded. See engine.Accuracy for
// the meaning of each field.
type Accuracy struct {
	Strip        int
	Sums         int
	Gradient     int
	Added        int
	Reproducible bool
}

// Dot bounds the round-off in an inner product of two rows of k elements, such as an element of A·Bᵀ or A·x. The
// unit of the bound is 2⁻⁵² times the sum of the magnitudes of the k products.
func (a Accuracy) Dot(k int) float64 {
	return float64(min(k, a.Strip))/2 + float64(k)/float64(2*a.Sums)
}

// Sum bounds the round-off in a sum of k products that is not an inner product of rows. Examples are elements of
// A·B or Aᵀ·x. The unit of the bound is 2⁻⁵² times the sum of the magnitudes of the k products.
func (a Accuracy) Sum(k int) float64 { return float64(k) / 2 }

// Gradients bounds the round-off of one call of Gradient. The call adds a product Rᵀ·A to a matrix G. The unit of
// the bound is 2⁻⁵² times the sum of the magnitudes of the products that are added to an element of G.
func (a Accuracy) Gradients() float64 {
	return float64((a.Gradient + 1) / 2)
}

// Roundings is the constant term in every bound of an [Accuracy], in units of 2⁻⁵². For alpha·A·B + beta·C, it
// covers the multiplication by alpha and the addition of beta·C. It also covers the terms of second order in
// 2⁻⁵².
const Roundings = 2

// Orders is the largest number of different orders in which one matrix product adds up terms. Each element of the
// product is a sum of terms. OpenBLAS divides products into tiles, and uses other orders for elements at the edges
// of tiles.
const Orders = 4

// Accuracy.Gradient bounds the number of additions in sequence in a call of Gradient, if the call has at most
// MaxRows rows. Backends divide the rows of a call into parts, unless the call has fewer than SharedWork
// multiply-adds. Such a small call may have only FewRows rows.
const (
	MaxRows    = 512
	FewRows    = 32
	SharedWork = 1 << 16
)
