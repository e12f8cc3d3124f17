// Package prepare turns the rows of a table into rows of numbers. It handles missing values, categorical columns and
// dates. An [Encoding] states which features each column becomes. [Encoding.Learn] or [Look] determines the encoding
// in one pass over the training rows.
package prepare

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
)

// An Encoding turns the columns of a table into features. It fills in missing values, and replaces a categorical
// column by one feature of 0 and 1 for each level, which is one of its values. [Look] returns a complete encoding.
// [NewEncoding] returns one that Learn completes. Apply then encodes rows. An Encoding can be saved as JSON.
//
// The features of a categorical column take its place, in the order of its levels. If all levels are numbers, they
// are sorted as numbers, otherwise by their bytes. A missing value is the level "", which comes last.
//
// An encoding made by [Look] has Columns instead of Missing, Means and Categories. If the columns have names, Inputs
// and Names do not include the columns with [UseOmit].
//
// A Lenient encoding accepts cells that did not occur in the training rows. A cell of a wrong type counts as missing.
// An unknown level belongs to the feature [OtherLevels], or is encoded as zeros if there is no such feature. A
// [Tally] counts these cells and levels.
type Encoding struct {
	Inputs  int      `json:"inputs"`            // number of columns before the encoding
	Names   []string `json:"names,omitempty"`   // names of these columns, or nil
	Columns []Column `json:"columns,omitempty"` // in the order of the table
	// Targets is the policy for missing targets and weights if Columns is not nil. It is RefuseMissing or
	// MissingDrop.
	Targets Missing `json:"targets,omitempty"`
	Lenient bool    `json:"lenient,omitempty"`
	Missing Missing `json:"missing,omitempty"` // policy for missing values
	// Means has the mean of each column for the policy MissingMean. It is 0 for a categorical column.
	Means      []float64  `json:"means,omitempty"`
	Categories []Category `json:"categories,omitempty"` // categorical columns in ascending order
}

// A Category holds the levels of a categorical column.
type Category struct {
	Column int      `json:"column"` // 0-based input column
	Levels []string `json:"levels"`
}

// NewEncoding returns an incomplete encoding of d columns; [Encoding.Learn] must complete it. The argument names
// holds the names of the columns or is nil. The argument categorical holds the 0-based indices of the categorical
// columns. If an index is out of range or repeated, the error is [dataset.ErrShape].
func NewEncoding(d int, names []string, missing Missing, categorical []int) (*Encoding, error) {
	e := &Encoding{Inputs: d, Names: names, Missing: missing}
	for _, j := range slices.Sorted(slices.Values(categorical)) {
		e.Categories = append(e.Categories, Category{Column: j})
	}
	return e, e.checkColumns()
}

// Cells returns the options for reading rows for this encoding. Pass the same value to the reader of the rows, and
// to Learn or Apply in their options.
func (e *Encoding) Cells() *Cells {
	c := &Cells{Missing: e.Missing, Features: []int{}, refuseTarget: e.Targets == RefuseMissing}
	for j, of := range e.read() {
		l := &Lexicon{checks: checks{lenient: e.Lenient}}
		switch {
		case e.Columns != nil && of.Use == UseLevels && of.Kind == KindMixed:
			l.reads = readMixed
		case of.Use == UseDate:
			l.reads = readDates
		case of.Use == UseOmit:
			l.reads = readNumbers
			l.lenient = true
			l.ignores = true
		case of.Use == UseNumber && e.Lenient:
			l.reads = readNumbers
		}
		if of.Use == UseNumber {
			l.unit = of.Unit
			if l.unit != (cell.Unit{}) {
				l.reads = readNumbers
			}
		}
		if e.Columns != nil {
			c.refuses = append(c.refuses, of.Missing == RefuseMissing && of.Use != UseOmit)
		}
		if l.reads != readLevels || of.Use == UseLevels {
			c.Features = append(c.Features, j)
			c.Lexicons = append(c.Lexicons, l)
		}
	}
	return c
}

// lexicons returns the Lexicon of each column of the rows, or nil for a numeric column. c is the value with which
// the rows were read. If c is nil, the result is nil.
func (e *Encoding) lexicons(c *Cells) ([]*Lexicon, error) {
	if c == nil {
		return nil, nil
	}
	out := make([]*Lexicon, e.Inputs)
	for i, j := range c.Features {
		if j < e.Inputs && i < len(c.Lexicons) {
			out[j] = c.Lexicons[i]
		}
	}
	for j, of := range e.read() {
		if of.Use == UseLevels && out[j] == nil {
			return nil, newSourceError("the rows were read without treating column %d as categorical", j+1)
		}
	}
	return out, nil
}

// Width returns the number of features. If Learn has not found the levels of a categorical column yet, it returns
// 0.
func (e *Encoding) Width() int {
	d := 0
	for _, c := range e.read() {
		if c.Use == UseLevels && len(c.Levels) == 0 && !c.Other {
			return 0
		}
		d += c.Width()
	}
	return d
}

// Does reports whether the encoding changes anything.
func (e *Encoding) Does() bool {
	return e != nil &&
		(e.Missing != RefuseMissing || len(e.Categories) > 0 || e.Columns != nil)
}

// MadeNames returns the names of the features. The level "red" of column "a" becomes the feature "a=red". Columns
// without names are called x1, x2, …. If there are neither names nor categorical columns, the result is nil.
func (e *Encoding) MadeNames() []string {
	if len(e.Categories) == 0 && e.Columns == nil {
		return e.Names
	}
	out := make([]string, 0, e.Width())
	for j, c := range e.read() {
		out = c.madeNames(out, e.name(j))
	}
	return out
}

func (e *Encoding) name(j int) string {
	if e.Names == nil {
		return fmt.Sprint("x", j+1)
	}
	return e.Names[j]
}

