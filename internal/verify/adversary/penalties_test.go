package adversary

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// penalties puts a penalty on the summary that was made without it, and holds all that is then
// certified to the truth about rows that were divided by its root.
func (e *evaluation) penalties() {
	r := rand.New(rand.NewPCG(e.p.g.Seed, 7))
	pen := e.p.penalty(r)
	var view *evaluation
	e.aside("penalised ", func(to *Report) {
		view = e.penalised(to, pen)
		if view == nil {
			return
		}
		view.scaledSketch()
		view.oneShot()
		view.predictor()
		view.path()
		if view.p.replay() {
			view.iterate()
			view.exact()
			view.predictor()
		}
	})
	if len(e.p.betas) == 0 && view != nil {
		e.aside("penalty as an option: ", func(to *Report) { view.asOption(to, e, pen) })
		e.aside("bands: ", func(to *Report) { e.bands(to, r) })
	}
}

// aside books what is found under names that begin with what.
func (e *evaluation) aside(what string, find func(to *Report)) {
	to := newReport()
	find(to)
	e.Compared += to.Compared
	for name, ratio := range to.Ratios {
		e.Ratios[what+name] = math.Max(e.Ratios[what+name], ratio)
	}
	for name, n := range to.Refused {
		e.Refused[what+name] += n
	}
	for name, fits := range to.Refined {
		e.Refined[what+name] = append(e.Refined[what+name], fits...)
	}
}

// penalty draws one number for each column.
func (p *problem) penalty(r *rand.Rand) []float64 {
	out, kind := make([]float64, p.g.Cols), r.IntN(6)
	decades := []float64{8, 1, 0.1}[r.IntN(3)]
	for j := range out {
		switch kind {
		case 0, 1:
			out[j] = math.Pow(10, decades*(2*r.Float64()-1))
		case 2: // two bands
			out[j] = 1
			if j >= p.g.Cols/2 {
				out[j] = math.Pow(10, decades)
			}
		case 3: // two bands, the first all but unpenalised
			out[j] = 1
			if j < 1 {
				out[j] = 1e-8
			}
		case 4: // without rounding
			out[j] = math.Ldexp(1, 2*(r.IntN(20)-10))
		case 5: // by the squares of the column, as standardising does
			for _, row := range p.x {
				out[j] += row[j] * row[j]
			}
			if !(out[j] > 1e-300 && out[j] < 1e300) {
				out[j] = 1
			}
		}
	}
	return out
}

// penalised is the problem in columns divided by √p, with the view of the summary; nil where that
// is refused.
func (e *evaluation) penalised(to *Report, pen []float64) *evaluation {
	out := &evaluation{Report: to}
	scaling, err := dataset.Penalty(pen)
	if out.refused("scaling", err) {
		return nil
	}
	src, err := scaling.Apply(e.p)
	if out.refused("scaling", err) {
		return nil
	}
	made := *e.p
	made.x, made.y, made.w, made.stream, made.weights, made.kept = nil, nil, nil, nil, nil, map[[2]int]dataset.Block{}
	for b, err := range src.Blocks(context.Background()) {
		if out.refused("scaling", err) {
			return nil
		}
		made.take(b)
	}
	made.source = &made
	out.p = &made
	out.sum, err = e.sum.Penalize(pen)
	if out.refused("view", err) || !out.solved() {
		return nil
	}
	return out
}

// scaledSketch holds the bound of the view's spectrum.
func (e *evaluation) scaledSketch() {
	if e.p.g.Intercept || e.p.weights != nil {
		return
	}
	s, err := e.sum.Spectrum()
	if e.refused("fd", err) {
		return
	}
	k, b := e.p.moments.K, s.Bound
	slack := refbig.Float(0) // the rows were rounded by the division: 2 for each entry and its square
	for j := range k {
		slack.Add(slack, k[j][j])
	}
	trace := new(big.Float).Set(slack)
	slack.Mul(slack, refbig.Float(4*eps))
	least, most := extremes(combine(k, gram(s.Dim, s.Sigma2, s.V), -1), k)
	e.atMost("fd: above", new(big.Float).Sub(most, slack), b.FD())
	e.atMost("fd: below", new(big.Float).Sub(new(big.Float).Neg(least), slack), b.RoundOff)
	tail := new(big.Float).Set(trace)
	for _, v := range s.Sigma2 {
		tail.Sub(tail, refbig.Float(v))
	}
	d := float64(s.Dim)
	tail.Sub(tail, slack)
	e.atMost("fd: tail", tail, b.Tail+d*b.RoundOff)
	tail.Neg(tail)
	tail.Sub(tail, slack)
	tail.Sub(tail, slack)
	e.atMost("fd: least tail", sum(tail, refbig.Float(b.Tail-b.TailSlack)), d*b.RoundOff)
}

