package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// maxCorrections limits the number of passes that refine makes. Each of these passes multiplies the error of a
// solution by about the relative error of the factorisation.
const maxCorrections = 5

// A correction is a target whose solution misses Tol.
type correction struct {
	fit    *Solution
	target int
	x      []float64
	low    []float64 // what rounding x to float64 removed; nil if unknown
	error  float64   // bounds ‖x + low − x*‖
}

// refine corrects the solutions of targets that miss the tolerance. A pass over the rows A computes the gradient of
// the objective at a solution with twice the digits of float64. refine then subtracts (AᵀA + γI)⁻¹ times the
// gradient from the solution. It uses the factors in system for this.
func (e *primal) refine(
	ctx context.Context,
	src dataset.Source,
	system *direct.System,
	fits []*Solution,
) error {
	var open []correction
	for _, f := range fits {
		if f.Status == MinimumNorm {
			continue
		}
		for j := range f.Targets {
			if t := &f.Targets[j]; !(t.RelativeErrorBound <= e.opts.Tol) {
				open = append(open, correction{
					fit:    f,
					target: j,
					x:      t.Coef,
					error:  t.ErrorBound,
				})
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
	for pass := 2; len(open) > 0 && pass <= 1+maxCorrections; pass++ {
		found, err := e.measure(ctx, operator, open)
		if err != nil {
			return err
		}
		open, err = e.correct(system, open, found, pass)
		if err != nil {
			return err
		}
	}
	return nil
}

// measure computes the gradient of each correction c in open at the coefficients c.x + c.low. It makes one pass
// over the rows.
func (e *primal) measure(
	ctx context.Context,
	operator *gram.Operator,
	open []correction,
) ([]*gram.Measurement, error) {
	var v []float64
	var queries []gram.Query
	for _, c := range open {
		v = append(v, c.x...)
		queries = append(queries, gram.Query{
			Target:  c.target,
			Affine:  true,
			Precise: true,
			Gamma:   c.fit.Gamma,
		})
	}
	for _, c := range open {
		if c.low != nil {
			v = append(v, c.low...)
			queries = append(queries, gram.Query{Target: c.target, Precise: true, Gamma: c.fit.Gamma})
		}
	}
	found, err := operator.Apply(
		ctx,
		queries,
		v,
		make([]float64, len(v)),
		make([]float64, len(queries)),
		e.opts.Progress,
	)
	if err != nil {
		return nil, err
	}
	lows := found[len(open):]
	for i, c := range open {
		if c.low != nil {
			found[i].Add(lows[0])
			lows = lows[1:]
		}
	}
	return found, nil
}

// correct returns the corrected targets that need another pass.
func (e *primal) correct(
	system *direct.System,
	open []correction,
	found []*gram.Measurement,
	pass int,
) (next []correction, err error) {
	var factored *certify.Factored
	var refiner *certify.Refiner
	at := make([]certify.Corrected, len(open))
	e.steps(open, found, at)
	for i, c := range open {
		c.fit.Passes = pass
		reduced := at[i].Step != nil
		if i == 0 || c.fit != open[i-1].fit {
			if reduced {
				factored = e.reduction.At(c.fit.Gamma)
			} else {
				factored = system.Factor(c.fit.Gamma) // the same factor as before
			}
			refiner = nil
			if factored != nil {
				refiner = certify.NewRefiner(system.Evidence(), factored)
			}
		}
		if refiner == nil {
			continue
		}
		m := found[i]
		at := &at[i]
		v, off := m.RSS.Round()
		at.X = c.x
		at.Low = c.low
		at.RSS = interval.Outward(v, off)
		at.Shift = m.Shift
		at.Bounds = m.Rounded()
		at.Residual = m.Residual
		if !reduced {
			at.Bounds = m.Bounds
			at.Half, at.Step = direct.Correct(factored, m.Gradient)
			at.HalfLow, at.StepLow = direct.Correct(factored, m.Low)
			vec.Axpy(1, at.HalfLow, at.Half)
			vec.Axpy(1, at.StepLow, at.Step)
		}
		system.Evidence().Unround(at, math.Sqrt(e.stage.Weight.Value()))
		r, known := refiner.Next(c.target, at)
		if !known {
			continue
		}
		target := &c.fit.Targets[c.target]
		if pass == 2 && r.Before > target.EnergyBound {
			return nil, fmt.Errorf("%w: this pass read other rows than the factorisation", errShape)
		}
		if r.Weights.Error < target.ErrorBound {
			*target = newTarget(
				r.X,
				system.Evidence().TSS[c.target],
				e.stage.Weight.Value(),
				r.Weights,
			)
		}
		if !(r.Weights.Relative <= e.opts.Tol) &&
			(pass == 2 || r.Error < c.error/2) {
			c.x = r.X
			c.low = r.Low
			c.error = r.Error
			next = append(next, c)
		}
	}
	return next, nil
}
