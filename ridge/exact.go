package ridge

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Factor is what [Exact] factors.
type Factor int

const (
	// Cholesky streams K = AᵀA and c = AᵀY and factors H = K + γI = LLᵀ. The
	// error grows with the condition number of H.
	Cholesky Factor = iota
	// QR streams the triangular factor of [A Y] and, for each γ, factors it once
	// more with √γ·I below. The error grows with the condition number of A, the
	// square root of H's, plus the latter times the residual; it takes about four
	// times as long. It is the one to use for γ = 0 and for hard data.
	QR
)

// String is the method's name in [Fit].
func (f Factor) String() string {
	switch f {
	case Cholesky:
		return "cholesky"
	case QR:
		return "qr"
	}
	return fmt.Sprintf("Factor(%d)", int(f))
}

// ExactOptions are the options of [Exact]; the zero value is the default.
type ExactOptions struct {
	Factor    Factor           // default Cholesky
	Intercept bool             // fit an intercept for each target, unpenalised
	Backend   engine.Backend   // nil is engine.Default()
	MaxBytes  uint64           // refuse to allocate more; 0 means 8 GiB
	Progress  func(rows int64) // if not nil, is told the rows read so far
}

// A SizeError reports an exact fit that needs more memory than it may take.
type SizeError struct {
	Dim          int    // d
	Bytes, Limit uint64 // needed and allowed
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("ridge: an exact fit of %d features needs %d bytes for its d×d matrices, the limit is %d: use Solve, or raise MaxBytes",
		e.Dim, e.Bytes, e.Limit)
}

// A SingularError reports a system that cannot be solved at working precision.
type SingularError struct {
	Gamma  float64
	Method string
	Column int // the first feature that depends on those before it; -1 unknown
}

func (e *SingularError) Error() string {
	where, advice := "", "use a larger gamma"
	if e.Column >= 0 {
		where = fmt.Sprintf(": feature %d (0-based) depends on those before it", e.Column)
	}
	if e.Method == Cholesky.String() {
		advice += ", or QR, which squares no condition number"
	}
	return fmt.Sprintf("ridge: %s: the system is numerically singular at gamma = %v%s; %s", e.Method, e.Gamma, where, advice)
}

// A factorization takes in the rows of [A Y], q = d+t wide, and solves for any γ
// afterwards.
type factorization interface {
	// buffer is where rows are written before they are folded.
	buffer() []float64
	// fold takes in the first m rows of the buffer.
	fold(m int)
	// columns ends the folding and returns the norms of the columns of [A Y].
	columns() []float64
	// solve is nil, and the column at fault, for a system too close to singular.
	solve(gamma float64) (s *solution, column int)
}

// Exact solves ridge regression for every γ of gammas by a direct factorisation,
// after one pass over src. It takes O((d+t)²) memory and O(nd²) time, and O(d³)
// more for each γ.
//
// The system solved is that of the data as read: for an intercept the rows are
// centred in the stream. γ = 0 is admitted and is least squares; it needs
// independent columns, and better [QR]. Every bound of the certificates is made
// of computed residuals and of bounds on round-off alone.
//
// Errors: those of src; [ErrEmpty]; [ErrShape]; *[GammaError] for a γ that is
// negative or not finite; *[SizeError] before anything is allocated;
// *[SingularError]; *[fd.NonFiniteError] and *[fd.RangeError] for entries that
// are not finite or whose squares sum to more than 2⁹⁹⁸.
//
// Sources: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.
// (2002), chapters 8, 10, 19, 20; J. Demmel et al., "Communication-optimal
// parallel and sequential QR and LU factorizations" (2012), for the streamed QR.
func Exact(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions) ([]*Fit, error) {
	for _, g := range gammas {
		if !(g >= 0) || math.IsInf(g, 0) {
			return nil, &GammaError{g, opts.Factor.String()}
		}
	}
	e, err := newExact(src, opts)
	if err != nil {
		return nil, err
	}
	if err := e.read(ctx, src); err != nil {
		return nil, err
	}
	fits := make([]*Fit, 0, len(gammas))
	for _, g := range gammas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := e.fit(g)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// exact is an exact fit under way.
type exact struct {
	d, t  int
	opts  ExactOptions
	be    engine.Backend
	f     factorization
	stage *stage

	fill int     // rows waiting in the factorization's buffer
	raw  float64 // sum of squares of all that was read, against overflow
	tss  []neumaier.Sum

	col []float64 // ‖column‖ of the staged [A Y]
}

func newExact(src dataset.Source, opts ExactOptions) (*exact, error) {
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", ErrShape, d, t)
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 8 << 30
	}
	if need := exactBytes(d, t); need > opts.MaxBytes {
		return nil, &SizeError{d, need, opts.MaxBytes}
	}
	be := opts.Backend
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	e := &exact{d: d, t: t, opts: opts, be: be, stage: newStage(d, t, opts.Intercept), tss: make([]neumaier.Sum, t)}
	switch opts.Factor {
	case Cholesky:
		e.f = newNormalEquations(be, d, t)
	case QR:
		e.f = newTSQR(be, d, t)
	default:
		return nil, fmt.Errorf("ridge: unknown %v", opts.Factor)
	}
	return e, nil
}

