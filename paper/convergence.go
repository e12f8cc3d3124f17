package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// datasets lists the data sets of figures 3, 4 and 5, in this order.
var datasets = []string{"w8a", "covtype", "YearPredictionMSD"}

// A convergence holds the results of figure 3, 4 or 5, each for one data set.
type convergence struct {
	dataset   string
	rows      int64
	dim, size int
	gammas    []float64
	shrinkage float64 // η of the sketch, including round-off
	from      string  // source of the rows
	floor     float64 // bound on the relative error of the computed x*, with which all iterates are compared
	curves    []*curve
}

// A curve is the error of one method at one γ.
type curve struct {
	method string
	gamma  float64
	errors []float64 // ‖x⁽ᵗ⁾ − x*‖/‖x*‖ for t = 0, 1, …; x⁽⁰⁾ = 0
	bounds []float64 // error bounds of the certificates; 1 at x⁽⁰⁾
}

// contraction returns the largest factor by which an iteration changed the error. It ignores errors near floor, the
// error of x* itself.
func (c *curve) contraction(floor float64) float64 {
	most := 0.0
	for i := 1; i < len(c.errors); i++ {
		if c.errors[i] > reliable*floor {
			most = math.Max(most, c.errors[i]/c.errors[i-1])
		}
	}
	return most
}

// find returns the curve of a method at γ. It returns nil if this curve was not computed.
func (c *convergence) find(method string, gamma float64) *curve {
	i := slices.IndexFunc(c.curves, func(k *curve) bool {
		return k.method == method && k.gamma == gamma
	})
	if i < 0 {
		return nil
	}
	return c.curves[i]
}

// rate returns the proved bound on the factor by which an iteration multiplies the error: η/γ for FD, and
// ρ/(γ+ρ) for RFD. η is the error bound of the sketch, and ρ = η/2.
func (c *convergence) rate(method string, gamma float64) float64 {
	if method == "FD" {
		return c.shrinkage / gamma
	}
	rho := c.shrinkage / 2
	return rho / (gamma + rho)
}

