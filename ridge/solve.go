package ridge

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// SolveOptions are the options of [Solve] and [SolvePath]. All fields may be zero.
type SolveOptions struct {
	Method Method // CG (the default), Galerkin or Newton
	// Tol is the relative error ‖x̂ − x*‖/‖x*‖ that must be proved for every penalty and target. x̂ is the
	// computed solution, and x* is the exact solution. The default is 1e-8. The proved error includes the rounding
	// of the coefficients to float64, which is at most 1.1e-16.
	Tol float64
	// MaxPasses limits the number of passes over the rows. The pass that computed the summary is not counted. The
	// default is 500.
	MaxPasses int
	// PlainFD selects the Hessian of plain Frequent Directions (FD): BᵀB + γI for the sketch B and the penalty γ.
	// The default is the Hessian of Robust Frequent Directions (RFD): BᵀB + (γ+η/2)I, where η is the shrinkage of
	// the sketch, a bound on its error. With plain FD, Newton may diverge if η > 2γ.
	PlainFD bool
	// Hessian, if not nil, replaces the Hessian from the sketch in the iteration. Examples are a randomised sketch,
	// a Nyström approximation and [Identity]. The certificates still come from the summary.
	Hessian Hessian
	// Start, if not nil, holds the initial coefficients, which are the same for every penalty. It has a row for each
	// target and a column for each feature. The default is the solution from the sketch, [Summary.Path].
	Start *mat.Dense
	// Observe, if not nil, is called after each pass, once for each current approximate solution.
	Observe func(Iterate)
	// Progress, if not nil, is called after every block.
	Progress func(Progress)
	// Journal, if not nil, stores the results of the passes, so that an interrupted solve can continue.
	Journal Journal
	// Reducer, if not nil, adds up the results of several workers. The source must then have only the rows of this
	// worker, and the summary must have the rows of all workers.
	Reducer Reducer
}

// fill sets every zero option to its default.
func (o *SolveOptions) fill() {
	if o.Tol == 0 {
		o.Tol = DefaultTol
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = DefaultMaxPasses
	}
	if o.Method == Auto {
		o.Method = CG
	}
}

// Progress describes the progress of a solve.
type Progress struct {
	Pass          int     // the current pass, from 1
	Rows          int64   // rows read in this pass
	RelativeError float64 // the largest bound after the previous pass; +Inf in the first pass
	Active        int     // number of systems (pairs of a γ and a target) that still iterate
}

// An Iterate is an approximate solution for one penalty γ and one target. The Iterate of the first pass is the
// initial solution.
type Iterate struct {
	Gamma  float64
	Target int
	Pass   int       // number of passes so far, without the pass of the summary
	Coef   []float64 // length d, valid during the call
	// RelativeError bounds the relative error of Coef. If Measured is false, the bound is not proved.
	RelativeError float64
	Measured      bool
}

