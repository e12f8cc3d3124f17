package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// penalize scales the source of rows, where there is one.
func penalize(src dataset.Source, p []float64) (dataset.Source, error) {
	scaling, err := dataset.Penalty(p)
	if err != nil || src == nil {
		return nil, err
	}
	return scaling.Apply(src)
}

// checkPenalty refuses a penalty and bands that make no sense together, or for anything.
func (o *Options) checkPenalty() error {
	switch {
	case o.Penalty == nil && o.Bands == nil:
		return nil
	case o.Penalty != nil && o.Bands != nil:
		return badinput.Errorf("ridge: a Penalty for each column and Bands of them say the same thing twice")
	case slices.ContainsFunc(o.Penalty, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }):
		return badinput.Errorf("ridge: every Penalty must be positive: nothing can be proved of a column that is not penalised")
	case !o.choosesBands():
		return nil
	case !o.chooses():
		return badinput.Errorf("ridge: the penalties of Bands are chosen together with gamma, but Gammas are given")
	case o.Folds != 0 || o.Select != ByGCV:
		return badinput.Errorf("ridge: the penalties of Bands are chosen by GCV alone")
	}
	return nil
}

// choosesBands says that penalties are to be chosen.
func (o *Options) choosesBands() bool {
	return slices.ContainsFunc(o.Bands, func(b Band) bool { return b.Penalty == 0 })
}

// penalty is what d columns are penalised by, nil for 1 each and for bands that are to be chosen.
func (o *Options) penalty(d int) ([]float64, error) {
	switch {
	case o.Bands != nil:
		p, err := Penalties(d, o.Bands)
		if err != nil || o.choosesBands() {
			return nil, err
		}
		return p, nil
	case o.Penalty != nil && len(o.Penalty) != d:
		return nil, fmt.Errorf("%w: %d penalties for %d features", errShape, len(o.Penalty), d)
	}
	return o.Penalty, nil
}

// fitPenalized is Fit in columns that are divided by √p before the pass.
func fitPenalized(ctx context.Context, src dataset.Source, p []float64, opts Options) (*Result, error) {
	src, err := penalize(src, p)
	if err != nil {
		return nil, err
	}
	bands := opts.Bands
	opts.Penalty, opts.Bands = nil, nil
	r, err := Fit(ctx, src, opts)
	return r.penalized(p, bands), err
}

// fitSummaryPenalized is FitSummary of a summary that was made without the penalty p.
func fitSummaryPenalized(ctx context.Context, src dataset.Source, sum *Summary, p []float64, opts Options) (*Result, error) {
	view, err := sum.Penalize(p)
	if err != nil {
		return nil, err
	}
	if src, err = penalize(src, p); err != nil {
		return nil, err
	}
	bands := opts.Bands
	opts.Penalty, opts.Bands = nil, nil
	r, err := FitSummary(ctx, src, view, opts)
	return r.penalized(p, bands), err
}

// chooseBands chooses the penalties of bands, and has c go on in columns divided by their roots.
func (r *Result) chooseBands(c *chooser) (p []float64, err error) {
	if r.Bands, err = c.chooseBands(); err != nil {
		return nil, err
	}
	if p, err = Penalties(c.sum.cfg.Dim, r.Bands.Bands); err != nil {
		return nil, err
	}
	if c.src, err = penalize(c.src, p); err != nil {
		return nil, err
	}
	own := c.sum == r.Summary
	if c.sum, err = c.sum.Penalize(p); err != nil {
		return nil, err
	}
	if !own {
		r.Summary, err = r.Summary.Penalize(p)
		return p, err
	}
	r.Summary = c.sum
	return p, nil
}

// chooseBands chooses the penalties of bands as the sketch has GCV. Where that leaves open that
// others of those tried are better by more than GammaTol it chooses once more, as a further pass has
// it, if one is worth while.
func (c *chooser) chooseBands() (*BandChoice, error) {
	choice, err := c.sum.ChooseBands(c.ctx, c.opts.Bands, c.opts.Candidates)
	if err != nil || choice.Choice.RelativeExcess() <= c.opts.gammaTol() || c.method == oneShotName {
		return choice, err
	}
	open := choice.Choice.RelativeExcess()
	why, err := c.sharpen(len(choice.Tried))
	if err != nil {
		return nil, err
	}
	if c.made > 0 {
		if choice, err = c.sum.ChooseBands(c.ctx, c.opts.Bands, c.opts.Candidates); err != nil {
			return nil, err
		}
	}
	choice.Passes, choice.Whole = c.made, c.sum.ofWhole
	choice.Spent = fmt.Sprintf("the sketch leaves open that other penalties are better by %s, and %s", percent(open), why)
	return choice, nil
}

// penalized makes of solutions in scaled columns those of the columns as they are.
func (r *Result) penalized(p []float64, bands []Band) *Result {
	if r == nil {
		return nil
	}
	if bands != nil && r.Bands == nil {
		r.Bands = &BandChoice{Bands: slices.Clone(bands), Choice: Choice{Index: -1}}
	}
	for _, f := range r.Solutions {
		f.penalize(p)
	}
	if r.Choice != nil {
		for _, f := range r.Choice.Path {
			f.penalize(p)
		}
	}
	return r
}

// penalize makes of a solution in scaled columns that of the columns as they are; of one that is
// already, nothing.
func (s *Solution) penalize(p []float64) {
	if s.Penalty != nil {
		return
	}
	s.Penalty = p
	s.Targets = slices.Clone(s.Targets) // a solution that was chosen may share those of its path
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
