package fdridge

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// smallGrid is the size of the default grid if each γ costs a product with all rows or a fit of each fold.
const smallGrid = 25

// eachCandidates returns the given candidates, or the candidates of the first block of targets. It returns nil if there
// are neither.
func (r *request) eachCandidates() []float64 {
	if r.opts.Candidates != nil {
		return r.opts.Candidates
	}
	return r.firstGrid
}

// isTogether reports whether all targets are one block.
func (o *Options) isTogether() bool {
	return !o.PerTarget || o.Classes != nil
}

// blockOfTargets returns the number of targets that fit in memory together.
func (j job) blockOfTargets() int {
	o := &j.opts
	if o.isTogether() ||
		j.once ||
		o.choosesBands() ||
		o.KeepSummary ||
		o.Journal != nil ||
		o.Reducer != nil {
		return j.t
	}
	numbers := 5 * float64(j.d)
	if o.choosesGamma() && j.by.Needs() != (choose.Needs{}) {
		numbers += 3 * float64(max(len(o.Candidates), smallGrid)) * float64(j.d)
	}
	const bytes = 1 << 29
	return max(1, int(math.Min(bytes, float64(o.MaxBytes)/8)/8/numbers))
}

// runBlocks fits at most width targets at a time and joins the results. All fits share the spectrum of the sketch. With
// Options.Block, the joined result has no coefficients.
func (j job) runBlocks(ctx context.Context, width int) (*Result, error) {
	if j.opts.isTogether() {
		width = j.t
	}
	var all *Result
	var shared ridge.SpectrumCache
	var firstGrid []float64
	for lo := 0; lo < j.t; lo += width {
		if all != nil { // without this, the memory of earlier blocks would add up
			all.Summary, all.outcome.Summary = nil, nil
			runtime.GC()
		}
		block, err := j.block(lo, min(lo+width, j.t), &shared, firstGrid)
		if err != nil {
			return nil, err
		}
		part, err := block.run(ctx)
		_, short := errors.AsType[*ridge.NotConvergedError](err)
		if err != nil && !short {
			return nil, err
		}
		if err := j.opts.deliver(lo, part.Solutions); err != nil {
			return nil, err
		}
		if all == nil {
			all = part
			if part.Each != nil {
				firstGrid = part.Each.Candidates
			}
			continue
		}
		all.join(part)
	}
	return all, all.Err()
}

// block returns the job for targets lo to hi−1. Its sketch takes the spectrum from shared if it is there, and
// otherwise stores it there. firstGrid has the default candidates of the first block.
func (j job) block(
	lo, hi int,
	shared *ridge.SpectrumCache,
	firstGrid []float64,
) (job, error) {
	r := *j.request
	r.firstGrid = firstGrid
	summarized := r.opts.Summarized
	r.opts.Summarized = func(sum *ridge.Summary) error {
		err := shared.Share(sum)
		if err == nil && summarized != nil {
			err = summarized(sum)
		}
		return err
	}
	j.request = &r
	j.trace = new(trace)
	if r.opts.isTogether() {
		return j, nil
	}
	if len(r.opts.Gammas) > 0 {
		r.opts.Gammas = r.opts.Gammas[lo:hi]
	}
	if observe := r.opts.Observe; observe != nil {
		r.opts.Observe = func(i ridge.Iterate) {
			i.Target += lo
			observe(i)
		}
	}
	var err error
	j.before, err = dataset.Targets(j.before, lo, hi)
	if err != nil {
		return j, err
	}
	j.t = hi - lo
	if j.columns.DependsOnRows() {
		return j, nil
	}
	return j.changeRows()
}

// deliver calls Options.Block with solutions, and then removes their coefficients. first is the number of their first
// target.
func (o *Options) deliver(first int, solutions []*ridge.Solution) error {
	if o.Block == nil {
		return nil
	}
	for _, s := range solutions {
		if err := o.Block(first, s); err != nil {
			return err
		}
		for j := range s.Targets {
			s.Targets[j].Coef, s.Targets[j].Scaled = nil, nil
		}
	}
	return nil
}

// join appends the targets of o to the targets of r. Both have the same candidates.
func (r *Result) join(o *Result) {
	f := r.Solutions[0]
	g := o.Solutions[0]
	f.Targets = append(f.Targets, g.Targets...)
	f.Gammas = append(f.Gammas, g.Gammas...)
	f.Gamma = math.Min(f.Gamma, g.Gamma)
	f.Contraction = math.Max(f.Contraction, g.Contraction)
	f.Shrinkage = math.Max(f.Shrinkage, g.Shrinkage)
	f.Status = f.Status.Worse(g.Status)
	f.EffectiveDimension.Lo = math.Min(f.EffectiveDimension.Lo, g.EffectiveDimension.Lo)
	f.EffectiveDimension.Hi = math.Max(f.EffectiveDimension.Hi, g.EffectiveDimension.Hi)
	f.EffectiveDimensions = append(f.EffectiveDimensions, g.EffectiveDimensions...)
	f.Passes += g.Passes
	f.Iterations += g.Iterations
	r.Status = r.Status.Worse(o.Status)
	r.Passes += o.Passes
	r.Trace = append(r.Trace, o.Trace...)
	r.outcome.Status, r.outcome.Summary, r.Summary = r.Status, o.Summary, o.Summary
	c, e := r.Each, o.Each
	if c == nil {
		return
	}
	c.Gammas = append(c.Gammas, e.Gammas...)
	c.Scores = append(c.Scores, e.Scores...)
	c.Excess = append(c.Excess, e.Excess...)
	c.AtEnd[0] += e.AtEnd[0]
	c.AtEnd[1] += e.AtEnd[1]
	c.Passes += e.Passes
	c.Whole = c.Whole && e.Whole
	for _, why := range e.Spent {
		if !slices.ContainsFunc(c.Spent, func(r reason.Reason) bool {
			return r.Rule == why.Rule
		}) {
			c.Spent = append(c.Spent, why)
		}
	}
}
