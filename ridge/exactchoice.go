package ridge

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// choosesExactly says that γ is chosen of direct solutions to n rows of d features, without a
// sketch: by GCV, to which one reduction of K, or of AAᵀ, gives its brackets at every γ, or by
// leave-one-out errors. Where no method is asked for it is so where there are fewer rows than
// features, and where a sketch would keep AᵀA itself: direct solutions say more of the scores then,
// in particular where columns are of very different size, and take no longer.
func (o *Options) choosesExactly(n int64, d int) bool {
	if !o.chooses() || o.Folds != 0 || o.Select == ByCV {
		return false
	}
	switch o.Method {
	case exactName, Tridiagonal.String(), Dual.String():
		return true
	case "":
		return n >= 0 && byRows(exactName, n, d, nil) || o.keepsScatter(d)
	}
	return false
}

// keepsScatter says that the sketch that would be made of d features keeps AᵀA itself.
func (o *Options) keepsScatter(d int) bool {
	keeps, err := fd.Config{Dim: d, Size: o.size(), Shrink: o.Shrink}.Scatter()
	return err == nil && keeps // the error is that of Summarize
}

// exactChoice makes the direct solution at the γ of the least score. All are solved for by one
// reduction, and GCV is that of one pass; leave-one-out errors take another one, for leverages by
// K itself, which a summary has kept beside. The one that is chosen is then certified to Tol.
func (r *Result) exactChoice(ctx context.Context, src dataset.Source, opts *Options) error {
	c := chooser{ctx: ctx, src: src, opts: opts, method: r.Method}
	_, d, t := src.Dims()
	beside := uint64(0)
	if opts.Select == ByLOO {
		beside = keptBytes(opts.Backend, d, t)
	}
	e, err := newExact(src, opts.exact(Tridiagonal), beside)
	if err != nil {
		return err
	}
	rows := src
	if opts.Select == ByLOO {
		if c.sum, err = NewSummary(SummaryConfig{Dim: d, Targets: t, Size: d, Intercept: opts.Intercept, Backend: e.opts.Backend, Store: fd.StoreScatter}); err != nil {
			return err
		}
		rows = shown{src, c.sum}
	}
	r.Passes++
	system, err := e.read(ctx, rows)
	if err != nil {
		return err
	}
	r.ColumnSpread = spread(system.ColumnSquares(), 0)
	grid := spanning(gridOver(system.MeanEigenvalue(), gridGCV), system.ColumnSquares())
	r.Choice, err = chooseOf(opts.Candidates, grid, func(gammas []float64) ([]candidate, error) {
		fits, err := e.tridiagonal(ctx, system, gammas)
		if err != nil || opts.Select == ByGCV {
			return byGCV(fits), err
		}
		return c.leftOut(fits)
	})
	if err != nil {
		return err
	}
	r.Passes += c.made
	r.Choice.By, r.Choice.Whole, r.Choice.Passes = opts.Select, true, c.made
	if c.made > 0 {
		r.Choice.Spent = ownPass
	}
	chosen := *r.Choice.Path[r.Choice.Index]
	chosen.Targets = slices.Clone(chosen.Targets) // which are refined, and the path's are not
	fits := []*Solution{&chosen}
	if opts.Tol > 0 {
		if !opts.Once {
			if err := e.refine(ctx, src, system, fits); err != nil {
				return err
			}
		}
		if chosen.Status = chosen.directStatus(opts.Tol); opts.Once {
			chosen.Status = onceStatus(chosen.Status)
		}
	}
	r.Passes += chosen.Passes - 1
	return r.take(ctx, src, opts, Tridiagonal, []float64{chosen.Gamma}, fits)
}

// shown are rows that a summary takes in as they are read.
type shown struct {
	dataset.Source
	sum *Summary
}

// Blocks shows each block to the summary once it has been looked at by whoever reads.
func (s shown) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if !yield(b, err) || err != nil {
				return
			}
			if err := s.sum.AppendBlock(b); err != nil {
				yield(dataset.Block{}, err)
				return
			}
		}
	}
}

// keptBytes is the memory of a summary that keeps K, and of its eigenproblem. be may be nil.
func keptBytes(be engine.Backend, d, t int) uint64 {
	work := 0
	if be != nil {
		work = be.SymEigWork(d, d)
	}
	_, taken, err := fd.Config{Dim: d, Size: d, Store: fd.StoreScatter}.Buffer()
	if err != nil {
		return math.MaxUint64
	}
	n, q := float64(d), float64(d+t)
	return uint64(8 * (float64(taken)*n + 5*n*n + 3*q*n + float64(work)))
}
