package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/cell"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A RowEncoder encodes rows at hand as [Encoding.Apply] does those of a source, with neither a source
// nor a goroutine: what a service has to do with a row that came in. Rows are dense. It keeps
// workspace: one goroutine at a time may use it.
type RowEncoder struct {
	by   *encoder
	out  Buffer
	cell []byte
}

// RowEncoder returns an encoder of rows. Of o there count IgnoreUnknown and Tally. An encoding that
// was not learnt is [ErrShape].
func (e *Encoding) RowEncoder(o EncodeOptions) (*RowEncoder, error) {
	if err := e.Valid(); err != nil {
		return nil, unfit("an encoding that rows cannot be encoded by: %v", err)
	}
	if o.Tally == nil {
		o.Tally = new(Tally)
	}
	o.KeepIncomplete, o.Incomplete = true, nil
	return &RowEncoder{by: newEncoder(e, nil, o, false)}, nil
}

// Numbers overwrites dst (length Width) with what is made of the row x (length Inputs), in which NaN
// is a missing value and a number in a categorical column a level. complete is false where rows with
// missing values are to be left out and x has one: dst is then of no use. A level that was not learnt,
// an infinity, and NaN where nothing may be missing are an *[InputError]; other lengths are [ErrShape].
func (r *RowEncoder) Numbers(dst, x []float64) (complete bool, err error) {
	if err := r.lengths(len(dst), len(x)); err != nil {
		return false, err
	}
	for j, v := range x {
		if math.IsInf(v, 0) {
			return false, nonFinite("x", 0, j, v)
		}
	}
	r.out.Reset()
	if _, err := r.by.apply(Block{N: 1, X: x}, &r.out); err != nil {
		return false, err
	}
	copy(dst, r.out.X)
	return r.by.Missing != MissingDrop || !hasNaN(x), nil
}

// Texts is Numbers for a row of cells as package csv reads them: numbers, True and False, marks of
// missing values, and the texts of levels.
func (r *RowEncoder) Texts(dst []float64, cells []string) (complete bool, err error) {
	if err := r.lengths(len(dst), len(cells)); err != nil {
		return false, err
	}
	clear(dst)
	complete = true
	var unknown error
	for j, text := range cells {
		r.cell = append(r.cell[:0], text...)
		known, err := r.text(dst[r.by.to[j]:], j, cell.Trimmed(r.cell))
		switch {
		case errors.Is(err, ErrUnknownLevel):
			unknown = cmp.Or(unknown, err)
		case err != nil:
			return false, err
		}
		complete = complete && known
	}
	if !complete { // whatever its levels are
		unknown = nil
	}
	return complete, unknown
}

// text overwrites the first of dst, zeros, with what is made of a cell of column j. known is false
// where it is missing and its row is to be left out.
func (r *RowEncoder) text(dst []float64, j int, s []byte) (known bool, err error) {
	missing := cell.Missing(s)
	if k := r.by.of[j]; k >= 0 {
		if missing {
			s = nil
		}
		level, learnt := r.by.levels[k][string(s)]
		switch {
		case learnt:
			dst[level] = 1
		case missing && r.by.Missing == MissingDrop:
			return false, nil
		default:
			if r.by.o.Tally.Unknown.Add(1); !r.by.o.IgnoreUnknown {
				return true, r.unlearnt(k, s)
			}
		}
		return true, nil
	}
	switch {
	case missing && r.by.Missing == MissingMean:
		r.by.o.Tally.Filled.Add(1)
		dst[0] = r.by.Means[j]
	case missing && r.by.Missing == MissingDrop:
		return false, nil
	default:
		v, ok := cell.Number(s)
		if !ok {
			msg := fmt.Sprintf("column %s: %q is not a finite number", excerpt.Of(r.by.name(j)), excerpt.Of(string(s)))
			return false, &InputError{File: "x", Line: 1, Column: j + 1, Msg: msg}
		}
		dst[0] = v
	}
	return true, nil
}

// unlearnt reports the text of a level of category k that was not learnt.
func (r *RowEncoder) unlearnt(k int, s []byte) error {
	err := r.by.fail(k, "it is %q, which is none of the %d levels that were learnt", excerpt.Of(string(s)), len(r.by.Categories[k].Levels))
	err.unknownLevel = true
	return err
}

func (r *RowEncoder) lengths(dst, x int) error {
	if r.by == nil { // the zero value
		return unfit("a row encoder that Encoding.RowEncoder has not made")
	}
	if x != r.by.Inputs || dst != r.by.width() {
		return mismatched("a row of %d columns, of which %d are to be made, for an encoding of %d to %d", x, dst, r.by.Inputs, r.by.width())
	}
	return nil
}
