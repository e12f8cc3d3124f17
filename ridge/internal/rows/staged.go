package rows

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Staged holds the prepared rows of a block, sparse or dense. After them it may hold one dense row more, the
// joining row that [Stage] describes. Dense rows are computed only when they are written to their destination. A
// Staged is valid until the stage loads the next block. It may share memory with the block.
type Staged struct {
	N      int
	Sparse *engine.CSR // the first rows, if they are sparse; otherwise nil
	// Sparse row i represents its entries minus Times[i]·Centre. Centre has one element for each feature. It is nil
	// if nothing is subtracted.
	Centre []float64
	Times  []float64 // nil if all are 1
	Y      []float64 // N×t

	stage *Stage
	own   int // number of rows of the block, without the joining row
	// source holds the rows of the block as they were read. It is nil if they are in written.
	source  []float64
	written *engine.CSR // the same rows in sparse form
	centred bool        // the mean of the block is subtracted
}

// Rows writes the features of consecutive rows, starting at row firstRow, to the rows of dst. It converts sparse
// rows to dense rows.
func (st *Staged) Rows(firstRow int, dst engine.Matrix) {
	for i := range dst.Rows {
		st.row(firstRow+i, dst.Row(i))
	}
}

// Write overwrites dst with row i in dense form: its d features, then its t targets. dst has the length d+t.
func (st *Staged) Write(i int, dst []float64) {
	t := len(st.Y) / st.N
	d := len(dst) - t
	st.row(i, dst[:d])
	copy(dst[d:], st.Y[i*t:(i+1)*t])
}

// row overwrites dst with the features of row i in dense form.
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

// dense overwrites dst with the features of row i, which must not be a sparse row.
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

// densify overwrites dst with row i of the sparse matrix s, in dense form.
func densify(s *engine.CSR, i int, dst []float64) {
	clear(dst)
	idx, val := s.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
}

// Load adds the rows of a block to the stage, and returns the prepared rows. With an intercept, sparse rows stay
// sparse only if the argument sparse and the result of chooseExplicit are true. Otherwise they become dense rows.
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

// loadDense does the work of Load with an intercept, for dense rows and for sparse rows that become dense.
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

// weighTargets multiplies the targets of each row of the block by the square root of the row's weight.
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
	return Staged{
		N:      b.N,
		Sparse: &s.sparse.own,
		Y:      s.y,
	}
}

// noteNonZero updates NonZero for the given rows with the weights w. The rows are not yet multiplied by the roots
// of the weights. Rows of weight 0 are ignored.
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

// nonZero reports whether any of the d features of row i is nonzero, before the row is multiplied by the root of
// its weight.
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
		// A column in which this row has no entry can be left out. If its mean is nonzero, another row has an entry
		// there that differs from the mean, and gives the answer true.
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
	origin := st.stage.Origin
	mean := st.stage.block.mean
	for j, v := range x {
		if (v-origin[j])-mean[j] != 0 {
			return true
		}
	}
	return false
}
