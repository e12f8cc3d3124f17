package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// LeaveOneOutOptions are those of [LeaveOneOut]; the zero value is the default.
type LeaveOneOutOptions struct {
	Reducer  Reducer          // as for [SolvePath]; a pass adds up 4kt + 2 numbers for k γ and t targets
	Progress func(rows int64) // if not nil, is told the rows read so far
}

// LeaveOneOut makes a pass over the n rows of sum and brackets, for the γ of each fit and each
// target, the leave-one-out error of the exact solution: the mean over all rows, each times
// its weight w, of the squared error for a row by the exact solution of all others,
//
//	Σ w·(r/(1 − h))²/n,   h = w·aᵀH⁻¹a + w/Σw,   r = b − aᵀx*,
//
// for a row a with target b, both less the means where an intercept is fitted, and without
// w/Σw in h where none is. That is what scikit-learn's RidgeCV scores by, weights included. No
// row is left out for that, and no system solved: aᵀH⁻¹a is bracketed as predictions are (see
// [Predictor]), and |r − (b − aᵀx̂)| ≤ √(aᵀH⁻¹a)·‖H^{½}(x̂ − x*)‖ by the certificate of the
// fit x̂. A row costs O(md) as for [Predictor.Predict], O(d) more for each fit and O(m) for
// each γ.
//
// fits are of the rows of sum, see [Summary.Path], or at the same rows by any other means.
//
// Errors: as for [SolvePath], and [ErrShape] for fits of another shape.
func LeaveOneOut(ctx context.Context, src dataset.Source, sum *Summary, fits []*Solution, opts LeaveOneOutOptions) ([][]Interval, error) {
	ctx = background.IfNil(ctx)
	l, err := newLeaveOneOut(src, sum, fits)
	if err != nil {
		return nil, err
	}
	if err := l.read(ctx, src, opts.Progress); err != nil {
		return nil, err
	}
	found := l.sums()
	if opts.Reducer != nil {
		if err := opts.Reducer.Allreduce(ctx, found); err != nil {
			return nil, err
		}
		l.workers = opts.Reducer.Size()
	}
	return l.scores(found)
}

// leaveOneOut is such a pass under way.
type leaveOneOut struct {
	*Predictor // which projects rows onto V and multiplies them with the weights of all fits
	known      *certify.LeftOut
	functions  []float64         // of the eigenvalues, 2k×r
	fits       []certify.LeftFit // for each γ and target
	rss        []Interval        // of each, as certified
	rows       int64
	weight     neumaier.Sum
	errors     []leftSum // of each fit
	workers    int
	forms, in  []float64 // of some rows, n×2k, and ‖Va‖² of each
}

// leftSum is what is added up for one fit.
type leftSum struct {
	lo, hi neumaier.Sum // bounds on Σw(r/(1 − h))²
	rss    neumaier.Sum // Σwr² of the fit itself
	off    neumaier.Sum // Σw·off², off what r is off by
}

func newLeaveOneOut(src dataset.Source, sum *Summary, fits []*Solution) (*leaveOneOut, error) {
	switch {
	case src == nil:
		return nil, errNoSource
	case !sum.made():
		return nil, errUnmade
	}
	if _, d, t := src.Dims(); d != sum.cfg.Dim || t != sum.cfg.Targets {
		return nil, fmt.Errorf("%w: the source has %d features and %d targets, the summary %d and %d", errShape, d, t, sum.cfg.Dim, sum.cfg.Targets)
	}
	var gammas []float64
	fits = slices.Clone(fits)
	for i, f := range fits {
		if f == nil || !f.hasShape(sum.cfg.Targets, sum.cfg.Dim) {
			return nil, unfit("fit %d is not of %d targets and %d features", i+1, sum.cfg.Targets, sum.cfg.Dim)
		}
		f, err := sum.fitted(f)
		if err != nil {
			return nil, err
		}
		fits[i] = f
		gammas = append(gammas, f.Gamma)
	}
	k, err := sum.Known("leave-one-out", 1, gammas...)
	if err != nil {
		return nil, err
	}
	l := &leaveOneOut{known: k.LeftOut(gammas), workers: 1}
	if l.Predictor, err = sum.projector(k); err != nil {
		return nil, err
	}
	l.functions = l.known.Functions()
	for _, f := range fits {
		for j, o := range f.Targets {
			l.weights = append(l.weights, o.Coef...)
			l.anchors = append(l.anchors, certify.Anchor{Mean: l.meanProduct(o.Coef)})
			l.fits = append(l.fits, certify.LeftFit{Norm: vec.Norm(o.Coef), Energy: bounded(o.EnergyBound), Target: j})
			l.rss = append(l.rss, o.RSS)
		}
	}
	l.errors = make([]leftSum, len(l.fits))
	return l, nil
}

// meanProduct is the product of the features' means with weights.
func (l *leaveOneOut) meanProduct(x []float64) float64 {
	if l.basis.mean == nil {
		return 0
	}
	return vec.Dot(l.basis.mean, x)
}

