package rows

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Staged holds the prepared rows of a block, sparse or dense. The joining row of [Stage], which is dense, may follow
// them. Dense rows are computed only when they are written to their destination. A Staged is valid until the stage
// loads the next block. It may share memory with the block.
type Staged struct {
	N      int
	Sparse *engine.CSR // the first rows, if they are sparse; otherwise nil
	// sparse row i stands for the entries of the row minus Times[i]·Centre (length d); nil: no centre
	Centre []float64
	Times  []float64 // nil if all are 1
	Y      []float64 // N×t

	stage *Stage
	own   int // number of rows of the block, without the joining row
	// the rows of the block as they were read; nil if the rows are in written
	source  []float64
	written *engine.CSR // the same rows in sparse form
	centred bool        // the mean of the block is subtracted
}

// Rows overwrites dst (k×d) with the features of the rows firstRow to firstRow+k−1, as dense rows.
func (st *Staged) Rows(firstRow int, dst engine.Matrix) {
	for i := range dst.Rows {
		st.row(firstRow+i, dst.Row(i))
	}
}

// Write overwrites dst, of length d+t, with row i in dense form: its features, then its targets.
func (st *Staged) Write(i int, dst []float64) {
	t := len(st.Y) / st.N
	d := len(dst) - t
	st.row(i, dst[:d])
	copy(dst[d:], st.Y[i*t:(i+1)*t])
}

// row overwrites dst (length d) with row i in dense form.
func (st *Staged) row(i int, dst []float64) {
	if st.Sparse == nil || i >= st.Sparse.Rows {
		st.dense(i, dst)
		return
	}
	densify(st.Sparse, i, dst)
	if st.Centre != nil {
		f := 1.0
		if st.Times != nil {
			f = st.Times[i]
		}
		vec.Axpy(-f, st.Centre, dst)
	}
}

// dense overwrites dst (length d) with row i, which is not sparse.
func (st *Staged) dense(i int, dst []float64) {
	s := st.stage
	d := len(dst)
	if i >= st.own {
		copy(dst, s.block.joining)
		return
	}
	src := dst
	if st.written != nil {
		densify(st.written, i, dst)
	} else {
		src = st.source[i*d : (i+1)*d]
	}
	if st.centred {
		engine.Centre(src, s.Origin, s.block.mean, dst)
	} else {
		copy(dst, src)
	}
	if len(s.root) > 0 {
		vec.Scale(s.root[i], dst)
	}
}

// densify overwrites dst with row i of s as a dense row.
func densify(s *engine.CSR, i int, dst []float64) {
	clear(dst)
	idx, val := s.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
}

// Load returns the staged rows of a block. With an intercept, sparse rows stay sparse only if the argument sparse is
// true and chooseExplicit returns true. Otherwise they become dense rows.
func (s *Stage) Load(b dataset.Block, sparse bool) Staged {
	w := b.W
	s.Rows += int64(b.N)
	s.Weighted = s.Weighted || w != nil
	s.root = roots(s.root, w)
	switch {
	case s.intercept && sparse && b.Sparse != nil && s.chooseExplicit(b):
		return s.loadCentred(b)
	case s.intercept:
		return s.loadDense(b)
	case b.Sparse != nil && w != nil:
		return s.loadSparse(b)
	}
	out := Staged{
		N:      b.N,
		Sparse: b.Sparse,
		Y:      b.Y,
		stage:  s,
		own:    b.N,
		source: b.X,
	}
	if w == nil {
		s.Weight.Add(float64(b.N))
	}
	for _, v := range w {
		s.Weight.Add(v)
	}
	s.noteNonZero(out, w)
	if w != nil {
		s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
		s.weighTargets()
		out.Y = s.y
	}
	return out
}

// loadDense centres the rows of a block as dense rows.
func (s *Stage) loadDense(b dataset.Block) Staged {
	n, w := b.N, b.W
	s.y = append(append(s.y[:0], b.Y[:n*s.t]...), make([]float64, s.t)...)
	first := heaviest(n, w)
	added := 0
	if first >= 0 {
		if !(s.Weight.Value() > 0) {
			s.sparse.row = vec.Grow(s.sparse.row, s.d)
			row := s.sparse.row
			if b.Sparse == nil {
				row = b.X[first*s.d:]
			} else {
				densify(b.Sparse, first, row)
			}
			copy(s.Origin[:s.d], row)
			y := s.y[first*s.t : (first+1)*s.t]
			copy(s.Origin[s.d:], y)
		}
		s.begin()
		if b.Sparse == nil {
			s.sumFeatures(n, w, b.X[:n*s.d])
		} else {
			s.sumWritten(b)
		}
		added = s.centre(n, w)
	}
	out := Staged{
		N:       n + added,
		Y:       s.y[:(n+added)*s.t],
		stage:   s,
		own:     n,
		source:  b.X,
		written: b.Sparse,
		centred: first >= 0,
	}
	s.noteNonZero(out, w)
	s.weighTargets()
	return out
}

// weighTargets multiplies the targets of the rows of the block by √w.
func (s *Stage) weighTargets() {
	for i, r := range s.root {
		vec.Scale(r, s.y[i*s.t:(i+1)*s.t])
	}
}

// loadSparse multiplies sparse rows by √w, without centring.
func (s *Stage) loadSparse(b dataset.Block) Staged {
	s.noteNonZero(Staged{N: b.N, Sparse: b.Sparse, Y: b.Y}, b.W)
	s.y = append(s.y[:0], b.Y[:b.N*s.t]...)
	for _, v := range b.W {
		s.Weight.Add(v)
	}
	s.weighTargets()
	scaleRows(&s.sparse.own, b.Sparse, s.root)
	return Staged{N: b.N, Sparse: &s.sparse.own, Y: s.y}
}

// noteNonZero updates NonZero by the given rows, which are not yet multiplied by √w. Rows of weight 0 do not count.
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

// nonZero reports whether row i has a nonzero feature, before weighting.
func (st *Staged) nonZero(i, d int) bool {
	some := func(x []float64) bool {
		return slices.ContainsFunc(x, func(v float64) bool {
			return v != 0
		})
	}
	switch {
	case st.Sparse != nil && i < st.Sparse.Rows:
		idx, val := st.Sparse.Row(i)
		if st.Centre == nil {
			return some(val)
		}
		// a column without an entry here has a nonzero mean only if the entry of another row differs from the mean
		for k, j := range idx {
			if val[k] != st.Centre[j] {
				return true
			}
		}
		return false
	case i >= st.own:
		return some(st.stage.block.joining)
	}
	var x []float64
	if st.written != nil {
		x = st.stage.sparse.row[:d]
		densify(st.written, i, x)
	} else {
		x = st.source[i*d : (i+1)*d]
	}
	if !st.centred {
		return some(x)
	}
	origin, mean := st.stage.Origin, st.stage.block.mean
	for j, v := range x {
		if (v-origin[j])-mean[j] != 0 {
			return true
		}
	}
	return false
}
