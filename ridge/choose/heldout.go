package choose

import (
	"context"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A HeldOut sums brackets of the squared errors of exact solutions on rows to which they were not fitted. It serves
// a cross-validation that solves anew for each fold, from the rows outside the fold. The zero value has no rows.
type HeldOut struct {
	// Rounding describes features that were scaled and rounded, as in [ridge.ExactOptions]. The brackets then hold for
	// the features without this rounding.
	Rounding []float64

	targets int
	sums    []heldSum // for each γ and target
	rows    int64
	weight  twofold.Total
}

// A heldSum holds three sums of squared errors for one γ and target: a lower bound, an upper bound and an estimate.
type heldSum struct{ lo, hi, estimate twofold.Total }

// Add makes a pass over src, which has the rows of one fold. fits are the solutions for the rows outside of the
// fold, one for each value of γ. A nil solution is unknown, and nothing is then proved of its errors. All calls
// must have the same number of fits.
//
// Let [lo, hi] be the interval that [ridge.Solution.Predictor] proves for the prediction of a row with target y.
// The squared error of the exact solution is then between the smallest and the largest square of the numbers from
// y − hi to y − lo.
//
// Errors are the errors of src and of [ridge.Predictor.Predict].
func (h *HeldOut) Add(
	ctx context.Context,
	src dataset.Source,
	fits []*ridge.Solution,
) error {
	if src == nil {
		return rows.ErrNoSource
	}
	_, d, t := src.Dims()
	if h.sums == nil {
		h.targets = t
		h.sums = make([]heldSum, len(fits)*t)
	}
	if len(h.sums) != len(fits)*t || h.targets != t {
		return rows.Unfit("%d solutions for %d targets, not as before", len(fits), t)
	}
	by := make([]*ridge.Predictor, len(fits))
	for g, f := range fits {
		if f == nil {
			continue
		}
		p, err := f.Predictor()
		if err == nil { // else f has no certificate
			by[g] = p
		}
	}
	var raw float64
	var intervals []ridge.Interval
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		raw, err = rows.CheckBlock(b, d, t, int(h.rows), raw)
		if err != nil {
			return err
		}
		intervals = append(intervals[:0], make([]ridge.Interval, b.N*t)...)
		for g, p := range by {
			if p == nil {
				for i := range intervals {
					intervals[i] = ridge.Interval(interval.Unknown())
				}
			} else if err := p.Predict(intervals, b); err != nil {
				return err
			} else if h.Rounding != nil {
				h.widen(intervals, b, fits[g])
			}
			h.add(g*t, b, intervals)
		}
		for i := range b.N {
			h.weight.Add(b.Weight(i))
		}
		h.rows += int64(b.N)
	}
	return nil
}

// widen widens the intervals of the predictions of the solution f by the effect of rounded features. A prediction
// changes by at most Σ ρⱼ|aⱼ|(|x̂ⱼ| + e). Here ρⱼ bounds the relative error of the entry aⱼ of the row,
// x̂ⱼ are the coefficients, and e bounds the norm of their error.
func (h *HeldOut) widen(
	intervals []ridge.Interval,
	b dataset.Block,
	f *ridge.Solution,
) {
	d := len(h.Rounding)
	for j := range h.targets {
		x := f.Targets[j].Coef
		e, _ := f.CoefficientError(j)
		for i := range b.N {
			moved := 0.0
			change := func(at int, a float64) {
				moved += h.Rounding[at] * math.Abs(a) * (math.Abs(x[at]) + e)
			}
			if b.Sparse != nil {
				idx, val := b.Sparse.Row(i)
				for k, at := range idx {
					change(int(at), val[k])
				}
			} else {
				for at, a := range b.X[i*d : (i+1)*d] {
					change(at, a)
				}
			}
			v := &intervals[i*h.targets+j]
			moved *= roundoff.Unit * roundoff.Inflate
			v.Lo -= moved
			v.Hi += moved
		}
	}
}

// add adds the squared errors of block b for one γ. intervals holds the predicted interval of each row and target.
// The sums of target j are h.sums[at+j].
func (h *HeldOut) add(at int, b dataset.Block, intervals []ridge.Interval) {
	for i := range b.N {
		w := b.Weight(i)
		if w == 0 {
			continue
		}
		for j := range h.targets {
			y := b.Y[i*h.targets+j]
			v := intervals[i*h.targets+j]
			most := math.Max(math.Abs(v.Lo), math.Abs(v.Hi))
			round := roundoff.Eps * (math.Abs(y) + most)
			below := y - v.Hi - round
			above := y - v.Lo + round
			least := math.Max(0, math.Max(below, -above))
			square := interval.Squared(least, math.Max(-below, above))
			s := &h.sums[at+j]
			s.lo.Add(w * square.Lo * (1 - 4*roundoff.Eps))
			s.hi.Add(w*square.Hi*(1+4*roundoff.Eps) + roundoff.Underflow)
			middle := y - v.Lo/2 - v.Hi/2
			s.estimate.Add(w * middle * middle)
		}
	}
}

// heldNumbers is the number of sums in a heldSum.
const heldNumbers = 3

// Evidence returns the evidence at each solution in path. The argument path holds the solutions for all rows, at
// the same values of γ as in [HeldOut.Add]. Evidence.Errors holds mean squared errors over the rows of all folds,
// with sample weights. The argument reduce is nil, unless several processes share the rows. reduce then overwrites
// its argument with the sum over all processes.
func (h *HeldOut) Evidence(
	ctx context.Context,
	path []*ridge.Solution,
	reduce ridge.Reducer,
) ([]Evidence, error) {
	if h.targets == 0 || len(h.sums) != len(path)*h.targets {
		return nil, rows.Unfit("held-out errors for another number of γ than %d", len(path))
	}
	found := []float64{float64(h.rows), h.weight.Value()}
	for _, s := range h.sums {
		found = append(found, s.lo.Value(), s.hi.Value(), s.estimate.Value())
	}
	workers := 1.0
	if reduce != nil {
		if err := reduce.Allreduce(ctx, found); err != nil {
			return nil, err
		}
		workers = float64(reduce.Size())
	}
	n, weight := found[0], found[1]
	if !(weight > 0) {
		return nil, rows.Unfit("held-out rows without weight")
	}
	round := (16 + n*n*roundoff.Unit + workers) * roundoff.Eps
	var out []Evidence
	for g, f := range path {
		one := Evidence{Fit: f}
		for j := range h.targets {
			at := 2 + heldNumbers*(g*h.targets+j)
			v := interval.PerWeight(
				interval.Interval{
					Lo: found[at] * (1 - round),
					Hi: found[at+1] * (1 + round),
				},
				weight,
				round,
			)
			if !(v.Hi <= math.MaxFloat64/2) || math.IsNaN(v.Lo) {
				v = interval.Nonnegative()
			}
			estimate := v.Estimate(found[at+2] / weight)
			one.Errors = append(one.Errors, Score{ridge.Interval(v), estimate})
		}
		out = append(out, one)
	}
	return out, nil
}
