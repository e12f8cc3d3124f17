// Package fd is the Frequent Directions sketch: an m×d matrix B, built from the
// rows of A (n×d) in one pass and O(md) memory, with
//
//	0 ⪯ AᵀA − BᵀB ⪯ ηI,   η ≤ ‖A − A_k‖²_F/(m+1−k)  for every k ≤ m,
//
// after E. Liberty, "Simple and Deterministic Matrix Sketching" (KDD 2013) and
// M. Ghashami, E. Liberty, J. Phillips, D. Woodruff, "Frequent Directions"
// (SIAM J. Comput. 2016). Robust Frequent Directions (L. Luo et al., JMLR 2019)
// is the same B read with the shift ρ = η/2, which halves the error:
// ‖AᵀA − (BᵀB + ρI)‖₂ ≤ ρ. So a sketch has no mode; FD or RFD is chosen when it
// is used.
//
// The paper of C. Dickens (2020), Algorithm A1, shrinks by λ_m; here the shrink
// takes λ_{m+1}, which keeps m live rows and has the better bound. Its final
// shrink, missing there, happens when a sketch is read ([Sketch.Spectrum]).
//
// Where AᵀA is no larger than the buffer of such a sketch a [Sketch] keeps that instead, and η is 0:
// see [Storage].
//
// Notation: d features, m rows kept, p rows taken between two shrinks, λ the
// eigenvalues of BBᵀ, δ = λ_{m+1}, η = Σδ, E = AᵀA − BᵀB.
package fd

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/shape"
)

// Driver is the factorisation a shrink uses.
type Driver int

const (
	// Gram takes the eigenpairs of BBᵀ: the fast one, and the default. Its
	// round-off is relative to ‖B‖², which [Bound.RoundOff] covers.
	Gram Driver = iota
	// SVD takes the singular values and right vectors of B: slower, needs a second
	// buffer of the sketch's size, and finds small singular values accurately
	// relative to themselves, not to the largest.
	SVD
)

func (v Driver) String() string {
	switch v {
	case Gram:
		return "gram"
	case SVD:
		return "svd"
	}
	return fmt.Sprintf("Driver(%d)", int(v))
}

// Config says what sketch to make. Dim and Size are required; the zero value of
// every other field is the documented default.
type Config struct {
	Dim    int    // d, the number of features
	Size   int    // m, the number of rows kept; more than Dim is never used
	Shrink Driver // how to shrink; default Gram
	// ShrinkRows is p, the rows taken between two shrinks. 0 lets the engine's
	// dispatcher choose: 5/4 of Size; where Size is Dim or more, so that nothing is
	// lost, 4·Dim, or, but not for SVD, the rows of 256 KiB, up to 4096, where that is
	// more. Where AᵀA is kept it is how many rows are collected to be added to it, by default
	// 256.
	ShrinkRows int
	// SparseRows is r, how many sparse rows are kept as they are, beside p others, until a shrink.
	// With others m+max(p, r) are live at most.
	// 0 lets the engine's dispatcher choose ([engine.Tuning.SparseRows]); negative is none, so
	// that sparse rows are written out. None are kept by SVD, nor where nothing is lost, nor of
	// rows with entries in more than an eighth of the columns.
	SparseRows int
	// Backend does the arithmetic. nil is engine.Default().
	Backend engine.Backend
	// Store is what is kept of the rows: by default AᵀA itself where that is no larger than the
	// buffer of a sketch of Size rows. The Config of a sketch tells which it is.
	Store Storage
}

// A Sketch is the state of Frequent Directions over the rows appended so far.
//
// It holds (m+p)·d float64 plus O((m+p)²), or O(d²) where m = d and Gram shrinks; where it keeps
// AᵀA itself (see [Storage]), that takes 2d² and p·d. All is
// allocated by the first Append or Merge, AᵀA by the first p rows; after that appending allocates
// nothing. The first sparse row takes O((m+r)²), and there are up to p·d/3 entries as they come; of the
// (m+p)·d, no more than m·d is then touched unless other rows come, too. One
// goroutine may write at a time; any number may read while none writes.
//
// The zero value has no dimension: appending to it and reading it are [ErrShape], until
// [Sketch.ReadFrom] or [Sketch.UnmarshalBinary] has made it one.
type Sketch struct {
	cfg  Config
	m, p int // rows kept (at most Dim) and rows taken
	matrix
	sparse sparseRows
	scatter
	account
	ws  workspace
	bad error // set when a factorisation failed; the sketch is lost
}

// A matrix is B, and room for more rows behind its own; where K is kept, the rows that wait
// to be added to it.
type matrix struct {
	buf   []float64 // capacity×Dim, rows ld apart
	ld    int
	rows  int       // live rows, the first ones of buf
	kept  int       // leading rows that are orthogonal, left by a shrink
	norm2 []float64 // their squared norms, length capacity
}

// live is how many rows there are, sparse ones included.
func (s *Sketch) live() int { return s.rows + s.sparse.Rows }

// An account is what has been counted of A and of what B lost of it.
type account struct {
	eta      float64      // Σδ
	roundOff float64      // Σ of the pads of the shrinks, see bound.go
	frob     neumaier.Sum // ‖A‖²_F
	count    int64        // rows appended
	shrinks  int64        // or blocks of rows that were added to K
}

