// Package rows says how the rows of a source become rows of [A Y]: weighted, centred, where they
// are sparse kept so or written out, and checked; and counts what rounding does to them on the
// way.
package rows

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Stage turns the blocks of a source into rows whose plain scatter is the one
// wanted: weighted rows are multiplied by √w, and with an intercept each block
// is centred by its own weighted mean and followed by the one row
//
//	√(w₁w₂/(w₁+w₂))·(μ₁ − μ₂)
//
// that joins it to the rows before (w₁, μ₁ the weight and mean so far). The sum
// of the outer products of all staged rows is then exactly the centred scatter
// of [A Y], so A and Y are centred alike and nothing is subtracted afterwards.
//
// Means are kept relative to an origin, the heaviest row of the first block (or, where sparse rows
// stay so, some of its entries: sparse.go): the joining row is a difference of means, whose round-off must be that of the data's
// spread and not that of their distance from zero.
//
// What rounding does to the staged rows depends on how far each row was from the
// origin when it came, so it is counted then (Moved, SumError) and carried along by
// merge, decay and the message. The end state doesn't tell: a first row far away, or a
// level that has been forgotten since, leaves no trace in the means.
type Stage struct {
	State
	d, t      int
	intercept bool
	mean      []float64 // Sum/Weight

	y      []float64  // staged targets, n×t
	block  moments    // of the block at hand, or of the rows that are merged
	added  sumsOfCuts // of the rows that Check has seen last
	root   []float64  // √w of the block at hand
	view   engine.CSR // the sparse rows at hand
	sparse sparseWork
}

// moments are what centring knows of some rows, each of length d+t but for the last.
type moments struct {
	mean      []float64 // less the origin
	meanError []float64 // bounds the round-off of these
	spread    []float64 // Σw·(row − origin)²
	joining   []float64 // the features of the row that joins them to those before, d
}

// A State is what a stage knows of the rows seen: all of it that a message keeps.
type State struct {
	Rows        int64        // rows seen
	Weight      neumaier.Sum // Σw
	WeightError float64      // bounds what decays have done to it
	Weighted    bool         // some rows came with weights, or were decayed
	Decays      int64        // each of which rounds all sums

	Origin   []float64      // d+t, of use once there is weight
	Sum      []neumaier.Sum // Σw·(row − Origin), d+t
	SumError []float64      // bounds on what these are off by
	// Moved bounds the norm of what centring has put wrong in each column of
	// the staged rows, d+t: the rounding of differences from the origin and from means,
	// and of the means themselves.
	Moved []float64
	// NonZero says of the features, and of each target, that they are not all zero, centred
	// where they are: a sum of squares that is 0 all the same has underflowed. 1+t.
	NonZero []bool
}

// NewStage makes the stage of rows of d features and t targets.
func NewStage(d, t int, intercept bool) *Stage {
	return ResumeStage(d, t, intercept, State{
		Origin: make([]float64, d+t), Sum: make([]neumaier.Sum, d+t),
		SumError: make([]float64, d+t), Moved: make([]float64, d+t), NonZero: make([]bool, 1+t),
	})
}

// ResumeStage makes the stage that was in a state, and keeps it.
func ResumeStage(d, t int, intercept bool, state State) *Stage {
	s := &Stage{State: state, d: d, t: t, intercept: intercept, mean: make([]float64, d+t)}
	if intercept && s.Weight.Value() > 0 {
		s.average()
	}
	return s
}

// reserve makes room for the means of a block.
func (s *Stage) reserve() {
	b, n := &s.block, s.d+s.t
	b.mean, b.meanError, b.spread = vec.Grow(b.mean, n), vec.Grow(b.meanError, n), vec.Grow(b.spread, n)
	b.joining = vec.Grow(b.joining, s.d)
}

// Means returns the weighted means of the features and targets seen, d+t.
func (s *Stage) Means() []float64 {
	out := append([]float64(nil), s.Origin...)
	vec.Axpy(1, s.mean, out)
	return out
}

// RelativeMeans are the means less the origin.
func (s *Stage) RelativeMeans() []float64 { return s.mean }

// RowsPerStage is how many rows of d features are to be staged at a time: dense ones are not to
// take more than 16 MiB, unless 16 of them do. It depends on nothing else, so neither does what a
// summary holds. Sparse ones are not written out but one at a time.
func RowsPerStage(d int, sparse bool) int {
	const bytes, least = 16 << 20, 16
	if sparse {
		return roundoff.StageRows
	}
	return min(max(bytes/8/d, least), roundoff.StageRows)
}

// Cut returns rows lo to hi of a block, sparse ones in the stage's own view of them.
func (s *Stage) Cut(b dataset.Block, lo, hi int) dataset.Block {
	return b.Cut(lo, hi, s.d, s.t, &s.view)
}
