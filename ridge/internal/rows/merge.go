package rows

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Merge adds the rows of o to s. If both stages have rows, Merge also returns the joining row that [Stage]
// describes. The joining row accounts for the distance between the means of s and o.
func (s *Stage) Merge(o *Stage) Staged {
	s.y = vec.Grow(s.y, s.t)
	s.allocate()
	n := 0
	if w2 := o.Weight.Value(); s.intercept && w2 > 0 {
		if !(s.Weight.Value() > 0) {
			copy(s.Origin, o.Origin)
		}
		means := o.meanErrors()
		for j, v := range o.mean {
			apart := o.Origin[j] - s.Origin[j]
			s.block.mean[j] = apart + v
			s.block.meanError[j] = means.bound(o, j) +
				roundoff.Unit*(math.Abs(apart)+math.Abs(s.block.mean[j]))
			s.Moved[j] = hypot(s.Moved[j], o.Moved[j])
		}
		n = s.join(w2, o.RelativeWeight(w2)*w2, 0)
	}
	s.Rows += o.Rows
	s.Weighted = s.Weighted || o.Weighted
	// Each decay rounds the sums of one stage only. So no sum was rounded more often than the larger of the two
	// numbers of decays.
	s.Decays = max(s.Decays, o.Decays)
	s.Weight.Merge(o.Weight)
	s.WeightError += o.WeightError
	if s.intercept && s.Weight.Value() > 0 {
		s.average()
	}
	for j, some := range o.NonZero {
		s.NonZero[j] = s.NonZero[j] || some
	}
	out := Staged{
		N:     n,
		Y:     s.y[:n*s.t],
		stage: s,
	}
	s.noteNonZero(out, nil)
	return out
}

// Separates reports whether the origins of s and o are too far apart for a merge. They are too far apart if
// Σw‖row − origin‖² could overflow, for the rows and weights w of o and the origin of s.
func (s *Stage) Separates(o *Stage) bool {
	if !s.intercept ||
		!(s.Weight.Value() > 0 && o.Weight.Value() > 0) {
		return false
	}
	var far float64
	for j, v := range s.Origin {
		far += (o.Origin[j] - v) * (o.Origin[j] - v)
	}
	return !Spreads(far, s.Weight.Value()+o.Weight.Value())
}