// exactBytes is the memory of either factorization, about 3(d+t)² numbers, or
// the largest integer where that is more.
func exactBytes(d, t int) uint64 {
	q := uint64(d) + uint64(t)
	if q >= 1<<58 {
		return math.MaxUint64
	}
	hi, lo := bits.Mul64(q, 8*(3*q+2*stageRows))
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// read makes the pass.
func (e *exact) read(ctx context.Context, src dataset.Source) error {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.raw, err = checkBlock(b, e.d, e.t, int(e.stage.rows), e.raw); err != nil {
			return err
		}
		if e.stage.overflows(b) {
			return &fd.RangeError{Row: int(e.stage.rows) + b.N - 1}
		}
		var view engine.CSR
		for lo := 0; lo < b.N; lo += stageRows {
			e.append(e.stage.load(b.Cut(lo, min(lo+stageRows, b.N), e.d, e.t, &view)))
		}
		if e.opts.Progress != nil {
			e.opts.Progress(e.stage.rows)
		}
	}
	if e.stage.rows == 0 {
		return ErrEmpty
	}
	if e.fill > 0 {
		e.f.fold(e.fill)
	}
	e.col = e.f.columns()
	return nil
}

// append puts staged rows into the buffer, folding it whenever it is full.
// Sparse rows are written out: the factorizations are dense.
func (e *exact) append(st staged) {
	buf, q := e.f.buffer(), e.d+e.t
	for i := range st.n {
		row, y := buf[e.fill*q:(e.fill+1)*q], st.y[i*e.t:(i+1)*e.t]
		if st.sparse != nil {
			clear(row)
			idx, val := st.sparse.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
		} else {
			copy(row, st.x[i*e.d:(i+1)*e.d])
		}
		copy(row[e.d:], y)
		for j, v := range y {
			e.tss[j].Add(v * v)
		}
		if e.fill++; (e.fill+1)*q > len(buf) {
			e.f.fold(e.fill)
			e.fill = 0
		}
	}
}

// fit solves for one γ.
func (e *exact) fit(gamma float64) (*Fit, error) {
	s, column := e.f.solve(gamma)
	if s == nil {
		return nil, &SingularError{gamma, e.opts.Factor.String(), column}
	}
	for _, v := range s.x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &SingularError{gamma, e.opts.Factor.String(), -1}
		}
	}
	f := &Fit{
		Gamma: gamma, Coef: mat.NewDense(e.t, e.d, s.x), Intercept: make([]float64, e.t),
		TSS:    make([]float64, e.t),
		Method: e.opts.Factor.String(), Backend: e.be.Name(), Rows: e.stage.rows, Passes: 1,
		Stop: "direct factorisation",
	}
	mean := e.stage.means()
	for j := range e.t {
		f.TSS[j] = e.tss[j].Value()
		if e.opts.Intercept {
			f.Intercept[j] = mean[e.d+j] - vec.Dot(s.x[j*e.d:(j+1)*e.d], mean[:e.d])
		}
	}
	f.Certificate = e.certificate(s)
	return f, nil
}
