package adversary

import (
	"context"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// crossValidate compares both brackets, of one pass and of two, with refits, folds
// dealt in turn.
func (e *evaluation) crossValidate() {
	p, g := e.p, e.p.g
	folds := g.Folds
	if len(p.stream) < folds {
		return
	}
	gammas := []float64{p.gamma}
	cfg := ridge.SummaryConfig{
		Size:       g.Size,
		ShrinkRows: g.Shrink,
		Shrink:     p.driver(),
		Store:      p.store(0),
		Intercept:  g.Intercept,
	}
	cv := choose.CrossValidation{Folds: folds, Gammas: gammas}
	one, err := choose.CrossValidate(context.Background(), p, cfg, cv)
	if e.refused("cross-validation", err) {
		return
	}
	cv.Exact = true
	two, err := choose.CrossValidate(context.Background(), p, cfg, cv)
	if e.refused("cross-validation", err) {
		return
	}
	truth, scale := e.refits(folds)
	for j, v := range truth {
		if v == nil {
			return
		}
		e.within("cross-validation: one pass", one.Ridge[0][j], v, scale[j], 0, math.Inf(1))
		e.within("cross-validation: two passes", two.Ridge[0][j], v, scale[j], 0, math.Inf(1))
	}
	if g.Mixed { // the blocks of a fold are not the blocks of its rows alone
		return
	}
	fitted := e.refitted(cfg, folds)
	for j, v := range fitted {
		e.within("cross-validation: fitted, one pass", one.Fitted[0][j], v, v, 0, math.Inf(1))
		e.within("cross-validation: fitted, two passes", two.Fitted[0][j], v, v, 0, math.Inf(1))
	}
}

// refits are the scores of exact solutions without each fold, nil where the
// reference cannot tell, and what they may be wrong by, times 2⁴⁰⁰.
func (e *evaluation) refits(folds int) (scores, scale []*big.Float) {
	p := e.p
	scores, scale = zeros(p.g.Targets), zeros(p.g.Targets)
	for k := range folds {
		rest := p.reference(p.g.Intercept, func(i int) bool { return i%folds != k })
		if !exactEnough(rest, p.gamma) {
			return make([]*big.Float, p.g.Targets), scale
		}
		s, err := rest.Solve(p.gamma)
		if err != nil {
			return make([]*big.Float, p.g.Targets), scale
		}
		for j := range scores {
			e.missed(scores[j], scale[j], k, folds, j, s.Coef[j], s.Intercept[j])
		}
	}
	e.mean(scores)
	e.mean(scale)
	return scores, scale
}

// refitted are the scores of the one-shot fits, remade as CrossValidate makes them:
// each fold's rows in blocks of the same size, merged in the same order.
func (e *evaluation) refitted(cfg ridge.SummaryConfig, folds int) []*big.Float {
	p := e.p
	cfg.Dim, cfg.Targets = p.g.Cols, p.g.Targets
	tuning, err := engine.DefaultTuning()
	if e.refused("cross-validation", err) {
		return nil
	}
	held := make([]*ridge.Summary, folds)
	for k := range held {
		part := *p
		part.stream, part.weights = nil, nil
		for i := k; i < len(p.stream); i += folds {
			part.stream = append(part.stream, p.stream[i])
			if p.weights != nil {
				part.weights = append(part.weights, p.weights[i])
			}
		}
		part.g.Block = min(tuning.GradientRows(p.g.Cols), 256)
		s, err := ridge.Summarize(context.Background(), &part, cfg, nil)
		if e.refused("cross-validation", err) {
			return nil
		}
		held[k] = s
	}
	scores := zeros(p.g.Targets)
	for k := range held {
		rest, err := ridge.NewSummary(cfg)
		if e.refused("cross-validation", err) {
			return nil
		}
		for i, h := range held {
			if i != k && e.refused("cross-validation", rest.Merge(h)) {
				return nil
			}
		}
		f, err := rest.Fit(p.gamma)
		if e.refused("cross-validation", err) {
			return nil
		}
		for j := range scores {
			if o := f.Targets[j]; finite(o.Coef) && finite([]float64{o.Intercept}) {
				coef := make([]*big.Float, len(o.Coef))
				for i, v := range o.Coef {
					coef[i] = refbig.Float(v)
				}
				e.missed(scores[j], refbig.Float(0), k, folds, j, coef, refbig.Float(o.Intercept))
			}
		}
	}
	e.mean(scores)
	return scores
}

// missed adds to score the squared errors of the rows of a fold, and to scale the
// squares of what cancels in them.
func (e *evaluation) missed(score, scale *big.Float, fold, folds, j int, coef []*big.Float, intercept *big.Float) {
	p := e.p
	weights := zeros(len(p.x))
	for i := fold; i < len(p.stream); i += folds {
		id := p.stream[i]
		weights[id].Add(weights[id], refbig.Float(p.weight(i)))
	}
	for id, w := range weights {
		if w.Sign() == 0 {
			continue
		}
		r := new(big.Float).Sub(intercept, refbig.Float(p.y[id][j]))
		size := sum(new(big.Float).Abs(intercept), refbig.Float(math.Abs(p.y[id][j])))
		for k, v := range p.x[id] {
			term := new(big.Float).Mul(refbig.Float(v), coef[k])
			r.Add(r, term)
			size.Add(size, term.Abs(term))
		}
		score.Add(score, r.Mul(r.Mul(r, r), w))
		scale.Add(scale, size.Mul(size.Mul(size, size), w))
	}
}

// mean divides sums over all rows by their weight.
func (e *evaluation) mean(x []*big.Float) {
	total := refbig.Float(0)
	for i := range e.p.stream {
		total.Add(total, refbig.Float(e.p.weight(i)))
	}
	for j := range x {
		x[j] = new(big.Float).Quo(x[j], total)
	}
}

func zeros(n int) []*big.Float {
	out := make([]*big.Float, n)
	for i := range out {
		out[i] = refbig.Float(0)
	}
	return out
}
