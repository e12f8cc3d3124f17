// Package rows prepares the rows of a source for a solver. It validates the rows, multiplies them by the square
// roots of their weights, centres them, and bounds the round-off of these steps. Sparse rows stay sparse or become
// dense rows.
package rows

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Stage multiplies rows by √w, for their sample weights w, and centres them. With an intercept, each block is
// centred by its own weighted mean. One more row, the joining row, is then added:
//
//	√(w₁w₂/(w₁+w₂))·(μ₁ − μ₂),
//
// where w₁ and μ₁ are the weight and mean of all rows before the block, and w₂ and μ₂ the weight and mean of
// the block. With this row, the sum of the outer products of all staged rows is AᵀA for rows A that are centred by
// the mean of all rows.
//
// Means are stored relative to an origin, the heaviest row of the first block. (For rows that stay sparse, see
// sparse.go.) So the round-off of the joining row is proportional to the spread of the rows, not to their distance
// from zero.
//
// The round-off of a staged row depends on the distance of the row from the origin when it was added. The final
// means do not reveal this distance. Therefore Moved and SumError are updated with each block.
type Stage struct {
	State
	d, t      int
	intercept bool
	mean      []float64 // Sum/Weight

	y      []float64  // targets of the staged rows, n×t
	block  moments    // sums of the current block, or of the rows to merge
	added  sumsOfCuts // sums from the last call of Check
	root   []float64  // √w of the current block
	view   engine.CSR // sparse rows of the current block
	sparse sparseWork
}

// moments holds weighted sums and means over the rows of a block: one element for each of d features and t targets.
type moments struct {
	mean      []float64 // the mean minus the origin
	meanError []float64 // bounds the round-off of mean
	spread    []float64 // Σw·(row − origin)²
	joining   []float64 // features of the joining row, d
}

// A State holds everything that a stage keeps about the rows so far. All its fields are written in messages, such
// as encoded summaries.
type State struct {
	Rows        int64         // number of rows
	Weight      twofold.Total // Σw
	WeightError float64       // bounds the round-off of decays in Weight
	Weighted    bool          // some rows have a weight other than 1, or were decayed
	Decays      int64         // number of decays; each rounds all sums

	Origin   []float64       // d+t, valid once the weight is positive
	Sum      []twofold.Total // Σw·(row − Origin), d+t
	SumError []float64       // bounds the error of Sum, d+t
	// Moved[j] bounds the Euclidean norm of the errors that centring causes in column j of the staged rows. They
	// are round-off, and the errors of the means. There are d+t elements, for d features and t targets.
	Moved []float64
	// NonZero[0] is true if any centred feature is nonzero. NonZero[1+j] is true if the centred target j is nonzero
	// in any row. If an element is true, the computed sum of squares can be 0 only because of underflow. There are
	// 1+t elements, for t targets.
	NonZero []bool
}

// NewStage returns a stage for rows of d features and t targets.
func NewStage(d, t int, intercept bool) *Stage {
	return ResumeStage(d, t, intercept, State{
		Origin:   make([]float64, d+t),
		Sum:      make([]twofold.Total, d+t),
		SumError: make([]float64, d+t),
		Moved:    make([]float64, d+t),
		NonZero:  make([]bool, 1+t),
	})
}

// ResumeStage returns a stage that continues with the given state. The stage shares the slices of state.
func ResumeStage(d, t int, intercept bool, state State) *Stage {
	s := &Stage{
		State:     state,
		d:         d,
		t:         t,
		intercept: intercept,
		mean:      make([]float64, d+t),
	}
	if intercept && s.Weight.Value() > 0 {
		s.average()
	}
	return s
}

// allocate allocates the means of a block.
func (s *Stage) allocate() {
	b := &s.block
	n := s.d + s.t
	b.mean = vec.Grow(b.mean, n)
	b.meanError = vec.Grow(b.meanError, n)
	b.spread = vec.Grow(b.spread, n)
	b.joining = vec.Grow(b.joining, s.d)
}

// Means returns the weighted means of the d features and t targets over all rows so far.
func (s *Stage) Means() []float64 {
	out := append([]float64(nil), s.Origin...)
	vec.Axpy(1, s.mean, out)
	return out
}

// RelativeMeans returns the means minus the origin.
func (s *Stage) RelativeMeans() []float64 { return s.mean }

// RowsPerStage returns the largest number of rows of d features that are loaded at a time. Dense rows fill at most
// 16 MiB, or more if 16 rows need more. Sparse rows are not limited by memory, because they become dense one at a
// time. The number depends only on the arguments, so that the same rows always give the same summary.
func RowsPerStage(d int, sparse bool) int {
	const bytes, least = 16 << 20, 16
	if sparse {
		return roundoff.StageRows
	}
	return min(max(bytes/8/d, least), roundoff.StageRows)
}

// Cut returns rows lo to hi−1 of b. If they are sparse, they are valid only until the next call of Cut.
func (s *Stage) Cut(b dataset.Block, lo, hi int) dataset.Block {
	return b.Cut(lo, hi, s.d, s.t, &s.view)
}