// read makes the pass.
func (l *leaveOneOut) read(ctx context.Context, src dataset.Source, progress func(int64)) error {
	n, _, _ := src.Dims()
	raw := 0.0
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if raw, err = rows.CheckBlock(b, l.d, l.t, int(l.rows), raw); err != nil {
			return err
		}
		for lo := 0; lo < b.N; lo += l.block {
			l.add(b.Cut(lo, min(lo+l.block, b.N), l.d, l.t, &l.work.view))
		}
		l.rows += int64(b.N)
		if progress != nil {
			progress(l.rows)
		}
	}
	return rows.CheckCount(n, l.rows)
}

// add adds what some rows contribute, no more than l.block.
func (l *leaveOneOut) add(b dataset.Block) {
	r, q, w := len(l.basis.v)/l.d, len(l.fits), &l.work
	k := 2 * q / l.t
	w.along, w.product, w.size = vec.Grow(w.along, b.N*r), vec.Grow(w.product, b.N*q), vec.Grow(w.size, 2*b.N)
	if b.Sparse == nil {
		l.dense(b)
	} else {
		l.sparse(b)
	}
	l.forms, l.in = vec.Grow(l.forms, b.N*k), vec.Grow(l.in, b.N)
	clear(l.in)
	for i := range w.along[:b.N*r] {
		w.along[i] *= w.along[i]
		l.in[i/r] += w.along[i]
	}
	l.be.Gemm(false, true, 1, engine.View(b.N, r, w.along), engine.View(k, r, l.functions), 0, engine.View(b.N, k, l.forms))
	for i := range b.N {
		nnz := -1
		if b.Sparse != nil {
			idx, _ := b.Sparse.Row(i)
			nnz = len(idx)
		}
		row := l.known.Row(b.Weight(i), w.size[2*i], l.in[i], w.size[2*i+1], nnz)
		l.weight.Add(b.Weight(i))
		l.addRow(&row, l.forms[i*k:(i+1)*k], w.product[i*q:(i+1)*q], b.Y[i*l.t:(i+1)*l.t], b.Weight(i))
	}
}

// addRow adds one row of weight w and targets y, given its forms and its products with the fits.
func (l *leaveOneOut) addRow(row *certify.LeftRow, forms, products, y []float64, w float64) {
	k := len(forms) / 2
	for i := range k {
		lever := l.known.Leverage(i, row, forms[i], forms[k+i])
		for j, b := range y {
			at := i*l.t + j
			f, s := &l.fits[at], &l.errors[at]
			r, off := l.known.Residual(row, f, b, products[at])
			v := row.Squared(&lever, f, r, off)
			s.lo.Add(v.Lo)
			s.hi.Add(math.Min(v.Hi, math.MaxFloat64)) // an infinite one would make no number of the sum
			s.rss.Add(w * r * r)
			s.off.Add(w * off * off)
		}
	}
}

// sums are the numbers that workers add up: rows, weight, and four for each fit.
func (l *leaveOneOut) sums() []float64 {
	out := []float64{float64(l.rows), l.weight.Value()}
	for _, s := range l.errors {
		out = append(out, s.lo.Value(), s.hi.Value(), s.rss.Value(), s.off.Value())
	}
	return out
}

// scores are the brackets that the sums of all workers make, for each γ and target. Rows that
// are not those of the summary are refused.
func (l *leaveOneOut) scores(found []float64) ([][]Interval, error) {
	if rows, weight := found[0], found[1]; rows != float64(l.known.Rows) || !(math.Abs(weight-l.known.Weight) <= roundoff.SameRows*l.known.Weight) {
		return nil, unfit("this pass read %g rows of weight %g, the summary %d of %g", rows, weight, l.known.Rows, l.known.Weight)
	}
	n := float64(l.known.Rows)
	round := (8 + n*n*roundoff.Unit + float64(l.workers)) * roundoff.Eps
	lost := math.Sqrt(n) * 0x1p-536 // of squares times weights, which underflow
	out := make([][]Interval, 0, len(l.fits)/l.t)
	for at := range l.fits {
		lo, hi, rss, off := found[2+4*at], found[3+4*at], found[4+4*at], found[5+4*at]
		if at%l.t == 0 {
			out = append(out, nil)
		}
		v := interval.PerWeight(interval.Interval{Lo: lo, Hi: hi}, n, round)
		if !(v.Hi <= math.MaxFloat64/2) || math.IsNaN(v.Lo) {
			v = interval.Nonnegative()
		}
		out[len(out)-1] = append(out[len(out)-1], Interval(v))
		seen := interval.WidenRoot(interval.Interval{Lo: rss * (1 - round), Hi: rss * (1 + round)}, math.Sqrt(off)*(1+round)+lost)
		if interval.Apart(seen, interval.Interval(l.rss[at])) {
			return nil, unfit("the rows of this pass are not those of the fits: of target %d ‖Ax − b‖² is within %g and %g, where the fit proves %g to %g", at%l.t+1, seen.Lo, seen.Hi, l.rss[at].Lo, l.rss[at].Hi)
		}
	}
	return out, nil
}
