package fd

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
)

// Sparse rows S stay as they are beside the dense rows B until a shrink, which makes of both
//
//	G = [ BBᵀ  BSᵀ ]    U = [U_B U_S],   B ← diag(√(1 − δ/λ))·(U_B·B + U_S·S).
//	    [ SBᵀ  SSᵀ ],
//
// That is Frequent Directions with r more rows between two shrinks, at the price of the entries
// of S: so r is large, shrinks are few, and η is mostly less than where the rows are written out,
// though not always: which rows are shrunk together differs (docs/math.md §2).

// sparseRows are rows that wait for a shrink, in the order in which they came.
type sparseRows struct {
	engine.CSR           // RowPtr begins with 0
	times      []float64 // of each row: κ, by which it is less a centre
	centre     []int     // 1 + the row of the buffer that this is, or 0: none, see centred.go
	most       int       // r; 0: none are kept
	work       engine.SparseWork
}

func newSparseRows(cfg Config) sparseRows {
	return sparseRows{CSR: engine.CSR{Cols: cfg.Dim}, most: max(cfg.SparseRows, 0)}
}

// sparseRows is r in force for m rows kept and p taken: positive, or −1 for none. The error is that
// of [engine.DefaultTuning].
func (c Config) sparseRows(m, p int) (int, error) {
	if c.SparseRows < 0 || !c.sparing(m) {
		return -1, nil
	}
	if c.SparseRows > 0 {
		return c.SparseRows, nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return 0, err
	}
	return tuning.SparseRows(c.Dim, m, p), nil
}

// Order returns the order of the largest eigenproblem of a shrink where rows may be sparse, and how many
// of them are live at most: m+max(p, r), or m+p where none are kept as they are. The error is that
// of [Config.Buffer].
func (c Config) Order() (int, error) {
	m, p, err := c.Buffer()
	if err != nil {
		return 0, err
	}
	keeps, err := c.Scatter()
	if err != nil {
		return 0, err
	}
	if keeps {
		c.Store = StoreScatter
	}
	r, err := c.sparseRows(m, p)
	return m + max(p, r), err
}

// sparing reports whether a sketch that keeps m rows can keep sparse ones as they are.
func (c Config) sparing(m int) bool {
	return c.Shrink == Gram && c.Store != StoreScatter && m < c.Dim
}

// unsaid is SparseRows in force where neither Config nor the environment says anything: that of a
// message that has none.
func (c Config) unsaid(m, p int) int {
	if !c.sparing(m) {
		return -1
	}
	return engine.Tuning{}.SparseRows(c.Dim, m, p)
}

// SparseShare is how small a part of the columns, an eighth, a row has entries in that is kept as it is: its
// products with the kept rows take 4mz flops, which are some times slower than those of rows that
// are written out, 7md.
const SparseShare = 8

// entries is how many entries are kept at most: those that take, with what a shrink needs to find
// them, the memory of p dense rows. It has room for 8/3·p of the longest rows that are kept.
func (s *Sketch) entries() int {
	const perEntry = 3 // 24 bytes for the 8 of a number
	return max(s.p, SparseShare) * (s.cfg.Dim / perEntry)
}

// place appends a sparse row that was admitted, less f times c where that is not nil.
func (s *Sketch) place(idx []int32, val []float64, c *centre, f float64) error {
	if c != nil && c.none(f) {
		c = nil
	}
	if s.sparse.most > 0 && len(idx) <= s.cfg.Dim/SparseShare && (c == nil || s.KeepsSparse() && !c.faint()) {
		return s.keep(idx, val, c, f)
	}
	if _, err := s.room(); err != nil {
		return err
	}
	s.roundOff += c.writeOut(s.row(s.rows), idx, val, f)
	s.rows++
	return nil
}

// keep appends a sparse row as it is, and puts c where it is to be found.
func (s *Sketch) keep(idx []int32, val []float64, c *centre, f float64) error {
	s.reserve()
	s.reserveSparse()
	most, w := s.entries(), &s.sparse
	slot, more := 0, 0
	if c != nil {
		if slot = c.slotIn(s); slot == 0 {
			more = 1
		}
	}
	if s.live()+more >= s.order() || s.rows+more > s.capacity() || len(w.Val)+len(val) > most {
		if err := s.shrink(); err != nil {
			s.bad = err
			return err
		}
		slot = 0
	}
	switch {
	case c == nil:
		f = 0
	case slot == 0:
		slot = s.placeCentre(c)
	}
	if need := len(w.Val) + len(val); need > cap(w.Val) {
		more := min(max(2*cap(w.Val), need), most) - len(w.Val)
		w.Val, w.ColIdx = slices.Grow(w.Val, more), slices.Grow(w.ColIdx, more)
	}
	w.Val, w.ColIdx = append(w.Val, val...), append(w.ColIdx, idx...)
	w.RowPtr = append(w.RowPtr, len(w.Val))
	w.times, w.centre = append(w.times, f), append(w.centre, slot)
	w.Rows++
	return nil
}

