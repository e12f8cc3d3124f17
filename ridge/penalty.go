package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
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
	// If columns were projected out, the bounds of the projection already include the rounding of the division.
	if s.projected == nil {
		out.rounding = AddRounding(s.rounding, dataset.PenaltyRounding(p))
	}
	out.penalty = slices.Clone(p)
	for j, v := range s.penalty {
		out.penalty[j] *= v
	}
	return out, nil
}

// AddRounding returns the elementwise sum a + b of two slices as in [ExactOptions.Rounding]. nil stands for zeros. If
// neither is nil, both must have the same length.
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

// errView is the error of writing to the result of Penalize.
var errView = badinput.Errorf(
	"ridge: a penalised summary is a read-only view: append to, merge, decay or write the original summary",
)

// checkWritable returns errView for the result of Penalize.
func (s *Summary) checkWritable() error {
	if s.penalty != nil {
		return errView
	}
	return nil
}

// Spectrum returns the eigenvalues and eigenvectors from which solutions are computed:
//
//   - of AᵀA itself, for a result of [Summary.WithGram]
//   - of the sketch with scaled columns, for a result of [Summary.Penalize]
//   - otherwise of the sketch
//
// The result must not be modified.
func (s *Summary) Spectrum() (*fd.Spectrum, error) { return s.spectrum() }

// Bound returns the bound on ‖AᵀA − BᵀB‖ for the sketch B. If s is a view with a penalty p
// ([Summary.Penalize]), the bound is for A and B with each column j divided by √pⱼ.
func (s *Summary) Bound() fd.Bound {
	if !s.isValid() {
		return fd.Bound{}
	}
	if s.penalty != nil {
		return s.spec.Bound
	}
	return s.Sketch().Bound()
}

// Unscale converts s, a solution for columns j that were divided by √pⱼ, to a solution for the original columns,
// in place. It divides coefficient j by √pⱼ and sets Penalty to p. If s already has a Penalty, Unscale does
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

// Fitted undoes [Solution.Unscale]. If s has a Penalty p, it returns the solution with the coefficients of the columns
// that were fitted, in which column j is divided by √pⱼ. Otherwise it returns s. With a penalised summary,
// [Predictor.Narrow] and [LeaveOneOut] need this solution.
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

// inColumns returns f with the coefficients of the columns that s summarizes. In a view with penalties p, column j is
// divided by √pⱼ.
func (s *Summary) inColumns(f *Solution) (*Solution, error) {
	if f.Penalty != nil && !slices.Equal(f.Penalty, s.penalty) {
		return nil, unfit("a fit with a penalty that is not the summary's")
	}
	return f.Fitted(), nil
}

// CoefficientError returns bounds on ‖x̂ − x*‖ and ‖x̂ − x*‖/‖x*‖ for the coefficients in
// Targets[j].Coef. The norms include the coefficients of columns without penalty. Both bounds are +Inf if there is no
// target j. For a solution with a Penalty, these bounds differ from the Certificate, which bounds the error of
// Target.Scaled.
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

// unscaledError returns a bound on the error of the coefficients for the original columns. If the columns were divided
// by the roots of a penalty p, this multiplies the error by at most 1/√min p and adds rounding.
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
