package choose

import (
	"context"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// deal makes a pass over src and distributes the rows to the folds. It calls receive with the number k of a fold
// and a block of rows of fold k. Calls for different folds may run in parallel.
func (v *validation) deal(
	ctx context.Context,
	src dataset.Source,
	pass int,
	receive func(k int, b dataset.Block) error,
) error {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	hand := dealer{
		d:       v.cfg.Dim,
		t:       v.cfg.Targets,
		rows:    dealtRows(tuning, v.cfg.Dim),
		receive: receive,
		buffers: make([]dataset.Buffer, v.cv.Folds),
	}
	n, _, _ := src.Dims()
	var seen int64
	var raw float64
	var folds []int // fold of each row of the current block
	var block dataset.Block
	adding := parallel.New(v.cfg.Backend, v.cv.Folds, func(k int) error {
		for i, fold := range folds {
			if fold != k {
				continue
			}
			if err := hand.add(k, block, i); err != nil {
				return err
			}
		}
		return nil
	})
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		// The rows are checked here, because errors must number the rows of the source, not the rows of a fold.
		raw, err = rows.CheckBlock(b, v.cfg.Dim, v.cfg.Targets, int(seen), raw)
		if err != nil {
			return err
		}
		folds = folds[:0]
		block = b
		for i := range b.N {
			folds = append(folds, v.foldOf(seen+int64(i)))
		}
		if err := parallel.First(adding.Run()); err != nil {
			return err
		}
		seen += int64(b.N)
		if v.cv.Progress != nil {
			v.cv.Progress(pass, seen)
		}
	}
	if err := rows.CheckCount(n, seen); err != nil {
		return err
	}
	return parallel.First(parallel.New(v.cfg.Backend, v.cv.Folds, hand.flush).Run())
}

func (v *validation) foldOf(i int64) int {
	k := uint64(v.cv.Folds)
	if v.cv.Seed == 0 {
		return int(uint64(i) % k)
	}
	var p rand.PCG
	p.Seed(v.cv.Seed, uint64(i))
	return int(p.Uint64() % k)
}

// A dealer collects rows in one buffer for each fold, and passes each full buffer on as a block.
type dealer struct {
	d, t, rows int
	receive    func(k int, b dataset.Block) error
	buffers    []dataset.Buffer
}

func (h *dealer) add(k int, b dataset.Block, i int) error {
	buf := &h.buffers[k]
	if buf.N == h.capacity(buf) ||
		(buf.N > 0 && (buf.Sparse != (b.Sparse != nil) || (len(buf.W) > 0) != (b.W != nil))) {
		if err := h.flush(k); err != nil {
			return err
		}
	}
	if buf.N == 0 {
		buf.Reset()
		buf.Sparse = b.Sparse != nil
	}
	buf.AppendRow(b, i, h.d, h.t)
	return nil
}

// capacity returns the number of rows that buf holds when it is full.
func (h *dealer) capacity(buf *dataset.Buffer) int {
	if buf.Sparse {
		return roundoff.StageRows
	}
	return h.rows
}

func (h *dealer) flush(k int) error {
	buf := &h.buffers[k]
	if buf.N == 0 {
		return nil
	}
	err := h.receive(k, buf.Block(0, h.d))
	buf.Reset()
	return err
}

// dealtRows returns the number of dense rows in a block of a fold, for d columns. Blocks are large, because each
// block may add a row to the sketch of its fold.
func dealtRows(t engine.Tuning, d int) int {
	return min(t.GradientRows(d), roundoff.StageRows)
}
