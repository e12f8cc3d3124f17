package fdridge

import (
	"context"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
)

// decided is the state of a classification.
type decided struct {
	labelled dataset.Source             // the rows before Options.Classes.Encode; nil without classes
	leftOut  map[float64]*classes.Score // leave-one-out decisions at each γ that was tried
}

// leftOutCounter returns a function that counts leave-one-out decisions, or nil. The γ differ from each other; see
// Options.fill.
func (j *job) leftOutCounter(gammas []float64) func(fit int, b dataset.Block, within []ridge.Interval, y []float64) {
	if j.Classes == nil {
		return nil
	}
	if j.leftOut == nil {
		j.leftOut = map[float64]*classes.Score{}
	}
	for _, g := range gammas {
		j.leftOut[g] = j.Classes.NewScore()
	}
	var mu sync.Mutex
	return func(fit int, b dataset.Block, within []ridge.Interval, y []float64) {
		mu.Lock()
		defer mu.Unlock()
		j.leftOut[gammas[fit]].AddEncoded(b, y, within)
	}
}

// poolLeftOut adds the leave-one-out decisions of all workers at each of gammas.
func (j *job) poolLeftOut(ctx context.Context, gammas []float64) error {
	if j.Classes == nil || j.Reducer == nil {
		return nil
	}
	var scores []*classes.Score
	for _, g := range gammas {
		scores = append(scores, j.leftOut[g])
	}
	return classes.Pool(ctx, j.Reducer.Allreduce, scores...)
}

// leftOutEvidence returns the evidence of a leave-one-out pass.
func (j *job) leftOutEvidence(fits []*ridge.Solution, scores *ridge.LeftOutScores) []choose.Evidence {
	out := make([]choose.Evidence, len(fits))
	for i, f := range fits {
		out[i] = choose.Evidence{Fit: f, Errors: choose.ErrorsOf(scores.Bounds, scores.Estimates, i)}
		if j.Classes != nil {
			out[i].Decisions = j.leftOut[f.Gamma]
		}
	}
	return out
}

// classify sets r.Classes. It makes a pass over the rows.
func (j *job) classify(ctx context.Context, r *Result) error {
	if j.Classes == nil {
		return nil
	}
	r.Classes = &Decisions{}
	if r.Choice != nil {
		r.Classes.LeftOut = j.leftOut[r.Choice.Gamma()]
	}
	if j.once {
		return nil
	}
	var err error
	r.Classes.Training, err = j.Classes.Evaluate(ctx, j.labelled, r.Solutions)
	r.Passes++
	if err != nil || j.Reducer == nil {
		return err
	}
	return classes.Pool(ctx, j.Reducer.Allreduce, r.Classes.Training...)
}
