package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
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
	// Tridiagonal streams K and c, and reduces K to tridiagonal form once, K = QTQᵀ: as long
	// as some Cholesky decompositions take, after which a γ costs next to nothing. The error
	// grows with the condition number of H, relative to ‖K‖. For a γ so small that this
	// says too little H is factored by Cholesky, as it is where the columns are so far apart
	// in size that this certifies more; Solution.Method says which.
	Tridiagonal
	// Dual keeps the rows in memory and factors G + γI, G = AAᵀ being n×n: for fewer rows n
	// than features, of which it takes no d² numbers, and of sparse rows no n·d. The certificate
	// is of what is measured at the weights, with twice the digits, and depends on no factor. It
	// needs a positive γ.
	Dual
	// DualCG is Dual by conjugate gradients on sparse rows, in n·z flops a step for z entries a row,
	// and without G. The certificate is the same, but effective dimension and GCV are hardly
	// known. Where it would take longer than a factor, and of rows that are not sparse, it is Dual.
	DualCG
)

// String is the method's name in [Solution].
func (f Factor) String() string {
	switch f {
	case Cholesky:
		return "cholesky"
	case QR:
		return "qr"
	case Tridiagonal:
		return "tridiagonal"
	case Dual:
		return "dual"
	case DualCG:
		return "dual-cg"
	}
	return fmt.Sprintf("Factor(%d)", int(f))
}

// ExactOptions are the options of [Exact]; the zero value is the default.
type ExactOptions struct {
	Factor    Factor         // default Cholesky
	Intercept bool           // fit an intercept for each target, unpenalised
	Backend   engine.Backend // nil is engine.Default()
	MaxBytes  uint64         // refuse to allocate more; 0 means 8 GiB
	// Tol is the relative error to be certified where that is possible: fits that are known
	// to less are corrected by one more pass, or a few, that measure gradients with twice the
	// digits. Those that are not certified to it have the Status [RoundOff], which is no error
	// of Exact. 0 is what one pass certifies, for Dual 1e-12 where that is possible.
	Tol      float64
	Progress func(rows int64) // if not nil, is told the rows read so far
}

// complete fills in the defaults.
func (o *ExactOptions) complete() error {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return err
		}
		o.Backend = be
	}
	return nil
}

// A SizeError reports an exact fit that needs more memory than it may take.
type SizeError struct {
	Dim          int    // d
	Rows         int64  // n where n² numbers are at issue, or the rows themselves; else 0
	Bytes, Limit uint64 // needed and allowed
}

func (e *SizeError) Error() string {
	if e.Rows > 0 {
		return fmt.Sprintf("ridge: a dual fit of %d rows of %d features needs %d bytes for its rows and n×n matrices, the limit is %d: use Solve, or raise MaxBytes",
			e.Rows, e.Dim, e.Bytes, e.Limit)
	}
	return fmt.Sprintf("ridge: an exact fit of %d features needs %d bytes for its d×d matrices, the limit is %d: use Solve, or raise MaxBytes",
		e.Dim, e.Bytes, e.Limit)
}

// Is tells that it is [ErrInput].
func (e *SizeError) Is(target error) bool { return target == ErrInput }

// A SingularError reports a system that cannot be solved at working precision.
type SingularError struct {
	Gamma  float64
	Method string
	// Column is a feature, from 0, that depends on those before it: the first as far as
	// round-off tells, where there are rows enough. -1: unknown.
	Column int
}

func (e *SingularError) Error() string {
	where, advice := "", "use a larger gamma"
	if e.Column >= 0 {
		where = fmt.Sprintf(": feature %d depends on those before it", e.Column+1)
	}
	if e.Method != QR.String() {
		advice += ", or QR, which squares no condition number"
	}
	return fmt.Sprintf("ridge: %s: the system is numerically singular at gamma = %v%s; %s", e.Method, e.Gamma, where, advice)
}

// Is tells that it is [ErrInput].
func (e *SingularError) Is(target error) bool { return target == ErrInput }

// Exact solves ridge regression for every γ of gammas by a direct factorisation,
// after one pass over src. It takes O((d+t)²) memory and O(nd²) time, and O(d³)
// more for each γ or, by [Tridiagonal], for all of them.
//
// The system solved is that of the data as read: for an intercept the rows are
// centred in the stream. γ = 0 is admitted and is least squares; it needs
// independent columns, for which there must be rows enough, one more with an intercept, and
// better [QR]. Every bound of the certificates is made of computed residuals and of bounds on
// round-off alone.
//
// Errors: those of src; [ErrEmpty]; [ErrShape]; *[GammaError] for a γ that is
// negative or not finite; *[SizeError] before anything is allocated;
// *[SingularError]; *[fd.NonFiniteError] and *[fd.RangeError] for entries that
// are not finite or whose squares sum to more than 2⁹⁹⁸.
//
// Sources: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.
// (2002), chapters 8, 10, 19, 20; J. Demmel et al., "Communication-optimal
// parallel and sequential QR and LU factorizations" (2012), for the streamed QR.
func Exact(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions) ([]*Solution, error) {
	ctx = background.IfNil(ctx)
	fits, _, err := exact(ctx, src, gammas, opts, false)
	return fits, err
}

