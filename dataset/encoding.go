package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// An Encoding makes numbers of the columns of a table, before anything else is done to them: it
// leaves out rows with missing values, or puts means in their place, and makes columns of 0 and 1
// of categorical ones, one for each level. It is plain data, to be kept with a model: [NewEncoding]
// begins one, Learn completes it by a pass over the training rows, and Apply encodes rows.
//
// The columns that a categorical one becomes stand in its place, in the order of its levels. These
// are in the order of their numbers where all are numbers, else in that of their bytes, and last a
// missing value, the level "", where there were any.
type Encoding struct {
	Inputs     int        `json:"inputs"`               // columns of the rows as they come
	Names      []string   `json:"names,omitempty"`      // of these, nil where they have none
	Missing    Missing    `json:"missing,omitempty"`    // values: what becomes of them
	Means      []float64  `json:"means,omitempty"`      // of each column with MissingMean, 0 of a categorical one
	Categories []Category `json:"categories,omitempty"` // by their columns
}

// A Category is a categorical column.
type Category struct {
	Column int      `json:"column"` // from 0, of the columns as they come
	Levels []string `json:"levels"`
}

// NewEncoding begins an encoding of rows of d columns by these names, which may be nil: categorical
// are the columns at the places given, from 0. A place that is none, or is there twice, is [ErrShape].
func NewEncoding(d int, names []string, missing Missing, categorical []int) (*Encoding, error) {
	e := &Encoding{Inputs: d, Names: names, Missing: missing}
	for _, j := range slices.Sorted(slices.Values(categorical)) {
		e.Categories = append(e.Categories, Category{Column: j})
	}
	return e, e.valid()
}

// Cells says how readers are to read rows for the encoding: NaN where a value is missing, codes in
// categorical columns. It is then given to Learn and Apply with the rows that were read by it.
func (e *Encoding) Cells() *Cells {
	c := &Cells{Missing: e.Missing, Features: []int{}}
	for i := range e.Categories {
		c.Features, c.Lexicons = append(c.Features, e.Categories[i].Column), append(c.Lexicons, new(Lexicon))
	}
	return c
}

// lexicons are those of the categories, nil where they have numbers: nil cells.
func (e *Encoding) lexicons(c *Cells) ([]*Lexicon, error) {
	if c == nil {
		return nil, nil
	}
	out := make([]*Lexicon, len(e.Categories))
	for i := range e.Categories {
		at := slices.Index(c.Features, e.Categories[i].Column)
		if at < 0 || at >= len(c.Lexicons) {
			return nil, unfit("the rows were not read with column %d as a categorical one", e.Categories[i].Column+1)
		}
		out[i] = c.Lexicons[at]
	}
	return out, nil
}

// Width is the number of columns that are made, 0 before they are known.
func (e *Encoding) Width() int {
	d := e.Inputs
	for i := range e.Categories {
		n := len(e.Categories[i].Levels)
		if n == 0 {
			return 0
		}
		d += n - 1
	}
	return d
}

// Does reports whether the encoding does anything.
func (e *Encoding) Does() bool {
	return e != nil && (e.Missing != RefuseMissing || len(e.Categories) > 0)
}

// MadeNames are the names of the columns that are made: that of a categorical column a for its
// level red is a=red. Columns without names are x1, x2, …; where none is categorical that is nil.
func (e *Encoding) MadeNames() []string {
	if len(e.Categories) == 0 {
		return e.Names
	}
	out := make([]string, 0, e.Width())
	next := e.Categories
	for j := range e.Inputs {
		if len(next) == 0 || next[0].Column != j {
			out = append(out, e.name(j))
			continue
		}
		for _, level := range next[0].Levels {
			out = append(out, e.name(j)+"="+level)
		}
		next = next[1:]
	}
	return out
}

// name is that of column j.
func (e *Encoding) name(j int) string {
	if e.Names == nil {
		return fmt.Sprint("x", j+1)
	}
	return e.Names[j]
}

// Valid is nil for an encoding that rows can be encoded by, as Learn completes it. It checks one
// that was read from a file.
func (e *Encoding) Valid() error {
	if err := e.valid(); err != nil {
		return err
	}
	if e.Missing == MissingMean && len(e.Means) != e.Inputs {
		return fmt.Errorf("%d means for %d columns", len(e.Means), e.Inputs)
	}
	for _, mean := range e.Means {
		if !isFinite(mean) {
			return fmt.Errorf("the mean of a column is %v", mean)
		}
	}
	width := e.Inputs
	for _, c := range e.Categories {
		if len(c.Levels) == 0 {
			return fmt.Errorf("column %d has no levels", c.Column+1)
		}
		seen := make(map[string]bool, len(c.Levels))
		for _, level := range c.Levels {
			if seen[level] {
				return fmt.Errorf("column %d has the level %q twice", c.Column+1, level)
			}
			seen[level] = true
		}
		if width > math.MaxInt32-len(c.Levels) {
			return errors.New("more columns than can be counted")
		}
		width += len(c.Levels) - 1
	}
	return nil
}

// valid checks what is known before the rows are read.
func (e *Encoding) valid() error {
	switch {
	case e.Inputs < 1:
		return unfit("an encoding of %d columns", e.Inputs)
	case e.Names != nil && len(e.Names) != e.Inputs:
		return unfit("%d names for %d columns", len(e.Names), e.Inputs)
	case e.Missing != RefuseMissing && e.Missing != MissingMean && e.Missing != MissingDrop:
		return unfit("missing values: %q is none of mean and drop", string(e.Missing))
	}
	last := -1
	for _, c := range e.Categories {
		if c.Column <= last || c.Column >= e.Inputs {
			return unfit("categorical column %d of %d columns, after column %d", c.Column+1, e.Inputs, last+1)
		}
		last = c.Column
	}
	return nil
}
