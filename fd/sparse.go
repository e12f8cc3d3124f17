package fd

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
)

// Sparse rows S are stored beside the dense rows B until the next shrink. A shrink to m rows computes
//
//	G = [ BBᵀ  BSᵀ ]    U = [U_B U_S],   B ← diag(√(1 − δ/λ))·(U_B·B + U_S·S),
//	    [ SBᵀ  SSᵀ ],
//
// where λ are the eigenvalues of G, and δ is eigenvalue m+1. The rows of U are the leading eigenvectors of G. This
// is Frequent Directions with another number of rows between two shrinks. The cost of a sparse row depends on its
// number of entries. So this number of rows can be large, and shrinks are few. Usually the shrinkage, the sum of
// all δ, is smaller than with dense rows. It may be larger, because other rows are shrunk together (docs/math.md
// §2).

// sparseRows are the sparse rows in the buffer, in the order of appending. A sparse row s may have a centre μ,
// which is a dense row, and a factor κ. It then stands for the row s − κμ.
type sparseRows struct {
	engine.CSR           // RowPtr begins with 0
	times      []float64 // the factor κ of each row
	centre     []int     // 1 + the index of each row's centre μ in the buffer, or 0 for no centre; see centred.go
	most       int       // r, the limit of Rows; 0: sparse rows are stored as dense rows
	work       engine.SparseWork
}

func newSparseRows(cfg Config) sparseRows {
	return sparseRows{
		CSR:  engine.CSR{Cols: cfg.Dim},
		most: max(cfg.SparseRows, 0),
	}
}

