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

// datasets are those of figures 3, 4 and 5, in this order.
var datasets = []string{"w8a", "covtype", "YearPredictionMSD"}

// A convergence is what figures 3, 4 and 5 found on one data set.
type convergence struct {
	dataset   string
	rows      int64
	dim, size int
	gammas    []float64
	shrinkage float64 // η of the sketch, round-off included
	from      string  // where the rows come from
	floor     float64 // bound on the relative error of the x* that errors are measured against
	curves    []*curve
}

// A curve is one method at one γ.
type curve struct {
	method string
	gamma  float64
	errors []float64 // ‖x⁽ᵗ⁾ − x*‖/‖x*‖ for t = 0, 1, …; x⁽⁰⁾ = 0
	bounds []float64 // what the certificate said of it; 1 at x⁽⁰⁾
}

// last is the error of the last iterate.
func (c *curve) last() float64 { return c.errors[len(c.errors)-1] }

// contraction is the largest factor by which an iteration has changed the error,
// among those that leave it well above the floor, where x* itself is not exact.
func (c *curve) contraction(floor float64) float64 {
	most := 0.0
	for i := 1; i < len(c.errors); i++ {
		if c.errors[i] > 1e3*floor {
			most = math.Max(most, c.errors[i]/c.errors[i-1])
		}
	}
	return most
}

// find returns the curve of a method at γ, nil where there is none.
func (c *convergence) find(method string, gamma float64) *curve {
	i := slices.IndexFunc(c.curves, func(k *curve) bool { return k.method == method && k.gamma == gamma })
	if i < 0 {
		return nil
	}
	return c.curves[i]
}

// rate is what the sketch promises of each iteration, η/γ (FD) or ρ/(γ+ρ) (RFD).
func (c *convergence) rate(method string, gamma float64) float64 {
	if method == "FD" {
		return c.shrinkage / gamma
	}
	rho := c.shrinkage / 2
	return rho / (gamma + rho)
}

// convergence draws figures 3 to 5: the error of each iterate of Algorithm 1 with
// every sketch, and of conjugate gradients, and what the certificates predict.
func (r *run) convergence(ctx context.Context) error {
	for i, name := range datasets {
		if r.figure = 3 + i; !r.wants(r.figure) {
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

// An iterative method of figures 3 to 5.
type iterative struct {
	name    string
	method  ridge.Method
	plain   bool
	hessian func(context.Context) (ridge.Hessian, error) // nil: the summary's own
}

// iterations are the methods of the paper, and CG.
func (r *run) iterations(src dataset.Source, dim, size int) []iterative {
	list := []iterative{
		{name: "RFD", method: ridge.Newton},
		{name: "FD", method: ridge.Newton, plain: true},
	}
	for _, kind := range []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT} {
		cfg := randsketch.Config{Kind: kind, Rows: size, Dim: dim, Seed: r.Seed, Backend: r.Backend}
		list = append(list, iterative{
			name: "IHS:" + kindNames[kind], method: ridge.Newton,
			hessian: func(context.Context) (ridge.Hessian, error) { return randsketch.NewFresh(src, cfg) },
		}, iterative{
			name: "Single:" + kindNames[kind], method: ridge.Newton,
			hessian: func(ctx context.Context) (ridge.Hessian, error) { return single(ctx, src, cfg) },
		})
	}
	return append(list, iterative{name: "CG:RFD", method: ridge.CG})
}

// kindNames are the names that the figures give to the sketches.
var kindNames = map[randsketch.Kind]string{randsketch.Gaussian: "Gaussian", randsketch.SJLT: "SJLT"}

// single is the Hessian of one random sketch.
func single(ctx context.Context, src dataset.Source, cfg randsketch.Config) (*randsketch.Spectrum, error) {
	s, err := randsketch.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.AppendSource(ctx, src); err != nil {
		return nil, err
	}
	return s.Spectrum()
}

// converge runs every method on one data set, all γ in the same passes.
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
		return nil, fmt.Errorf("no exact solution to measure relative errors by (it is known to %.3g); is the target constant in these %d rows?", c.floor, exact[0].Rows)
	}
	r.tell(name+", sketch", 0.2)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: c.size, Backend: r.Backend, Store: fd.StoreRows}, nil)
	if err != nil {
		return nil, err
	}
	c.rows, c.dim = sum.Rows(), sum.Config().Dim
	spectrum, err := sum.Sketch().Spectrum() // as the solver uses it, after a last shrink
	if err != nil {
		return nil, err
	}
	c.shrinkage = spectrum.Bound.FD()
	methods := r.iterations(src, c.dim, c.size)
	for i, m := range methods {
		r.tell(name+", "+m.name, 0.3+0.7*float64(i)/float64(len(methods)))
		curves, err := m.trace(ctx, src, sum, exact, setting(r, r.Iterations, 10, 10))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		c.curves = append(c.curves, curves...)
	}
	classical, err := r.classical(ctx, src, c, exact)
	if err != nil {
		return nil, err
	}
	c.curves = append(c.curves, classical...)
	return c, nil
}

