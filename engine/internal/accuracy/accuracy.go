// Package accuracy has what the engine's backends promise of round-off, and the sizes
// of calls for which they do: engine.Accuracy is its type.
package accuracy

// Accuracy bounds the round-off of a backend's sums. See engine.Accuracy.
type Accuracy struct {
	Strip        int
	Sums         int
	Gradient     int
	Reproducible bool
}

// Dot bounds the round-off of a product along rows of k terms, in units of eps.
func (a Accuracy) Dot(k int) float64 {
	return float64(min(k, a.Strip))/2 + float64(k)/float64(2*a.Sums)
}

// Sum bounds that of any other product.
func (a Accuracy) Sum(k int) float64 { return float64(k) / 2 }

// Gradients bounds that of what one call of Gradient adds to G.
func (a Accuracy) Gradients() float64 { return float64((a.Gradient + 1) / 2) }

// Roundings is how many eps are added to every bound: for alpha and beta, for what is
// added to beta·C, and for terms of second order.
const Roundings = 2

// A call of Gradient has at most MaxRows rows, or at most FewRows where its rows make
// fewer than SharedWork multiply-adds. Backends divide such calls into parts so that
// Accuracy.Gradient holds.
const (
	MaxRows    = 512
	FewRows    = 32
	SharedWork = 1 << 16
)
