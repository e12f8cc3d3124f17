package rows

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// scaledEntry and scaledSum bound the round-off of dividing a column by its scale, in units of [roundoff.Unit].
// scaledEntry bounds the round-off of one entry, and scaledSum the round-off of a sum over the column. Both allow
// for a second division, because the source may also divide the column.
const (
	scaledEntry = 4
	scaledSum   = 4
)

// Scaled returns the stage for the same rows with each feature j divided by scale[j]. norms[j] bounds the norm of
// the staged column j before this division. The error bounds of the result include the round-off of the division.
func (s *Stage) Scaled(scale, norms []float64) *Stage {
	state := s.State
	state.Origin = slices.Clone(state.Origin)
	state.Sum = slices.Clone(state.Sum)
	state.SumError = slices.Clone(state.SumError)
	state.Moved = slices.Clone(state.Moved)
	state.NonZero = slices.Clone(state.NonZero)
	w := s.Weight.Value()
	root := math.Sqrt(w)
	for j, r := range scale {
		origin := state.Origin[j]
		sum, low := state.Sum[j].Parts()
		far := math.Abs(origin) // bounds |mean|
		if w > 0 {
			far += math.Abs(sum+low) / w
		}
		reach := math.Hypot(norms[j], root*far) // bounds √Σwx²
		state.Origin[j] = origin / r
		state.Sum[j] = twofold.TotalFromParts(sum/r, low/r)
		rounded := (scaledEntry*root*reach + scaledSum*(w*far+math.Abs(sum))) * roundoff.Unit
		state.SumError[j] = roundoff.Inflate*(state.SumError[j]+rounded)/r + w*roundoff.LostSum
		moved := (scaledEntry + scaledSum) * roundoff.Unit * reach
		state.Moved[j] = roundoff.Inflate*(state.Moved[j]+moved)/r + root*roundoff.LostSum
	}
	return ResumeStage(s.d, s.t, s.intercept, state)
}
