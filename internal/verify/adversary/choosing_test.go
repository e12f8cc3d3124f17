package adversary

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// choosing checks the choice of γ with additional passes, by GCV and by leave-one-out errors. It checks the brackets
// of the scores, the choice, and the solution that is refined afterwards.
func (e *evaluation) choosing() {
	var gammas []float64
	var truths []*refbig.Solution
	for _, f := range []float64{1, 1.05, 100} {
		if s := e.solve(e.p.gamma * f); s != nil && !math.IsInf(e.p.gamma*f, 0) {
			gammas, truths = append(gammas, e.p.gamma*f), append(truths, s)
		}
	}
	if len(gammas) < 2 {
		return
	}
	type way struct {
		by     choose.Criterion
		method ridge.Method
		name   string
	}
	ways := []way{
		{choose.GCV, e.p.g.Method, "choosing by gcv"}, {choose.LOO, e.p.g.Method, "choosing by loo"},
		{choose.LOO, ridge.Exact, "choosing exactly by loo"},
	}
	if n, _, _ := e.p.source.Dims(); n >= 0 && n <= dualRows {
		ways = append(
			ways,
			way{choose.GCV, ridge.Dual, "choosing by gcv, dual"},
			way{choose.LOO, ridge.Dual, "choosing by loo, dual"},
		)
	}
	for _, way := range ways {
		by, name, g := way.by, way.name, e.p.g
		r, err := fdridge.Fit(context.Background(), e.p.source, fdridge.Options{
			Candidates: gammas, Select: by, GammaTol: 1e-300, Method: way.method, MaxPasses: 10,
			Size: g.Size, Summarize: e.p.summarize, NoIntercept: !g.Intercept,
		})
		if _, short := errors.AsType[*ridge.NotConvergedError](err); !short && e.refused(name, err) {
			continue
		}
		gammas, truths := remaining(r.Choice.Path, gammas, truths)
		for i, f := range r.Choice.Path {
			e.certificate(name, f, truths[i])
		}
		for _, f := range r.Solutions {
			for i, gamma := range gammas {
				if f.Gamma == gamma {
					e.certificate(name+", refined", f, truths[i])
				}
			}
		}
		var scores []*big.Float
		for i, gamma := range gammas {
			score := zeros(g.Targets)
			if by == choose.LOO {
				var scale []*big.Float
				score, scale = e.leftOut(gamma)
				if score == nil {
					return
				}
				for j := range score {
					e.within(name, r.Choice.Scores[i][j], score[j], scale[j], 0, math.Inf(1))
				}
			} else {
				copy(score, truths[i].GCV)
			}
			scores = append(scores, total(score))
		}
		e.choice(name+": choice", r.Choice.Choice, scores)
	}
}

// total is the sum of scores, nil where one is infinite.
func total(x []*big.Float) *big.Float {
	all := refbig.Float(0)
	for _, v := range x {
		if v == nil {
			return nil
		}
		all = sum(all, v)
	}
	return all
}

// leftOut are the leave-one-out errors of each target, nil where the reference cannot tell,
// and what they may be wrong by, times 2⁴⁰⁰.
func (e *evaluation) leftOut(gamma float64) (scores, scale []*big.Float) {
	p := e.p
	weight := refbig.Float(0)
	for i := range p.stream {
		weight = sum(weight, refbig.Float(p.weight(i)))
	}
	left, err := leaveOut(p.moments, gamma, weight)
	if err != nil {
		return nil, nil
	}
	scores, scale = zeros(p.g.Targets), zeros(p.g.Targets)
	type row struct {
		id     int
		weight float64
	}
	counts := make(map[row]int)
	for i, id := range p.stream {
		counts[row{id, p.weight(i)}]++
	}
	for r, n := range counts {
		if r.weight == 0 {
			continue
		}
		squared, size := left.squared(p.x[r.id], p.y[r.id], refbig.Float(r.weight))
		if squared == nil {
			return nil, nil
		}
		for j := range scores {
			times := refbig.Float(float64(n))
			scores[j], scale[j] = sum(scores[j], squared[j].Mul(squared[j], times)), sum(scale[j], size[j].Mul(size[j], times))
		}
	}
	rows := refbig.Float(float64(len(p.stream)))
	for j := range scores {
		scores[j], scale[j] = scores[j].Quo(scores[j], rows), scale[j].Quo(scale[j], rows)
	}
	return scores, scale
}

// remaining returns the gammas of a path, and their solutions: a candidate at which the system is
// singular was left out.
func remaining(
	path []*ridge.Solution,
	gammas []float64,
	truths []*refbig.Solution,
) (in []float64, exact []*refbig.Solution) {
	for i, gamma := range gammas {
		if slices.ContainsFunc(path, func(f *ridge.Solution) bool { return f.Gamma == gamma }) {
			in, exact = append(in, gamma), append(exact, truths[i])
		}
	}
	return in, exact
}
