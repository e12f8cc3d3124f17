package ridge

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/rowmajor"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// SolveOptions says how to refine; its zero value is the documented default.
type SolveOptions struct {
	Method Method // CG (the default), Galerkin or Newton
	// Tol is the relative error ‖x̂ − x*‖/‖x*‖ to be certified for every γ and
	// target. Default 1e-8. Where the round-off of plain gradients allows no such
	// certificate, one is measured with twice the digits: down to the rounding of the weights
	// to float64, which is between 1e-17 and 1.1e-16.
	Tol float64
	// MaxPasses bounds the reads of the data after the summary's. Default 500.
	MaxPasses int
	// PlainFD takes Ĥ = BᵀB + γI (FD) for the Hessian in place of
	// BᵀB + (γ+η/2)I (RFD). Newton then diverges when η > 2γ.
	PlainFD bool
	// Hessian, if not nil, is the Ĥ to iterate with in place of the sketch's: a
	// randomised sketch, a Nyström approximation, [Identity]. Certificates stay
	// those that the summary proves.
	Hessian Hessian
	// Start, if not nil, is where every γ starts from (t×d, in the order of the
	// targets), in place of the one-shot solution Ĥ⁻¹c.
	Start *mat.Dense
	// Observe, if not nil, is shown every iterate, after the pass that reached it.
	Observe func(Iterate)
	// Progress, if not nil, is called after every block that was read.
	Progress func(Progress)
	// Journal, if not nil, keeps what the passes find, for this solve to go on when it
	// is interrupted.
	Journal Journal
	// Reducer, if not nil, adds up what several workers find: src is then this one's
	// share of the rows, and the summary that of all.
	Reducer Reducer
}

// Progress tells how far a solve has come.
type Progress struct {
	Pass          int     // the pass under way, from 1
	Rows          int64   // rows read in it
	RelativeError float64 // the worst bound after the pass before; +Inf in the first
	Active        int     // systems (γ and target) still iterating
}

// An Iterate is where one system stands: the first is the start, as measured by the
// first pass.
type Iterate struct {
	Gamma  float64
	Target int
	Pass   int       // reads of the data after the summary's
	Coef   []float64 // length d, valid during the call
	// RelativeError bounds ‖x − x*‖/‖x*‖. It is proved where Measured is set; else
	// it is of a gradient that CG carried along.
	RelativeError float64
	Measured      bool
}

// Solve refines the solution at γ until its certificate holds to opts.Tol, by
// passes over src, which must yield the very rows that sum has seen. It is
// [SolvePath] for one γ.
func Solve(ctx context.Context, src dataset.Source, sum *Summary, gamma float64, opts SolveOptions) (*Solution, error) {
	ctx = background.IfNil(ctx)
	fits, err := SolvePath(ctx, src, sum, []float64{gamma}, opts)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// SolvePath solves for several γ together: all γ and all targets advance in the
// same passes, one read of the data for each iteration, and each drops out when
// it is certified.
//
// After a pass g = Aᵀ(Ax − b) + γx is known at x and the error certified, see
// [Certificate]. Where AᵀY is zero to round-off so is x*, of which no relative
// error can be certified: that is no failure. Not reaching the tolerance, within
// MaxPasses or at all, is a *[NotConvergedError] with the best fits inside. γ must be
// positive (*[GammaError]); a source whose dimensions or rows are not the summary's,
// by their number, weight, ‖Y‖² and AᵀY, is [ErrShape]; their order doesn't matter.
// Rows, targets or a γ whose squares leave the range of float64 are a *[ScaleError]. A
// cancelled ctx ends the pass and returns its error. With a [Reducer] all this holds of
// the rows of all workers together.
func SolvePath(ctx context.Context, src dataset.Source, sum *Summary, gammas []float64, opts SolveOptions) ([]*Solution, error) {
	ctx = background.IfNil(ctx)
	if opts.Tol == 0 {
		opts.Tol = DefaultTol
	}
	if opts.MaxPasses == 0 {
		opts.MaxPasses = DefaultMaxPasses
	}
	if opts.Method == Auto {
		opts.Method = CG
	}
	if err := checkSolve(src, sum, gammas, opts); err != nil {
		return nil, err
	}
	p, err := newProblem(src, sum, gammas, &opts)
	if err != nil {
		return nil, err
	}
	found, err := krylov.Solve(ctx, p, sum.kind(&opts))
	if err != nil {
		return nil, err
	}
	return sum.solutions(gammas, &opts, found)
}

// kind returns the iteration that runs. If AᵀA itself is known, Galerkin runs as CG: Ĥ⁻¹c is the
// solution but for round-off, and a subspace holds little but the round-off of Ĥ, which a γ below
// eps·‖K‖ magnifies until the iteration diverges.
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
	case !sum.made():
		return errUnmade
	case !(opts.Tol > 0) || opts.MaxPasses < 0:
		return badinput.Errorf("ridge: Tol is %v and MaxPasses %d, both must be positive", opts.Tol, opts.MaxPasses)
	case !opts.Method.Iterates():
		return badinput.Errorf("ridge: %v makes no passes that refine", opts.Method)
	case opts.Hessian != nil && opts.PlainFD:
		return badinput.Errorf("ridge: PlainFD chooses between the sketch's own Hessians, but another one is given")
	case sum.Rows() == 0:
		return ErrEmpty
	}
	_, fresh := opts.Hessian.(Refresher)
	switch {
	case fresh && opts.Reducer != nil:
		return badinput.Errorf("ridge: a Hessian that is made anew from the data in every step would be made of one worker's share; give Newton another one, or no Reducer")
	case fresh && opts.Method != Newton:
		return badinput.Errorf("ridge: %v needs the same Hessian in every step, this one is made anew; use Newton", opts.Method)
	}
	if opts.Start != nil {
		if t, d := opts.Start.Dims(); t != sum.cfg.Targets || d != sum.cfg.Dim {
			return fmt.Errorf("%w: Start is %d×%d, the summary has %d targets and %d features", errShape, t, d, sum.cfg.Targets, sum.cfg.Dim)
		}
	}
	if opts.Start != nil && slices.ContainsFunc(rowmajor.Of(opts.Start), func(v float64) bool { return v-v != 0 }) {
		return badinput.Errorf("ridge: Start has an entry that is not finite")
	}
	for _, g := range gammas {
		if err := checkGamma(g, opts.Method.String()); err != nil {
			return err
		}
	}
	n, d, t := src.Dims()
	if d != sum.cfg.Dim || t != sum.cfg.Targets || n > sum.Rows() || (n >= 0 && n != sum.Rows() && opts.Reducer == nil) {
		return fmt.Errorf("%w: the source has %d rows, %d features and %d targets, the summary %d, %d and %d",
			errShape, n, d, t, sum.Rows(), sum.cfg.Dim, sum.cfg.Targets)
	}
	return nil
}

