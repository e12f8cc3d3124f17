package dataset

import (
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// Penalty is the scaling of columns by 1/√pⱼ, for one pⱼ for each, which makes a ridge
// regression that is penalised by γ‖x‖² of one that is penalised by γ·Σ pⱼxⱼ²: weights z of the
// scaled columns are xⱼ = zⱼ/√pⱼ of the columns as they are. A pⱼ that is not positive and
// finite is an [ErrInput]: nothing can be proved of a column that is not penalised at all.
func Penalty(p []float64) (*Scaling, error) {
	return (&Scaling{Mean: make([]float64, len(p)), Scale: ones(len(p))}).Penalize(p)
}

// Penalize is s, followed by [Penalty]: by pⱼ in the columns that s makes. Another number of
// them is [ErrShape].
func (s *Scaling) Penalize(p []float64) (*Scaling, error) {
	if len(p) != len(s.Scale) || len(p) != len(s.Mean) {
		return nil, mismatched("%d penalties for a scaling of %d columns", len(p), len(s.Scale))
	}
	out := &Scaling{Mean: s.Mean, Scale: make([]float64, len(p))}
	for j, v := range p {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, badinput.Errorf("dataset: penalty %d is %v, must be positive", j+1, v)
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
