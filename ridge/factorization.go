package ridge

import (
	"context"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/direct"
)

// A Factorization holds what a direct method has computed in its pass over the rows A: AᵀA, a QR factor of A, or
// AAᵀ with the rows. With it, the method solves at any penalty γ. More passes are necessary only if the method uses
// AAᵀ and could not keep the rows in memory. Only one goroutine may use a Factorization at a time.
type Factorization struct {
	opts ExactOptions
	once bool

	primal *primal // nil for a dual method
	system *direct.System
	dual   *dualExact
}

// Factorize makes the pass of a direct method over src. gammas lists the values of the penalty γ that will be
// solved for. A nil gammas means many γ that are not known yet. Errors are the errors of [SolveExact], except
// *[SingularError].
func Factorize(
	ctx context.Context,
	src dataset.Source,
	gammas []float64,
	opts ExactOptions,
) (*Factorization, error) {
	if src == nil {
		return nil, errNoSource
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	n, d, t := src.Dims()
	asked := opts.Method
	opts.Method = asked.For(n, d, gammas)
	for _, g := range gammas {
		if err := opts.Method.Takes(g); err != nil {
			return nil, err
		}
	}
	minimum := asked == Exact && opts.Method == QR && needsRows(n, d, t, &opts)
	if minimum {
		opts.Method = Dual
	}
	f := &Factorization{opts: opts, once: dataset.Once(src)}
	var err error
	if opts.Method.IsDual() {
		plan := dualPlan{
			gammas:       len(gammas),
			leverage:     opts.LeaveOneOut,
			preferFaster: asked == Exact && len(gammas) == 1 && !minimum,
			minimum:      minimum,
		}
		if gammas == nil {
			plan.gammas = fewGammas
		}
		f.dual, err = newDual(src, opts, plan)
		if err != nil {
			return nil, err
		}
		return f, f.dual.read(ctx, src)
	}
	f.primal, err = newPrimal(src, opts)
	if err != nil {
		return nil, err
	}
	f.system, err = f.primal.read(ctx, src)
	return f, err
}

// Solve returns the solution at every penalty γ of gammas, in order, with certificates. A method that uses AAᵀ may
// have been unable to keep the rows in memory. Solve then reads the rows again for the certificates.
//
// At γ = 0, [QR] returns the solution of smallest norm if columns are linearly dependent; see [SolveExact]. [Exact]
// uses AAᵀ instead if QR needs too much memory and there are fewer rows than columns. In all other cases, a system
// that is singular up to round-off causes a *[SingularError].
func (f *Factorization) Solve(ctx context.Context, gammas []float64) ([]*Solution, error) {
	return f.solve(ctx, gammas, wanted{coefficients: true, minimum: true})
}

// Scores returns the same solutions as Solve, but a dual method, which uses AAᵀ, returns no coefficients: every
// Target.Coef is nil. The error bounds are then for the coefficients Aᵀα, where α is the computed solution of
// (AAᵀ + γI)α = b for the target b. A solution keeps its coefficients if its certificate proves nothing, or if
// columns were projected out. A singular system is always a *[SingularError].
//
// Without coefficients, a solution for n rows takes O(n²) time for each target. See docs/math.md, Proposition 8.8.
func (f *Factorization) Scores(ctx context.Context, gammas []float64) ([]*Solution, error) {
	return f.solve(ctx, gammas, wanted{coefficients: f.opts.Projected != nil})
}

// A wanted describes the solutions that solve returns.
type wanted struct {
	coefficients bool // a dual method forms the coefficients
	minimum      bool // a minimum-norm solution replaces a SingularError
}

func (f *Factorization) solve(ctx context.Context, gammas []float64, w wanted) ([]*Solution, error) {
	if f.dual == nil && f.system == nil {
		return nil, unfit("a zero Factorization; use Factorize")
	}
	minimum := f.dual != nil && f.dual.plan.minimum
	takes := f.opts.Method
	if minimum {
		takes = QR
	}
	for _, g := range gammas {
		if err := takes.Takes(g); err != nil {
			return nil, err
		}
	}
	if minimum && !w.minimum && slices.Contains(gammas, 0) {
		return nil, &SingularError{0, Dual, -1}
	}
	if minimum {
		return f.dual.solveWithZero(ctx, gammas, 0, w.coefficients)
	}
	if f.dual != nil {
		return f.dual.solve(ctx, gammas, 0, w.coefficients, nil)
	}
	return f.primal.fits(ctx, f.system, gammas, w.minimum)
}

// Certify sets the Status of solutions from [Factorization.Solve], by ExactOptions.Tol. If AᵀA was factored,
// further passes over src correct in place the solutions with larger errors. If src can be read only once, there
// are no further passes.
func (f *Factorization) Certify(ctx context.Context, src dataset.Source, fits []*Solution) error {
	if f.opts.Tol == 0 {
		return nil
	}
	if f.primal != nil && !f.once {
		if err := f.primal.refine(ctx, src, f.system, fits); err != nil {
			return err
		}
	}
	for _, s := range fits {
		if s.Status == MinimumNorm {
			continue
		}
		s.Status = s.directStatus(f.opts.Tol)
		if f.once && s.Status == RoundOff && f.primal != nil {
			s.Status = PassLimit // more passes might have reached the tolerance
		}
	}
	return nil
}

// SetTol replaces ExactOptions.Tol for later calls of [Factorization.Certify].
func (f *Factorization) SetTol(tol float64) { f.opts.Tol = tol }

// LeaveOneOut returns the solutions of [Factorization.Solve] and the leave-one-out error of every solution and
// target, as defined at [LeaveOneOut]. It makes a pass over src. A dual method, which uses AAᵀ, ignores src and
// reads the rows only where Solve does.
//
// The leverages are computed by docs/math.md, Theorem 10.7, and by §8 for a dual method. [DualCG] with more than
// 512 rows uses Theorem 10.8. In this case, the brackets are narrow only if γ is not small, and the solutions have
// no coefficients.
//
// The factorisation must have been made with ExactOptions.LeaveOneOut. A dual method does not support
// ExactOptions.Projected. If one of these rules is broken, the error is [ErrShape]. Other errors are the errors of
// [Factorization.Solve] and [LeaveOneOut].
func (f *Factorization) LeaveOneOut(
	ctx context.Context,
	src dataset.Source,
	gammas []float64,
	opts LeaveOneOutOptions,
) ([]*Solution, *LeftOutScores, error) {
	switch {
	case !f.opts.LeaveOneOut:
		return nil, nil, unfit("%v keeps no leverages", f.opts.Method)
	case f.dual != nil && f.opts.Projected != nil:
		return nil, nil, unfit("%v has no leverages with columns without penalty", f.Method())
	case f.dual != nil:
		return f.dual.leaveOneOut(ctx, gammas, opts.Left)
	case src == nil:
		return nil, nil, errNoSource
	}
	fits, err := f.Solve(ctx, gammas)
	if err != nil {
		return nil, nil, err
	}
	scores, err := f.primal.leaveOneOut(ctx, src, f.system, fits, opts)
	return fits, scores, err
}

// Method returns the method of the factorisation.
func (f *Factorization) Method() Method {
	if f.dual != nil {
		return f.dual.method
	}
	return f.opts.Method
}

// Passes returns the number of passes over the rows so far, without the passes of [Factorization.Certify].
func (f *Factorization) Passes() int {
	if f.dual != nil {
		return f.dual.passes
	}
	return 1
}

// MeanEigenvalue returns the mean eigenvalue of AᵀA, which is ‖A‖²_F/d for rows A with d columns. For [DualCG]
// the result is an upper bound. For the zero Factorization it is 1.
func (f *Factorization) MeanEigenvalue() float64 {
	switch {
	case f.dual != nil:
		return f.dual.meanEigenvalue()
	case f.system == nil:
		return 1
	}
	return f.system.MeanEigenvalue()
}

// ColumnSquares returns the sum of squares of each column of A. For a dual method, which uses AAᵀ, it returns nil.
func (f *Factorization) ColumnSquares() []float64 {
	if f.system == nil {
		return nil
	}
	return f.system.ColumnSquares()
}

// For returns the method that [Exact] selects for n rows and d features. The argument n is −1 if the number of rows
// is unknown. The argument gammas lists the values of the penalty γ to solve for; nil means many. The first case
// that applies decides:
//
//   - If γ = 0 is among gammas: QR.
//   - With fewer rows than features: Dual.
//   - With n unknown and a d×d matrix larger than [MaxGramBytes]: Dual.
//   - For at least four values of γ: Tridiagonal.
//   - Otherwise: Cholesky.
//
// If m is Auto, the result is Cholesky. If m is any other method than Auto and Exact, the result is m.
func (m Method) For(n int64, d int, gammas []float64) Method {
	switch {
	case m == Auto:
		return Cholesky
	case m != Exact:
		return m
	case slices.Contains(gammas, 0):
		return QR
	case n >= 0 && n < int64(d), n < 0 && 8*float64(d)*float64(d) > MaxGramBytes:
		return Dual
	case gammas == nil || shouldReduce(len(gammas)):
		return Tridiagonal
	}
	return Cholesky
}

// MaxGramBytes is a limit in bytes for the d×d matrix AᵀA and the n×n matrix AAᵀ. By default, a direct method is
// chosen only if its matrix is not larger.
const MaxGramBytes = 1 << 30

// DirectBytes returns the memory in bytes that the direct method m needs, without the rows. The problem has n rows,
// d features, t targets and k values of the penalty γ. leverage is the option [ExactOptions].LeaveOneOut.
func DirectBytes(m Method, n int64, d, t, k int, leverage bool) float64 {
	if m.IsDual() {
		return dualBytes(n, d, t, m, dualPlan{gammas: k, leverage: leverage})
	}
	need := float64(direct.Bytes(d, t))
	if m == Tridiagonal {
		need = float64(direct.ReducedBytes(d, t))
	}
	if leverage {
		need += float64(direct.LeverageBytes(d, t))
	}
	return need
}

// Defaults of the options in this package.
const (
	DefaultTol       = 1e-8    // relative error to reach
	DefaultMaxPasses = 500     // number of passes
	DefaultMaxBytes  = 8 << 30 // memory in bytes
)

// LeastTol is the smallest tolerance that can always be certified. Rounding the coefficients to float64 changes
// them by up to 2⁻⁵³ of their norm. The certified bound is up to an eighth larger than this change.
const LeastTol = 9 * 0x1p-56
