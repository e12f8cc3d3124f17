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

// Penalize returns what s knows of the same rows in columns that are divided by √pⱼ, for one
// pⱼ > 0 for each: ridge regression in these, penalised by γ‖z‖², is that in the columns as they
// are penalised by γ·Σ pⱼxⱼ², with xⱼ = zⱼ/√pⱼ. So one sketch serves every penalty. From
// 0 ⪯ AᵀA − BᵀB ⪯ ηI follows, with P = diag(p),
//
//	0 ⪯ P^{-½}(AᵀA − BᵀB)P^{-½} ⪯ ηP⁻¹ ⪯ (η/min p)·I:
//
// certificates are looser where min p is small, by as much as the rows of the sketch are larger
// then. Where AᵀA itself is kept η is 0, and stays so.
//
// The result is a view, to be read: [Summary.Path], [Summary.Fit], choose.Gamma,
// [Summary.Predictor], [SolvePath] and all else that is asked of a summary is answered in the
// scaled columns, from those of a source that [dataset.Penalty] has scaled. Rows are appended,
// merged, decayed and written by s itself; Sketch is that of s, and [Summary.Spectrum] is its own. To penalise
// it is to multiply the penalties. The options of fdridge.Fit have a Penalty that does all of this, and gives
// weights of the columns as they are.
//
// It takes O(m²d), or O(d³) where AᵀA is kept. Of another number of columns it is [ErrShape]; a p that is not positive and
// finite is an [ErrInput], and one that takes the rows out of range a *[fd.RangeError].
func (s *Summary) Penalize(p []float64) (*Summary, error) {
	if !s.made() {
		return nil, errUnmade
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
	out.penalty = slices.Clone(p)
	for j, v := range s.penalty {
		out.penalty[j] *= v
	}
	return out, nil
}

// Penalty is what [Summary.Penalize] was given, nil for a summary as it is.
func (s *Summary) Penalty() []float64 { return slices.Clone(s.penalty) }

// errView refuses to change a penalised summary, or to keep it.
var errView = badinput.Errorf("ridge: a penalised summary is a view of another, to be read: append to, merge, decay and write that one")

// writable refuses what is not for a view.
func (s *Summary) writable() error {
	if s.penalty != nil {
		return errView
	}
	return nil
}

// Spectrum is what fits are made from: that of the sketch, of its rows in penalised columns, or
// of AᵀA as a pass has computed it. It is the summary's own: read it only.
func (s *Summary) Spectrum() (*fd.Spectrum, error) { return s.spectrum() }

// Bound returns the bound on what the sketch has lost, in penalised columns if the summary has a penalty.
func (s *Summary) Bound() fd.Bound {
	if !s.made() {
		return fd.Bound{}
	}
	if s.penalty != nil {
		return s.spec.Bound
	}
	return s.Sketch().Bound()
}

// Unscale turns a solution z in columns divided by √p into the solution of the original columns, xⱼ = zⱼ/√pⱼ, with the
// Penalty p. A solution with a Penalty stays as it is.
func (s *Solution) Unscale(p []float64) {
	if s.Penalty != nil {
		return
	}
	s.Penalty = p
	for j := range s.Targets {
		o := &s.Targets[j]
		o.Scaled = o.Coef
		o.Coef = make([]float64, len(p))
		for i, z := range o.Scaled {
			o.Coef[i] = z / math.Sqrt(p[i])
		}
	}
}

// Fitted is the solution in the columns that it was fitted in, where these were divided by √p for
// its Penalty p: Coef is then what the certificate is about. It is what [Predictor.Narrow] and
// [LeaveOneOut] take for a penalised summary. A solution without a penalty is its own.
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

// fitted is a fit as one of the rows of s: of scaled columns, where s is penalised.
func (s *Summary) fitted(f *Solution) (*Solution, error) {
	if f.Penalty != nil && !slices.Equal(f.Penalty, s.penalty) {
		return nil, unfit("a fit with a penalty that is not the summary's")
	}
	return f.Fitted(), nil
}

// unscaledError bounds ‖x̂ − x*‖ of a target in the columns as they are: with xⱼ = zⱼ/√pⱼ it is
// ‖ẑ − z*‖/√min p at most, and what the division has rounded.
func (s *Solution) unscaledError(o *Target) float64 {
	e := bounded(o.ErrorBound)
	if s.Penalty != nil {
		e = e/math.Sqrt(slices.Min(s.Penalty))*(1+8*roundoff.Eps) + roundoff.Eps*vec.Norm(o.Coef)*roundoff.Inflate
	}
	return e
}
