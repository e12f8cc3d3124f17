// Package randsketch implements randomised methods, for comparison with Frequent Directions. A [Sketch] is SA for the
// rows A (n×d) and a random S (m×n), Gaussian or sparse. A [Nystrom] is the Nyström approximation of AᵀA. Rows are
// appended block by block. Both give a [Spectrum], an approximation Ĥ(γ) of AᵀA + γI that is cheap to invert.
//
// Column i of S is drawn by its own generator ChaCha8 (Go's math/rand/v2), keyed by the seed, the kind of
// sketch and i. S therefore does not depend on the division into blocks, the number of threads or the backend.
// Row i of A is the i-th row appended, counted from 0.
//
// Notation: d features, t targets, m rows of the sketch, K = AᵀA.
package randsketch

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
)

// ErrShape reports arguments whose dimensions disagree. The receiver is unchanged. ErrShape is
// [engine.ErrShape].
var ErrShape = engine.ErrShape

// ErrNoConvergence reports that an eigenvalue or singular value iteration failed. No finite data are known to
// cause this error. It is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// errShape and errNoConvergence are the errors above, with the name of this package in the message.
var (
	errShape         = fmt.Errorf("randsketch: %w", engine.ErrShape)
	errNoConvergence = fmt.Errorf("randsketch: %w", engine.ErrNoConvergence)
)

// A Kind is a distribution of the random matrix S. E[SᵀS] = I for every kind.
type Kind int

const (
	// Gaussian has independent entries from N(0, 1/m). Applying S costs 2mnd flops.
	Gaussian Kind = iota
	// SJLT is the sparse Johnson-Lindenstrauss transform (J. Nelson, H. Nguyễn, FOCS 2013). Each column has s
	// nonzeros ±1/√s in distinct rows. Applying S costs s additions for each nonzero of A. The appendix of
	// the paper by C. Dickens (2020) omits the factor 1/√s.
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

// Config holds the options of [New]. Rows and Dim are required. The zero value of any other field selects its
// documented default.
type Config struct {
	Kind     Kind
	Rows     int    // m, number of rows of S
	Dim      int    // d, number of features
	Targets  int    // t, number of targets to sketch by the same S
	Seed     uint64 // determines S, together with Kind, Rows and Sparsity
	Sparsity int    // s, the number of nonzeros in a column of an SJLT, at most Rows; default min(10, Rows)
	// Backend does the matrix products. nil means engine.Default().
	Backend engine.Backend
}

// defaultSparsity is the Sparsity in the experiments of C. Dickens (2020).
const defaultSparsity = 10

// A Sketch is SA (m×d) and SY (m×t) for the rows appended so far.
//
// An SJLT adds the rows one by one and multiplies by 1/√s when the sketch is read. Its bits are always the
// same: for any blocks, dense or sparse rows, any number of threads, any backend and any machine.
//
// A Gaussian sketch multiplies dense rows 256 at a time, counted from the first row, by
// [engine.Backend.Gemm]. Its bits do not depend on how the rows are divided into blocks. They depend on the
// backend and on whether rows are dense or sparse, by round-off.
//
// A Sketch holds O((m+256)·(m+d+t)) float64, all allocated by [New]. Appending allocates nothing. One
// goroutine may write at a time. Any number of goroutines may read while none writes.
type Sketch struct {
	cfg Config
	intake
	op operator
}

// An operator computes the product S·A as a sum over the rows of A. The method read multiplies this sum by the
// constant factor of S.
type operator interface {
	// rows adds n dense rows of A, from row number firstRow on.
	rows(firstRow int64, n int, x []float64, ldx int, y []float64)
	// sparse adds the rows of x, from row number firstRow of A on.
	sparse(firstRow int64, x *engine.CSR, y []float64)
	// read writes [SA SY] (m×(d+t)) to out.
	read(out []float64)
	// column writes column i of S to out, which has length m.
	column(i int64, out []float64)
	// reset discards all rows and sets the seed.
	reset(seed uint64)
}

// base has the fields that all operators share.
type base struct {
	m, d, t int
	seed    uint64
	sum     []float64 // [SA SY] without the constant factor, m×(d+t)
	team    *team
}

// New returns an empty sketch. It returns an error if Rows or Dim is not positive, or if Targets, Sparsity or
// Kind is invalid. It returns [fd.ErrSize] if the buffers cannot be addressed.
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
	cfg.Backend, err = engine.OrDefault(cfg.Backend)
	if err != nil {
		return nil, err
	}
	b := base{
		m:    cfg.Rows,
		d:    cfg.Dim,
		t:    cfg.Targets,
		seed: cfg.Seed,
		team: new(team),
	}
	b.sum = make([]float64, b.m*b.width())
	s := &Sketch{cfg: cfg, intake: intake{dim: cfg.Dim, targets: cfg.Targets}}
	if cfg.Kind == SJLT {
		s.op = newSJLT(b, cfg.Sparsity)
	} else {
		s.op = newGaussian(b, cfg.Backend)
	}
	return s, nil
}

