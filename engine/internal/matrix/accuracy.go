package matrix

// Accuracy holds bounds on the round-off of a backend's sums. See engine.Accuracy.
type Accuracy struct {
	Strip        int
	Sums         int
	Gradient     int
	Added        int
	Reproducible bool
}

// Dot bounds the round-off in an inner product of two rows of k elements, such as an element of A·Bᵀ or A·x. The
// unit is eps times the sum of the magnitudes of the k products, where eps = 2⁻⁵².
func (a Accuracy) Dot(k int) float64 {
	return float64(min(k, a.Strip))/2 + float64(k)/float64(2*a.Sums)
}

// Sum bounds the round-off in a sum of k products that is not an inner product of rows. Examples are elements of
// A·B or Aᵀ·x. The unit is eps times the sum of the magnitudes of the k products, where eps = 2⁻⁵².
func (a Accuracy) Sum(k int) float64 { return float64(k) / 2 }

// Gradients bounds the round-off that one call of Gradient adds to its result G = G + Rᵀ·A. The unit is eps times
// the sum of the magnitudes of the products, where eps = 2⁻⁵².
func (a Accuracy) Gradients() float64 {
	return float64((a.Gradient + 1) / 2)
}

// Roundings is the constant term in every bound, in units of eps. In the bound for alpha·A·B + beta·C, it covers
// the multiplication by alpha, the addition of beta·C, and second-order terms.
const Roundings = 2

// Orders is the largest number of different summation orders in one matrix product. Elements at the edges of the
// tiles of OpenBLAS are summed in other orders than the rest.
const Orders = 4

// MaxRows is the largest number of rows in a call of Gradient. FewRows is the largest number for a call with fewer
// than SharedWork multiply-adds. For calls within these limits, backends divide the rows into parts. The number of
// additions in sequence is then at most Accuracy.Gradient.
const (
	MaxRows    = 512
	FewRows    = 32
	SharedWork = 1 << 16
)
