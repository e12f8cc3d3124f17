// Package randsketch has the randomised methods that Frequent Directions is
// compared with: the sketch SA of the rows A (n×d) by a random S (m×n), Gaussian
// or sparse, and the Nyström approximation of AᵀA. Both take rows as they stream
// and are read as a [Spectrum], an Ĥ(γ) for AᵀA + γI that is cheap to invert.
//
// Column i of S is drawn from a stream of its own, the generator ChaCha8 (Go's
// math/rand/v2) keyed by the seed, the kind of sketch and i. So S does not depend
// on how rows are divided into blocks, on the number of threads or on the backend.
// Row i of A is the i-th row appended, from 0.
//
// Notation: d features, t targets, m rows of the sketch, K = AᵀA.
package randsketch

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/shape"
)

// ErrShape reports arguments whose dimensions disagree. Nothing was changed. It is
// [engine.ErrShape].
var ErrShape = engine.ErrShape

// ErrNoConvergence reports that an eigenvalue or singular value iteration failed,
// which finite data are not known to cause. It is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// These errors in this package's words.
var (
	errShape         = fmt.Errorf("randsketch: %w", engine.ErrShape)
	errNoConvergence = fmt.Errorf("randsketch: %w", engine.ErrNoConvergence)
)

// Kind is the distribution of S. Both have E[SᵀS] = I.
type Kind int

const (
	// Gaussian has independent entries from N(0, 1/m). Applying it costs 2mnd flops.
	Gaussian Kind = iota
	// SJLT, the sparse Johnson-Lindenstrauss transform (J. Nelson, H. Nguyễn, FOCS
	// 2013), has s nonzeros ±1/√s in each column, in s distinct rows of all m.
	// Applying it costs s additions for each nonzero of A. The appendix of the paper
	// (C. Dickens, 2020) forgets the 1/√s.
	SJLT
)

