// Package gram applies K = AᵀA to vectors by passes over the rows. A pass can be
// interrupted and gone on with (Journal), and its rows can be shared among several
// workers (Reducer).
package gram

import (
	"context"
	"errors"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Query is one vector v to multiply by K: with Aᵀb_Target subtracted where it is
// affine, which makes it the gradient of ½‖Av − b‖².
type Query struct {
	Target int
	Affine bool
	// Precise asks for a Measurement at γ too: without a target where it is not affine.
	Precise bool
	Gamma   float64
}

// Rows says which rows an operator is made of.
type Rows struct {
	Source dataset.Source
	Count  int64     // how many there must be, of all workers
	Weight float64   // what they must weigh
	Mean   []float64 // d+t means to centre by, nil without intercept
}

// An Operator applies K: a pass reads the data once for any number of vectors at a time,
// for each row v of a q×d matrix, of target j,
//
//	Aᵀ(Av − b_j)  or  AᵀAv
//
// with A and b centred by the means where an intercept is fitted.
// Dense rows are centred as they are read; sparse rows stay sparse and
//
//	(S − 1μᵀ)v = Sv − (μᵀv)1,   (S − 1μᵀ)ᵀr = Sᵀr − μ(1ᵀr).
//
// A row of weight w, its target and its 1 are multiplied by √w.
type Operator struct {
	rows    Rows
	d, t    int
	product product
	sums    sums
	shared  sharing
	journal Journal    // nil: it is kept nowhere
	precise *measuring // nil where the pass measures nothing
	number  int        // of the pass, from 1
	run     run
	visit   func(dataset.Block, error) bool // run.block, bound once: ranging over the source would allocate a closure in every pass
}

// A run is a pass under way.
type run struct {
	o        *Operator
	ctx      context.Context
	queries  []Query
	v        []float64
	from     int64 // rows to be skipped: they were read before the pass was interrupted
	finite   bool  // all residuals so far were
	err      error
	progress func(rows int64)
}

// New makes the operator. journal and reducer may be nil.
func New(r Rows, be engine.Backend, journal Journal, reducer Reducer) (*Operator, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	_, d, t := r.Source.Dims()
	o := &Operator{rows: r, d: d, t: t, journal: journal, product: newProduct(d, t, r.Mean, be, tuning)}
	o.sums.d = d
	o.shared.reducer, o.shared.recalling = reducer, journal != nil
	o.run.o = o
	o.visit = o.run.block
	return o, nil
}

// Sparse reports that some rows that were read, by any worker, were sparse.
func (o *Operator) Sparse() bool { return o.sums.sparse }

// Apply makes a pass: it overwrites row i of out (q×d) with the product for row i of v
// (q×d) and rss[i] with ‖Av − b‖² (or ‖Av‖²). progress, if not nil, is told the rows read
// after every block. found has, at the place of each precise query, what was measured.
func (o *Operator) Apply(ctx context.Context, qs []Query, v, out, rss []float64, progress func(rows int64)) (found []*Measurement, err error) {
	o.number++
	o.sums.reset(len(qs))
	o.product.prepare(qs, v)
	o.precise = newMeasuring(o, qs, v)
	o.run = run{o: o, ctx: ctx, queries: qs, v: v, finite: true, progress: progress}
	finished, err := o.recall(out, rss)
	if err == nil {
		finished, err = o.shared.unanimous(ctx, finished)
	}
	if err != nil {
		return nil, err
	}
	if finished {
		if o.precise != nil {
			o.precise.restore(o.precise.recalled)
		}
		return o.measurements(), nil
	}
	dataset.From(ctx, o.rows.Source, o.sums.rows)(o.visit)
	if err := o.run.err; err != nil {
		if ctx.Err() != nil {
			if err := o.record(); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	o.sums.fold()
	if err := o.shared.add(ctx, &o.sums); err != nil {
		return nil, errors.Join(err, o.record())
	}
	if err := o.total(out, rss); err != nil {
		return nil, err
	}
	var measured []twofold.Number
	if o.precise != nil {
		measured = o.precise.numbers()
		if err := o.shared.addNumbers(ctx, measured); err != nil {
			return nil, errors.Join(err, o.record())
		}
		o.precise.restore(measured)
	}
	return o.measurements(), o.recordEnd(out, rss, measured)
}

// measurements are what the numbers of all workers make of each query; nil where none was
// precise.
func (o *Operator) measurements() []*Measurement {
	if o.precise == nil {
		return nil
	}
	return o.precise.results(len(o.run.queries), o.precise.numbers())
}

// total turns the sums of all workers into what the pass has found.
func (o *Operator) total(out, rss []float64) error {
	if err := o.shared.agreed(o.number); err != nil {
		return err
	}
	t := o.sums.totals(o.shared.found)
	switch {
	case int64(t.rows) != o.rows.Count:
		return rows.Unfit("this pass read %d rows, the summary %d", int64(t.rows), o.rows.Count)
	case !(math.Abs(t.weight-o.rows.Weight) <= roundoff.SameRows*o.rows.Weight):
		return rows.Unfit("the rows of this pass weigh %g, those of the summary %g", t.weight, o.rows.Weight)
	}
	o.sums.sparse = o.sums.sparse || t.sparse
	copy(out, t.products)
	mean := o.product.reader.Mean()
	for i, v := range t.rss {
		rss[i] = math.Max(0, v)
		if mean != nil {
			vec.Axpy(-t.ones[i], mean, out[i*o.d:(i+1)*o.d])
		}
	}
	return nil
}

// block takes one block of the pass under way; false ends it.
func (r *run) block(b dataset.Block, err error) bool {
	if r.err = err; err == nil {
		r.err = r.take(b)
	}
	return r.err == nil
}

func (r *run) take(b dataset.Block) error {
	o := r.o
	if err := r.check(b); err != nil {
		return err
	}
	o.sums.sparse = o.sums.sparse || b.Sparse != nil
	b = rows.Since(r.from, b, o.d, o.t)
	r.from = 0
	for lo := 0; lo < b.N; {
		hi := lo + o.product.stride(b.N-lo, b.Sparse != nil, len(r.queries))
		part := b.Cut(lo, hi, o.d, o.t, &o.product.view)
		o.product.add(&o.sums, part, r.queries, r.v)
		if o.precise != nil {
			o.precise.add(part)
		}
		if err := r.checkResiduals(part, int(o.sums.rows)+lo); err != nil {
			return err
		}
		lo = hi
	}
	o.sums.rows += int64(b.N)
	if r.progress != nil {
		r.progress(o.sums.rows)
	}
	if o.journal != nil && o.journal.Due() {
		return o.record()
	}
	return nil
}

// check refuses what a summary refuses of a block, but does not look at dense entries:
// checkResiduals finds those that do harm. It returns the error of a context that has ended,
// which a source need not notice.
func (r *run) check(b dataset.Block) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	o, first := r.o, int(b.First)
	if err := rows.CheckShape(b, o.d, o.t, first); err != nil {
		return err
	}
	if b.W == nil && b.Sparse == nil {
		return nil
	}
	for i := range b.N {
		if err := rows.CheckWeight(b, i, first+i, o.d+o.t); err != nil {
			return err
		}
		if b.Sparse != nil {
			if _, _, err := rows.Features(b, i, o.d); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkResiduals looks, where a residual of the rows just added is not finite, for the entry
// that is to blame, and refuses it. There is none where an iteration has diverged. The first
// of the rows is row first.
func (r *run) checkResiduals(b dataset.Block, first int) error {
	q := len(r.queries)
	if !r.finite || r.o.product.finite {
		return nil
	}
	for i, v := range r.o.product.residuals[:b.N*q] {
		if !(math.Abs(v) <= math.MaxFloat64) {
			if err := rows.CheckFinite(b, i/q, r.o.d, r.o.t, first+i/q); err != nil {
				return err
			}
			r.finite = false
			return nil
		}
	}
	return nil
}