// reserveSparse takes the memory of shrinks with sparse rows; later it does nothing.
func (s *Sketch) reserveSparse() {
	if order := s.order(); len(s.ws.w) < order {
		s.ws.ofOrder(s.cfg, s.m, order)
	}
	if w := &s.sparse; cap(w.RowPtr) <= s.order() {
		w.RowPtr = append(make([]int, 0, s.order()+1), w.RowPtr...)
		if len(w.RowPtr) == 0 {
			w.RowPtr = append(w.RowPtr, 0)
		}
		w.times = append(make([]float64, 0, s.order()), w.times...)
		w.centre = append(make([]int, 0, s.order()), w.centre...)
	}
}

// order is that of the largest eigenproblem, how many rows are live at most where some are sparse: m
// and as many of a kind as are taken of it. That sparse rows, too, fill up what shrinks leave free
// makes shrinks the same as those of rows that are written out, where r is p.
func (s *Sketch) order() int { return s.m + max(s.p, s.sparse.most) }

// empty drops the rows: a shrink has taken them.
func (w *sparseRows) empty() {
	if w.Rows > 0 {
		w.Rows, w.RowPtr, w.ColIdx, w.Val = 0, w.RowPtr[:1], w.ColIdx[:0], w.Val[:0]
		w.times, w.centre = w.times[:0], w.centre[:0]
	}
}

// gramSparse writes what the sparse rows, the last ones, add to the lower triangle of G (n×n), and
// returns a bound on the norm of their round-off. The other entries of G are known.
func (s *Sketch) gramSparse(g engine.Matrix, work *engine.SparseWork) (off float64) {
	k, n, w := s.rows, g.Rows, &s.sparse
	if w.Rows == 0 {
		return 0
	}
	w.TimesDense(engine.Strided(k, s.cfg.Dim, s.buf, s.ld), g.Slice(k, n, 0, k), work)
	w.Gram(g.Slice(k, n, k, n), work)
	// The kept rows are as long as norm2 says but for what RoundOff has in store for that.
	dense, sparse := float64(s.kept)*s.roundOff, 0.0
	for i := range n {
		if i < k {
			dense += g.Row(i)[i]
		} else {
			sparse += g.Row(i)[i]
		}
	}
	z := w.longest()
	off = errorOfSparse(z, dense, sparse)
	if w.centred() {
		s.lessCentres(g)
		centres, times := s.centreSquares()
		off += s.errorOfCentres(z, dense, sparse, centres, times, n)
	}
	return off
}

// longest is the number of entries of the longest row.
func (w *sparseRows) longest() (z int) {
	for i := range w.Rows {
		z = max(z, w.RowPtr[i+1]-w.RowPtr[i])
	}
	return z
}

// combine overwrites the first rows of B with U_B·B + U_S·S, for the leading rows u of
// U = [U_B U_S].
func (s *Sketch) combine(u engine.Matrix) {
	be, k, live, ws := s.cfg.Backend, s.rows, u.Rows, &s.ws
	s.timesCentres(u)
	if s.sparse.Rows == 0 {
		be.LeftMul(u, engine.Strided(k, s.cfg.Dim, s.buf, s.ld), ws.work)
		return
	}
	left := u.Slice(0, live, 0, k)
	if k < live {
		// LeftMul makes no more rows than it is given: those that are wanting are zero.
		left = engine.View(live, live, ws.gram)
		for i := range live {
			row := left.Row(i)
			clear(row[copy(row, u.Row(i)[:k]):])
		}
		for i := k; i < live; i++ {
			clear(s.row(i))
		}
	}
	if k > 0 {
		be.LeftMul(left, engine.Strided(max(k, live), s.cfg.Dim, s.buf, s.ld), ws.work)
	}
	s.sparse.AddLeftMul(u.Slice(0, live, k, u.Cols), engine.Strided(live, s.cfg.Dim, s.buf, s.ld), &s.sparse.work)
}

// decay multiplies the rows by f.
func (w *sparseRows) decay(f float64) {
	for k := range w.Val {
		w.Val[k] *= f
	}
}

// errorOfSparse bounds, in norm, the round-off of the products of sparse rows S with each other and
// with rows B. dense and sparse are ‖B‖²_F and ‖S‖²_F as computed, and no row of S has more than z
// entries.
//
// A product meets at most z roundings on its way into a sum, its own included. So an entry of G is
// off by at most (z/2 + Roundings)·eps·‖s‖‖x‖, for a row s of S and any row x. The matrix of these
// products of norms has the Frobenius norm √(2‖B‖²‖S‖² + ‖S‖⁴). One eps more is for the computed
// norms.
func errorOfSparse(z int, dense, sparse float64) float64 {
	return (float64(z)/2 + engine.Roundings + 1) * eps * math.Sqrt(sparse) * math.Sqrt(2*dense+sparse)
}