func (k Kind) String() string {
	switch k {
	case Gaussian:
		return "gaussian"
	case SJLT:
		return "sjlt"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Config says what sketch to make. Rows and Dim are required; the zero value of
// every other field is the documented default.
type Config struct {
	Kind     Kind
	Rows     int    // m, the rows of S
	Dim      int    // d, the number of features
	Targets  int    // t, the number of targets sketched by the same S
	Seed     uint64 // S follows from it, Kind, Rows and Sparsity
	Sparsity int    // s of the SJLT, at most Rows; default min(10, Rows)
	// Backend does the arithmetic of products. nil is engine.Default().
	Backend engine.Backend
}

// defaultSparsity is s in the paper's experiments.
const defaultSparsity = 10

// A Sketch is SA (m×d) and SY (m×t) for the rows appended so far.
//
// An SJLT adds up rows in their order and multiplies by 1/√s when it is read: its
// bits are the same for any blocks, dense or sparse, any number of threads, any
// backend and machine. A Gaussian sketch multiplies panels of 256 dense rows,
// counted from the first, by [engine.Backend.Gemm]: its bits are the same for any
// blocks; between backends, and between dense and sparse rows, they agree to
// round-off.
//
// It holds O((m+256)·(m+d+t)) float64, all allocated by [New]; appending allocates
// nothing. One goroutine may write at a time; any number may read while none
// writes.
type Sketch struct {
	cfg Config
	intake
	op operator
}

// An operator applies S to rows and accumulates. S is kept free of a constant
// factor until the sketch is read.
type operator interface {
	// rows adds n dense rows, the first of them row first of A.
	rows(first int64, n int, x []float64, ldx int, y []float64)
	// sparse adds sparse rows.
	sparse(first int64, x *engine.CSR, y []float64)
	// read writes [SA SY] to out, m×(d+t).
	read(out []float64)
	// column writes column i of S to out, of length m.
	column(i int64, out []float64)
	// reset forgets all rows and takes another seed.
	reset(seed uint64)
}

// base is what the operators share.
type base struct {
	m, d, t int
	seed    uint64
	sum     []float64 // [SA SY] without the constant factor, m×(d+t)
	team    *team
}

// New makes an empty sketch. It reports an error when Rows or Dim is not positive,
// when Targets, Sparsity or Kind has no meaning, or when the buffers cannot be
// addressed ([fd.ErrSize]).
func New(cfg Config) (*Sketch, error) {
	switch {
	case cfg.Dim <= 0:
		return nil, fmt.Errorf("randsketch: Dim is %d, must be positive", cfg.Dim)
	case cfg.Rows <= 0:
		return nil, fmt.Errorf("randsketch: Rows is %d, must be positive", cfg.Rows)
	case cfg.Targets < 0:
		return nil, fmt.Errorf("randsketch: Targets is %d, must not be negative", cfg.Targets)
	case cfg.Sparsity < 0 || cfg.Sparsity > cfg.Rows:
		return nil, fmt.Errorf("randsketch: Sparsity is %d, must be from 0 to Rows = %d", cfg.Sparsity, cfg.Rows)
	case cfg.Kind != Gaussian && cfg.Kind != SJLT:
		return nil, fmt.Errorf("randsketch: unknown %v", cfg.Kind)
	case !addressable(cfg.Rows, cfg.Dim, cfg.Targets):
		return nil, fmt.Errorf("%w: m·(d+t) = %d·(%d+%d)", fd.ErrSize, cfg.Rows, cfg.Dim, cfg.Targets)
	}
	if cfg.Sparsity == 0 {
		cfg.Sparsity = min(defaultSparsity, cfg.Rows)
	}
	var err error
	if cfg.Backend, err = backend(cfg.Backend); err != nil {
		return nil, err
	}
	b := base{m: cfg.Rows, d: cfg.Dim, t: cfg.Targets, seed: cfg.Seed, team: new(team)}
	b.sum = make([]float64, b.m*b.width())
	s := &Sketch{cfg: cfg, intake: intake{dim: cfg.Dim, targets: cfg.Targets}}
	if cfg.Kind == SJLT {
		s.op = newSJLT(b, cfg.Sparsity)
	} else {
		s.op = newGaussian(b, cfg.Backend)
	}
	return s, nil
}

func backend(be engine.Backend) (engine.Backend, error) {
	if be != nil {
		return be, nil
	}
	return engine.Default()
}

// addressable reports whether (m+256)·(m+d+t) float64 can be addressed.
func addressable(m, d, t int) bool {
	const most = 1 << 44 // of each, so that their sum is none too large
	if uint64(m) > most || uint64(d) > most || uint64(t) > most {
		return false
	}
	return shape.Addressable(uint64(m)+panelRows, uint64(m)+uint64(d)+uint64(t))
}

// width is that of [A Y].
func (b *base) width() int { return b.d + b.t }

// row is row r of the sum.
func (b *base) row(r int) []float64 { return b.sum[r*b.width() : (r+1)*b.width()] }

// Config returns the configuration in force.
func (s *Sketch) Config() Config { return s.cfg }

// Reset forgets all rows and draws S anew from another seed, in the same memory:
// the fresh sketch of each iteration in the Iterative Hessian Sketch.
func (s *Sketch) Reset(seed uint64) {
	s.cfg.Seed = seed
	s.intake = intake{dim: s.cfg.Dim, targets: s.cfg.Targets}
	s.op.reset(seed)
}

// AppendRows appends n rows stored row-major in x with leading dimension
// ldx >= Dim, and their targets y, n×t without gaps (nil without targets).
//
// Like AppendSparse it checks the whole argument first: on *[fd.NonFiniteError]
// (column d+j for target j), *[fd.RangeError] and [ErrShape] the sketch is
// unchanged. The arguments are not written and not kept.
func (s *Sketch) AppendRows(n int, x []float64, ldx int, y []float64) error {
	first := s.rows
	if err := s.admit(n, x, ldx, y); err != nil {
		return err
	}
	s.op.rows(first, n, x, ldx, y)
	return nil
}

// AppendSparse appends the rows of x, whose column indices must be below Dim, and
// their targets y, as in AppendRows, in O(m·nnz) (Gaussian) or O(s·nnz) (SJLT).
func (s *Sketch) AppendSparse(x *engine.CSR, y []float64) error {
	first := s.rows
	if err := s.admitSparse(x, y); err != nil {
		return err
	}
	s.op.sparse(first, x, y)
	return nil
}

// Rows is n, the number of rows appended.
func (s *Sketch) Rows() int64 { return s.rows }

// Matrix returns SA, m×d.
func (s *Sketch) Matrix() *mat.Dense { return s.read(0, s.cfg.Dim) }

// Targets returns SY, m×t; nil without targets.
func (s *Sketch) Targets() *mat.Dense {
	if s.cfg.Targets == 0 {
		return nil
	}
	return s.read(s.cfg.Dim, s.cfg.Dim+s.cfg.Targets)
}

// read returns columns lo to hi of [SA SY].
func (s *Sketch) read(lo, hi int) *mat.Dense {
	m, w := s.cfg.Rows, s.cfg.Dim+s.cfg.Targets
	all := make([]float64, m*w)
	s.op.read(all)
	if hi-lo == w {
		return mat.NewDense(m, w, all)
	}
	return mat.DenseCopyOf(mat.NewDense(m, w, all).Slice(0, m, lo, hi))
}

// Column returns column i of S, of length m: what row i of A is multiplied by.
func (s *Sketch) Column(i int64) []float64 {
	column := make([]float64, s.cfg.Rows)
	s.op.column(i, column)
	return column
}