// exact is Exact, with [Result.ColumnSpread]. sooner says that Dual may be DualCG where that takes less
// time.
func exact(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions, sooner bool) (fits []*Solution, apart float64, err error) {
	if src == nil {
		return nil, 0, errNoSource
	}
	for _, g := range gammas {
		if !(g >= 0) || math.IsInf(g, 0) || g == 0 && opts.Factor.dual() {
			return nil, 0, &GammaError{g, opts.Factor.String()}
		}
	}
	if opts.Factor.dual() {
		fits, err = exactByRows(ctx, src, gammas, opts, sooner)
		return fits, 0, err
	}
	e, err := newExact(src, opts, 0)
	if err != nil {
		return nil, 0, err
	}
	system, err := e.read(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	fits, err = e.fits(ctx, system, gammas)
	if err != nil {
		return nil, 0, err
	}
	if opts.Tol > 0 {
		once := dataset.Once(src)
		if !once {
			if err := e.refine(ctx, src, system, fits); err != nil {
				return nil, 0, err
			}
		}
		for _, f := range fits {
			if f.Status = f.directStatus(opts.Tol); once {
				f.Status = onceStatus(f.Status)
			}
		}
	}
	return fits, spread(system.ColumnSquares(), 0), nil
}

// primal is a direct fit through K = AᵀA under way.
type primal struct {
	d, t   int
	opts   ExactOptions
	stage  *rows.Stage
	stream *direct.Stream

	reduction *direct.Reduction // nil but for Tridiagonal
}

// newExact begins a direct fit. beside is the memory that is taken beside it.
func newExact(src dataset.Source, opts ExactOptions, beside uint64) (*primal, error) {
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = defaultMaxBytes
	}
	if need := exactBytes(d, t, opts.Factor == Tridiagonal); need > opts.MaxBytes || beside > opts.MaxBytes-need {
		if need += beside; need < beside { // beyond all numbers
			need = math.MaxUint64
		}
		return nil, &SizeError{Dim: d, Bytes: need, Limit: opts.MaxBytes}
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	factor := direct.NewCholesky
	switch opts.Factor {
	case Cholesky:
	case QR:
		factor = direct.NewQR
	case Tridiagonal:
		factor = direct.NewTridiagonal
	default:
		return nil, badinput.Errorf("ridge: unknown %v", opts.Factor)
	}
	return &primal{d: d, t: t, opts: opts, stage: rows.NewStage(d, t, opts.Intercept), stream: direct.NewStream(d, t, factor(opts.Backend, d, t))}, nil
}

// read makes the pass.
func (e *primal) read(ctx context.Context, src dataset.Source) (*direct.System, error) {
	n, _, _ := src.Dims()
	var raw float64 // sum of squares of all that was read, against overflow
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if raw, err = rows.CheckBlock(b, e.d, e.t, int(e.stage.Rows), raw); err != nil {
			return nil, err
		}
		if e.stage.Overflows(b) {
			return nil, &fd.RangeError{Row: int(e.stage.Rows) + b.N - 1}
		}
		for lo := 0; lo < b.N; lo += roundoff.StageRows {
			e.stream.Append(e.stage.Load(e.stage.Cut(b, lo, min(lo+roundoff.StageRows, b.N)), false))
		}
		if e.opts.Progress != nil {
			e.opts.Progress(e.stage.Rows)
		}
	}
	if err := checkCount(n, e.stage.Rows); err != nil {
		return nil, err
	}
	if err := checkRows(e.stage.Rows, e.stage.Weight.Value()); err != nil {
		return nil, err
	}
	return e.stream.Close(e.stage, e.opts.Intercept, e.opts.Backend), nil
}

// rankBound bounds the rank of the rows by their number, which centring takes one from.
func (e *primal) rankBound() int64 {
	if e.opts.Intercept {
		return e.stage.Rows - 1
	}
	return e.stage.Rows
}

// short says that there are too few rows for least squares.
func (e *primal) short(gamma float64) bool { return gamma == 0 && e.rankBound() < int64(e.d) }

// fits solves for all γ.
func (e *primal) fits(ctx context.Context, system *direct.System, gammas []float64) ([]*Solution, error) {
	if e.opts.Factor == Tridiagonal {
		return e.tridiagonal(ctx, system, gammas)
	}
	fits := make([]*Solution, 0, len(gammas))
	for _, g := range gammas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := e.fit(system, g, e.opts.Factor)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// fit solves for one γ by a factor of its own.
func (e *primal) fit(system *direct.System, gamma float64, factor Factor) (*Solution, error) {
	if e.short(gamma) {
		return nil, &SingularError{gamma, e.opts.Factor.String(), int(e.rankBound())} // of r+1 features one depends on the others
	}
	found, column := system.Solve(gamma)
	if found == nil {
		return nil, &SingularError{gamma, e.opts.Factor.String(), column}
	}
	return e.solution(system.Evidence(), found, factor), nil
}

// solution is what was found, with its bounds.
func (e *primal) solution(rows *certify.Streamed, found *certify.Factored, factor Factor) *Solution {
	weights, df := certify.Direct(rows, found)
	f := &Solution{
		Gamma: found.Gamma, EffectiveDimension: Interval(df),
		Method: factor.String(), Backend: e.opts.Backend.Name(), Rows: rows.Rows, Passes: 1,
		Status: Factorized,
	}
	for j, w := range weights {
		f.Targets = append(f.Targets, newTarget(found.X[j*e.d:][:e.d:e.d], rows.TSS[j], w))
	}
	return f
}
