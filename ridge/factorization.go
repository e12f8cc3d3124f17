package ridge

import (
	"context"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge/internal/direct"
)

// A Factorization holds what one pass keeps of the rows for a direct method: AᵀA, its QR factor, or the rows and AAᵀ. It
// solves at any γ. One goroutine may use it at a time.
type Factorization struct {
	opts ExactOptions
	once bool

	primal *primal // nil for a dual method
	system *direct.System
	dual   *dualExact
}

// Factorize makes the pass of a direct method over src. gammas are the γ that will be solved for; nil stands for many that
// are not known yet. Errors are those of [SolveExact], but for *[SingularError].
func Factorize(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions) (*Factorization, error) {
	ctx = background.IfNil(ctx)
	if src == nil {
		return nil, errNoSource
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	n, d, _ := src.Dims()
	asked := opts.Method
	opts.Method = asked.For(n, d, gammas)
	for _, g := range gammas {
		if err := opts.Method.Takes(g); err != nil {
			return nil, err
		}
	}
	f := &Factorization{opts: opts, once: dataset.Once(src)}
	var err error
	if opts.Method.IsDual() {
		plan := dualPlan{gammas: len(gammas), leverage: opts.LeaveOneOut, sooner: asked == Exact && len(gammas) == 1}
		if gammas == nil {
			plan.gammas = fewGammas
		}
		if f.dual, err = newDual(src, opts, plan); err != nil {
			return nil, err
		}
		return f, f.dual.read(ctx, src)
	}
	if f.primal, err = newPrimal(src, opts); err != nil {
		return nil, err
	}
	f.system, err = f.primal.read(ctx, src)
	return f, err
}

// Solve returns the solution at every γ of gammas, in their order, certified as far as the pass allows; a dual method measures
// them, too. A system that is singular to working precision is a *[SingularError].
func (f *Factorization) Solve(ctx context.Context, gammas []float64) ([]*Solution, error) {
	ctx = background.IfNil(ctx)
	if f.dual == nil && f.system == nil {
		return nil, unfit("a factorization that Factorize did not make")
	}
	for _, g := range gammas {
		if err := f.opts.Method.Takes(g); err != nil {
			return nil, err
		}
	}
	if f.dual != nil {
		return f.dual.solve(ctx, gammas)
	}
	return f.primal.fits(ctx, f.system, gammas)
}

// Certify sets the Status of solutions of [Factorization.Solve]. If ExactOptions.Tol is given and a factorisation of AᵀA certifies
// less, further passes over src measure gradients with twice the digits and correct the solutions in place. A source that
// can be read once is not read again.
func (f *Factorization) Certify(ctx context.Context, src dataset.Source, fits []*Solution) error {
	ctx = background.IfNil(ctx)
	if f.opts.Tol == 0 {
		return nil
	}
	if f.primal != nil && !f.once {
		if err := f.primal.refine(ctx, src, f.system, fits); err != nil {
			return err
		}
	}
	for _, s := range fits {
		s.Status = s.directStatus(f.opts.Tol)
		if f.once && s.Status == RoundOff && f.primal != nil {
			s.Status = PassLimit // further passes might have corrected it
		}
	}
	return nil
}

// LeaveOneOut is [Factorization.Solve] with the leave-one-out error of every solution and target, as [LeaveOneOut] defines it.
// It is for Dual, with ExactOptions.LeaveOneOut, and reads no rows.
func (f *Factorization) LeaveOneOut(ctx context.Context, gammas []float64) ([]*Solution, [][]Interval, error) {
	ctx = background.IfNil(ctx)
	if f.dual == nil || !f.opts.LeaveOneOut {
		return nil, nil, unfit("%v keeps no leverages", f.opts.Method)
	}
	return f.dual.leftOut(ctx, gammas)
}

// Method returns the factorisation that was made.
func (f *Factorization) Method() Method {
	if f.dual != nil {
		return f.dual.by
	}
	return f.opts.Method
}

// Passes returns the number of reads of the data so far; those of [Factorization.Certify] are in the solutions.
func (f *Factorization) Passes() int {
	if f.dual != nil {
		return f.dual.passes
	}
	return 1
}

// MeanEigenvalue returns ‖A‖²_F/d; 1 for the zero Factorization.
func (f *Factorization) MeanEigenvalue() float64 {
	switch {
	case f.dual != nil:
		return f.dual.meanEigenvalue()
	case f.system == nil:
		return 1
	}
	return f.system.MeanEigenvalue()
}

// ColumnSquares returns the sum of squares of each column of A, nil for a dual method.
func (f *Factorization) ColumnSquares() []float64 {
	if f.system == nil {
		return nil
	}
	return f.system.ColumnSquares()
}

// For returns the factorisation that [Exact] stands for. n is the number of rows, -1 if unknown; d is the number of features;
// gammas are the γ to solve for, nil for many.
//
//   - γ = 0 among gammas: QR.
//   - Fewer rows than features, or n unknown and d² numbers larger than [MaxGramBytes]: Dual.
//   - Four γ or more: Tridiagonal.
//   - Otherwise: Cholesky.
//
// Auto stands for Cholesky. For returns any other method unchanged.
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
	case gammas == nil || reduces(len(gammas)):
		return Tridiagonal
	}
	return Cholesky
}

// MaxGramBytes is the largest size in bytes of d² or n² numbers that is chosen unasked.
const MaxGramBytes = 1 << 30

// DirectBytes returns the memory in bytes of a direct method at k γ, rows kept in memory excluded. leverage is
// [ExactOptions].LeaveOneOut.
func DirectBytes(m Method, n int64, d, t, k int, leverage bool) float64 {
	switch {
	case m.IsDual():
		return dualBytes(n, d, t, m, dualPlan{gammas: k, leverage: leverage})
	case m == Tridiagonal:
		return float64(direct.ReducedBytes(d, t))
	}
	return float64(direct.Bytes(d, t))
}

// Defaults of the options in this package.
const (
	DefaultTol       = 1e-8    // relative error to certify
	DefaultMaxPasses = 500     // passes that refine
	DefaultMaxBytes  = 8 << 30 // memory in bytes
)

// LeastTol is the smallest tolerance that the rounding of weights to float64 always allows: they are off by up to 2⁻⁵³ of
// their norm, and certified to an eighth more. A smaller one is certified only if the weights happen to round well.
const LeastTol = 9 * 0x1p-56
