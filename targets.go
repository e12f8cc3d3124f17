package fdridge

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// smallGrid is the size of the default grid if each γ costs a product with all rows or a fit of each fold.
const smallGrid = 25

// eachCandidates returns the given candidates, or the candidates of the first block of targets. It returns nil if there
// are neither.
func (j *job) eachCandidates() []float64 {
	if j.Candidates != nil {
		return j.Candidates
	}
	return j.firstGrid
}

// blockOfTargets returns the number of targets that fit in memory together.
func (j *job) blockOfTargets() int {
	if !j.PerTarget || j.Classes != nil || j.once || j.choosesBands() || j.KeepSummary || j.Journal != nil ||
		j.Reducer != nil {
		return j.t
	}
	numbers := 5 * float64(j.d)
	if j.choosesGamma() && j.Select.Needs() != (choose.Needs{}) {
		numbers += 3 * float64(max(len(j.Candidates), smallGrid)) * float64(j.d)
	}
	const bytes = 1 << 29
	return max(1, int(math.Min(bytes, float64(j.MaxBytes)/8)/8/numbers))
}

// join appends the targets of o to the targets of r. Both have the same candidates.
func (r *Result) join(o *Result) {
	f, g := r.Solutions[0], o.Solutions[0]
	f.Targets = append(f.Targets, g.Targets...)
	f.Gammas = append(f.Gammas, g.Gammas...)
	f.Gamma = math.Min(f.Gamma, g.Gamma)
	f.Contraction = math.Max(f.Contraction, g.Contraction)
	f.Shrinkage = math.Max(f.Shrinkage, g.Shrinkage)
	f.Status = f.Status.Worse(g.Status)
	f.EffectiveDimension.Lo = math.Min(f.EffectiveDimension.Lo, g.EffectiveDimension.Lo)
	f.EffectiveDimension.Hi = math.Max(f.EffectiveDimension.Hi, g.EffectiveDimension.Hi)
	f.EffectiveDimensions = append(f.EffectiveDimensions, g.EffectiveDimensions...)
	f.Passes, f.Iterations = f.Passes+g.Passes, f.Iterations+g.Iterations
	r.Status, r.Passes, r.Trace = r.Status.Worse(o.Status), r.Passes+o.Passes, append(r.Trace, o.Trace...)
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
		if !slices.ContainsFunc(c.Spent, func(r reason.Reason) bool { return r.Rule == why.Rule }) {
			c.Spent = append(c.Spent, why)
		}
	}
}
