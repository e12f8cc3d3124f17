package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
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
// The result is a view, to be read: [Summary.Path], [Summary.Fit], [Summary.ChooseGamma],
// [Summary.Predictor], [SolvePath] and all else that is asked of a summary is answered in the
// scaled columns, from those of a source that [dataset.Penalty] has scaled. Rows are appended,
// merged, decayed and written by s itself; Sketch is that of s, and [Summary.Spectrum] is its own. To penalise
// it is to multiply the penalties. [Options] have a Penalty that does all of this, and gives
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
	scaled := *all
	scaled.stage = all.stage.Scaled(scaling.Scale, columnNorms(base))
	scaled.sums = all.sums.scaled(scaling.Scale)
	out := &Summary{cfg: s.cfg, lanes: []*lane{&scaled}, spec: spec, ofWhole: s.ofWhole, penalty: slices.Clone(p)}
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

// bound is that of the rows as they are kept, or in penalised columns.
func (s *Summary) bound() fd.Bound {
	if s.penalty != nil {
		return s.spec.Bound
	}
	return s.Sketch().Bound()
}

// columnNorms bounds the norms of the columns of A: K_jj ≤ (BᵀB)_jj + η.
func columnNorms(p *fd.Spectrum) []float64 {
	out := make([]float64, p.Dim)
	for j := range out {
		out[j] = p.Bound.FD()
	}
	for i, s2 := range p.Sigma2 {
		for j, v := range p.V[i*p.Dim : (i+1)*p.Dim] {
			out[j] += s2 * v * v
		}
	}
	for j, v := range out {
		out[j] = math.Sqrt(v) * 1.01 // for the rounding of this
	}
	return out
}

// scaled are the sums in columns that are divided by scale. With R = diag(scale) and the witness
// h of docs/math.md §15, (Rh)ᵀ(R⁻¹KR⁻¹v) = (R⁻¹Kh)ᵀv: so Rh, made of length one, is that of the
// scaled rows.
func (s *sums) scaled(scale []float64) sums {
	out := sums{d: s.d, t: s.t, cross: slices.Clone(s.cross), yy: slices.Clone(s.yy), h: slices.Clone(s.probe())}
	for j, r := range scale {
		out.h[j] *= r
	}
	length := vec.Norm(out.h)
	vec.Scale(1/length, out.h)
	for i := range out.cross {
		sum, low := out.cross[i].Parts()
		r := scale[i%s.d]
		if i >= s.t*s.d {
			r *= length
		}
		out.cross[i] = neumaier.FromParts(sum/r, low/r)
	}
	return out
}
