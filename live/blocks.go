package live

import (
	"bytes"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/window"
)

// Blocks selects how a [Run] divides rows into the blocks that it appends to a sketch. The division affects the
// last bits of a sketch of all rows, and of a sketch whose weights fade with the row number. If rows come from a
// pipe, the blocks of the source differ from run to run. A block of a pipe ends when no more rows have arrived.
//
// Other sketches always get the blocks of the source. One of them is a sketch of a window, whose bits do not depend
// on the division. Another is a sketch that fades with time, which depends on the times when rows arrive anyway.
type Blocks int

const (
	// OfSource appends the blocks of the source unchanged.
	OfSource Blocks = iota
	// Fixed divides the rows into blocks whose boundaries depend only on the rows, not on the times when rows
	// arrive:
	//   - A dense block ends at a row number that is a multiple of [engine.Tuning.GradientRows]. The first row has
	//     the number 1.
	//   - A sparse block ends at a row number that is a multiple of [dataset.SparseRows], or when it has 2¹⁴ nonzero
	//     entries.
	//
	// Until the rows end, only whole blocks are appended and written to the file. Therefore a run that was stopped
	// or killed can be continued by a run with Skip, which reads the rows again from the first row. The final
	// sketch then has the same bits as without interruption.
	Fixed
	// FixedPrompt divides rows like Fixed, but each write of the file contains all rows that have arrived. If a
	// block is incomplete, its rows are appended to a copy of the sketch, and the copy is written. If the run is
	// not stopped or killed, the final sketch has the same bits as with [Fixed].
	//
	// An invalid row ends the run at the next write of the file, or at the end of its block. The rows before the
	// invalid row are kept.
	FixedPrompt
)

// fixedEntries is the number of entries at which a sparse block ends.
const fixedEntries = 1 << 14

// pending holds rows that wait until their block is complete.
type pending struct {
	dataset.Buffer
	regroups bool // the run divides rows into its own blocks
	size     int  // largest number of rows of a dense block
	scored   int  // number of rows of the block whose predictions were already compared with their targets
}

// prepare decides whether the run r divides rows into its own blocks, and sets the largest number of rows of a
// dense block.
func (w *pending) prepare(r Run) error {
	if r.Blocks == OfSource || !r.Sketch.Settings().DependsOnBlocks() {
		return nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	w.regroups = true
	w.size = tuning.GradientRows(r.Sketch.Settings().Summary.Dim)
	w.Reset()
	return nil
}

// isFull reports whether the pending block is complete. rowsBefore is the number of rows of the stream before this
// block.
func (w *pending) isFull(rowsBefore int64) bool {
	rows := rowsBefore + int64(w.N)
	if w.Sparse {
		return rows%dataset.SparseRows == 0 || len(w.CSR.Val) >= fixedEntries
	}
	return rows%int64(w.size) == 0
}

// regroup adds the rows of b to the pending block. When the pending block is complete, regroup appends it to the
// sketch. A block contains only sparse or only dense rows, and only weighted or only unweighted rows. It therefore
// ends before a row of another kind.
func (s *running) regroup(b dataset.Block) error {
	c := s.Sketch.Settings().Summary
	w := &s.pending
	sparse, weighted := b.Sparse != nil, b.W != nil
	if w.N > 0 && (w.Sparse != sparse || (len(w.W) > 0) != weighted) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	for i := range b.N {
		w.Sparse = sparse
		w.AppendRow(b, i, c.Dim, c.Targets)
		if w.isFull(s.Sketch.Rows()) {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// block returns the pending rows as a block.
func (s *running) block() dataset.Block {
	return s.pending.Block(s.Sketch.Rows(), s.Sketch.Settings().Summary.Dim)
}

// flush appends the pending rows to the sketch.
func (s *running) flush() error {
	b := s.block()
	scored := s.pending.scored
	if b.N == 0 {
		return nil
	}
	if err := appendTo(s.Sketch, s.now(), b); err != nil {
		return err
	}
	err := s.scoreFrom(scored, b)
	s.pending.Reset()
	s.pending.scored = 0
	return err
}

// current returns the sketch to write to the file. If rows are pending with FixedPrompt, it is a copy of the sketch
// that includes these rows.
func (s *running) current() (window.Stream, error) {
	if s.Blocks != FixedPrompt || s.pending.N == 0 {
		return s.Sketch, nil
	}
	all, err := clone(s.Sketch)
	if err != nil {
		return nil, err
	}
	b := s.block()
	if err := appendTo(all, s.now(), b); err != nil {
		return nil, err
	}
	scored := s.pending.scored
	s.pending.scored = b.N
	return all, s.scoreFrom(scored, b)
}

// clone returns a copy with the same bits.
func clone(s window.Stream) (window.Stream, error) {
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return nil, err
	}
	return window.Read(&b, s.Settings().Summary.Backend)
}

// flushAtEnd appends the pending rows to the sketch when the run ends for the reason why. With Fixed, it appends
// them only if the source has no more rows. In the other modes, if a pending row is invalid, it appends only the
// rows before this row.
func (s *running) flushAtEnd(why string) error {
	if s.pending.N == 0 || s.Blocks == Fixed && why != EndOfRows {
		return nil
	}
	err := s.flush()
	if s.Blocks == Fixed || s.pending.N == 0 {
		return err
	}
	c := s.Sketch.Settings().Summary
	b := s.block()
	for i := range b.N {
		if s.Sketch.AppendAt(s.now(), b.Cut(i, i+1, c.Dim, c.Targets, &s.view)) != nil {
			break // err already reports this row
		}
	}
	return err
}