// sparseRows returns the largest number of sparse rows in a buffer that keeps m rows and takes p rows between
// shrinks. It returns −1 if sparse rows are stored as dense rows. An error means that [engine.DefaultTuning] has
// failed.
func (c Config) sparseRows(m, p int) (int, error) {
	if c.SparseRows < 0 || !c.canKeepSparse(m) {
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

// Order returns the largest number of rows in the buffer, which is also the order of the largest eigenproblem of a
// shrink. It is m + max(p, SparseRows), with m and p of [Config.Buffer]. If sparse rows are stored as dense rows,
// it is m + p. The errors are the same as in Buffer.
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

// canKeepSparse reports whether a sketch that keeps m rows can store sparse rows in sparse form.
func (c Config) canKeepSparse(m int) bool {
	return c.Shrink == Gram && c.Store != StoreScatter && m < c.Dim
}

// defaultSparseRows returns the value of SparseRows for a message that does not contain SparseRows. The value does
// not depend on environment variables.
func (c Config) defaultSparseRows(m, p int) int {
	if !c.canKeepSparse(m) {
		return -1
	}
	return engine.Tuning{}.SparseRows(c.Dim, m, p)
}

// SparseShare is the limit for sparse rows: a row with entries in more than 1/SparseShare of the columns is stored
// as a dense row. In a sketch of m rows, a sparse row with z entries takes 4mz flops, and a dense row with d
// entries 7md flops. But flops for dense rows run several times as fast.
const SparseShare = 8

// maxEntries returns the largest total number of entries in the sparse rows of the buffer. It is such that these
// rows and their workspace in a shrink take as much memory as the dense rows appended between two shrinks.
func (s *Sketch) maxEntries() int {
	const perEntry = 3 // 24 bytes an entry, 8 bytes a number
	return max(s.p, SparseShare) * (s.cfg.Dim / perEntry)
}

// placeSparse appends the sparse row x with the column numbers idx and the values val. If c is not nil, it appends
// the row x − f·μ, where c is the centre μ. The row must have been checked. It is stored in sparse form if
// possible, otherwise as a dense row.
func (s *Sketch) placeSparse(
	idx []int32,
	val []float64,
	c *centre,
	f float64,
) error {
	if c != nil && c.vanishes(f) {
		c = nil
	}
	if s.sparse.most > 0 &&
		len(idx) <= s.cfg.Dim/SparseShare &&
		(c == nil || s.KeepsSparse() && !c.isFaint()) {
		return s.keepSparse(idx, val, c, f)
	}
	if _, err := s.makeRoom(); err != nil {
		return err
	}
	s.roundOff += c.writeOut(s.row(s.rows), idx, val, f)
	s.rows++
	return nil
}

// keepSparse stores the sparse row x with the column numbers idx and the values val, in sparse form. If c is not
// nil, the row is x − f·μ, where c is the centre μ. keepSparse also stores the centre if the buffer does not
// contain it yet.
func (s *Sketch) keepSparse(
	idx []int32,
	val []float64,
	c *centre,
	f float64,
) error {
	s.allocate()
	s.allocateSparse()
	most := s.maxEntries()
	w := &s.sparse
	slot, more := 0, 0
	if c != nil {
		slot = c.slotIn(s)
		if slot == 0 {
			more = 1
		}
	}
	if s.live()+more >= s.order() ||
		s.rows+more > s.capacity() ||
		len(w.Val)+len(val) > most {
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
		w.Val = slices.Grow(w.Val, more)
		w.ColIdx = slices.Grow(w.ColIdx, more)
	}
	w.Val = append(w.Val, val...)
	w.ColIdx = append(w.ColIdx, idx...)
	w.RowPtr = append(w.RowPtr, len(w.Val))
	w.times = append(w.times, f)
	w.centre = append(w.centre, slot)
	w.Rows++
	return nil
}

// allocateSparse allocates the memory for sparse rows and their shrinks. Later calls do nothing.
func (s *Sketch) allocateSparse() {
	if order := s.order(); len(s.ws.w) < order {
		s.ws.allocGram(s.cfg, s.m, order)
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

// order returns the largest number of rows in a buffer that also has sparse rows. It is also the order of the
// largest eigenproblem of a shrink.
func (s *Sketch) order() int {
	return s.m + max(s.p, s.sparse.most)
}

// empty removes all rows.
func (w *sparseRows) empty() {
	if w.Rows > 0 {
		w.Rows = 0
		w.RowPtr = w.RowPtr[:1]
		w.ColIdx = w.ColIdx[:0]
		w.Val = w.Val[:0]
		w.times = w.times[:0]
		w.centre = w.centre[:0]
	}
}

// gramSparse completes g, the lower triangle of the Gram matrix of all rows in the buffer. The rows of g for the
// dense rows must be set; gramSparse sets the rows for the sparse rows. It returns a bound on the norm of the
// round-off in the rows that it has set.
func (s *Sketch) gramSparse(g engine.Matrix, work *engine.SparseWork) (off float64) {
	k := s.rows
	n := g.Rows
	w := &s.sparse
	if w.Rows == 0 {
		return 0
	}
	rows := engine.Strided(k, s.cfg.Dim, s.buf, s.ld)
	w.TimesDense(rows, g.Slice(k, n, 0, k), work)
	w.Gram(g.Slice(k, n, k, n), work)
	// norm2 holds computed squared norms of the rows that the last shrink left. The exact squared norm of such a
	// row is at most its norm2 plus the RoundOff of the sketch.
	dense := float64(s.kept) * s.roundOff
	sparse := 0.0
	for i := range n {
		if i < k {
			dense += g.Row(i)[i]
		} else {
			sparse += g.Row(i)[i]
		}
	}
	z := w.longest()
	off = errorOfSparse(z, dense, sparse)
	if w.hasCentres() {
		s.subtractCentres(g)
		centres, times := s.centreSquares()
		off += s.errorOfCentres(z, dense, sparse, centres, times, n)
	}
	return off
}

// longest returns the number of entries of the sparse row that has most entries.
func (w *sparseRows) longest() (z int) {
	for i := range w.Rows {
		z = max(z, w.RowPtr[i+1]-w.RowPtr[i])
	}
	return z
}

// combine computes the product u·[B; S], where B holds the dense rows and S the sparse rows. The product overwrites
// the dense rows. If sparse rows have centres, combine first multiplies u by L; see multiplyByL.
func (s *Sketch) combine(u engine.Matrix) {
	be := s.cfg.Backend
	k := s.rows
	live := u.Rows
	ws := &s.ws
	s.multiplyByL(u)
	if s.sparse.Rows == 0 {
		be.LeftMul(u, engine.Strided(k, s.cfg.Dim, s.buf, s.ld), ws.work)
		return
	}
	left := u.Slice(0, live, 0, k)
	if k < live {
		// The product of LeftMul has at most as many rows as its right factor, here the dense rows B. So B gets
		// additional rows of zeros.
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
		rows := engine.Strided(max(k, live), s.cfg.Dim, s.buf, s.ld)
		be.LeftMul(left, rows, ws.work)
	}
	s.sparse.AddLeftMul(
		u.Slice(0, live, k, u.Cols),
		engine.Strided(live, s.cfg.Dim, s.buf, s.ld),
		&s.sparse.work,
	)
}

// errorOfSparse bounds the norm of the round-off in the products SSᵀ and SBᵀ of the sparse rows S and the dense
// rows B. The arguments dense and sparse are the computed ‖B‖²_F and ‖S‖²_F. No row of S has more than z
// entries. The bound is proved in docs/math.md §14.
func errorOfSparse(z int, dense, sparse float64) float64 {
	each := (float64(z)/2 + engine.Roundings + 1) * eps
	return each * math.Sqrt(sparse) * math.Sqrt(2*dense+sparse)
}
