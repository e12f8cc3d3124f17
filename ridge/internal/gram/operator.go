// Package gram multiplies vectors by K = AᵀA in passes over the rows of A. With a Journal, a pass that was
// interrupted can be continued later. If several workers share the rows, a Reducer adds up their results.
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

// A Query describes a vector v that a pass multiplies by AᵀA. If Affine is true, the pass also subtracts Aᵀb for
// the target b. The result Aᵀ(Av − b) is then the gradient of ½‖Av − b‖².
type Query struct {
	Target int
	Affine bool
	// If Precise is true, the pass also computes a [Measurement] with the penalty γ = Gamma. It is of the gradient
	// Aᵀ(Av − b) + γv if Affine is true, and otherwise of AᵀAv + γv.
	Precise bool
	Gamma   float64
}

// Rows describes the rows of an operator.
type Rows struct {
	Source dataset.Source
	Count  int64     // number of rows that all workers together must read
	Weight float64   // total weight of the rows that all workers together must read
	Mean   []float64 // d+t means to subtract; nil without an intercept
}

// An Operator multiplies vectors by AᵀA. One pass reads the data once for any number of vectors. For each vector v
// the pass computes AᵀAv. If the vector's query is affine, the pass computes
//
//	Aᵀ(Av − b)
//
// for the target b of the query. With an intercept, A and b are centred by the means. Dense rows are centred when
// they are read. Sparse rows S with the vector of means μ are not centred. The products with the centred rows
// S − 1μᵀ are computed as
//
//	(S − 1μᵀ)v = Sv − (μᵀv)1,   (S − 1μᵀ)ᵀr = Sᵀr − μ(1ᵀr).
//
// If a row has weight w, the row, its target and its element of the vector 1 are multiplied by √w.
type Operator struct {
	rows    Rows
	d, t    int
	product product
	sums    sums
	shared  sharing
	journal Journal    // if not nil, stores the results of passes
	precise *measuring // measures gradients; nil if no query of the pass has Precise set
	number  int        // number of the pass, from 1
	run     run
	// visit is the method run.block. It is stored in a field, because the creation of a closure would allocate memory
	// in each pass.
	visit func(dataset.Block, error) bool
}

// A run is the state of the current pass.
type run struct {
	o        *Operator
	ctx      context.Context
	queries  []Query
	v        []float64
	from     int64 // number of rows to skip, because they were read before the interruption
	finite   bool  // all residuals so far are finite
	err      error
	progress func(rows int64)
}

// New returns an operator for the rows r. journal and reducer may be nil. Without a journal, no pass is recorded.
// Without a reducer, this operator reads all rows itself.
func New(r Rows, be engine.Backend, journal Journal, reducer Reducer) (*Operator, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	_, d, t := r.Source.Dims()
	o := &Operator{
		rows:    r,
		d:       d,
		t:       t,
		journal: journal,
		product: product{
			be:     be,
			d:      d,
			t:      t,
			tuning: tuning,
			reader: rows.NewReader(d, t, r.Mean),
		},
	}
	o.sums.d = d
	o.shared.reducer, o.shared.recalling = reducer, journal != nil
	o.run.o = o
	o.visit = o.run.block
	return o, nil
}

// Sparse reports whether any worker has read sparse rows.
func (o *Operator) Sparse() bool { return o.sums.sparse }

// Apply makes one pass. For query i, let u be row i of v, a matrix with d columns. Apply writes AᵀAu to row i of
// out, and ‖Au‖² to rss[i]. If the query is affine, with target b, Apply writes Aᵀ(Au − b) and ‖Au −
// b‖². If the query has Precise set, found[i] is its Measurement. If progress is not nil, Apply calls it after
// every block with the number of rows read so far.
func (o *Operator) Apply(
	ctx context.Context,
	qs []Query,
	v, out, rss []float64,
	progress func(rows int64),
) (found []*Measurement, err error) {
	o.number++
	o.sums.reset(len(qs))
	o.product.prepare(qs, v)
	o.precise = newMeasuring(o, qs, v)
	o.run = run{
		o:        o,
		ctx:      ctx,
		queries:  qs,
		v:        v,
		finite:   true,
		progress: progress,
	}
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

// measurements returns the measurement of each query from the sums over all workers. It returns nil if no query has
// Precise set.
func (o *Operator) measurements() []*Measurement {
	if o.precise == nil {
		return nil
	}
	return o.precise.results(len(o.run.queries), o.precise.numbers())
}

// total writes the results of the pass to out and rss. It computes them from the sums over all workers. It returns
// an error if the workers have asked for different things, or if the number or the weight of the rows is not as
// expected.
func (o *Operator) total(out, rss []float64) error {
	if err := o.shared.agreed(o.number); err != nil {
		return err
	}
	t := o.sums.totals(o.shared.found)
	switch {
	case int64(t.rows) != o.rows.Count:
		return rows.Unfit("this pass read %d rows, but the summary has %d", int64(t.rows), o.rows.Count)
	case !(math.Abs(t.weight-o.rows.Weight) <= roundoff.SameRows*o.rows.Weight):
		return rows.Unfit("the rows of this pass have weight %g, but the summary has %g", t.weight, o.rows.Weight)
	}
	o.sums.sparse = o.sums.sparse || t.sparse
	copy(out, t.products)
	mean := o.product.reader.Mean()
	for i, v := range t.rss {
		rss[i] = math.Max(0, v)
		if mean != nil {
			row := out[i*o.d : (i+1)*o.d]
			vec.Axpy(-t.ones[i], mean, row)
		}
	}
	return nil
}

// block processes one block of the current pass. If it returns false, the pass ends, and r.err holds the error.
func (r *run) block(b dataset.Block, err error) bool {
	r.err = err
	if err == nil {
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

// check validates a block, except the entries of dense rows, which checkResiduals examines. If the context has
// ended, check returns the error of the context, because a source may ignore the context.
func (r *run) check(b dataset.Block) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	o := r.o
	first := int(b.First)
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

// checkResiduals looks for a residual of the block b that is not finite. If the row of this residual has an entry
// that is not finite, checkResiduals returns an error. Otherwise the vectors of the pass are too large, because the
// iteration has diverged. Then r.finite becomes false. firstRow is the number of the first row of b.
func (r *run) checkResiduals(b dataset.Block, firstRow int) error {
	q := len(r.queries)
	if !r.finite || r.o.product.finite {
		return nil
	}
	for i, v := range r.o.product.residuals[:b.N*q] {
		if !(math.Abs(v) <= math.MaxFloat64) {
			if err := rows.CheckFinite(b, i/q, r.o.d, r.o.t, firstRow+i/q); err != nil {
				return err
			}
			r.finite = false
			return nil
		}
	}
	return nil
}
