package prepare

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
)

// LearnOptions are the options of [Encoding.Learn].
type LearnOptions struct {
	// Held, if not nil, reports whether a row is held out. Rows are counted from 0. Held-out rows do not contribute
	// to the means, but their levels are learnt. A level that occurs only in held-out rows gets the coefficient 0
	// in a fit.
	Held func(row int64) bool
	// Cells must be the value that was passed to the reader of the rows. It is nil if the rows were read without
	// Cells. Each different number in a categorical column is then a level.
	Cells *Cells
	// Share states which part of all rows the source has. Link connects the processes that have the other parts.
	// The zero values mean that the source has all rows.
	Share dataset.Share
	Link  Link
}

// Learnt holds the numbers of rows and missing values that [Encoding.Learn] or [Look] has counted.
type Learnt struct {
	Rows    int64   // rows read
	Missing []int64 // number of missing values of each column, in rows that were not left out
	Dropped int64   // number of rows left out
}

// Learn makes one pass over rows that are not encoded yet, and completes the encoding. It learns the levels of each
// categorical column, and the mean Σwx/Σw of each numeric column. The sums are over the training rows in which the
// column has a value; x is this value and w the weight of the row. If the rows are divided among processes, every
// process must call Learn, and all get the same encoding.
//
// Learn returns an *[dataset.InputError] if a mean is needed for a column without values, or if a column has more
// than 2²⁰ levels. For sparse rows it returns [dataset.ErrShape].
func (e *Encoding) Learn(ctx context.Context, src dataset.Source, o LearnOptions) (*Learnt, error) {
	if err := e.checkWidth(src); err != nil {
		return nil, err
	}
	if e.Columns != nil {
		return nil, newSourceError("the encoding is complete: Look has made it")
	}
	if _, err := e.lexicons(o.Cells); err != nil {
		return nil, err
	}
	l := newCollector(e.Inputs, &LookOptions{LearnOptions: o})
	l.drops = e.dropper()
	l.numbers = 0
	for _, c := range e.Categories {
		l.all.Columns[c.Column].IsLevels = true
	}
	stats, err := l.read(ctx, src)
	if err != nil {
		return nil, err
	}
	return e.complete(stats)
}

func (e *Encoding) checkWidth(src dataset.Source) error {
	if src == nil {
		return newSourceError("the source of rows is nil")
	}
	if _, d, _ := src.Dims(); d != e.Inputs {
		return newDimensionError("the rows have %d columns, the encoding %d", d, e.Inputs)
	}
	return nil
}

func (e *Encoding) columnError(j int, format string, args ...any) *dataset.InputError {
	return &dataset.InputError{
		File: UnnamedRows,
		Msg:  "column " + errtext.Excerpt(e.name(j)) + ": " + fmt.Sprintf(format, args...),
	}
}

// complete sets the levels and means of the encoding from the statistics s of the rows.
func (e *Encoding) complete(s *tableStats) (*Learnt, error) {
	switch {
	case s.Rows == 0:
		return nil, newSourceError("there are no rows to learn an encoding from")
	case s.Rows == s.Dropped:
		return nil, newSourceError("all %d rows have missing values; no row is left to learn an encoding from", s.Rows)
	case s.Trained == 0 && e.Missing == MissingMean:
		return nil, newSourceError(
			"none of the %d rows can be used for means: all are held out or have weight 0",
			s.Rows,
		)
	}
	for i := range e.Categories {
		c := &s.Columns[e.Categories[i].Column]
		levels := slices.Collect(maps.Keys(c.Texts.Levels))
		for x := range c.Numbers.Values {
			levels = append(levels, numberText(x))
		}
		if c.Missing > 0 {
			levels = append(levels, "")
		}
		e.Categories[i].Levels = sortLevels(levels)
		if len(levels) > maxLevels || !c.Numbers.Kept {
			return nil, e.columnError(e.Categories[i].Column, "it has more than %d levels", maxLevels)
		}
	}
	learnt := &Learnt{Rows: s.Rows, Dropped: s.Dropped}
	var means []float64
	for j := range s.Columns {
		c := &s.Columns[j]
		learnt.Missing = append(learnt.Missing, c.Missing)
		means = append(means, c.Numbers.Moments.Mean)
		switch {
		case e.Missing != MissingMean || c.IsLevels:
		case c.Numbers.Count == 0:
			return nil, &dataset.InputError{
				File:      UnnamedRows,
				Omittable: true,
				Hint:      "leave the column out",
				Msg: fmt.Sprintf(
					"column %s has no value in any training row, so its mean is undefined",
					errtext.Excerpt(e.name(j)),
				),
			}
		case !vec.IsFinite(c.Numbers.Moments.Mean):
			return nil, &dataset.InputError{
				File:      UnnamedRows,
				NonFinite: true,
				Msg:       fmt.Sprintf("the mean of column %s exceeds the range of float64", errtext.Excerpt(e.name(j))),
			}
		}
	}
	if e.Missing == MissingMean {
		e.Means = means
	}
	if e.Width() > math.MaxInt32 {
		return nil, newSourceError("the encoding makes %d columns, too many", e.Width())
	}
	return learnt, nil
}

// fewLevels is a number of levels. A column with at most so many is never doubtful, see [Encoding.Doubtful].
const fewLevels = 1000

// Doubtful returns the columns that are probably not categorical, for example row numbers or names, as indices in
// e.Categories. Such a column has more than 1000 levels. It also has more levels than half the number of rows that
// are not left out. l is the result of Learn.
func (e *Encoding) Doubtful(l *Learnt) []int {
	var out []int
	for c := range e.Categories {
		n := int64(len(e.Categories[c].Levels))
		if n > fewLevels && 2*n > l.Rows-l.Dropped {
			out = append(out, c)
		}
	}
	return out
}

// sortLevels sorts levels and drops duplicates. If all levels are numbers, it sorts them as numbers, otherwise as
// texts. The level "", which stands for missing values, comes last.
func sortLevels(levels []string) []string {
	slices.Sort(levels)
	levels = slices.Compact(levels)
	gap := len(levels) > 0 && levels[0] == ""
	if gap {
		levels = levels[1:]
	}
	value := make(map[string]float64, len(levels))
	for _, level := range levels {
		v, err := strconv.ParseFloat(level, 64)
		if err != nil || !vec.IsFinite(v) {
			value = nil
			break
		}
		value[level] = v
	}
	if value != nil {
		slices.SortStableFunc(levels, func(a, b string) int {
			if value[a] < value[b] {
				return -1
			}
			if value[a] > value[b] {
				return 1
			}
			return 0
		})
	}
	if gap {
		levels = append(slices.Clip(levels), "")
	}
	return slices.Clone(levels)
}
