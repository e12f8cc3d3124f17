package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Penalize returns a view of s in which column j is divided by √pⱼ, with pⱼ > 0. Ridge regression of the scaled
// columns has coefficients z and the penalty γ‖z‖². With xⱼ = zⱼ/√pⱼ, this is ridge regression of the
// original columns with the penalty γ·Σ pⱼxⱼ². One sketch B of A, with the shrinkage η, therefore serves
// every penalty: 0 ⪯ AᵀA − BᵀB ⪯ ηI implies, with P = diag(p),
//
//	0 ⪯ P^{-½}(AᵀA − BᵀB)P^{-½} ⪯ ηP⁻¹ ⪯ (η/min p)·I.
//
// So certificates are wider if an element of p is small. If the summary holds AᵀA itself, η remains 0.
//
// The view is read-only; append to, merge, decay or write s itself. For all methods and functions that read a summary,
// the columns of the view are the scaled columns, for example for [Summary.Path], [Summary.Predictor], [SolvePath] and
// choose.Gamma. If they also read rows, the source must be scaled by [dataset.Penalty]. [Summary.Spectrum] returns the
// spectrum of the scaled columns, but Sketch returns the sketch of the original columns. If a view is penalised again,
// the new penalties multiply the old ones.
//
// The option Penalty of fdridge.Fit calls Penalize and returns coefficients of the original columns.
//
// Penalize takes O(m²d) time, or O(d³) if the summary holds AᵀA. Errors: [ErrShape] if the length of p is not d;
// [ErrInput] if an element of p is not positive and finite; *[fd.RangeError] if the scaled rows are out of range.
func (s *Summary) Penalize(p []float64) (*Summary, error) {
	if !s.isValid() {
		return nil, errZeroValue
	}
	if len(p) != s.cfg.Dim {
		return nil, fmt.Errorf("%w: %d penalties for %d features", errShape, len(p), s.cfg.Dim)
	}
	scaling, err := dataset.Penalty(p)
	if err != nil {
		return nil, err
	}
	base, err := s.spectrum()
	if err != nil {
		return nil, err
	}
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	spec, err := base.Scaled(scaling.Scale, s.cfg.Backend)
	if err != nil {
		return nil, fmt.Errorf("ridge: in penalised columns: %w", err)
	}
	out := s.view(all.Scaled(scaling.Scale, base.ColumnNorms()), spec)
	roots := make([]float64, len(p))
	for j, v := range p {
		roots[j] = math.Sqrt(v)
	}
	out.projected = s.projected.Penalized(roots)
	// If columns were projected out, the error bounds of the projection already include the rounding of the
	// division by the roots of the penalties.
	if s.projected == nil {
		out.rounding = AddRounding(s.rounding, dataset.PenaltyRounding(p))
	}
	out.penalty = slices.Clone(p)
	for j, v := range s.penalty {
		out.penalty[j] *= v
	}
	return out, nil
}

// AddRounding returns the elementwise sum a + b of two bounds on rounding errors, as in [ExactOptions.Rounding]. A
// nil slice means zeros. If neither slice is nil, both must have the same length.
func AddRounding(a, b []float64) []float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := slices.Clone(a)
	for j, v := range b {
		out[j] += v
	}
	return out
}

// Penalty returns the penalties that [Summary.Penalize] has set, or nil if there are none.
func (s *Summary) Penalty() []float64 { return slices.Clone(s.penalty) }

// errView reports an attempt to change the result of Penalize.
var errView = errtext.BadInput(
	"ridge: a penalised summary is a read-only view: append to, merge, decay or write the original summary",
)

// checkWritable returns errView for the result of Penalize.
func (s *Summary) checkWritable() error {
	if s.penalty != nil {
		return errView
	}
	return nil
}

// Spectrum returns the eigenvalues and eigenvectors that s uses to compute solutions. They are
//
//   - of AᵀA itself, if s is a result of [Summary.WithGram]
//   - of the sketch with scaled columns, if s is a result of [Summary.Penalize]
//   - of the sketch, otherwise
//
// The caller must not modify the result.
func (s *Summary) Spectrum() (*fd.Spectrum, error) { return s.spectrum() }

