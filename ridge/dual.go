package ridge

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// dualTol is the relative error that a dual solution is certified to, where that is possible and
// no other was asked for: what it takes is a few products with rows that are in memory.
const dualTol = 1e-12

// dualExact is a direct fit through G = AAᵀ under way.
type dualExact struct {
	d, t  int
	opts  ExactOptions
	by    Method // Dual or DualCG
	plan  dualPlan
	data  dual.Operator
	known certify.Dual
	start [][]float64 // b of each target, about, n

	gramFactors
	kept   uint64 // bytes of the rows
	reads  bool   // whatever is measured reads the rows
	passes int
}

// gramFactors are G and what is made of it, each nil until it is wanted.
type gramFactors struct {
	gram    *dual.Gram
	work    []float64      // n², of a factor
	turned  *direct.Turned // G reduced to tridiagonal form
	columns []float64      // those of its Q, for the diagonal of an inverse
}

// A dualPlan says what a dual fit is for.
type dualPlan struct {
	gammas   int  // how many γ there are at a time
	leverage bool // the diagonal of (G + γI)⁻¹ is wanted
	sooner   bool // conjugate gradients run where they take less time, and only there
}

// reduces says that G is reduced to tridiagonal form.
func (p dualPlan) reduces() bool { return p.leverage || reduces(p.gammas) }

// newDual begins a dual fit. The memory of n² numbers, where n is known, is told before any
// is taken.
func newDual(src dataset.Source, opts ExactOptions, plan dualPlan) (*dualExact, error) {
	n, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	e := &dualExact{d: d, t: t, opts: opts, by: opts.Method, plan: plan}
	if plan.sooner {
		e.by = DualCG
	}
	return e, e.fits(max(n, 0))
}

// fits refuses n rows that with G, its factor and what is kept of them take too much memory.
func (e *dualExact) fits(n int64) error {
	if need := dualBytes(n, e.d, e.t, e.by, e.plan) + float64(e.kept); need > float64(e.opts.MaxBytes) {
		return &SizeError{Dim: e.d, Rows: n, Bytes: uint64(math.Min(need, math.MaxInt64)), Limit: e.opts.MaxBytes}
	}
	return nil
}

// dualBytes is the memory of a dual solution of n rows, but for the rows.
func dualBytes(n int64, d, t int, by Method, plan dualPlan) float64 {
	rows, features := float64(n), float64(d)
	vectors := 8 * float64(t) * (8*features + 16*rows)
	if by == DualCG {
		return vectors + 8*(4*features+10*rows)
	}
	squares := 2.
	if plan.reduces() {
		squares++
	}
	if plan.leverage {
		squares++
	}
	panel := rows * float64(dual.PanelColumns(int(min(n, math.MaxInt32)), d))
	return vectors + 8*(squares*rows*rows+panel)
}

// read takes the rows in.
func (e *dualExact) read(ctx context.Context, src dataset.Source) error {
	e.passes = 1
	if features, ok := dataset.ByColumns(src); ok {
		y, w, err := dataset.Samples(ctx, src)
		if err != nil {
			return err
		}
		return e.readColumns(ctx, features, y, w)
	}
	kept, err := e.keep(ctx, src)
	if err != nil {
		return err
	}
	if kept == nil {
		return e.readAgain(ctx, src)
	}
	if e.by == DualCG && (!kept.Sparse() || e.plan.sooner && kept.Steps() < FewSteps) {
		e.by = Dual
		if err := e.fits(int64(kept.N())); err != nil {
			return err
		}
	}
	return e.learn(ctx, kept)
}

// readColumns makes G of the columns of the rows, as they are read one after the other.
func (e *dualExact) readColumns(ctx context.Context, features dataset.Source, y, w []float64) error {
	e.by = Dual
	_, n, _ := features.Dims()
	if err := e.fits(int64(n)); err != nil {
		return err
	}
	if len(y) != n*e.t {
		return fmt.Errorf("%w: %d targets for %d rows", errShape, len(y), n)
	}
	for i, v := range w {
		if !(v >= 0) || v > rows.MaxWeight {
			return &fd.RangeError{Row: i}
		}
	}
	data := dual.NewFeatures(features, e.t, y, w, e.opts.Intercept)
	if err := checkRows(int64(n), data.Total()); err != nil {
		return err
	}
	e.reads = true
	if err := e.learn(ctx, data); err != nil {
		return err
	}
	if e.opts.Progress != nil {
		e.opts.Progress(int64(n)) // all at once
	}
	return nil
}

