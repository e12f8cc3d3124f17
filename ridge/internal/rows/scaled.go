package rows

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// What dividing columns by their scale is counted for, in units of [roundoff.Unit]: of an entry
// of a row, which a source may have divided by a scale of its own before or by the product of
// both, where each quotient and the product are rounded; and, besides, of what was summed of
// the column.
const (
	scaledEntry = 4
	scaledSum   = 4
)

// Scaled is the stage in columns of the features that are divided by scale (d). norms bound the
// norms of the columns as they are staged. It has the means that rows have whose entries were
// divided, and allows for what that has rounded.
func (s *Stage) Scaled(scale, norms []float64) *Stage {
	state := s.State
	state.Origin, state.Sum = slices.Clone(state.Origin), slices.Clone(state.Sum)
	state.SumError, state.Moved = slices.Clone(state.SumError), slices.Clone(state.Moved)
	state.NonZero = slices.Clone(state.NonZero)
	w := s.Weight.Value()
	root := math.Sqrt(w)
	for j, r := range scale {
		origin := state.Origin[j]
		sum, low := state.Sum[j].Parts()
		far := math.Abs(origin) // of the mean
		if w > 0 {
			far += math.Abs(sum+low) / w
		}
		reach := math.Hypot(norms[j], root*far) // bounds √Σwx²
		state.Origin[j] = origin / r
		state.Sum[j] = neumaier.FromParts(sum/r, low/r)
		state.SumError[j] = roundoff.Inflate*(state.SumError[j]+(scaledEntry*root*reach+scaledSum*(w*far+math.Abs(sum)))*roundoff.Unit)/r + w*roundoff.LostSum
		state.Moved[j] = roundoff.Inflate*(state.Moved[j]+(scaledEntry+scaledSum)*roundoff.Unit*reach)/r + root*roundoff.LostSum
	}
	return ResumeStage(s.d, s.t, s.intercept, state)
}