// trace runs one method and returns its curve for each γ. An iteration ends early
// where it has diverged or reached round-off.
func (m *iterative) trace(ctx context.Context, src dataset.Source, sum *ridge.Summary, exact []*ridge.Solution, iterations int) ([]*curve, error) {
	var gammas []float64
	var curves []*curve
	for _, f := range exact {
		gammas = append(gammas, f.Gamma)
		curves = append(curves, &curve{method: m.name, gamma: f.Gamma, errors: []float64{1}, bounds: []float64{1}})
	}
	// CG spends its last pass on measuring where it stands.
	opts := ridge.SolveOptions{Method: m.method, PlainFD: m.plain, MaxPasses: iterations + 1, Tol: 0x1p-52}
	if m.hessian != nil {
		var err error
		if opts.Hessian, err = m.hessian(ctx); err != nil {
			return nil, err
		}
	}
	opts.Observe = func(it ridge.Iterate) {
		i := slices.Index(gammas, it.Gamma)
		c, x := curves[i], exact[i].Targets[0].Coef
		if it.Pass > iterations || (m.method == ridge.CG && it.Measured && it.Pass > 1) {
			return
		}
		c.errors = append(c.errors, floats.Distance(it.Coef, x, 2)/floats.Norm(x, 2))
		c.bounds = append(c.bounds, it.RelativeError)
	}
	_, err := ridge.SolvePath(ctx, src, sum, gammas, opts)
	var short *ridge.NotConvergedError
	if err != nil && !errors.As(err, &short) {
		return nil, err
	}
	return curves, nil
}

// classical is the classical sketch, one-shot: a curve of one iterate.
func (r *run) classical(ctx context.Context, src dataset.Source, c *convergence, exact []*ridge.Solution) ([]*curve, error) {
	var out []*curve
	for _, kind := range []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT} {
		s, err := randsketch.New(randsketch.Config{Kind: kind, Rows: c.size, Dim: c.dim, Targets: 1, Seed: r.Seed, Backend: r.Backend})
		if err != nil {
			return nil, err
		}
		if err := s.AppendSource(ctx, src); err != nil {
			return nil, err
		}
		for i, gamma := range c.gammas {
			x, err := s.Classical(gamma)
			if err != nil {
				return nil, err
			}
			ref := exact[i].Targets[0].Coef
			out = append(out, &curve{
				method: "Classical:" + kindNames[kind], gamma: gamma,
				errors: []float64{1, floats.Distance(x.RawRowView(0), ref, 2) / floats.Norm(ref, 2)},
				bounds: []float64{1, math.Inf(1)},
			})
		}
	}
	return out, nil
}

// draw makes the figure: a panel for each γ.
func (c *convergence) draw(number int) *figure {
	f := &figure{
		Number: number, Columns: len(c.gammas),
		Title:    fmt.Sprintf("%s, n = %d, d = %d, m = %d", c.dataset, c.rows, c.dim, c.size),
		Settings: map[string]any{"dataset": c.dataset, "rows": c.rows, "dim": c.dim, "size": c.size, "shrinkage": c.shrinkage, "reference_relative_error": c.floor, "from": c.from},
		Table:    table{Columns: []string{"dataset", "gamma", "method", "iteration", "relative_error", "certified", "predicted"}},
	}
	for _, gamma := range c.gammas {
		p := chart.Panel{
			Title: fmt.Sprintf("γ = %g", gamma), X: "iteration t", Y: "‖x⁽ᵗ⁾ − x*‖ / ‖x*‖", LogY: true,
			YMin: 1e-14, YMax: 1e4,
		}
		for _, k := range c.curves {
			if k.gamma != gamma {
				continue
			}
			line, predicted := chart.Line{Method: k.method}, chart.Line{Method: k.method, Label: k.method + " predicted", Dashed: true}
			for t, e := range k.errors {
				line.X, line.Y = append(line.X, float64(t)), append(line.Y, e)
				rate := math.NaN()
				if k.method == "FD" || k.method == "RFD" {
					rate = math.Pow(c.rate(k.method, gamma), float64(t))
					predicted.X, predicted.Y = append(predicted.X, float64(t)), append(predicted.Y, rate)
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
