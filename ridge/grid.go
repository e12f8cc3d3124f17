package ridge

import "math"

// Grid returns k γ, ascending and evenly spaced in log γ over [10⁻³, 10³]·‖A‖²_F/d.
//
// ‖A‖²_F/d is the mean eigenvalue of K, so that the grid needs no unit of the data:
// at its upper end the effective dimension Σλ/(λ+γ) is at most d/1000, next to
// nothing is fitted; at its lower end an average direction is shrunk by no more than
// one part in a thousand. A single γ is the mean eigenvalue. Where all rows are zero
// it is taken to be 1, and so it is for the zero Summary.
func (s *Summary) Grid(k int) []float64 {
	mean := 1.0
	if s.made() {
		mean = s.bound().Frobenius2 / float64(s.cfg.Dim)
	}
	return gridOver(mean, k)
}

// gridOver is the grid of k γ around that mean eigenvalue.
func gridOver(mean float64, k int) []float64 {
	if !(mean > 0x1p-1000) { // 10⁻³ of it would be no normal number
		mean = 1
	}
	out := make([]float64, max(k, 0))
	for i := range out {
		at := 0.0
		if k > 1 {
			at = 6*float64(i)/float64(k-1) - 3
		}
		out[i] = mean * math.Pow(10, at)
	}
	return out
}
