package rows

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Decay multiplies all weights by beta.
func (s *Stage) Decay(beta float64) {
	s.Weighted = true
	s.Decays++
	s.WeightError = beta*(s.WeightError+4*roundoff.Unit*s.Weight.Value()) + roundoff.LostSum
	s.Weight.Scale(beta)
	root := math.Sqrt(beta) * (1 + 4*roundoff.Unit)
	for j := range s.Sum {
		s.SumError[j] = beta*(s.SumError[j]+4*roundoff.Unit*math.Abs(s.Sum[j].Value())) +
			2*roundoff.LostSum
		s.Sum[j].Scale(beta)
		s.Moved[j] *= root
	}
	if s.intercept && s.Weight.Value() > 0 {
		s.average()
	}
}