// Valid returns an error if the encoding cannot be applied. This is so if Learn has not completed it, or if it was
// read from an invalid file.
func (e *Encoding) Valid() error {
	if err := e.checkColumns(); err != nil {
		return err
	}
	if e.Missing == MissingMean && len(e.Means) != e.Inputs {
		return fmt.Errorf("it has %d means for %d columns", len(e.Means), e.Inputs)
	}
	width := 0
	for j, c := range e.read() {
		if err := c.check(); err != nil {
			return fmt.Errorf("column %s: %w", errtext.Excerpt(e.name(j)), err)
		}
		if width > math.MaxInt32-c.Width() {
			return errors.New("more columns than can be counted")
		}
		width += c.Width()
	}
	if width == 0 {
		return errors.New("it makes no columns")
	}
	return nil
}

// checkColumns returns an error if the description of the columns is invalid. It does not check what Learn finds:
// the levels and the values of the means.
func (e *Encoding) checkColumns() error {
	switch {
	case e.Inputs < 1:
		return newSourceError("an encoding cannot have %d columns", e.Inputs)
	case e.Names != nil && len(e.Names) != e.Inputs:
		return newSourceError("%d names for %d columns", len(e.Names), e.Inputs)
	case e.Missing != RefuseMissing && e.Missing != MissingMean && e.Missing != MissingDrop:
		return newSourceError("missing values: %q must be mean or drop", string(e.Missing))
	case e.Columns != nil &&
		(e.Missing != RefuseMissing || e.Means != nil || e.Categories != nil):
		return newSourceError("an encoding by columns has no other means or categories")
	case e.Columns != nil && e.readColumns() != e.Inputs:
		return newSourceError("%d columns of an encoding are read, it has %d inputs", e.readColumns(), e.Inputs)
	case e.Targets != RefuseMissing && (e.Targets != MissingDrop || e.Columns == nil):
		return newSourceError("missing targets: %q must be drop or nothing", string(e.Targets))
	case e.Means != nil && len(e.Means) != e.Inputs:
		return newSourceError("%d means for %d columns", len(e.Means), e.Inputs)
	}
	last := -1
	for _, c := range e.Categories {
		if c.Column <= last || c.Column >= e.Inputs {
			return newSourceError(
				"categorical column %d of %d columns must not follow column %d",
				c.Column+1,
				e.Inputs,
				last+1,
			)
		}
		last = c.Column
	}
	return nil
}

// FromColumns returns the encoding with the given columns. If the columns have names, the rows to encode do not
// contain the columns with [UseOmit]. The argument targets is the policy for missing targets and weights,
// RefuseMissing or MissingDrop. The argument lenient is described at [Encoding].
func FromColumns(columns []Column, targets Missing, lenient bool) (*Encoding, error) {
	e := &Encoding{Columns: columns, Targets: targets, Lenient: lenient}
	if slices.ContainsFunc(columns, func(c Column) bool { return c.Name != "" }) {
		e.Names = []string{}
		for _, c := range columns {
			if c.Use != UseOmit {
				e.Names = append(e.Names, c.Name)
			}
		}
	}
	e.Inputs = e.readColumns()
	if e.Inputs == 0 {
		return nil, newSourceError("every column is left out, none remains as a feature")
	}
	return e, e.Valid()
}

// read yields each column that the rows contain, with its index in a row. If e has Names, the rows do not contain
// columns with [UseOmit].
func (e *Encoding) read() iter.Seq2[int, *Column] {
	if e.Columns == nil {
		return e.readCategories
	}
	return func(yield func(int, *Column) bool) {
		j := 0
		for i := range e.Columns {
			if e.Names != nil && e.Columns[i].Use == UseOmit {
				continue
			}
			if !yield(j, &e.Columns[i]) {
				return
			}
			j++
		}
	}
}

// readCategories yields each column of an encoding without Columns, with its index in a row.
func (e *Encoding) readCategories(yield func(int, *Column) bool) {
	categories := e.Categories
	for j := range e.Inputs {
		c := &Column{Use: UseNumber, Missing: e.Missing}
		if len(categories) > 0 && categories[0].Column == j {
			c.Use = UseLevels
			c.Levels = categories[0].Levels
			categories = categories[1:]
		} else if e.Means != nil {
			c.Fill = e.Means[j]
		}
		if !yield(j, c) {
			return
		}
	}
}

// readColumns returns the number of columns that rows have.
func (e *Encoding) readColumns() int {
	n := 0
	for range e.read() {
		n++
	}
	return n
}

// Scaling returns the means and scales that standardise the features, or nil if no feature is standardised. If the
// encoded rows are sparse, the means are zero, as in [dataset.Standardize].
func (e *Encoding) Scaling() *dataset.Scaling {
	var s dataset.Scaling
	for _, c := range e.read() {
		c.scaling(&s)
	}
	if !slices.ContainsFunc(s.Scale, func(v float64) bool { return v != 1 }) &&
		!slices.ContainsFunc(s.Mean, func(v float64) bool { return v != 0 }) {
		return nil
	}
	if e.usesSparse() {
		clear(s.Mean)
	}
	return &s
}

// sparseFrom is a number of features per input column. Encoded rows are sparse if there are at least so many. In a
// measurement, dense rows were faster for 8 features per column, equal for 16, and slower from 32 on.
const sparseFrom = 16

func (e *Encoding) usesSparse() bool {
	levels := len(e.Categories) > 0
	for i := range e.Columns {
		levels = levels ||
			e.Columns[i].Use == UseLevels && len(e.Columns[i].Levels) >= sparseFrom
	}
	return levels && e.Width() >= sparseFrom*e.Inputs
}