// New makes an empty sketch. It reports an error when Dim or Size is not
// positive, when ShrinkRows is negative, or when the buffers cannot be addressed
// ([ErrSize]).
func New(cfg Config) (*Sketch, error) {
	switch {
	case cfg.Dim <= 0:
		return nil, badinput.Errorf("fd: Dim is %d, must be positive", cfg.Dim)
	case cfg.Size <= 0:
		return nil, badinput.Errorf("fd: Size is %d, must be positive", cfg.Size)
	case cfg.ShrinkRows < 0:
		return nil, badinput.Errorf("fd: ShrinkRows is %d, must not be negative", cfg.ShrinkRows)
	case cfg.Shrink != Gram && cfg.Shrink != SVD:
		return nil, badinput.Errorf("fd: unknown shrink driver %v", cfg.Shrink)
	case cfg.Store < StoreSmaller || cfg.Store > StoreScatter:
		return nil, badinput.Errorf("fd: unknown storage %d", int(cfg.Store))
	}
	if cfg.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return nil, err
		}
		cfg.Backend = be
	}
	keeps, err := cfg.Scatter()
	if err != nil {
		return nil, err
	}
	if cfg.Store = StoreRows; keeps {
		cfg.Store = StoreScatter
	}
	m, p, err := cfg.Buffer()
	if err != nil {
		return nil, err
	}
	cfg.ShrinkRows = p
	if cfg.SparseRows, err = cfg.sparseRows(m, p); err != nil {
		return nil, err
	}
	if !addressable(m, p, cfg.Dim) {
		return nil, fmt.Errorf("%w: (m+p)·d = (%d+%d)·%d", ErrSize, m, p, cfg.Dim)
	}
	if r := max(cfg.SparseRows, 0); !addressable(m, r, 1) {
		return nil, fmt.Errorf("%w: (m+r)² = (%d+%d)²", ErrSize, m, r)
	}
	return &Sketch{
		cfg: cfg, m: m, p: p,
		matrix: matrix{ld: stride(cfg.Dim)}, sparse: newSparseRows(cfg), scatter: scatter{keeps: keeps},
	}, nil
}

// ready is why nothing can be appended to s or read from it: it was not made, or is lost.
func (s *Sketch) ready() error {
	if s.cfg.Dim == 0 {
		return errUnmade
	}
	return s.bad
}

// Buffer returns m and p: the rows that a sketch keeps, at most Dim, as with these it is
// lossless and more would only stay empty; and those it takes between two shrinks. Where
// ShrinkRows is not positive that is the engine's choice, whose error it returns. Where AᵀA is
// kept m is Dim, whose d² numbers it is, and p the rows that are collected.
func (c Config) Buffer() (m, p int, err error) {
	keeps, err := c.Scatter()
	if err != nil {
		return 0, 0, err
	}
	m = max(min(c.Size, c.Dim), 0)
	if keeps {
		m = max(c.Dim, 0)
	}
	switch {
	case c.ShrinkRows > 0:
		return m, c.ShrinkRows, nil
	case keeps:
		return m, scatterRows, nil
	}
	tuning, err := engine.DefaultTuning()
	switch {
	case err != nil:
		return 0, 0, err
	case m < c.Dim:
		return m, tuning.ShrinkRows(m), nil
	case c.Shrink == SVD:
		return m, tuning.LosslessRows(m, 0), nil
	}
	return m, tuning.LosslessRows(m, losslessBytes), nil
}

// reserve takes the memory of a sketch that is new, which may never see a row, or has
// just been read; later it does nothing.
func (s *Sketch) reserve() {
	capacity := s.capacity()
	if len(s.norm2) == capacity {
		return
	}
	ld := stride(s.cfg.Dim)
	buf := make([]float64, capacity*ld)
	for i := range s.rows {
		copy(buf[i*ld:], s.row(i))
	}
	s.buf, s.ld = buf, ld
	s.norm2 = append(make([]float64, 0, capacity), s.norm2...)[:capacity]
	s.ws = newWorkspace(s.cfg, s.m, capacity)
	if s.sparse.Rows > 0 {
		s.reserveSparse()
	}
}

// addressable reports whether (m+p)·max(d, m+p) float64 can be addressed.
func addressable(m, p, d int) bool {
	if p > math.MaxInt-m || d > math.MaxInt-8 {
		return false
	}
	return shape.Addressable(uint64(m+p), uint64(max(stride(d), m+p)))
}

// stride is the leading dimension of B: d, and a cache line more where rows
// would lie so many powers of two apart that they displace each other from cache.
func stride(d int) int {
	if d >= 256 && d%64 == 0 {
		return d + 8
	}
	return d
}

// row is row i of the buffer.
func (s *Sketch) row(i int) []float64 { return s.buf[i*s.ld : i*s.ld+s.cfg.Dim] }

// Config returns the configuration in force.
func (s *Sketch) Config() Config { return s.cfg }

// Dim is d, the number of features.
func (s *Sketch) Dim() int { return s.cfg.Dim }

// Size is m, the number of rows asked for.
func (s *Sketch) Size() int { return s.cfg.Size }

// Rows is n, the number of rows appended, merged sketches included.
func (s *Sketch) Rows() int64 { return s.count }

// Shrinks is the number of shrinks so far; where AᵀA is kept, of blocks of rows added to it.
func (s *Sketch) Shrinks() int64 { return s.shrinks }
