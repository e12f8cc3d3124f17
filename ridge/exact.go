package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// ExactOptions are the options of [SolveExact] and [Factorize]. The zero value is the default.
type ExactOptions struct {
	// Method is Cholesky (the default), QR, Tridiagonal, Dual, DualCG or Exact. Exact selects one of the others,
	// see [Method.For].
	Method    Method
	Intercept bool           // fit an intercept for each target, unpenalised
	Backend   engine.Backend // nil is engine.Default()
	MaxBytes  uint64         // memory limit in bytes; 0 means 8 GiB
	// Tol is the relative error to reach. If the error bound of a solution is larger, up to five more passes
	// correct the solution. If it still misses Tol, its Status is [RoundOff], but no error is returned. If Tol is
	// 0, no corrections are made, except that Dual and DualCG aim at 1e-12.
	Tol float64
	// LeaveOneOut allows a call of [Factorization.LeaveOneOut].
	LeaveOneOut bool
	RowErrors
	Progress func(rows int64) // if not nil, called with the number of rows read so far
}

// complete fills in the defaults.
func (o *ExactOptions) complete() error {
	if o.Method != Auto && !o.Method.IsDirect() {
		return errtext.BadInput("ridge: %v is not a direct method", o.Method)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	var err error
	o.Backend, err = engine.OrDefault(o.Backend)
	return err
}

// A SizeError reports that a direct fit needs more memory than the options allow.
type SizeError struct {
	Dim          int    // d
	Rows         int64  // n, if the n×n matrix AAᵀ or the rows are too large; else 0
	Bytes, Limit uint64 // memory needed and allowed, in bytes
}

func (e *SizeError) Error() string {
	if e.Rows > 0 {
		return fmt.Sprintf(
			"ridge: a dual fit of %d rows of %d features needs %d bytes for its rows and n×n matrices, but the "+
				"limit is %d: use Solve, or raise MaxBytes",
			e.Rows,
			e.Dim,
			e.Bytes,
			e.Limit,
		)
	}
	return fmt.Sprintf(
		"ridge: an exact fit of %d features needs %d bytes for its d×d matrices, but the limit is %d: use Solve, "+
			"or raise MaxBytes",
		e.Dim,
		e.Bytes,
		e.Limit,
	)
}

// Is reports whether target is [ErrInput].
func (e *SizeError) Is(target error) bool { return target == ErrInput }

// A SingularError reports a linear system that is singular up to round-off, so that it cannot be solved.
type SingularError struct {
	Gamma  float64
	Method Method
	// Column is the number of a feature, from 0. Up to round-off, this feature is a linear combination of the
	// features before it. Column is −1 if no such feature is known.
	Column int
}

func (e *SingularError) Error() string {
	where, advice := "", "use a larger gamma"
	if e.Column >= 0 {
		where = fmt.Sprintf(": feature %d depends on those before it", e.Column+1)
	}
	if e.Method != QR {
		advice += ", or QR, which does not square the condition number"
	}
	return fmt.Sprintf(
		"ridge: %s: the system is numerically singular at gamma = %v%s; %s",
		e.Method,
		e.Gamma,
		where,
		advice,
	)
}

// Is reports whether target is [ErrInput].
func (e *SingularError) Is(target error) bool { return target == ErrInput }

// SolveExact solves ridge regression directly for every γ of gammas, after one pass over src. It calls [Factorize],
// [Factorization.Solve] and [Factorization.Certify]. A factorisation of AᵀA takes O((d+t)²) memory and O(nd²)
// time, for n rows, d features and t targets. Each γ takes O(d³) time in addition. With [Tridiagonal], the O(d³)
// time is spent only once.
//
// For an intercept, the rows are centred as they are read. γ = 0 is the least-squares problem; use [QR] for it. If
// columns depend on others, up to round-off, or if there are fewer rows than columns, QR returns the least-squares
// solution of smallest norm. This solution is the limit of the ridge solution as γ → 0. Its Status is
// [MinimumNorm]. In these cases, the other methods return a *[SingularError]. [Exact] is an exception: with fewer rows
// than columns, it finds the same solution from AAᵀ if QR needs more than [MaxGramBytes] or MaxBytes. This takes
// O(n² + n + d) memory besides the rows.
//
// Errors of src are returned unchanged. Other errors:
//
//   - [ErrEmpty], [ErrShape] and *[SingularError].
//   - *[GammaError] for a γ that is negative or not finite.
//   - *[SizeError], before anything is allocated.
//   - *[fd.NonFiniteError] for entries that are not finite.
//   - *[fd.RangeError] for squares that sum to more than 2⁹⁹⁸.
//
// Sources: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), chapters 8, 10, 19, 20; J. Demmel
// et al., "Communication-optimal parallel and sequential QR and LU factorizations" (2012), for the streamed QR.
func SolveExact(
	ctx context.Context,
	src dataset.Source,
	gammas []float64,
	opts ExactOptions,
) ([]*Solution, error) {
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

// A primal is the state of a direct fit by AᵀA or by a QR factorisation of A.
type primal struct {
	d, t   int
	opts   ExactOptions
	stage  *rows.Stage
	stream *direct.Stream

	reduction *direct.Reduction // nil except for Tridiagonal
	known     *certify.Known    // for the certificates of leave-one-out errors; nil until these are needed
	sparse    bool              // some rows are sparse
}

// newPrimal prepares a factorisation of AᵀA.
func newPrimal(src dataset.Source, opts ExactOptions) (*primal, error) {
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	if opts.Rounding != nil && len(opts.Rounding) != d {
		return nil, fmt.Errorf("%w: the rounding of %d features, the rows have %d", errShape, len(opts.Rounding), d)
	}
	need := DirectBytes(opts.Method, 0, d, t, 1, opts.LeaveOneOut)
	if need > float64(opts.MaxBytes) {
		return nil, &SizeError{
			Dim:   d,
			Bytes: uint64(math.Min(need, math.MaxInt64)),
			Limit: opts.MaxBytes,
		}
	}
	factor := direct.NewCholesky
	switch opts.Method {
	case Cholesky:
	case QR:
		factor = direct.NewQR
	case Tridiagonal:
		factor = direct.NewTridiagonal
	default:
		return nil, errtext.BadInput("ridge: unknown %v", opts.Method)
	}
	return &primal{
		d:      d,
		t:      t,
		opts:   opts,
		stage:  rows.NewStage(d, t, opts.Intercept),
		stream: direct.NewStream(d, t, factor(opts.Backend, d, t, opts.LeaveOneOut)),
	}, nil
}

// read makes the pass over src and returns the system with AᵀA or the QR factor.
func (e *primal) read(ctx context.Context, src dataset.Source) (*direct.System, error) {
	var err error
	e.sparse, err = e.stream.Read(ctx, src, e.stage, e.opts.Progress)
	if err != nil {
		return nil, err
	}
	if err := checkRows(e.stage.Rows, e.stage.Weight.Value()); err != nil {
		return nil, err
	}
	return e.stream.Close(e.stage, e.opts.Intercept, e.opts.projection(), e.opts.Rounding, e.opts.Backend), nil
}

// rankBound returns an upper bound on the rank of A: the number n of rows, or n − 1 if the rows are centred.
func (e *primal) rankBound() int64 {
	if e.opts.Intercept {
		return e.stage.Rows - 1
	}
	return e.stage.Rows
}

// isUnderdetermined reports whether the solution at gamma is not unique because there are too few rows.
func (e *primal) isUnderdetermined(gamma float64) bool {
	return gamma == 0 && e.rankBound() < int64(e.d)
}

// fits returns the solutions at all gammas. At γ = 0, columns may be linearly dependent. QR then returns the
// solution of smallest norm if minimum is true, and an error otherwise.
func (e *primal) fits(
	ctx context.Context,
	system *direct.System,
	gammas []float64,
	minimum bool,
) ([]*Solution, error) {
	if e.opts.Method == Tridiagonal {
		return e.tridiagonal(ctx, system, gammas)
	}
	fits := make([]*Solution, 0, len(gammas))
	for _, g := range gammas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := e.fit(system, g, e.opts.Method)
		if minimum &&
			e.opts.Method == QR &&
			g == 0 &&
			(err != nil || math.IsInf(f.WorstError(), 1)) {
			if least := e.minimumNorm(system); least != nil {
				f, err = least, nil
			}
		}
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// minimumNorm returns the least-squares solution of smallest norm. It returns nil if the columns are linearly
// independent.
func (e *primal) minimumNorm(system *direct.System) *Solution {
	found, dependent := system.MinimumNorm()
	if dependent == nil ||
		slices.ContainsFunc(found.X, func(v float64) bool { return v-v != 0 }) {
		return nil
	}
	weights, df := certify.Dependent(system.Evidence(), found)
	f := e.newSolution(system.Evidence(), found, df, weights, QR)
	f.Status = MinimumNorm
	f.Rank = e.d - len(dependent)
	for _, c := range dependent {
		f.Dependent = append(f.Dependent, Dependence(c))
	}
	return f
}

// fit factors the system for one γ.
func (e *primal) fit(system *direct.System, gamma float64, factor Method) (*Solution, error) {
	if e.isUnderdetermined(gamma) {
		return nil, &SingularError{
			gamma,
			e.opts.Method,
			int(e.rankBound()),
		} // the first rankBound()+1 features are dependent
	}
	found, column := system.Solve(gamma)
	if found == nil {
		return nil, &SingularError{gamma, e.opts.Method, column}
	}
	return e.solution(system.Evidence(), found, factor), nil
}

// solution certifies found and reports factor as its method.
func (e *primal) solution(rows *certify.Streamed, found *certify.Factored, factor Method) *Solution {
	weights, df := certify.Direct(rows, found)
	return e.newSolution(rows, found, df, weights, factor)
}

// newSolution returns the solution with the coefficients in found and the bounds in weights.
func (e *primal) newSolution(
	rows *certify.Streamed,
	found *certify.Factored,
	df interval.Interval,
	weights []certify.Weights,
	factor Method,
) *Solution {
	f := &Solution{Outcome: Outcome{
		Gamma:              found.Gamma,
		EffectiveDimension: Interval(df),
		Method:             factor,
		Backend:            e.opts.Backend.Name(),
		Rows:               rows.Rows,
		Passes:             1,
		Status:             Factorized,
	}}
	for j, w := range weights {
		coef := found.X[j*e.d:][:e.d:e.d]
		weight := e.stage.Weight.Value()
		f.Targets = append(f.Targets, newTarget(coef, rows.TSS[j], weight, w))
	}
	return f
}
