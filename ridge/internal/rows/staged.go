package rows

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Staged is one block ready for accumulation: N rows, sparse, or dense ones that are made
// where they are wanted, so that none is written twice. It is valid until its stage stages
// others, and may alias the block.
type Staged struct {
	N      int
	Sparse *engine.CSR
	Y      []float64 // N×t

	stage   *Stage
	source  []float64 // what dense rows are made of; without the joining row, which comes last
	centred bool      // they are less their mean
}

// Rows overwrites dst (k×d) with the features of dense rows first to first+k.
func (st *Staged) Rows(first int, dst engine.Matrix) {
	for i := range dst.Rows {
		st.dense(first+i, dst.Row(i))
	}
}

// Write overwrites dst (d+t) with row i and its targets, zeros written out.
func (st *Staged) Write(i int, dst []float64) {
	t := len(st.Y) / st.N
	d := len(dst) - t
	if st.Sparse == nil {
		st.dense(i, dst[:d])
	} else {
		densify(st.Sparse, i, dst[:d])
	}
	copy(dst[d:], st.Y[i*t:(i+1)*t])
}

// dense overwrites dst (d) with dense row i.
func (st *Staged) dense(i int, dst []float64) {
	s, d := st.stage, len(dst)
	if i*d >= len(st.source) {
		copy(dst, s.block.joining)
		return
	}
	src := st.source[i*d : (i+1)*d]
	if st.centred {
		engine.Centre(src, s.Origin, s.block.mean, dst)
	} else {
		copy(dst, src)
	}
	if len(s.root) > 0 {
		vec.Scale(s.root[i], dst)
	}
}

// densify overwrites dst with row i of s.
func densify(s *engine.CSR, i int, dst []float64) {
	clear(dst)
	idx, val := s.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
}

// Load stages a block.
func (s *Stage) Load(b dataset.Block) Staged {
	w := b.W
	s.Rows += int64(b.N)
	s.Weighted = s.Weighted || w != nil
	s.root = roots(s.root, w)
	if b.Sparse != nil && w != nil && !s.intercept {
		return s.loadSparse(b)
	}
	out := Staged{N: b.N, Sparse: b.Sparse, Y: b.Y, stage: s, source: b.X}
	if s.intercept {
		out.Sparse, out.source = nil, s.writtenOut(b)
	}
	if s.intercept || w != nil {
		s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	}
	switch {
	case s.intercept:
		s.y = append(s.y, make([]float64, s.t)...)
		out.N += s.centre(b.N, w, out.source)
		out.Y, out.centred = s.y[:out.N*s.t], heaviest(b.N, w) >= 0
	case w != nil:
		out.Y = s.y
		for _, v := range w {
			s.Weight.Add(v)
		}
	default:
		s.Weight.Add(float64(b.N))
	}
	s.noteNonZero(out, w)
	for i, r := range s.root {
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	return out
}

// writtenOut returns the rows of a block, dense.
func (s *Stage) writtenOut(b dataset.Block) []float64 {
	if b.Sparse == nil {
		return b.X[:b.N*s.d]
	}
	s.x = vec.Grow(s.x, b.N*s.d)
	for i := range b.N {
		densify(b.Sparse, i, s.x[i*s.d:(i+1)*s.d])
	}
	return s.x
}

// loadSparse stages weighted sparse rows that need no centring.
func (s *Stage) loadSparse(b dataset.Block) Staged {
	s.noteNonZero(Staged{N: b.N, Sparse: b.Sparse, Y: b.Y}, b.W)
	s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	for i, r := range s.root {
		s.Weight.Add(b.W[i])
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
	scaleRows(&s.own, b.Sparse, s.root)
	return Staged{N: b.N, Sparse: &s.own, Y: s.y}
}

// noteNonZero notes which columns have an entry that is not zero, in rows that are staged but
// not yet multiplied by √w. Rows of weight 0 don't count; a joining row behind them does.
func (s *Stage) noteNonZero(rows Staged, w []float64) {
	if !slices.Contains(s.NonZero, false) {
		return
	}
	for i := range rows.N {
		if i < len(w) && w[i] == 0 {
			continue
		}
		s.NonZero[0] = s.NonZero[0] || rows.nonZero(i, s.d)
		for j, v := range rows.Y[i*s.t : (i+1)*s.t] {
			s.NonZero[1+j] = s.NonZero[1+j] || v != 0
		}
	}
}

// nonZero reports that row i of d features, before it is multiplied by √w, has an entry that is
// not zero.
func (st *Staged) nonZero(i, d int) bool {
	var x []float64
	switch {
	case st.Sparse != nil:
		_, x = st.Sparse.Row(i)
	case i*d >= len(st.source):
		x = st.stage.block.joining
	default:
		x = st.source[i*d : (i+1)*d]
	}
	if st.Sparse != nil || !st.centred || i*d >= len(st.source) {
		return slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
	}
	origin, mean := st.stage.Origin, st.stage.block.mean
	for j, v := range x {
		if (v-origin[j])-mean[j] != 0 {
			return true
		}
	}
	return false
}
