package dataset

import (
	"math"

	"github.com/fdridge/fdridge/internal/errtext"
)

// Penalty returns the scaling that divides each column j by √pⱼ, where pⱼ = p[j]. It gives each column its own
// penalty:
//
//   - Let z be the coefficients of a ridge regression on the scaled columns with the penalty γ‖z‖².
//   - Then xⱼ = zⱼ/√pⱼ are the coefficients for the original columns with the penalty γ·Σ pⱼxⱼ².
//
// Every pⱼ must be positive and finite, otherwise the error is [ErrInput].
func Penalty(p []float64) (*Scaling, error) {
	return (&Scaling{
		Mean:  make([]float64, len(p)),
		Scale: ones(len(p)),
	}).Penalize(p)
}

// Penalize returns the scaling that first applies s and then divides each column j by √pⱼ; see [Penalty]. If s does
// not have len(p) columns, the error is [ErrShape].
func (s *Scaling) Penalize(p []float64) (*Scaling, error) {
	if len(p) != len(s.Scale) || len(p) != len(s.Mean) {
		return nil, newDimensionError("there are %d penalties for a scaling of %d columns", len(p), len(s.Scale))
	}
	out := &Scaling{Mean: s.Mean, Scale: make([]float64, len(p))}
	for j, v := range p {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, errtext.BadInput("dataset: penalty %d is %v; it must be positive and finite", j+1, v)
		}
		out.Scale[j] = s.Scale[j] * math.Sqrt(v)
	}
	return out, nil
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
