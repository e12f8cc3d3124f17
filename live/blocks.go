package live

import (
	"bytes"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/window"
)

// Blocks says in which blocks a [Run] appends rows. The last bits of the sketch of all rows, and of rows that
// fade by number, depend on where blocks end: each block is centred and summed by itself. The blocks of a
// pipe end where no more rows have come, so that they differ from run to run.
//
// Windows have the same bits for any blocks. Where time counts, the bits depend on when rows come. Both are
// appended as the source has them.
type Blocks int

const (
	// OfSource appends the blocks as the source has them.
	OfSource Blocks = iota
	// Fixed appends blocks of fixed sizes: a block ends with each row whose number, from 1, is a multiple of
	// [engine.Tuning.GradientRows] or, of sparse rows, of [dataset.SparseRows], or that makes its entries 2¹⁴.
	// The file has whole blocks alone until the rows end. So a run that was killed or stopped goes on to the
	// bits of a run that was not. It is for sources that begin anew with each run: see Run.Skip.
	Fixed
	// FixedPrompt is Fixed for rows that are wanted as they come. Each write of the file has all rows that have
	// come; in the middle of a block it is of a copy of the sketch, which goes on without those of the block.
	// So a run that was not killed or stopped has the bits of [Fixed]. A row that is refused ends the run at the
	// next write or at the end of its block, whichever is first, and all rows before it are kept.
	FixedPrompt
)

// fixedEntries ends a block of sparse rows, as [Fixed] says.
const fixedEntries = 1 << 14

// waiting are rows that wait for the rest of their block.
type waiting struct {
	dataset.Buffer
	used   bool // rows are regrouped
	size   int  // rows of a dense block
	judged int  // the first so many were judged
}

// prepare makes room for the blocks of a run.
func (w *waiting) prepare(r Run) error {
	if r.Blocks == OfSource || !r.Sketch.Settings().DependsOnBlocks() {
		return nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	w.used, w.size = true, tuning.GradientRows(r.Sketch.Settings().Summary.Dim)
	w.Reset()
	return nil
}

// whole says that the block is, where so many rows are before it.
func (w *waiting) whole(before int64) bool {
	rows := before + int64(w.N)
	if w.Sparse {
		return rows%dataset.SparseRows == 0 || len(w.CSR.Val) >= fixedEntries
	}
	return rows%int64(w.size) == 0
}

// regroup appends whole blocks, and has the other rows wait. A block ends where sparse rows follow dense ones, or rows
// with weights those without.
func (s *running) regroup(b dataset.Block) error {
	c, w := s.Sketch.Settings().Summary, &s.waiting
	sparse, weighted := b.Sparse != nil, b.W != nil
	if w.N > 0 && (w.Sparse != sparse || (len(w.W) > 0) != weighted) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	for i := range b.N {
		w.Sparse = sparse
		w.AppendRow(b, i, c.Dim, c.Targets)
		if w.whole(s.Sketch.Rows()) {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// block is the rows that wait.
func (s *running) block() dataset.Block {
	return s.waiting.Block(s.Sketch.Rows(), s.Sketch.Settings().Summary.Dim)
}

// flush appends the rows that wait.
func (s *running) flush() error {
	b, judged := s.block(), s.waiting.judged
	if b.N == 0 {
		return nil
	}
	if err := appendTo(s.Sketch, s.now(), b); err != nil {
		return err
	}
	err := s.judgeFrom(judged, b)
	s.waiting.Reset()
	s.waiting.judged = 0
	return err
}

// current returns the sketch that the file is to have now: with the rows that wait, if it is to have all that have come.
func (s *running) current() (window.Stream, error) {
	if s.Blocks != FixedPrompt || s.waiting.N == 0 {
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
	judged := s.waiting.judged
	s.waiting.judged = b.N
	return all, s.judgeFrom(judged, b)
}

// clone returns a copy, which goes on to the same bits.
func clone(s window.Stream) (window.Stream, error) {
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return nil, err
	}
	return window.Read(&b, s.Settings().Summary.Backend)
}

// settle appends the rows that wait when a run ends, for a reason, if the file is to have them. If a row is refused
// it appends those before, and returns the error.
func (s *running) settle(why string) error {
	if s.waiting.N == 0 || s.Blocks == Fixed && why != EndOfRows {
		return nil
	}
	err := s.flush()
	if s.Blocks == Fixed || s.waiting.N == 0 {
		return err
	}
	c, b := s.Sketch.Settings().Summary, s.block()
	for i := range b.N {
		if s.Sketch.AppendAt(s.now(), b.Cut(i, i+1, c.Dim, c.Targets, &s.view)) != nil {
			break // err says it
		}
	}
	return err
}
