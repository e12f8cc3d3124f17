package fdridge

import (
	"context"
	"math"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// staged is the evidence of a fit in two stages. γ or the penalties of bands are chosen from a sketch. Then a direct
// method reads the rows again and solves.
type staged struct {
	sketch sketched
	direct ridge.Method
}

// keep makes a pass for the summary that the caller wants. The returned job does not make this summary again.
func (j job) keep(ctx context.Context) (*ridge.Summary, job, error) {
	src := j.src
	if j.columns.DependsOnRows() {
		src = j.before
	}
	sum, err := j.sketchRows(ctx, src, j.progress(Sketching, 1))
	if err != nil {
		return nil, j, err
	}
	j.record(Step{Stage: Sketching, Passes: 1})
	if j.opts.Summarized != nil {
		if err := j.opts.Summarized(sum); err != nil {
			return nil, j, err
		}
	}
	rest := *j.request
	rest.opts.KeepSummary, rest.opts.Summarized = false, nil
	j.request = &rest
	return sum, j, nil
}

// stage builds the sketch of a staged fit.
func (j job) stage(ctx context.Context, steps plan.Steps) (staged, error) {
	first := plan.Steps{Method: plan.Iteration(j.problem()), Reason: j.opts.whySketch()}
	made, err := j.sketch(ctx, first)
	return staged{made, steps.Method}, err
}

func (s staged) choose(ctx context.Context) (choice, error) {
	steps := plan.Steps{Method: s.direct}
	if s.sketch.choosesFromSketch(s.direct) {
		c, sketch, err := s.sketch.search(ctx)
		c.from = afterSketch{sketch, func(ctx context.Context, c choice) (solved, error) {
			direct, err := sketch.factorise(ctx, steps, c.gammas)
			if err != nil {
				return solved{}, err
			}
			return direct.solve(ctx, choice{gammas: c.gammas})
		}}
		return c, err
	}
	sketch := s.sketch
	if sketch.opts.choosesBands() {
		var err error
		sketch, err = sketch.chooseBands(ctx)
		if err != nil {
			return choice{}, err
		}
	}
	direct, err := sketch.factorise(ctx, steps, sketch.opts.Gammas)
	if err != nil {
		return choice{}, err
	}
	c, err := direct.choose(ctx)
	if err != nil {
		return choice{}, err
	}
	c.from = afterSketch{sketch, c.from.solve}
	return c, nil
}

// afterSketch solves by a direct method after a sketch.
type afterSketch struct {
	sketch sketched
	direct func(ctx context.Context, c choice) (solved, error)
}

func (s afterSketch) solve(ctx context.Context, c choice) (solved, error) {
	out, err := s.direct(ctx, c)
	if err != nil {
		return solved{}, err
	}
	for _, f := range out.fits {
		f.Passes += 1 + s.sketch.passes
	}
	out.summary = s.sketch.sum
	out.spread = math.Max(out.spread, s.sketch.spread())
	return out, nil
}