// newProblem is what package krylov is given to solve.
func newProblem(src dataset.Source, sum *Summary, gammas []float64, opts *SolveOptions) (krylov.Problem, error) {
	workers := 1
	if opts.Reducer != nil {
		workers = opts.Reducer.Size()
	}
	k, err := sum.Known(opts.Method.String(), workers, gammas...)
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
		Known: k, Operator: operator, Gammas: gammas, Tol: opts.Tol, MaxPasses: opts.MaxPasses,
	}
	if p.Hessian = (&givenHessian{opts.Hessian, sum.cfg.Dim}); opts.Hessian == nil {
		p.Deflate = true
		p.Hessian = krylov.NewSketch(k.Sketch.Bound, k.Eigen(), !opts.PlainFD, sum.cfg.Backend)
	}
	if opts.Start != nil {
		p.Start = rowmajor.Of(opts.Start)
	}
	if observe := opts.Observe; observe != nil {
		p.Observe = func(s *krylov.System) {
			observe(Iterate{Gamma: s.Gamma(), Target: s.Target, Pass: s.Passes(), Coef: s.Coef(), RelativeError: s.Relative, Measured: s.Measured})
		}
	}
	if progress := opts.Progress; progress != nil {
		p.Progress = func(pass int, rows int64, rel float64, active int) {
			progress(Progress{Pass: pass, Rows: rows, RelativeError: rel, Active: active})
		}
	}
	return p, nil
}

// solutions assembles what was found, one Solution for each γ.
func (s *Summary) solutions(gammas []float64, opts *SolveOptions, found *krylov.Batch) ([]*Solution, error) {
	t := s.cfg.Targets
	out := make([]*Solution, len(gammas))
	failed := Converged
	for i, gamma := range gammas {
		f := s.newSolution(gamma, opts.Method, found.Known)
		f.Contraction = opts.contraction(found.Known, gamma)
		stopped := make([]Status, t) // each target
		for j, sys := range found.Systems[i*t : (i+1)*t] {
			x, measured := sys.Best()
			target := newTarget(slices.Clone(x), found.Known.TSS[j], sys.Weights())
			target.GradientNorm = measured.Gradient.Norm
			f.Targets = append(f.Targets, target)
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

// improve puts the one-shot solution in the place of targets that were not certified to the tolerance
// and of which less is certified than of that; one that is to the tolerance has what was asked for.
func (s *Summary) improve(f *Solution, stopped []Status, opts *SolveOptions) error {
	if !slices.ContainsFunc(stopped, func(v Status) bool { return v.Err() != nil }) {
		return nil
	}
	begun, err := s.fit(f.Gamma, !opts.PlainFD)
	if err != nil {
		return err
	}
	for j := range f.Targets {
		if stopped[j].Err() == nil {
			continue
		}
		if begun.Targets[j].RelativeErrorBound < f.Targets[j].RelativeErrorBound {
			f.Targets[j] = begun.Targets[j]
		}
		if f.Targets[j].RelativeErrorBound <= opts.Tol {
			stopped[j] = Converged
		}
	}
	return nil
}

// contraction bounds ‖I − Ĥ⁻¹H‖ in the norm of Ĥ, the factor by which a Newton step
// shrinks the error.
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

// A givenHessian is one that the caller gave.
type givenHessian struct {
	Hessian
	dim int
}

// Solve makes Ĥ anew before, where it is a Refresher.
func (h *givenHessian) Solve(ctx context.Context, gammas []float64, g *resolvent.Gradients) error {
	if r, ok := h.Hessian.(Refresher); ok {
		if err := r.Refresh(ctx); err != nil {
			return err
		}
	}
	n := len(gammas) * h.dim
	h.Hessian.Solve(len(gammas), gammas, g.G[:n], g.Off[:n])
	return nil
}
