package paper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// accuracy is the relative error that methods have to reach in figure 6.
const accuracy = 1e-8

// mostPasses limits the passes of a method in figure 6.
const mostPasses = 1000

// An effort is the cost of reaching the relative error accuracy, for one method, γ and data set of figure 6.
type effort struct {
	dataset string
	method  string
	gamma   float64
	ratio   float64 // γ/η
	passes  int     // reads of the data after the sketch; 0 if mostPasses are not enough
	seconds float64 // includes the pass of the sketch
}

// passes draws figure 6: the number of passes and the time to reach a relative error of 1e-8. The horizontal axis is
// γ/η, where η is the error bound of the sketch. There is a curve for each iteration and preconditioner.
func (r *run) passes(ctx context.Context) error {
	r.figure = 6
	if !r.wants(6) {
		return nil
	}
	var all []effort
	var from []string
	for i, name := range datasets {
		efforts, source, err := r.effortsOn(ctx, name, func(what string, done float64) {
			r.tell(name+", "+what, (float64(i)+done)/float64(len(datasets)))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, efforts...)
		from = append(from, source)
	}
	return r.save(r.drawEfforts(all, from))
}

// effortsOn measures all methods on one data set. from describes the source of its rows.
func (r *run) effortsOn(
	ctx context.Context,
	name string,
	tell func(what string, done float64),
) (efforts []effort, from string, err error) {
	tell("reading", 0)
	src, err := r.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	size := setting(r, r.Size, 256, 64)
	start := time.Now()
	sum, err := ridge.Summarize(
		ctx,
		src,
		ridge.SummaryConfig{Size: size, Backend: r.Backend, Store: fd.StoreRows},
		nil,
	)
	if err != nil {
		return nil, "", err
	}
	sketched := time.Since(start).Seconds()
	start = time.Now()
	approximation, err := randsketch.NewNystrom(
		randsketch.NystromConfig{
			Rank:    size,
			Dim:     sum.Config().Dim,
			Seed:    r.Seed,
			Backend: r.Backend,
		},
	)
	if err != nil {
		return nil, "", err
	}
	if err := approximation.AppendSource(ctx, src); err != nil {
		return nil, "", err
	}
	nystrom, err := approximation.Spectrum()
	if err != nil {
		return nil, "", err
	}
	drawn := time.Since(start).Seconds()
	none := ridge.Identity{Largest: sum.Sketch().Bound().Frobenius2}
	methods := []struct {
		iterative
		seconds float64 // to make the Hessian
	}{
		{iterative{"FD", ridge.SolveOptions{Method: ridge.Newton, PlainFD: true}}, sketched},
		{iterative{"RFD", ridge.SolveOptions{Method: ridge.Newton}}, sketched},
		{iterative{"CG:FD", ridge.SolveOptions{Method: ridge.CG, PlainFD: true}}, sketched},
		{iterative{"CG:RFD", ridge.SolveOptions{Method: ridge.CG}}, sketched},
		{iterative{"CG:Nyström", ridge.SolveOptions{Method: ridge.CG, Hessian: nystrom}}, drawn},
		{iterative{"CG", ridge.SolveOptions{Method: ridge.CG, Hessian: none}}, 0},
	}
	spectrum, err := sum.Sketch().Spectrum() // as the solver uses it, after a last shrink
	if err != nil {
		return nil, "", err
	}
	eta := spectrum.Bound.FD()
	gammas := r.Gammas
	if gammas == nil {
		gammas = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}
		floats.Scale(eta, gammas)
	}
	exact, err := ridge.SolveExact(ctx, src, gammas, ridge.ExactOptions{Backend: r.Backend})
	if err != nil {
		return nil, "", err
	}
	for i, f := range exact {
		for j, m := range methods {
			tell(
				fmt.Sprintf("γ/η = %.3g, %s", f.Gamma/eta, m.name),
				(float64(i)+float64(j)/float64(len(methods)))/float64(len(exact)),
			)
			e := effort{
				dataset: name,
				method:  m.name,
				gamma:   f.Gamma,
				ratio:   f.Gamma / eta,
			}
			e.passes, e.seconds, err = reach(ctx, src, sum, f, m.opts)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %w", m.name, err)
			}
			e.seconds += m.seconds
			efforts = append(efforts, e)
		}
	}
	return efforts, src.from, nil
}

// errReached ends a solve whose error is below accuracy.
var errReached = errors.New("reached")

// reach iterates until the distance from the exact solution is below accuracy. It returns the number of passes and
// the seconds, or 0 passes if the iteration diverges or takes too many passes.
func reach(
	ctx context.Context,
	src dataset.Source,
	sum *ridge.Summary,
	exact *ridge.Solution,
	opts ridge.SolveOptions,
) (passes int, seconds float64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := time.Now()
	x := exact.Targets[0].Coef
	opts.MaxPasses, opts.Tol = mostPasses, 0x1p-52
	opts.Observe = func(it ridge.Iterate) {
		if passes == 0 && floats.Distance(it.Coef, x, 2) <= accuracy*floats.Norm(x, 2) {
			passes = it.Pass
			seconds = time.Since(start).Seconds()
			cancel(errReached)
		}
	}
	_, err = ridge.Solve(ctx, src, sum, exact.Gamma, opts)
	var short *ridge.NotConvergedError
	if errors.As(err, &short) || context.Cause(ctx) == errReached {
		err = nil
	}
	return passes, seconds, err
}

// iterationNames are longer labels for some methods of figure 6.
var iterationNames = map[string]string{"FD": "Newton:FD", "RFD": "Newton:RFD", "CG": "CG, no sketch"}

// drawEfforts draws figure 6: passes above and seconds below, with a column for each data set.
func (r *run) drawEfforts(all []effort, from []string) *figure {
	f := &figure{
		Number:  6,
		Columns: len(datasets),
		Title:   fmt.Sprintf("Passes and time to a relative error of %g", accuracy),
		Settings: map[string]any{
			"accuracy":       accuracy,
			"passes_at_most": mostPasses,
			"size":           setting(r, r.Size, 256, 64),
			"from":           strings.Join(from, "; "),
		},
		Table: table{Columns: []string{"dataset", "method", "gamma", "gamma_over_eta", "passes", "seconds"}},
	}
	for _, e := range all {
		f.Table.Rows = append(f.Table.Rows, []any{e.dataset, e.method, e.gamma, e.ratio, e.passes, e.seconds})
	}
	for _, y := range []struct {
		label string
		of    func(effort) float64
	}{
		{"passes", func(e effort) float64 { return float64(e.passes) }},
		{"seconds, sketch included", func(e effort) float64 { return e.seconds }},
	} {
		for _, name := range datasets {
			p := chart.Panel{
				Title: name,
				X:     "γ / η",
				Y:     y.label,
				LogX:  10,
				LogY:  true,
			}
			for _, e := range all {
				if e.dataset != name {
					continue
				}
				i := slices.IndexFunc(p.Lines, func(l chart.Line) bool {
					return l.Method == e.method
				})
				if i < 0 {
					i = len(p.Lines)
					p.Lines = append(p.Lines, chart.Line{Method: e.method, Label: iterationNames[e.method]})
				}
				if e.passes > 0 {
					p.Lines[i].X, p.Lines[i].Y = append(p.Lines[i].X, e.ratio), append(p.Lines[i].Y, y.of(e))
				}
			}
			f.Panels = append(f.Panels, p)
		}
	}
	return f
}