// addressable reports whether a buffer of (m+256)·(m+d+t) float64 can be addressed.
func addressable(m, d, t int) bool {
	const most = 1 << 44 // limit of each dimension, so that their sum cannot overflow
	if uint64(m) > most || uint64(d) > most || uint64(t) > most {
		return false
	}
	return vec.Addressable(uint64(m)+panelRows, uint64(m)+uint64(d)+uint64(t))
}

// width returns the number of columns of [A Y].
func (b *base) width() int { return b.d + b.t }

// row returns row r of b.sum.
func (b *base) row(r int) []float64 {
	return b.sum[r*b.width() : (r+1)*b.width()]
}

// Config returns the configuration of s with all defaults filled in.
func (s *Sketch) Config() Config { return s.cfg }

// Reset discards all rows and draws a new S from another seed, in the same memory. [Fresh] calls Reset in each
// iteration.
func (s *Sketch) Reset(seed uint64) {
	s.cfg.Seed = seed
	s.intake = intake{dim: s.cfg.Dim, targets: s.cfg.Targets}
	s.op.reset(seed)
}

// AppendRows appends n rows, stored row-major in x with leading dimension ldx ≥ Dim, and their targets y (n×t
// without gaps, or nil if there are none). It neither changes nor keeps the slices.
//
// AppendRows and AppendSparse check all rows before they append any. On a *[fd.NonFiniteError],
// *[fd.RangeError] or [ErrShape] the sketch is unchanged. In these errors, target j has the column number d+j.
func (s *Sketch) AppendRows(n int, x []float64, ldx int, y []float64) error {
	first := s.rows
	if err := s.admit(n, x, ldx, y); err != nil {
		return err
	}
	s.op.rows(first, n, x, ldx, y)
	return nil
}

// AppendSparse appends the rows of x and their targets y (n×t without gaps, or nil if there are none). Column
// indices must be below Dim. With nnz entries in x, the cost is O(m·nnz) for a Gaussian S and O(s·nnz) for an SJLT.
func (s *Sketch) AppendSparse(x *engine.CSR, y []float64) error {
	first := s.rows
	if err := s.admitSparse(x, y); err != nil {
		return err
	}
	s.op.sparse(first, x, y)
	return nil
}

// Rows returns n, the number of rows appended.
func (s *Sketch) Rows() int64 { return s.rows }

// Matrix returns SA (m×d).
func (s *Sketch) Matrix() *mat.Dense {
	return s.read(0, s.cfg.Dim)
}

// Targets returns SY (m×t), or nil if there are no targets.
func (s *Sketch) Targets() *mat.Dense {
	if s.cfg.Targets == 0 {
		return nil
	}
	return s.read(s.cfg.Dim, s.cfg.Dim+s.cfg.Targets)
}

// read returns columns lo to hi of [SA SY].
func (s *Sketch) read(lo, hi int) *mat.Dense {
	m := s.cfg.Rows
	w := s.cfg.Dim + s.cfg.Targets
	all := make([]float64, m*w)
	s.op.read(all)
	if hi-lo == w {
		return mat.NewDense(m, w, all)
	}
	return mat.DenseCopyOf(mat.NewDense(m, w, all).Slice(0, m, lo, hi))
}

// Column returns column i of S, which multiplies row i of A.
func (s *Sketch) Column(i int64) []float64 {
	column := make([]float64, s.cfg.Rows)
	s.op.column(i, column)
	return column
}
