package fd

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/badinput"
)

// Merge adds the rows that o has seen to s, which may have been made on another
// machine or with another backend, shrink driver or ShrinkRows. The live rows of
// o, sparse ones as they are, are stacked under those of s, which shrinks as often as it needs:
// η = η₁ + η₂ + Σδ of these shrinks, and every guarantee holds for the union.
// o is unchanged.
//
// Round-off adds up likewise: that of both, and that of these shrinks.
//
// Where both keep AᵀA, these are added. Where s alone does, the rows of o are added to it; where
// o alone does, rows with the same AᵀA are made for s, by an eigenproblem.
//
// Sketches of different Dim or Size, s itself and nil are refused with [ErrShape];
// a sum of squares beyond range with *[RangeError]; so are more than 2⁶² rows or shrinks, as no
// stream has but a message may say. s is then unchanged.
func (s *Sketch) Merge(o *Sketch) error {
	switch {
	case o == nil:
		return fmt.Errorf("%w: merging no sketch", errShape)
	case s == o:
		return fmt.Errorf("%w: a sketch merged with itself", errShape)
	case s.cfg.Dim != o.cfg.Dim || s.cfg.Size != o.cfg.Size:
		return fmt.Errorf("%w: merging a sketch of dimension %d and size %d into one of dimension %d and size %d",
			errShape, o.cfg.Dim, o.cfg.Size, s.cfg.Dim, s.cfg.Size)
	case s.count > maxRows-o.count || s.shrinks > maxRows-o.shrinks:
		return badinput.Errorf("fd: merging sketches of %d and %d rows, of which there can be %d at most", s.count, o.count, int64(maxRows))
	case s.ready() != nil:
		return s.ready()
	case o.bad != nil:
		return o.bad
	}
	total := s.frob
	total.Merge(o.frob)
	if !(total.Value() <= MaxSquares) {
		return &RangeError{Row: 0}
	}
	rows, n, ld, pad := o.buf, o.rows, o.ld, o.roundOff
	switch {
	case o.keeps && !s.keeps:
		var err error
		if rows, pad, err = o.rowsOfScatter(); err != nil {
			return err
		}
		n, ld = len(rows)/o.cfg.Dim, o.cfg.Dim
	case o.keeps:
		s.mergeScatter(o)
	}
	centres := o.centres()
	for i := range n {
		if centres != nil && centres[i] {
			continue // it comes with its rows
		}
		if _, err := s.room(); err != nil {
			return err
		}
		copy(s.row(s.rows), rows[i*ld:])
		s.rows++
	}
	var c centre
	for i := range o.sparse.Rows {
		idx, val := o.sparse.Row(i)
		if err := s.place(idx, val, o.centreOf(i, &c), o.sparse.times[i]); err != nil {
			return err
		}
	}
	if o.shrinks > 0 && !s.lossless() {
		s.kept = 0 // the next shrink computes all products: its place in the count of renewal moves
	}
	s.eta += o.eta
	s.roundOff += pad
	s.frob, s.count, s.shrinks = total, s.count+o.count, s.shrinks+o.shrinks
	return nil
}