// Bound returns the bound on ‖AᵀA − BᵀB‖ for the sketch B of the rows A. If s is a result of
// [Summary.Penalize] with the penalties pⱼ, the bound is for A and B with each column j divided by √pⱼ.
func (s *Summary) Bound() fd.Bound {
	if !s.isValid() {
		return fd.Bound{}
	}
	if s.penalty != nil {
		return s.spec.Bound
	}
	return s.Sketch().Bound()
}

// Unscale changes s, a solution for rows with each column j divided by √p[j], to a solution for the original
// columns. It divides coefficient j by √p[j] and sets Penalty to p. If s already has a Penalty, Unscale does
// nothing.
func (s *Solution) Unscale(p []float64) {
	if s.Penalty != nil {
		return
	}
	s.Penalty = p
	for j := range s.Targets {
		o := &s.Targets[j]
		if o.Coef == nil {
			continue // as Factorization.Scores returns it
		}
		o.Scaled = o.Coef
		o.Coef = make([]float64, len(p))
		for i, z := range o.Scaled {
			o.Coef[i] = z / math.Sqrt(p[i])
		}
	}
}

// Fitted undoes [Solution.Unscale]. If s has a Penalty p, the fit was computed for columns divided by √pⱼ. Fitted
// then returns the solution with the coefficients of these divided columns. Otherwise it returns s.
// [Predictor.Narrow] and [LeaveOneOut] need the result of Fitted if the summary has penalties.
func (s *Solution) Fitted() *Solution {
	if s == nil || s.Penalty == nil {
		return s
	}
	out := *s
	out.Penalty = nil
	out.Targets = slices.Clone(s.Targets)
	for j := range out.Targets {
		out.Targets[j].Coef, out.Targets[j].Scaled = out.Targets[j].Scaled, nil
	}
	return &out
}

// inColumns returns f with the coefficients of the columns that s summarizes. If s has penalties p, these are the
// original columns j divided by √pⱼ.
func (s *Summary) inColumns(f *Solution) (*Solution, error) {
	if f.Penalty != nil && !slices.Equal(f.Penalty, s.penalty) {
		return nil, unfit("a fit with a penalty that is not the summary's")
	}
	return f.Fitted(), nil
}

// CoefficientError returns bounds on ‖x̂ − x*‖ and ‖x̂ − x*‖/‖x*‖. x̂ are the coefficients
// Targets[j].Coef, and x* the coefficients of the exact solution, both including columns with the penalty 0. Both
// bounds are +Inf if there is no target j. If s has a Penalty, these bounds differ from the Certificate, which
// bounds the error of Target.Scaled.
func (s *Solution) CoefficientError(j int) (bound, relative float64) {
	if s == nil || j < 0 || j >= len(s.Targets) {
		return math.Inf(1), math.Inf(1)
	}
	o := &s.Targets[j]
	if s.Penalty == nil {
		return o.ErrorBound, o.RelativeErrorBound
	}
	bound = s.unscaledError(o)
	least := vec.Norm(o.Coef)*(1-float64(len(o.Coef)+8)*roundoff.Eps) - bound
	switch {
	case bound == 0:
		return 0, 0
	case !(least > 0):
		return bound, math.Inf(1)
	}
	return bound, bound / least * (1 + 4*roundoff.Eps)
}

// unscaledError returns a bound on the error of the coefficients for the original columns. If the solution was
// computed for columns divided by the roots of penalties, unscaledError divides the bound by √p and adds
// rounding. Here p is the smallest positive penalty. The result includes the errors of columns with the penalty 0.
func (s *Solution) unscaledError(o *Target) float64 {
	e := boundOrInf(o.ErrorBound)
	if s.Penalty == nil {
		return e
	}
	least := math.Inf(1)
	for _, p := range s.Penalty {
		switch {
		case p > 0:
			least = math.Min(least, p)
		case o.UnpenalizedBounds == nil:
			return math.Inf(1)
		}
	}
	e = e/math.Sqrt(least)*(1+8*roundoff.Eps) +
		roundoff.Eps*vec.Norm(o.Coef)*roundoff.Inflate
	return math.Hypot(e, vec.Norm(o.UnpenalizedBounds)) * (1 + 8*roundoff.Eps)
}
