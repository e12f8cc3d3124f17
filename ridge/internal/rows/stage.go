// Package rows says how the rows of a source become rows of [A Y]: weighted, centred,
// written out where they are sparse, and checked; and counts what rounding does to them
// on the way.
package rows

import (
	"slices"

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
// Means are kept relative to an origin, the heaviest row of the first block: the
// joining row is a difference of means, whose round-off must be that of the data's
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

	x, y  []float64  // staged rows, n×d and n×t
	block moments    // of the block at hand, or of the rows that are merged
	root  []float64  // √w of the block at hand
	view  engine.CSR // the sparse rows at hand
	own   engine.CSR // sparse rows times √w
}

// moments are what centring knows of some rows, each of length d+t.
type moments struct {
	mean      []float64 // less the origin
	meanError []float64 // bounds the round-off of these
	spread    []float64 // Σw·(row − origin)²
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
}

// Means returns the weighted means of the features and targets seen, d+t.
func (s *Stage) Means() []float64 {
	out := append([]float64(nil), s.Origin...)
	vec.Axpy(1, s.mean, out)
	return out
}

// RelativeMeans are the means less the origin.
func (s *Stage) RelativeMeans() []float64 { return s.mean }

// A Staged is one block ready for accumulation: N rows, dense or sparse.
type Staged struct {
	N      int
	X      []float64 // N×d, leading dimension d, nil when sparse
	Sparse *engine.CSR
	Y      []float64 // N×t
}

// Write overwrites dst (d+t) with row i and its targets, zeros written out.
func (st *Staged) Write(i int, dst []float64) {
	t := len(st.Y) / st.N
	d := len(dst) - t
	if st.Sparse == nil {
		copy(dst, st.X[i*d:(i+1)*d])
	} else {
		densify(st.Sparse, i, dst[:d])
	}
	copy(dst[d:], st.Y[i*t:(i+1)*t])
}

// densify overwrites dst with row i of s.
func densify(s *engine.CSR, i int, dst []float64) {
	clear(dst)
	idx, val := s.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
}

// Load stages a block. The result is valid until the next call and may alias the
// block.
func (s *Stage) Load(b dataset.Block) Staged {
	w := b.W
	s.Rows += int64(b.N)
	s.Weighted = s.Weighted || w != nil
	if w == nil && !s.intercept {
		s.Weight.Add(float64(b.N))
		s.noteNonZero(Staged{b.N, b.X, b.Sparse, b.Y}, nil)
		return Staged{b.N, b.X, b.Sparse, b.Y}
	}
	s.root = roots(s.root, w)
	if b.Sparse != nil && !s.intercept {
		return s.loadSparse(b)
	}
	extra := 0
	if s.intercept {
		extra = 1
	}
	s.x = vec.Grow(s.x, (b.N+extra)*s.d)
	s.y = vec.Grow(s.y, (b.N+extra)*s.t)
	s.copyRows(b)
	n := b.N
	if s.intercept {
		n += s.centre(b.N, w)
	} else {
		for _, v := range w {
			s.Weight.Add(v)
		}
	}
	out := Staged{n, s.x[:n*s.d], nil, s.y[:n*s.t]}
	s.noteNonZero(out, w)
	for i, r := range s.root {
		vec.Scale(r, s.x[i*s.d:(i+1)*s.d])
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	return out
}

// noteNonZero notes which columns have an entry that is not zero, in rows that are staged but
// not yet multiplied by √w. Rows of weight 0 don't count; a joining row behind them does.
func (s *Stage) noteNonZero(rows Staged, w []float64) {
	if !slices.Contains(s.NonZero, false) {
		return
	}
	zero := func(x []float64) bool { return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) }
	for i := range rows.N {
		if i < len(w) && w[i] == 0 {
			continue
		}
		var x []float64
		if rows.Sparse != nil {
			_, x = rows.Sparse.Row(i)
		} else if !s.NonZero[0] {
			x = rows.X[i*s.d : (i+1)*s.d]
		}
		s.NonZero[0] = s.NonZero[0] || !zero(x)
		for j, v := range rows.Y[i*s.t : (i+1)*s.t] {
			s.NonZero[1+j] = s.NonZero[1+j] || v != 0
		}
	}
}

// loadSparse stages weighted sparse rows that need no centring.
func (s *Stage) loadSparse(b dataset.Block) Staged {
	s.noteNonZero(Staged{b.N, nil, b.Sparse, b.Y}, b.W)
	s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	for i, r := range s.root {
		s.Weight.Add(b.W[i])
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	scaleRows(&s.own, b.Sparse, s.root)
	return Staged{b.N, nil, &s.own, s.y}
}

func (s *Stage) copyRows(b dataset.Block) {
	copy(s.y, b.Y[:b.N*s.t])
	if b.Sparse == nil {
		copy(s.x, b.X[:b.N*s.d])
		return
	}
	for i := range b.N {
		densify(b.Sparse, i, s.x[i*s.d:(i+1)*s.d])
	}
}

// RowsPerStage is how many rows of d features are to be staged at a time: sparse ones are
// written out where they are centred, and are not to take more than 16 MiB, unless 16
// of them do. It depends on nothing else, so neither does what a summary holds.
func RowsPerStage(d int) int {
	const bytes, least = 16 << 20, 16
	return min(max(bytes/8/d, least), roundoff.StageRows)
}

// Cut returns rows lo to hi of a block, sparse ones in the stage's own view of them.
func (s *Stage) Cut(b dataset.Block, lo, hi int) dataset.Block {
	return b.Cut(lo, hi, s.d, s.t, &s.view)
}
