package prepare

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/fdridge/fdridge/dataset"
	"math"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A RowEncoder encodes single dense rows, for example the requests of a service, with the same results as
// [Encoding.Apply]. Only one goroutine at a time may use it.
type RowEncoder struct {
	by   *encoder
	out  dataset.Buffer
	cell []byte
	to   encodedRow

	notation cell.Notation
	marks    *cell.Marks
}

// RowEncoder returns an encoder of single rows. Of the options it uses only IgnoreUnknown, Tally and Text. If the
// encoding is not complete, the error is [dataset.ErrShape].
func (e *Encoding) RowEncoder(o EncodeOptions) (*RowEncoder, error) {
	if err := e.Valid(); err != nil {
		return nil, newSourceError("the encoding is not complete: %v", err)
	}
	if o.Tally == nil {
		o.Tally = new(Tally)
	}
	o.KeepIncomplete, o.Incomplete = true, nil
	return &RowEncoder{
		by:       newEncoder(e, nil, o, false),
		notation: cell.NotationOf(o.Text.Decimal),
		marks:    cell.NewMarks(o.Text.Marks),
	}, nil
}

// Numbers encodes the row x to dst. x has one number for each input column, and dst has one for each feature. NaN
// is a missing value, and a number in a categorical column is a level. If complete is false, the policy MissingDrop
// leaves the row out, and dst is undefined.
//
// Errors are *[dataset.InputError] for an unknown level, for an infinity, and for NaN under the policy
// RefuseMissing. If the length of x or dst is wrong, the error is [dataset.ErrShape].
func (r *RowEncoder) Numbers(dst, x []float64) (complete bool, err error) {
	if err := r.lengths(len(dst), len(x)); err != nil {
		return false, err
	}
	for j, v := range x {
		if math.IsInf(v, 0) {
			return false, newNonFiniteError("x", 0, j, v)
		}
	}
	r.out.Reset()
	b := dataset.Block{N: 1, X: x}
	if err := r.by.apply(b, &r.out); err != nil {
		return false, err
	}
	copy(dst, r.out.X)
	return !r.by.drops.drops(b, 0, len(x), false), nil
}

// Texts encodes a row of texts to dst, which has one number for each feature. The texts are read like the cells of
// a csv file: an empty text, for example, is a missing value. The results are as in Numbers.
func (r *RowEncoder) Texts(dst []float64, cells []string) (complete bool, err error) {
	if err := r.lengths(len(dst), len(cells)); err != nil {
		return false, err
	}
	clear(dst)
	complete = true
	var unknown error
	r.to = encodedRow{dense: dst}
	to := &r.to
	for j, text := range cells {
		r.cell = append(r.cell[:0], text...)
		known, err := r.text(to, j, cell.Trimmed(r.cell))
		switch {
		case errors.Is(err, dataset.ErrUnknownLevel):
			unknown = cmp.Or(unknown, err)
		case err != nil:
			return false, err
		}
		complete = complete && known
	}
	r.by.o.Tally.Filled.Add(to.filled)
	r.by.o.Tally.Foreign.Add(to.foreign)
	r.by.o.Tally.Unknown.Add(to.unknown)
	if !complete { // an incomplete row is left out, so its levels are not checked
		unknown = nil
	}
	return complete, unknown
}

// text encodes the cell s of column j. known is false if the cell is missing and the row must be left out.
func (r *RowEncoder) text(to *encodedRow, j int, s []byte) (known bool, err error) {
	k := &r.by.columns[j]
	missing := r.marks.Missing(s)
	if k.Use == UseOmit {
		return true, nil
	}
	if k.Use == UseLevels {
		level, learnt := k.levels[string(s)] // this conversion does not allocate
		if missing {
			level, learnt = k.levels[k.FillLevel]
		} else if k.Kind == KindMixed {
			if v, ok := r.notation.Number(s); ok {
				level, learnt = k.levels[numberText(v)]
			}
		}
		switch {
		case learnt:
			to.put(k.at+level, 1)
		case missing && k.Missing == MissingDrop:
			return false, nil
		case k.Other:
			to.unknown++
			to.put(k.at+len(k.Levels), 1)
		default:
			to.unknown++
			if !r.by.o.IgnoreUnknown && !r.by.Lenient {
				return true, r.unknownTextError(j, s)
			}
		}
		return true, nil
	}
	v := math.NaN()
	ok := true
	switch {
	case missing && k.Missing == MissingDrop:
		return false, nil
	case missing && k.Missing.fills():
		to.filled++
	case k.Use == UseDate:
		var seconds int64
		seconds, ok = parseDate(s)
		v = float64(seconds)
	case k.Unit != cell.Unit{}:
		v, ok = r.notation.NumberWith(k.Unit, s)
	default:
		v, ok = r.notation.Number(s)
	}
	if !ok &&
		r.by.Lenient &&
		cell.Why(s) == cell.NoNumber &&
		!cell.IsLikeNumber(s) {
		to.filled++
		to.foreign++
		v = math.NaN()
		ok = true
	}
	if !ok {
		what := "finite number"
		if k.Use == UseDate {
			what = "date"
		}
		msg := fmt.Sprintf("column %s: %q is not a %s", errtext.Excerpt(r.by.name(j)), errtext.Excerpt(string(s)), what)
		return false, &dataset.InputError{
			File:   "x",
			Line:   1,
			Column: j + 1,
			Msg:    msg,
		}
	}
	k.put(to, v)
	return true, nil
}

// unknownTextError returns the error for the unknown level s.
func (r *RowEncoder) unknownTextError(j int, s []byte) error {
	err := r.by.columnError(
		j,
		"%q is not among the %d levels learnt from the training rows",
		errtext.Excerpt(string(s)),
		len(r.by.columns[j].Levels),
	)
	err.UnknownLevel = true
	return err
}

func (r *RowEncoder) lengths(dst, x int) error {
	if r.by == nil { // the zero value
		return newSourceError("a row encoder without an encoding; create it with Encoding.RowEncoder")
	}
	if x != r.by.Inputs || dst != r.by.made {
		return newDimensionError(
			"the row has %d columns and dst %d, the encoding maps %d to %d",
			x,
			dst,
			r.by.Inputs,
			r.by.made,
		)
	}
	return nil
}
