package ridge

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Journal keeps what the passes of a solve have found, for the same solve to go on
// from where it was interrupted. A solver's state is a function of what its passes
// return: started again, it is answered from the journal as far as that goes, and reads
// the data from the row on that the last pass had come to. The result is bit for bit
// that of a solve that was not interrupted.
//
// A pass that asks another question than the one recorded, as where a tolerance or
// the limit on passes was changed meanwhile, is made anew. The data have to be the
// same, and so the backend and the tuning for the same bits. Passes that a [Refresher]
// makes are its own and are made again.
type Journal interface {
	// Recorded returns the state that a pass, counted from 1, was recorded in last,
	// nil for none.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the pass under way is wanted. It is asked after
	// each block.
	Due() bool
	// Record takes the state of a pass: on the way when Due says so or the context is
	// cancelled, and at its end. It takes the place of what was recorded of this pass and
	// of later ones. An error ends the solve.
	Record(pass int, state []byte) error
}

// Continue makes the rest of a pass over src, whose first Rows() rows s has seen. A summary
// that was written while [Summarize] made it, in a call of progress, becomes what Summarize
// would have made, bit for bit. After a cancelled Continue, s is the summary of the blocks
// read until then.
func (s *Summary) Continue(ctx context.Context, src dataset.Source, progress func(rows int64)) error {
	if _, d, t := src.Dims(); d != s.cfg.Dim || t != s.cfg.Targets {
		return fmt.Errorf("%w: the source has %d features and %d targets, the summary %d and %d", errShape, d, t, s.cfg.Dim, s.cfg.Targets)
	}
	from := s.Rows()
	for b, err := range dataset.From(ctx, src, from) {
		if err == nil {
			err = ctx.Err() // a source need not notice
		}
		if err != nil {
			return err
		}
		if err := s.AppendBlock(rows.Since(from, b, s.cfg.Dim, s.cfg.Targets)); err != nil {
			return err
		}
		from = 0
		if progress != nil {
			progress(s.Rows())
		}
	}
	return nil
}
