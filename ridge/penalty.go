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
// columns has the penalty γ‖z‖². With xⱼ = zⱼ/√pⱼ, this is ridge regression of the original columns
// with the penalty γ·Σ pⱼxⱼ². One sketch B, with the shrinkage η, therefore serves every penalty. With P =
// diag(p), 0 ⪯ AᵀA − BᵀB ⪯ ηI implies
//
//	0 ⪯ P^{-½}(AᵀA − BᵀB)P^{-½} ⪯ ηP⁻¹ ⪯ (η/min p)·I.
//
// Certificates are wider if min p is small. If the summary holds AᵀA itself, η remains 0.
//
// The view is read-only; append to, merge, decay or write s itself. All methods and functions that read a summary work
// in the scaled columns, for example [Summary.Path], [Summary.Predictor], [SolvePath] and choose.Gamma. They need a
// source scaled by [dataset.Penalty]. [Summary.Spectrum] returns the spectrum of the scaled columns, but Sketch returns
// the sketch of the original columns. If a view is penalised again, the penalties are multiplied.
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
	if s.projected == nil { // otherwise the bounds of the projection include the division
		out.rounding = AddRounding(s.rounding, dataset.PenaltyRounding(p))
	}
	out.penalty = slices.Clone(p)
	for j, v := range s.penalty {
		out.penalty[j] *= v
	}
	return out, nil
}

// AddRounding returns a + b for numbers as in [ExactOptions.Rounding]. nil stands for zeros. Both must have the same
// length.
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

// Spectrum returns the eigenvalues and eigenvectors from which solutions are computed. They belong to one of these:
//
//   - the sketch
//   - the sketch with scaled columns, see [Summary.Penalize]
//   - AᵀA, see [Summary.WithGram]
//
// The result must not be modified.
func (s *Summary) Spectrum() (*fd.Spectrum, error) { return s.spectrum() }

// Bound returns the bound on ‖AᵀA − BᵀB‖ for the sketch B. If s has a penalty p, column j of A and B is
// divided by √pⱼ.
func (s *Summary) Bound() fd.Bound {
	if !s.isValid() {
		return fd.Bound{}
	}
	if s.penalty != nil {
		return s.spec.Bound
	}
	return s.Sketch().Bound()
}

// Unscale converts s from columns that were divided by √pⱼ to the original columns. It divides coefficient j by
// √pⱼ and sets Penalty to p. If s already has a Penalty, Unscale does nothing.
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

// Fitted returns s with the coefficients of the columns that were fitted. If s has a Penalty p, column j was divided
// by √pⱼ. Otherwise Fitted returns s. For a penalised summary, [Predictor.Narrow] and [LeaveOneOut] need this
// solution.
func (s *Solution) Fitted() *Solution {
	if s == nil || s.Penalty == nil {
		return s
	}
	out := *s
	out.Penalty, out.Targets = nil, slices.Clone(s.Targets)
	for j := range out.Targets {
		out.Targets[j].Coef, out.Targets[j].Scaled = out.Targets[j].Scaled, nil
	}
	return &out
}

// inColumns returns f for the columns of s, scaled by penalties.
func (s *Summary) inColumns(f *Solution) (*Solution, error) {
	if f.Penalty != nil && !slices.Equal(f.Penalty, s.penalty) {
		return nil, unfit("a fit with a penalty that is not the summary's")
	}
	return f.Fitted(), nil
}

// CoefficientError returns bounds on ‖x̂ − x*‖ and ‖x̂ − x*‖/‖x*‖ for the coefficients in
// Targets[j].Coef. They include columns without penalty. They are +Inf if there is no target j. The Certificate of a
// solution with a Penalty bounds the error of Scaled instead.
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

// unscaledError returns a bound on the error of the coefficients in the original columns. Dividing by the root of a
// penalty p multiplies the error by at most 1/√min p and adds rounding.
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
	e = e/math.Sqrt(least)*(1+8*roundoff.Eps) + roundoff.Eps*vec.Norm(o.Coef)*roundoff.Inflate
	return math.Hypot(e, vec.Norm(o.UnpenalizedBounds)) * (1 + 8*roundoff.Eps)
}
