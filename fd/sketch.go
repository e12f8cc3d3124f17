// Package fd computes Frequent Directions sketches. A sketch is an m×d matrix B, computed from the rows of A
// (n×d) in one pass and O(md) memory, with
//
//	0 ⪯ AᵀA − BᵀB ⪯ ηI,   η ≤ ‖A − A_k‖²_F/(m+1−k)  for every k ≤ m,
//
// where A_k is the best approximation of A of rank k.
//
// Sources: E. Liberty, "Simple and Deterministic Matrix Sketching" (KDD 2013); M. Ghashami, E. Liberty, J.
// Phillips, D. Woodruff, "Frequent Directions" (SIAM J. Comput. 2016).
//
// Robust Frequent Directions (L. Luo et al., JMLR 2019) uses the same B with the shift ρ = η/2, which halves the
// error: ‖AᵀA − (BᵀB + ρI)‖₂ ≤ ρ. The same sketch serves both methods: its user approximates AᵀA by
// BᵀB or by BᵀB + ρI.
//
// Algorithm A1 of C. Dickens (2020) shrinks by λ_m. This package shrinks by λ_{m+1}, which keeps m rows
// instead of m−1 and has the better bound. [Sketch.Spectrum] makes a last shrink, which A1 lacks.
//
// If AᵀA is not larger than the buffer of a sketch, a [Sketch] keeps AᵀA instead, and η is 0. See [Storage].
//
// Notation: d is the number of features, m the number of rows kept, and p the number of rows appended between
// two shrinks. λ are the eigenvalues of BBᵀ in descending order, δ = λ_{m+1} and η = Σδ.
package fd

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// Driver is the factorisation that a shrink uses.
type Driver int

