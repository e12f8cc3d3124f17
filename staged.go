package fdridge

import (
	"context"
	"math"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A staged fit chooses γ or the penalties of bands from a sketch, and then solves by a direct method, which reads the
// rows again.
type staged struct {
	*job
	sketch *sketched
	asked  ridge.Method // the direct method
	direct *factored    // nil before the direct method has read the rows
}

// keep makes a pass for the summary that the caller wants. The fit goes on as if no summary were wanted.
func (j *job) keep(ctx context.Context) (err error) {
	j.kept, err = j.sketchRows(ctx, j.progress(Sketching, 1))
	if err != nil {
		return err
	}
	j.record(Step{Stage: Sketching, Passes: 1})
	if j.Summarized != nil {
		if err := j.Summarized(j.kept); err != nil {
			return err
		}
	}
	j.KeepSummary, j.Summarized, j.Summarize = false, nil, nil
	return nil
}

// stage builds the sketch of a staged fit.
func (j *job) stage(ctx context.Context, steps plan.Steps) (*staged, error) {
	first := plan.Steps{Method: plan.Iteration(j.problem()), Reason: j.whySketch()}
	made, err := j.sketch(ctx, first)
	if err != nil {
		return nil, err
	}
	return &staged{job: j, sketch: made, asked: steps.Method}, nil
}

// factor makes the pass of the direct method.
func (s *staged) factor(ctx context.Context, j *job) (err error) {
	s.direct, err = j.factorise(ctx, plan.Steps{Method: s.asked})
	return err
}

func (s *staged) chooseGamma(ctx context.Context) ([]float64, error) {
	if s.choosesFromSketch(s.asked) {
		return s.sketch.chooseGamma(ctx)
	}
	if s.choosesBands() {
		if err := s.sketch.chooseBands(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.factor(ctx, s.job); err != nil {
		return nil, err
	}
	return s.direct.chooseGamma(ctx)
}

// solve solves by the direct method. If γ was chosen from the sketch, the direct method has not read the rows yet. It
// takes the chosen γ as if the caller had given them.
func (s *staged) solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	if s.direct == nil {
		given := *s.job
		given.Gammas, given.choice, given.each = gammas, nil, nil
		if err := s.factor(ctx, &given); err != nil {
			return nil, 0, err
		}
	}
	fits, status, err := s.direct.solve(ctx, gammas)
	if err != nil {
		return nil, 0, err
	}
	s.trace = s.direct.trace
	for _, f := range fits {
		f.Passes += 1 + s.sketch.passes
	}
	return fits, status, nil
}

func (s *staged) report(r *Result) {
	s.sketch.report(r)
	spread := r.ColumnSpread
	s.direct.report(r)
	r.ColumnSpread = math.Max(r.ColumnSpread, spread)
}