// convergence draws figures 3 to 5. They compare the iterates of Algorithm 1, with every kind of sketch, and of
// conjugate gradients. They show errors and certified error bounds.
func (r *run) convergence(ctx context.Context) error {
	for i, name := range datasets {
		r.figure = 3 + i
		if !r.wants(r.figure) {
			continue
		}
		c, err := r.converge(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.converged[i] = c
		if err := r.save(c.draw(r.figure)); err != nil {
			return err
		}
	}
	return nil
}

// kinds are the kinds of random sketches, with their names in the figures.
var kinds = []struct {
	randsketch.Kind
	name string
}{{randsketch.Gaussian, "Gaussian"}, {randsketch.SJLT, "SJLT"}}

// An iterative is an iterative method of figures 3 to 6.
type iterative struct {
	name string
	opts ridge.SolveOptions
}

// sketchAll returns the random sketch of all rows.
func sketchAll(
	ctx context.Context,
	src dataset.Source,
	cfg randsketch.Config,
) (*randsketch.Sketch, error) {
	s, err := randsketch.New(cfg)
	if err != nil {
		return nil, err
	}
	return s, s.AppendSource(ctx, src)
}

// converge runs every method on one data set. One pass serves all γ.
func (r *run) converge(ctx context.Context, name string) (*convergence, error) {
	r.tell(name+", reading", 0)
	src, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &convergence{
		dataset: name,
		from:    src.from,
		size:    setting(r, r.Size, 256, 64),
		gammas:  r.Gammas,
	}
	if c.gammas == nil {
		c.gammas = []float64{10, 100, 1000}
	}
	r.tell(name+", exact solution", 0.1)
	exact, err := ridge.SolveExact(ctx, src, c.gammas, ridge.ExactOptions{Backend: r.Backend})
	if err != nil {
		return nil, err
	}
	for _, f := range exact {
		c.floor = math.Max(c.floor, f.Targets[0].RelativeErrorBound)
	}
	if !(c.floor < 1e-6) {
		return nil, fmt.Errorf(
			"the exact solution is known only to %.3g: too inexact to measure relative errors; is the target "+
				"constant in these %d rows?",
			c.floor,
			exact[0].Rows,
		)
	}
	r.tell(name+", sketch", 0.2)
	sum, err := ridge.Summarize(
		ctx,
		src,
		ridge.SummaryConfig{Size: c.size, Backend: r.Backend, Store: fd.StoreRows},
		nil,
	)
	if err != nil {
		return nil, err
	}
	c.rows = sum.Rows()
	c.dim = sum.Config().Dim
	spectrum, err := sum.Sketch().Spectrum() // as the solver uses it, after a last shrink
	if err != nil {
		return nil, err
	}
	c.shrinkage = spectrum.Bound.FD()
	methods := []iterative{
		{"RFD", ridge.SolveOptions{Method: ridge.Newton}},
		{"FD", ridge.SolveOptions{Method: ridge.Newton, PlainFD: true}},
	}
	var classical []*curve // the one-shot classical sketches, which have one iterate
	for _, kind := range kinds {
		cfg := randsketch.Config{
			Kind:    kind.Kind,
			Rows:    c.size,
			Dim:     c.dim,
			Targets: 1,
			Seed:    r.Seed,
			Backend: r.Backend,
		}
		fresh, err := randsketch.NewFresh(src, cfg)
		if err != nil {
			return nil, err
		}
		s, err := sketchAll(ctx, src, cfg)
		if err != nil {
			return nil, err
		}
		single, err := s.Spectrum()
		if err != nil {
			return nil, err
		}
		methods = append(
			methods,
			iterative{"IHS:" + kind.name, ridge.SolveOptions{Method: ridge.Newton, Hessian: fresh}},
			iterative{"Single:" + kind.name, ridge.SolveOptions{Method: ridge.Newton, Hessian: single}},
		)
		for _, f := range exact {
			x, err := s.Classical(f.Gamma)
			if err != nil {
				return nil, err
			}
			classical = append(
				classical,
				&curve{
					"Classical:" + kind.name,
					f.Gamma,
					[]float64{1, relativeError(x.RawRowView(0), f)},
					[]float64{1, math.Inf(1)},
				},
			)
		}
	}
	methods = append(methods, iterative{"CG:RFD", ridge.SolveOptions{Method: ridge.CG}})
	for i, m := range methods {
		r.tell(name+", "+m.name, 0.3+0.7*float64(i)/float64(len(methods)))
		curves, err := m.trace(ctx, src, sum, exact, setting(r, r.Iterations, 10, 10))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		c.curves = append(c.curves, curves...)
	}
	c.curves = append(c.curves, classical...)
	return c, nil
}

// relativeError returns ‖x − x*‖/‖x*‖.
func relativeError(x []float64, exact *ridge.Solution) float64 {
	ref := exact.Targets[0].Coef
	return floats.Distance(x, ref, 2) / floats.Norm(ref, 2)
}

// trace runs one method and returns its curve for each γ. An iteration ends early if it diverges or reaches
// round-off.
func (m *iterative) trace(
	ctx context.Context,
	src dataset.Source,
	sum *ridge.Summary,
	exact []*ridge.Solution,
	iterations int,
) ([]*curve, error) {
	var gammas []float64
	var curves []*curve
	for _, f := range exact {
		gammas = append(gammas, f.Gamma)
		curves = append(curves, &curve{m.name, f.Gamma, []float64{1}, []float64{1}})
	}
	opts := m.opts
	opts.MaxPasses, opts.Tol = iterations+1, 0x1p-52 // CG uses its last pass to measure its error
	opts.Observe = func(it ridge.Iterate) {
		if it.Pass > iterations || (opts.Method == ridge.CG && it.Measured && it.Pass > 1) {
			return
		}
		i := slices.Index(gammas, it.Gamma)
		c := curves[i]
		c.errors = append(c.errors, relativeError(it.Coef, exact[i]))
		c.bounds = append(c.bounds, it.RelativeError)
	}
	_, err := ridge.SolvePath(ctx, src, sum, gammas, opts)
	var short *ridge.NotConvergedError
	if err != nil && !errors.As(err, &short) {
		return nil, err
	}
	return curves, nil
}

// draw draws the figure with a panel for each γ.
func (c *convergence) draw(number int) *figure {
	f := &figure{
		Number:  number,
		Columns: len(c.gammas),
		Title:   fmt.Sprintf("%s, n = %d, d = %d, m = %d", c.dataset, c.rows, c.dim, c.size),
		Settings: map[string]any{
			"dataset":                  c.dataset,
			"rows":                     c.rows,
			"dim":                      c.dim,
			"size":                     c.size,
			"shrinkage":                c.shrinkage,
			"reference_relative_error": c.floor,
			"from":                     c.from,
		},
		Table: table{
			Columns: []string{"dataset", "gamma", "method", "iteration", "relative_error", "certified", "predicted"},
		},
	}
	for _, gamma := range c.gammas {
		p := chart.Panel{
			Title: fmt.Sprintf("γ = %g", gamma),
			X:     "iteration t",
			Y:     "‖x⁽ᵗ⁾ − x*‖ / ‖x*‖",
			LogY:  true,
			YMin:  1e-14,
			YMax:  1e4,
		}
		for _, k := range c.curves {
			if k.gamma != gamma {
				continue
			}
			line, predicted := chart.Line{
				Method: k.method,
			}, chart.Line{
				Method: k.method,
				Label:  k.method + " predicted",
				Dashed: true,
			}
			for t, e := range k.errors {
				line.X = append(line.X, float64(t))
				line.Y = append(line.Y, e)
				rate := math.NaN()
				if k.method == "FD" || k.method == "RFD" {
					rate = math.Pow(c.rate(k.method, gamma), float64(t))
					predicted.X = append(predicted.X, float64(t))
					predicted.Y = append(predicted.Y, rate)
				}
				f.Table.Rows = append(f.Table.Rows, []any{c.dataset, gamma, k.method, t, e, k.bounds[t], rate})
			}
			p.Lines = append(p.Lines, line)
			if predicted.X != nil {
				p.Lines = append(p.Lines, predicted)
			}
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}
