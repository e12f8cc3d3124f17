package ridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// mostCorrections is how many passes measure a direct fit at most: each leaves of an error
// what the factor is off by, and rounding.
const mostCorrections = 5

// A correction is one target of a direct fit on its way.
type correction struct {
	fit    *Solution
	target int
	x      []float64
	bound  float64 // on ‖x − x*‖, of the pass before
}

// refine corrects the targets that are not certified to Tol: a pass measures their gradients g
// with twice the digits, and x − R⁻¹R⁻ᵀg is measured by the next one.
func (e *exact) refine(ctx context.Context, src dataset.Source, system *direct.System, fits []*Solution) error {
	var open []correction
	for _, f := range fits {
		for j := range f.Targets {
			if t := &f.Targets[j]; !(t.RelativeErrorBound <= e.opts.Tol) {
				open = append(open, correction{f, j, slices.Clone(t.Coef), t.ErrorBound})
			}
		}
	}
	r := gram.Rows{Source: src, Count: e.stage.Rows, Weight: e.stage.Weight.Value()}
	if e.opts.Intercept {
		r.Mean = e.stage.Means()
	}
	operator, err := gram.New(r, e.opts.Backend, nil, nil)
	if err != nil {
		return err
	}
	for pass := 2; len(open) > 0 && pass <= 1+mostCorrections; pass++ {
		found, err := e.measure(ctx, operator, open)
		if err != nil {
			return err
		}
		if open, err = e.correct(system, open, found, pass); err != nil {
			return err
		}
	}
	return nil
}

// measure makes a pass.
func (e *exact) measure(ctx context.Context, operator *gram.Operator, open []correction) ([]*gram.Measurement, error) {
	q, d := len(open), e.d
	v, out, rss := make([]float64, q*d), make([]float64, q*d), make([]float64, q)
	var queries []gram.Query
	for i, c := range open {
		copy(v[i*d:], c.x)
		queries = append(queries, gram.Query{Target: c.target, Affine: true, Precise: true, Gamma: c.fit.Gamma})
	}
	return operator.Apply(ctx, queries, v, out, rss, e.opts.Progress)
}

// correct takes in what was measured, and returns those that are to be measured again.
func (e *exact) correct(system *direct.System, open []correction, found []*gram.Measurement, pass int) (next []correction, err error) {
	var factored *certify.Factored
	for i, c := range open {
		if i == 0 || c.fit != open[i-1].fit {
			factored, _ = system.Solve(c.fit.Gamma) // as it did before
		}
		m := found[i]
		v, off := m.RSS.Round()
		at := certify.Corrected{X: c.x, Bounds: m.Bounds, RSS: interval.Outward(v, off)}
		at.Half, at.Step = direct.Correct(factored, m.Gradient)
		w, least, known := certify.Refined(system.Evidence(), factored, c.target, &at)
		target := &c.fit.Targets[c.target]
		if pass == 2 && least > target.EnergyBound {
			return nil, fmt.Errorf("%w: the rows of this pass are not those that were factored", errShape)
		}
		if !known {
			continue
		}
		c.fit.Passes = pass
		if w.Error < target.ErrorBound {
			*target = e.target(system.Evidence(), c.target, slices.Clone(c.x), w)
			target.GradientNorm = vec.Norm(m.Gradient)
		}
		if !(w.Relative <= e.opts.Tol) && (pass == 2 || w.Error < c.bound/2) {
			vec.Axpy(-1, at.Step, c.x)
			c.bound = w.Error
			next = append(next, c)
		}
	}
	return next, nil
}
