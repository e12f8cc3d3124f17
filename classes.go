package fdridge

import (
	"context"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
)

// counter returns a function that counts leave-one-out decisions at each of gammas, or nil without classes. Decisions
// that were counted at these γ before are discarded. No γ occurs twice in gammas; see Options.complete.
func (t decisions) counter(
	of *classes.Classes, gammas []float64,
) func(fit int, b dataset.Block, within []ridge.Interval, y []float64) {
	if of == nil {
		return nil
	}
	for _, g := range gammas {
		t[g] = of.NewScore()
	}
	var mu sync.Mutex
	return func(fit int, b dataset.Block, within []ridge.Interval, y []float64) {
		mu.Lock()
		defer mu.Unlock()
		t[gammas[fit]].AddEncoded(b, y, within)
	}
}

// pool adds the leave-one-out decisions of all workers at each of gammas.
func (t decisions) pool(ctx context.Context, by ridge.Reducer, gammas []float64) error {
	if len(t) == 0 || by == nil {
		return nil
	}
	var scores []*classes.Score
	for _, g := range gammas {
		scores = append(scores, t[g])
	}
	return classes.Pool(ctx, by.Allreduce, scores...)
}

// evidence returns the evidence of a leave-one-out pass.
func (t decisions) evidence(fits []*ridge.Solution, scores *ridge.LeftOutScores) []choose.Evidence {
	out := make([]choose.Evidence, len(fits))
	for i, f := range fits {
		out[i] = choose.Evidence{Fit: f, Errors: choose.ErrorsOf(scores.Bounds, scores.Estimates, i)}
		if len(t) > 0 {
			out[i].Decisions = t[f.Gamma]
		}
	}
	return out
}

// classify scores the decisions about the training rows. It returns nil without classes. passes is the number of passes
// that it made over the rows.
func (j job) classify(
	ctx context.Context,
	c choice,
	fits []*ridge.Solution,
) (found *Decisions, passes int, err error) {
	if j.opts.Classes == nil {
		return nil, 0, nil
	}
	found = &Decisions{}
	if c.gamma != nil {
		found.LeftOut = c.leftOut[c.gamma.Gamma()]
	}
	if j.once {
		return found, 0, nil
	}
	found.Training, err = j.opts.Classes.Evaluate(ctx, j.labelled, fits)
	if err != nil || j.opts.Reducer == nil {
		return found, 1, err
	}
	return found, 1, classes.Pool(ctx, j.opts.Reducer.Allreduce, found.Training...)
}