const (
	// Gram, the default, computes the eigenvalues and eigenvectors of BBᵀ, where B are the rows in the buffer. It
	// is the fastest driver. Its round-off is proportional to ‖B‖² and is included in [Bound.RoundOff].
	Gram Driver = iota
	// SVD computes the singular values and right singular vectors of the rows in the buffer. Even small singular
	// values have small relative errors. SVD is slower than Gram and needs a second buffer of the size of the
	// sketch.
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

// Config is the configuration of a sketch. Dim and Size are required. Every other field may be zero, and then has
// the default that its comment states.
type Config struct {
	Dim    int    // d, the number of features
	Size   int    // m, the number of rows kept; if larger than Dim, Dim is used
	Shrink Driver // default Gram
	// ShrinkRows is p, the number of rows appended between two shrinks. 0 selects the default:
	//
	//   - if Size < Dim: 5/4 of Size
	//   - if Size ≥ Dim, with the SVD driver: 4·Dim
	//   - if Size ≥ Dim, with the Gram driver: 4·Dim or min(4096, rows in 256 KiB), whichever is larger
	//   - if AᵀA is kept (see Store): 256, the number of rows collected before they are added to AᵀA
	ShrinkRows int
	// SparseRows is r, the number of sparse rows that are stored in sparse form until the next shrink. 0 selects
	// [engine.Tuning.SparseRows]. If SparseRows is negative, sparse rows are stored as dense rows. The buffer holds
	// at most m + max(p, r) rows, dense and sparse, where m is Size and p is ShrinkRows.
	//
	// The SVD driver and sketches with Size ≥ Dim always store sparse rows as dense rows. Every sketch stores a
	// sparse row as a dense row if the row has entries in more than an eighth of the columns.
	SparseRows int
	// Backend does the arithmetic. nil is engine.Default().
	Backend engine.Backend
	// Store selects whether the sketch keeps rows or AᵀA, the Gram matrix of all rows A. By default, a sketch with
	// the Gram driver keeps AᵀA if AᵀA is not larger than the buffer of a sketch of Size rows. [Sketch.Config]
	// returns the Store that was selected.
	Store Storage
}

// A Sketch is a Frequent Directions sketch of the rows appended so far.
//
// Its memory, in numbers of type float64, with d, m, p and r as in [Config], is
//
//   - (m+p)·d + O((m+p)²)
//   - (m+p)·d + O(d²) if m = d and Shrink is Gram
//   - 2d² + p·d if it keeps AᵀA
//
// The first Append or Merge allocates the buffers, and the first p rows allocate AᵀA. Later calls allocate
// nothing. The first sparse row allocates O((m+r)²) numbers. Entries of sparse rows, up to p·d/3, are
// allocated as they are appended. If all rows are sparse, at most m·d of the (m+p)·d numbers are touched.
//
// One goroutine may write at a time; any number may read while none writes.
//
// The zero value has no dimension. Appending to it and reading it return [ErrShape], until [Sketch.ReadFrom]
// or [Sketch.UnmarshalBinary] fills it.
type Sketch struct {
	cfg  Config
	m, p int // rows kept (at most Dim) and rows appended between shrinks
	matrix
	sparse sparseRows
	scatter
	account
	ws  workspace
	bad error // the error of a failed factorisation, after which the sketch cannot be used
}

// A matrix is the buffer. It has the dense rows B of the sketch and room for more rows. If the sketch keeps AᵀA,
// the buffer holds the rows not yet added to AᵀA.
type matrix struct {
	buf   []float64 // capacity×Dim, with leading dimension ld
	ld    int
	rows  int       // number of dense rows; they are the first rows of buf
	kept  int       // number of leading rows that a shrink left orthogonal
	norm2 []float64 // squared norms of the kept rows, length capacity
}

// live returns the number of rows in the buffer, dense and sparse.
func (s *Sketch) live() int { return s.rows + s.sparse.Rows }

// An account holds sums over the appended rows A, and the parts of the bound on the error AᵀA − BᵀB of the sketch
// B.
type account struct {
	eta      float64       // Σδ
	roundOff float64       // Σ of the round-off bounds of the shrinks, see bound.go
	frob     twofold.Total // ‖A‖²_F
	count    int64         // rows appended
	shrinks  int64         // number of shrinks, or of blocks of rows added to K
}

// New returns an empty sketch. It returns an error if Dim or Size is not positive, if ShrinkRows is
// negative, or if the buffers are too large for the address space ([ErrSize]).
func New(cfg Config) (*Sketch, error) {
	switch {
	case cfg.Dim <= 0:
		return nil, errtext.BadInput("fd: Dim is %d, must be positive", cfg.Dim)
	case cfg.Size <= 0:
		return nil, errtext.BadInput("fd: Size is %d, must be positive", cfg.Size)
	case cfg.ShrinkRows < 0:
		return nil, errtext.BadInput("fd: ShrinkRows is %d, must not be negative", cfg.ShrinkRows)
	case cfg.Shrink != Gram && cfg.Shrink != SVD:
		return nil, errtext.BadInput("fd: unknown shrink driver %v", cfg.Shrink)
	case cfg.Store < StoreSmaller || cfg.Store > StoreScatter:
		return nil, errtext.BadInput("fd: unknown storage %d", int(cfg.Store))
	}
	var err error
	cfg.Backend, err = engine.OrDefault(cfg.Backend)
	if err != nil {
		return nil, err
	}
	keeps, err := cfg.Scatter()
	if err != nil {
		return nil, err
	}
	cfg.Store = StoreRows
	if keeps {
		cfg.Store = StoreScatter
	}
	m, p, err := cfg.Buffer()
	if err != nil {
		return nil, err
	}
	cfg.ShrinkRows = p
	cfg.SparseRows, err = cfg.sparseRows(m, p)
	if err != nil {
		return nil, err
	}
	if !addressable(m, p, cfg.Dim) {
		return nil, fmt.Errorf("%w: (m+p)·d = (%d+%d)·%d", ErrSize, m, p, cfg.Dim)
	}
	if r := max(cfg.SparseRows, 0); !addressable(m, r, 1) {
		return nil, fmt.Errorf("%w: (m+r)² = (%d+%d)²", ErrSize, m, r)
	}
	return &Sketch{
		cfg:     cfg,
		m:       m,
		p:       p,
		matrix:  matrix{ld: stride(cfg.Dim)},
		sparse:  newSparseRows(cfg),
		scatter: scatter{keepsScatter: keeps},
	}, nil
}

// checkReady returns an error if s is the zero value or if an earlier factorisation has failed.
func (s *Sketch) checkReady() error {
	if s.cfg.Dim == 0 {
		return errZeroValue
	}
	return s.bad
}

// Buffer returns m, the number of rows that a sketch keeps, and p, the number of rows appended between two shrinks.
// The number m is at most Dim. If the sketch keeps AᵀA, m is Dim, and p is the number of rows collected before they
// are added to AᵀA. An error means that [engine.DefaultTuning], which sets the defaults, has failed.
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

// allocate allocates the memory of a sketch that is new or was just read from a message. Later calls do nothing.
func (s *Sketch) allocate() {
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
		s.allocateSparse()
	}
}

// addressable reports whether a sketch that keeps m rows, appends p rows between shrinks and has d columns fits
// into the address space.
func addressable(m, p, d int) bool {
	if p > math.MaxInt-m || d > math.MaxInt-8 {
		return false
	}
	return vec.Addressable(uint64(m+p), uint64(max(stride(d), m+p)))
}

// stride returns the distance between two rows of the buffer, in numbers. It is d, or d+8 if rows at distance d
// would share the same few cache sets. Eight numbers are a cache line.
func stride(d int) int {
	if d >= 256 && d%64 == 0 {
		return d + 8
	}
	return d
}

// row returns row i of the buffer.
func (s *Sketch) row(i int) []float64 {
	return s.buf[i*s.ld : i*s.ld+s.cfg.Dim]
}

// Config returns the configuration with all defaults filled in.
func (s *Sketch) Config() Config { return s.cfg }

// Dim returns d, the number of features.
func (s *Sketch) Dim() int { return s.cfg.Dim }

// Size returns Config.Size. The sketch may keep fewer rows, because it never keeps more rows than columns.
func (s *Sketch) Size() int { return s.cfg.Size }

// Rows returns the number of rows appended to the sketch, including the rows of merged sketches.
func (s *Sketch) Rows() int64 { return s.count }

// Shrinks returns the number of shrinks so far. For a sketch that keeps AᵀA, it returns the number of blocks of
// rows added to AᵀA.
func (s *Sketch) Shrinks() int64 { return s.shrinks }
