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

// ExactOptions are the options of [SolveExact] and [Factorize]; the zero value is the default.
type ExactOptions struct {
	Method    Method         // Cholesky (the default), QR, Tridiagonal, Dual, DualCG, or Exact: see [Method.For]
	Intercept bool           // fit an intercept for each target, unpenalised
	Backend   engine.Backend // nil is engine.Default()
	MaxBytes  uint64         // refuse to allocate more; 0 means 8 GiB
	// Tol is the relative error to be certified where that is possible: fits that are known
	// to less are corrected by one more pass, or a few, that measure gradients with twice the
	// digits. Those that are not certified to it have the Status [RoundOff], which is no error
	// of [SolveExact]. 0 is what one pass certifies, for Dual 1e-12 where that is possible.
	Tol float64
	// Beside is the memory in bytes that the caller takes at the same time. It counts towards MaxBytes.
	Beside uint64
	// LeaveOneOut makes Dual keep what [Factorization.LeaveOneOut] needs.
	LeaveOneOut bool
	Progress    func(rows int64) // if not nil, is told the rows read so far
}

// complete fills in the defaults.
func (o *ExactOptions) complete() error {
	if o.Method != Auto && !o.Method.IsDirect() {
		return badinput.Errorf("ridge: %v is not a direct method", o.Method)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
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
	Method Method
	// Column is a feature, from 0, that depends on those before it: the first as far as
	// round-off tells, where there are rows enough. -1: unknown.
	Column int
}

func (e *SingularError) Error() string {
	where, advice := "", "use a larger gamma"
	if e.Column >= 0 {
		where = fmt.Sprintf(": feature %d depends on those before it", e.Column+1)
	}
	if e.Method != QR {
		advice += ", or QR, which squares no condition number"
	}
	return fmt.Sprintf("ridge: %s: the system is numerically singular at gamma = %v%s; %s", e.Method, e.Gamma, where, advice)
}

// Is tells that it is [ErrInput].
func (e *SingularError) Is(target error) bool { return target == ErrInput }

// SolveExact solves ridge regression for every γ of gammas by a direct factorisation, after one pass over src. It is
// [Factorize], [Factorization.Solve] and [Factorization.Certify]. It takes O((d+t)²) memory and O(nd²) time, and O(d³)
// more for each γ or, by [Tridiagonal], for all of them.
//
// The system solved is that of the data as read: for an intercept the rows are centred in the stream. γ = 0 is
// least squares. It needs independent columns and at least d rows, d+1 with an intercept; use [QR] for it. Every bound of the
// certificates follows from computed residuals and from bounds on round-off alone.
//
// Errors: those of src; [ErrEmpty]; [ErrShape]; *[GammaError] for a γ that is negative or not finite; *[SizeError] before
// anything is allocated; *[SingularError]; *[fd.NonFiniteError] and *[fd.RangeError] for entries that are not finite or whose
// squares sum to more than 2⁹⁹⁸.
//
// Sources: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), chapters 8, 10, 19, 20; J. Demmel et
// al., "Communication-optimal parallel and sequential QR and LU factorizations" (2012), for the streamed QR.
func SolveExact(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions) ([]*Solution, error) {
	ctx = background.IfNil(ctx)
	f, err := Factorize(ctx, src, gammas, opts)
	if err != nil {
		return nil, err
	}
	fits, err := f.Solve(ctx, gammas)
	if err != nil {
		return nil, err
	}
	return fits, f.Certify(ctx, src, fits)
}

// primal is a direct fit through K = AᵀA under way.
type primal struct {
	d, t   int
	opts   ExactOptions
	stage  *rows.Stage
	stream *direct.Stream

	reduction *direct.Reduction // nil but for Tridiagonal
}

// newPrimal prepares a factorisation of AᵀA.
func newPrimal(src dataset.Source, opts ExactOptions) (*primal, error) {
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	if need := DirectBytes(opts.Method, 0, d, t, 1, false) + float64(opts.Beside); need > float64(opts.MaxBytes) {
		return nil, &SizeError{Dim: d, Bytes: uint64(math.Min(need, math.MaxInt64)), Limit: opts.MaxBytes}
	}
	factor := direct.NewCholesky
	switch opts.Method {
	case Cholesky:
	case QR:
		factor = direct.NewQR
	case Tridiagonal:
		factor = direct.NewTridiagonal
	default:
		return nil, badinput.Errorf("ridge: unknown %v", opts.Method)
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
	if err := rows.CheckCount(n, e.stage.Rows); err != nil {
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
	if e.opts.Method == Tridiagonal {
		return e.tridiagonal(ctx, system, gammas)
	}
	fits := make([]*Solution, 0, len(gammas))
	for _, g := range gammas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := e.fit(system, g, e.opts.Method)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// fit solves for one γ by a factor of its own.
func (e *primal) fit(system *direct.System, gamma float64, factor Method) (*Solution, error) {
	if e.short(gamma) {
		return nil, &SingularError{gamma, e.opts.Method, int(e.rankBound())} // of r+1 features one depends on the others
	}
	found, column := system.Solve(gamma)
	if found == nil {
		return nil, &SingularError{gamma, e.opts.Method, column}
	}
	return e.solution(system.Evidence(), found, factor), nil
}

// solution is what was found, with its bounds.
func (e *primal) solution(rows *certify.Streamed, found *certify.Factored, factor Method) *Solution {
	weights, df := certify.Direct(rows, found)
	f := &Solution{Outcome: Outcome{
		Gamma: found.Gamma, EffectiveDimension: Interval(df),
		Method: factor, Backend: e.opts.Backend.Name(), Rows: rows.Rows, Passes: 1,
		Status: Factorized,
	}}
	for j, w := range weights {
		f.Targets = append(f.Targets, newTarget(found.X[j*e.d:][:e.d:e.d], rows.TSS[j], w))
	}
	return f
}
