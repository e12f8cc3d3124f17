package paper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// accuracy is the relative error that figure 6 counts the passes to.
const accuracy = 1e-8

// mostPasses is how many passes figure 6 allows a method.
const mostPasses = 1000

// An effort is what one method takes to reach accuracy at one γ of one data set of figure 6.
type effort struct {
	dataset string
	method  string
	gamma   float64
	ratio   float64 // γ/η
	passes  int     // reads of the data after the sketch's; 0: not reached in mostPasses
	seconds float64 // the sketch's pass included
}

// passes draws figure 6: the passes and the time to a relative error of 1e-8
// against γ/η, for each iteration with each preconditioner.
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
		all, from = append(all, efforts...), append(from, source)
	}
	r.efforts = all
	return r.save(r.drawEfforts(all, from))
}

// A preparation makes a Hessian from a pass over the data.
type preparation struct {
	seconds float64
	hessian ridge.Hessian // nil: the summary's own
}

// effortsOn measures all methods on one data set, and says where its rows are from.
func (r *run) effortsOn(ctx context.Context, name string, tell func(what string, done float64)) (efforts []effort, from string, err error) {
	tell("reading", 0)
	src, err := r.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	size := setting(r, r.Size, 256, 64)
	start := time.Now()
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: size, Backend: r.Backend, Store: fd.StoreRows}, nil)
	if err != nil {
		return nil, "", err
	}
	sketched := time.Since(start).Seconds()
	start = time.Now()
	nystrom, err := r.nystrom(ctx, src, sum.Config().Dim, size)
	if err != nil {
		return nil, "", err
	}
	own, none := preparation{seconds: sketched}, preparation{hessian: ridge.Identity{Largest: sum.Sketch().Bound().Frobenius2}}
	random := preparation{hessian: nystrom, seconds: time.Since(start).Seconds()}
	methods := []struct {
		name   string
		method ridge.Method
		plain  bool
		preparation
	}{
		{"FD", ridge.Newton, true, own}, {"RFD", ridge.Newton, false, own},
		{"CG:FD", ridge.CG, true, own}, {"CG:RFD", ridge.CG, false, own}, {"CG:Nyström", ridge.CG, false, random}, {"CG", ridge.CG, false, none},
	}
	spectrum, err := sum.Sketch().Spectrum() // as the solver uses it, after a last shrink
	if err != nil {
		return nil, "", err
	}
	eta := spectrum.Bound.FD()
	gammas := r.ratios(eta)
	exact, err := ridge.SolveExact(ctx, src, gammas, ridge.ExactOptions{Backend: r.Backend})
	if err != nil {
		return nil, "", err
	}
	for i, f := range exact {
		for j, m := range methods {
			tell(fmt.Sprintf("γ/η = %.3g, %s", f.Gamma/eta, m.name), (float64(i)+float64(j)/float64(len(methods)))/float64(len(exact)))
			e := effort{dataset: name, method: m.name, gamma: f.Gamma, ratio: f.Gamma / eta}
			opts := ridge.SolveOptions{Method: m.method, PlainFD: m.plain, Hessian: m.hessian}
			e.passes, e.seconds, err = reach(ctx, src, sum, f, opts)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %w", m.name, err)
			}
			e.seconds += m.seconds
			efforts = append(efforts, e)
		}
	}
	return efforts, src.from, nil
}

// ratios returns the γ of figure 6, those given or multiples of η.
func (r *run) ratios(eta float64) []float64 {
	if r.Gammas != nil {
		return r.Gammas
	}
	var out []float64
	for _, q := range []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10} {
		out = append(out, q*eta)
	}
	return out
}

func (r *run) nystrom(ctx context.Context, src dataset.Source, dim, rank int) (*randsketch.Spectrum, error) {
	a, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: rank, Dim: dim, Seed: r.Seed, Backend: r.Backend})
	if err != nil {
		return nil, err
	}
	if err := a.AppendSource(ctx, src); err != nil {
		return nil, err
	}
	return a.Spectrum()
}

// errReached ends a solve that is near enough to the solution.
var errReached = errors.New("reached")

// reach iterates until the error is below accuracy, as measured against the exact
// solution, not as certified, and returns the passes and seconds it took; no passes
// if it diverged or took too many.
func reach(ctx context.Context, src dataset.Source, sum *ridge.Summary, exact *ridge.Solution, opts ridge.SolveOptions) (passes int, seconds float64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start, x := time.Now(), exact.Targets[0].Coef
	opts.MaxPasses, opts.Tol = mostPasses, 0x1p-52
	opts.Observe = func(it ridge.Iterate) {
		if passes == 0 && floats.Distance(it.Coef, x, 2) <= accuracy*floats.Norm(x, 2) {
			passes, seconds = it.Pass, time.Since(start).Seconds()
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

// iterationNames are the labels of those methods of figure 6 whose names say only
// what sketch they take.
var iterationNames = map[string]string{"FD": "Newton:FD", "RFD": "Newton:RFD", "CG": "CG, no sketch"}

// drawEfforts makes figure 6: passes above, seconds below, a column for each data
// set.
func (r *run) drawEfforts(all []effort, from []string) *figure {
	f := &figure{
		Number: 6, Columns: len(datasets),
		Title:    fmt.Sprintf("Passes and time to a relative error of %g", accuracy),
		Settings: map[string]any{"accuracy": accuracy, "passes_at_most": mostPasses, "size": setting(r, r.Size, 256, 64), "from": strings.Join(from, "; ")},
		Table:    table{Columns: []string{"dataset", "method", "gamma", "gamma_over_eta", "passes", "seconds"}},
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
			p := chart.Panel{Title: name, X: "γ / η", Y: y.label, LogX: 10, LogY: true}
			index := map[string]int{}
			for _, e := range all {
				if e.dataset != name {
					continue
				}
				i, ok := index[e.method]
				if !ok {
					i = len(p.Lines)
					index[e.method] = i
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