// readAgain takes dense rows in, of which there are more than are to be in memory: by reading them
// once for as many columns as are.
func (e *dualExact) readAgain(ctx context.Context, src dataset.Source) error {
	src = counted{src, &e.passes}
	n, _, _ := src.Dims()
	need := dualBytes(n, e.d, e.t, Dual, e.plan)
	room := min((float64(e.opts.MaxBytes)-need)/2, 8*float64(n)*float64(e.d))
	features, err := dataset.Transpose(ctx, dataset.WithoutTargets(src), int(math.Max(room, 1)))
	if err != nil {
		return err
	}
	var y, w []float64
	seen, raw, weighted := 0, 0.0, false
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if raw, err = rows.CheckBlock(b, e.d, e.t, seen, raw); err != nil {
			return err
		}
		if seen += b.N; int64(seen) > n {
			break
		}
		y, weighted = append(y, b.Y...), weighted || b.W != nil
		for i := range b.N {
			w = append(w, b.Weight(i))
		}
	}
	if err := rows.CheckCount(n, int64(seen)); err != nil {
		return err
	}
	if !weighted {
		w = nil
	}
	err = e.readColumns(ctx, features, y, w)
	e.reads = false // it is counted
	return err
}

// counted counts how often a source is read.
type counted struct {
	dataset.Source
	passes *int
}

func (s counted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	*s.passes++
	return s.Source.Blocks(ctx)
}

// FewSteps is the number of steps that conjugate gradients need at least, as a rule. A factorisation that costs less than
// so many steps is preferred to them.
const FewSteps = 60

// keep keeps the rows in memory: nil where they are dense, and more than is to be there.
func (e *dualExact) keep(ctx context.Context, src dataset.Source) (*dual.Rows, error) {
	n, _, _ := src.Dims()
	raw, kept := 0.0, dual.NewRows(e.d, e.t, e.opts.Intercept)
	whole, inMemory := dataset.InMemory(src)
	blocks := src.Blocks(ctx)
	if inMemory {
		blocks = func(yield func(dataset.Block, error) bool) { yield(whole, nil) }
	}
	for b, err := range blocks {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if raw, err = rows.CheckBlock(b, e.d, e.t, kept.N(), raw); err != nil {
			return nil, err
		}
		if b.Sparse == nil && b.N > 0 && e.by == DualCG {
			e.by = Dual
			if err := e.fits(max(n, 0)); err != nil {
				return nil, err
			}
		}
		if need := dualBytes(n, e.d, e.t, Dual, e.plan); !inMemory && b.Sparse == nil && n > 0 && need+8*float64(n)*float64(e.d) > float64(e.opts.MaxBytes) && need <= float64(e.opts.MaxBytes) {
			return nil, nil
		}
		kept.Add(b, !inMemory)
		e.kept = kept.Bytes()
		if err := e.fits(int64(kept.N())); err != nil {
			return nil, err
		}
		if e.opts.Progress != nil {
			e.opts.Progress(int64(kept.N()))
		}
	}
	if err := rows.CheckCount(n, int64(kept.N())); err != nil {
		return nil, err
	}
	kept.Close(raw)
	if err := checkRows(int64(kept.N()), kept.Total()); err != nil {
		return nil, err
	}
	if e.opts.Intercept && !rows.Spreads(raw, kept.Total()) {
		return nil, &fd.RangeError{Row: kept.N() - 1}
	}
	return kept, nil
}

// learn finds what all γ have in common.
func (e *dualExact) learn(ctx context.Context, data dual.Operator) error {
	e.data = data
	e.known = certify.Dual{Backend: e.opts.Backend, Rows: int64(data.N()), Dim: e.d, Intercept: e.opts.Intercept, Size: data.Size()}
	for j := range e.t {
		e.known.TSS = append(e.known.TSS, data.Squares(j))
		e.start = append(e.start, data.Centred(j))
	}
	if e.by == DualCG {
		return nil
	}
	return e.multiply(ctx)
}

// multiply makes G.
func (e *dualExact) multiply(ctx context.Context) (err error) {
	n := e.data.N()
	e.work = make([]float64, n*n)
	if e.gram, err = e.data.Gram(ctx, e.opts.Backend, make([]float64, n*n), e.work); err != nil {
		return err
	}
	e.known.Off, e.known.Shift = e.gram.Off, e.gram.Shift
	e.known.Size = math.Min(e.data.Size(), e.gram.Size())
	return nil
}

// meanEigenvalue is that of K, ‖A‖²_F/d.
func (e *dualExact) meanEigenvalue() float64 {
	size := e.gram.Norm()
	return size * size / float64(e.d)
}
