package matrix

// Accuracy holds bounds on the round-off of a backend's sums. See engine.Accuracy.
type Accuracy struct {
	Strip        int
	Sums         int
	Gradient     int
	Added        int
	Reproducible bool
}

// Dot bounds the round-off of a sum of k products along rows, as in A·Bᵀ or A·x. The unit is eps times the sum of
// the magnitudes of the products.
func (a Accuracy) Dot(k int) float64 {
	return float64(min(k, a.Strip))/2 + float64(k)/float64(2*a.Sums)
}

// Sum bounds the round-off of a sum of k products that does not run along rows, as in A·B or Aᵀ·x. The unit is
// eps times the sum of the magnitudes of the products.
func (a Accuracy) Sum(k int) float64 { return float64(k) / 2 }

// Gradients bounds the round-off that one call of Gradient adds to its result G, in units of eps times the sum of the
// magnitudes of the products.
func (a Accuracy) Gradients() float64 {
	return float64((a.Gradient + 1) / 2)
}

// Roundings is the constant term in every bound, in units of eps. For alpha·A·B + beta·C, it covers the
// multiplication by alpha, the addition of beta·C, and second-order terms.
const Roundings = 2

// Orders is the largest number of different orders in which the elements of one matrix product are summed. OpenBLAS
// uses other orders at the edges of its tiles.
const Orders = 4

// MaxRows is the largest number of rows in a call of Gradient. A call with fewer than SharedWork multiply-adds has at
// most FewRows rows. For calls within these limits, backends divide the rows into parts such that Accuracy.Gradient
// bounds the number of additions in sequence.
const (
	MaxRows    = 512
	FewRows    = 32
	SharedWork = 1 << 16
)