// asOption checks FitSummary with the penalty as an option. The weights must be the weights of the unscaled columns.
func (e *evaluation) asOption(to *Report, base *evaluation, pen []float64) {
	name, g := e.p.g.Method.String(), e.p.g
	own := &evaluation{Report: to, p: e.p, truth: e.truth}
	r, err := fdridge.FitSummary(context.Background(), base.p.source, base.sum, fdridge.Options{NoIntercept: true,
		Gammas: []float64{e.p.gamma}, Penalty: pen, Method: g.Method, Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes,
	})
	if _, short := errors.AsType[*ridge.NotConvergedError](err); !short && own.refused(name, err) {
		return
	}
	own.unscaled(name, r.Solutions[0])
}

// unscaled holds a solution with a penalty.
func (e *evaluation) unscaled(name string, f *ridge.Solution) {
	e.certificate(name, f.Fitted(), e.truth)
	for _, o := range f.Targets {
		for i, z := range o.Scaled {
			if want := z / math.Sqrt(f.Penalty[i]); o.Coef[i] != want && finite([]float64{want}) {
				e.worst(name+": weights of the columns as they are", math.Inf(1))
			}
		}
	}
}

// bands has the penalties of two bands chosen, and holds the solution for these.
func (e *evaluation) bands(to *Report, r *rand.Rand) {
	d, g := e.p.g.Cols, e.p.g
	if d < 2 {
		return
	}
	var first choose.Band
	for j := range 1 + r.IntN(d-1) {
		first.Columns = append(first.Columns, j)
	}
	own := &evaluation{Report: to}
	c, err := fdridge.FitSummary(context.Background(), e.p.source, e.sum, fdridge.Options{NoIntercept: true,
		Bands:      []choose.Band{first},
		Candidates: []float64{e.p.gamma, e.p.gamma * 10},
		GammaTol:   math.Inf(1),
		Method:     g.Method,
		MaxPasses:  5,
	})
	if _, short := errors.AsType[*ridge.NotConvergedError](err); !short && own.refused("choice", err) {
		return
	}
	f := c.Solutions[0]
	for _, k := range []int{0, r.IntN(len(c.Bands.Tried))} {
		own.trial(e, c.Bands.Tried[k], first.Columns)
	}
	view := e.penalisedAt(to, f.Penalty, f.Gamma)
	if view == nil {
		return
	}
	view.unscaled("choice", f)
}

// trial holds the bracket of GCV for penalties that were tried.
func (e *evaluation) trial(base *evaluation, t choose.BandTrial, columns []int) {
	p := ones(base.p.g.Cols)
	for _, j := range columns {
		p[j] = t.Penalties[0]
	}
	view := base.penalisedAt(e.Report, p, t.Gamma)
	if view == nil {
		return
	}
	score := total(view.truth.GCV)
	if score == nil {
		if !math.IsInf(t.GCV.Hi, 1) {
			e.worst("GCV tried", math.Inf(1))
		}
		return
	}
	scale := refbig.Float(0)
	for j, v := range view.truth.GCV {
		if rss := view.truth.RSS[j]; rss.Sign() > 0 {
			scale = sum(scale, new(big.Float).Quo(new(big.Float).Mul(view.p.moments.YY[j], v), rss))
		}
	}
	e.within("GCV tried", t.GCV, score, scale, 0, math.Inf(1))
}

// penalisedAt is penalised at that γ.
func (e *evaluation) penalisedAt(to *Report, pen []float64, gamma float64) *evaluation {
	view := e.penalised(to, pen)
	if view == nil {
		return nil
	}
	view.p.gamma = gamma
	view.truth = view.solve(gamma)
	if view.truth == nil {
		return nil
	}
	return view
}
