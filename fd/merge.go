package fd

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/errtext"
)

// Merge adds all rows of o to s. The sketches may have different backends, shrink drivers and ShrinkRows, and may
// come from different machines. Merge appends the rows in the buffer of o to s and shrinks as often as necessary. The
// new shrinkage is the sum of both shrinkages and of the δ of these shrinks. The bounds on round-off add up in the
// same way. Every guarantee holds for all rows of both sketches. o is unchanged.
//
// If both sketches keep AᵀA, Merge adds the matrices. If only s keeps AᵀA, Merge adds the rows of o to it. If
// only o keeps AᵀA, Merge computes rows with the same AᵀA and appends them to s; this needs an eigenproblem.
//
// Merge returns [ErrShape] if o is nil or s itself, or if Dim or Size differ. It returns a *[RangeError] if
// the sum of squares is too large. It also returns an error for more than 2⁶² rows or shrinks, which only a
// forged message can have. On these errors s is unchanged.
func (s *Sketch) Merge(o *Sketch) error {
	switch {
	case o == nil:
		return fmt.Errorf("%w: the sketch to merge is nil", errShape)
	case s == o:
		return fmt.Errorf("%w: a sketch merged with itself", errShape)
	case s.cfg.Dim != o.cfg.Dim || s.cfg.Size != o.cfg.Size:
		return fmt.Errorf("%w: merging a sketch of dimension %d and size %d into one of dimension %d and size %d",
			errShape, o.cfg.Dim, o.cfg.Size, s.cfg.Dim, s.cfg.Size)
	case s.count > maxRows-o.count || s.shrinks > maxRows-o.shrinks:
		return errtext.BadInput(
			"fd: merging sketches of %d and %d rows, more than %d in total",
			s.count,
			o.count,
			int64(maxRows),
		)
	case s.checkReady() != nil:
		return s.checkReady()
	case o.bad != nil:
		return o.bad
	}
	total := s.frob
	total.Merge(o.frob)
	if !(total.Value() <= MaxSquares) {
		return &RangeError{Row: 0}
	}
	rows := o.buf
	n := o.rows
	ld := o.ld
	pad := o.roundOff
	switch {
	case o.keepsScatter && !s.keepsScatter:
		var err error
		rows, pad, err = o.rowsOfScatter()
		if err != nil {
			return err
		}
		n = len(rows) / o.cfg.Dim
		ld = o.cfg.Dim
	case o.keepsScatter:
		s.mergeScatter(o)
	}
	centres := o.centres()
	for i := range n {
		if centres != nil && centres[i] {
			continue // placeSparse copies the centre
		}
		if _, err := s.makeRoom(); err != nil {
			return err
		}
		copy(s.row(s.rows), rows[i*ld:])
		s.rows++
	}
	var c centre
	for i := range o.sparse.Rows {
		idx, val := o.sparse.Row(i)
		if err := s.placeSparse(idx, val, o.centreOf(i, &c), o.sparse.times[i]); err != nil {
			return err
		}
	}
	if o.shrinks > 0 && !s.lossless() {
		// The bounds assume that a shrink computes all products whenever s.shrinks is a multiple of renewal. Adding
		// o.shrinks could skip such a multiple. Therefore setting s.kept to 0 makes the next shrink compute all
		// products.
		s.kept = 0
	}
	s.eta += o.eta
	s.roundOff += pad
	s.frob = total
	s.count += o.count
	s.shrinks += o.shrinks
	return nil
}