// Solve refines the solution for the penalty gamma by passes over src, until its relative error is proved to be at
// most opts.Tol. The argument sum must be a summary of the rows of src. [SolvePath] solves for several penalties.
func Solve(
	ctx context.Context,
	src dataset.Source,
	sum *Summary,
	gamma float64,
	opts SolveOptions,
) (*Solution, error) {
	fits, err := SolvePath(ctx, src, sum, []float64{gamma}, opts)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// SolvePath solves for several γ together. Each pass serves all γ and targets. The iteration for one γ and target
// stops when its error is certified to be at most opts.Tol.
//
// The error at x is bounded from the gradient Aᵀ(Ax − b) + γx that a pass measures, see [Certificate]. If AᵀY
// is zero up to round-off, no relative error can be certified. This is no error; the Status is [ZeroSolution]. The
// order of the rows does not matter. With a [Reducer], all statements are about the rows of all workers together.
//
// Errors:
//
//   - *[NotConvergedError], with the best solutions, if MaxPasses passes do not reach the tolerance.
//   - *[GammaError] if a γ is not positive.
//   - [ErrShape] if src has other dimensions than the summary, or other rows: their number, weight, ‖Y‖² and
//     AᵀY are compared.
//   - *[ScaleError] if a γ or the squares of rows or targets are out of range.
//   - The error of ctx. If ctx is cancelled, the pass ends.
func SolvePath(
	ctx context.Context,
	src dataset.Source,
	sum *Summary,
	gammas []float64,
	opts SolveOptions,
) ([]*Solution, error) {
	opts.fill()
	if err := checkSolve(src, sum, gammas, opts); err != nil {
		return nil, err
	}
	p, err := newProblem(src, sum, gammas, &opts)
	if err != nil {
		return nil, err
	}
	for _, gamma := range gammas {
		for j := range sum.cfg.Targets {
			p.Pairs = append(p.Pairs, krylov.Pair{Gamma: gamma, Target: j})
		}
	}
	found, err := krylov.Solve(ctx, p, sum.kind(&opts))
	if err != nil {
		return nil, err
	}
	return sum.solutions(gammas, &opts, found)
}

// kind returns the iteration to run for opts.Method. If the summary holds AᵀA, it returns CG when Galerkin is asked
// for. The reason is that Galerkin's subspace would contain mostly round-off.
func (s *Summary) kind(opts *SolveOptions) krylov.Kind {
	if opts.Method == Galerkin && opts.Hessian == nil && s.HoldsGram() {
		return krylov.CG
	}
	return methods[opts.Method].krylov
}

func checkSolve(src dataset.Source, sum *Summary, gammas []float64, opts SolveOptions) error {
	switch {
	case src == nil:
		return errNoSource
	case !sum.isValid():
		return errZeroValue
	case !(opts.Tol > 0) || opts.MaxPasses < 0:
		return errtext.BadInput("ridge: Tol is %v and MaxPasses is %d: both must be positive", opts.Tol, opts.MaxPasses)
	case !opts.Method.Iterates():
		return errtext.BadInput("ridge: %v does not refine by passes", opts.Method)
	case opts.Hessian != nil && opts.PlainFD:
		return errtext.BadInput("ridge: PlainFD cannot be combined with Hessian")
	case sum.Rows() == 0:
		return ErrEmpty
	}
	_, fresh := opts.Hessian.(Refresher)
	switch {
	case fresh && opts.Reducer != nil:
		return errtext.BadInput(
			"ridge: a Refresher cannot be combined with a Reducer: each worker would see only its share of the rows",
		)
	case fresh && opts.Method != Newton:
		return errtext.BadInput(
			"ridge: %v needs the same Hessian in every step, but a Refresher changes it; use Newton",
			opts.Method,
		)
	}
	if opts.Start != nil {
		if t, d := opts.Start.Dims(); t != sum.cfg.Targets || d != sum.cfg.Dim {
			return fmt.Errorf(
				"%w: Start is %d×%d, but the summary has %d targets and %d features",
				errShape,
				t,
				d,
				sum.cfg.Targets,
				sum.cfg.Dim,
			)
		}
	}
	if opts.Start != nil &&
		slices.ContainsFunc(vec.OfMatrix(opts.Start), func(v float64) bool {
			return v-v != 0
		}) {
		return errtext.BadInput("ridge: Start has an entry that is not finite")
	}
	for _, g := range gammas {
		if err := checkGamma(g, opts.Method.String()); err != nil {
			return err
		}
	}
	n, d, t := src.Dims()
	if d != sum.cfg.Dim ||
		t != sum.cfg.Targets ||
		n > sum.Rows() ||
		(n >= 0 && n != sum.Rows() && opts.Reducer == nil) {
		return fmt.Errorf("%w: the source has %d rows, %d features and %d targets, but the summary has %d, %d and %d",
			errShape, n, d, t, sum.Rows(), sum.cfg.Dim, sum.cfg.Targets)
	}
	return nil
}

// newProblem returns the problem of refining the solutions for the penalties gammas by passes over src. The caller
// must set the field Pairs of the result, which lists the pairs of a penalty and a target to solve for.
func newProblem(
	src dataset.Source,
	sum *Summary,
	gammas []float64,
	opts *SolveOptions,
) (krylov.Problem, error) {
	workers := 1
	if opts.Reducer != nil {
		workers = opts.Reducer.Size()
	}
	k, err := sum.quantities(opts.Method.String(), workers, gammas...)
	if err != nil {
		return krylov.Problem{}, err
	}
	all, err := sum.all()
	if err != nil {
		return krylov.Problem{}, err
	}
	r := gram.Rows{Source: src, Count: sum.Rows(), Weight: all.Stage.Weight.Value()}
	if sum.cfg.Intercept {
		r.Mean = all.Stage.Means()
	}
	operator, err := gram.New(r, sum.cfg.Backend, opts.Journal, opts.Reducer)
	if err != nil {
		return krylov.Problem{}, err
	}
	p := krylov.Problem{
		Known:     k,
		Operator:  operator,
		Tol:       opts.Tol,
		MaxPasses: opts.MaxPasses,
	}
	p.Hessian = (&givenHessian{opts.Hessian, sum.cfg.Dim})
	if opts.Hessian == nil {
		p.Deflate = true
		p.Hessian = krylov.NewSketch(
			k.Sketch.Bound,
			k.Eigen(),
			!opts.PlainFD,
			sum.cfg.Backend,
		)
	}
	if opts.Start != nil {
		p.Start = vec.OfMatrix(opts.Start)
	}
	if observe := opts.Observe; observe != nil {
		p.Observe = func(s *krylov.System) {
			observe(
				Iterate{
					Gamma:         s.Gamma(),
					Target:        s.Target,
					Pass:          s.Passes(),
					Coef:          s.Coef(),
					RelativeError: s.Relative,
					Measured:      s.Measured,
				},
			)
		}
	}
	if progress := opts.Progress; progress != nil {
		p.Progress = func(pass int, rows int64, rel float64, active int) {
			progress(Progress{
				Pass:          pass,
				Rows:          rows,
				RelativeError: rel,
				Active:        active,
			})
		}
	}
	return p, nil
}

// solutions converts found, the results of an iteration, to one Solution for each penalty. If a target missed the
// tolerance, solutions returns a *[NotConvergedError] that contains these Solutions.
func (s *Summary) solutions(
	gammas []float64,
	opts *SolveOptions,
	found *krylov.Batch,
) ([]*Solution, error) {
	t := s.cfg.Targets
	out := make([]*Solution, len(gammas))
	failed := Converged
	for i, gamma := range gammas {
		f := s.newSolution(gamma, opts.Method, found.Known)
		f.Contraction = opts.contraction(found.Known, gamma)
		stopped := make([]Status, t) // each target
		for j, sys := range found.Systems[i*t : (i+1)*t] {
			f.Targets = append(f.Targets, targetOf(found.Known, sys))
			f.Passes = max(f.Passes, 1+sys.Passes())
			stopped[j] = statusOf[sys.Status]
		}
		if err := s.improve(f, stopped, opts); err != nil {
			return nil, err
		}
		for _, status := range stopped {
			f.Status = f.Status.Worse(status)
		}
		failed = failed.Worse(f.Status)
		f.Iterations = f.Passes - 1
		out[i] = f
	}
	if failed.Err() != nil {
		return nil, &NotConvergedError{Solutions: out, Status: failed}
	}
	return out, nil
}

// targetOf returns the best approximate solution of a system as a Target.
func targetOf(k *certify.Known, sys *krylov.System) Target {
	x, measured := sys.Best()
	target := newTarget(slices.Clone(x), k.TSS[sys.Target], k.Weight, sys.Weights())
	target.GradientNorm = measured.Gradient.Norm
	return target
}

// improve replaces targets of f that missed the tolerance by the solution from the sketch, if its error bound is
// smaller.
func (s *Summary) improve(f *Solution, stopped []Status, opts *SolveOptions) error {
	if !slices.ContainsFunc(stopped, func(v Status) bool { return v.Err() != nil }) {
		return nil
	}
	fromSketch, err := s.fit(f.Gamma, !opts.PlainFD)
	if err != nil {
		return err
	}
	for j := range f.Targets {
		if stopped[j].Err() == nil {
			continue
		}
		if fromSketch.Targets[j].RelativeErrorBound < f.Targets[j].RelativeErrorBound {
			f.Targets[j] = fromSketch.Targets[j]
		}
		if f.Targets[j].RelativeErrorBound <= opts.Tol {
			stopped[j] = Converged
		}
	}
	return nil
}

// contraction returns a bound on ‖I − Ĥ⁻¹(AᵀA + γI)‖ for the Hessian Ĥ of o and the penalty gamma. The
// norm is the norm that Ĥ induces. A step of Newton multiplies the error by at most this factor.
func (o *SolveOptions) contraction(k *certify.Known, gamma float64) float64 {
	switch {
	case o.Hessian != nil:
		lo, hi := o.Hessian.Range(gamma)
		return max(1-lo, hi-1) + roundoff.Eps
	case o.PlainFD:
		return k.OneShot(gamma, 0).Contraction()
	}
	return k.OneShot(gamma, k.Bound().Shift()).Contraction()
}

// A givenHessian is a Hessian given by the caller.
type givenHessian struct {
	Hessian
	dim int
}

// Solve multiplies the gradients by the inverse of the Hessian. If the Hessian is a Refresher, Solve first
// refreshes it.
func (h *givenHessian) Solve(ctx context.Context, gammas []float64, g *spectral.Gradients) error {
	if r, ok := h.Hessian.(Refresher); ok {
		if err := r.Refresh(ctx); err != nil {
			return err
		}
	}
	n := len(gammas) * h.dim
	h.Hessian.Solve(len(gammas), gammas, g.G[:n], g.Off[:n])
	return nil
}
