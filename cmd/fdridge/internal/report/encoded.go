package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Encoded describes how missing values and categorical columns became numbers.
type Encoded struct {
	Encoding *prepare.Encoding
	Learnt   *prepare.Learnt // result of the pass that examines the columns; nil: no such pass
	Tally    *prepare.Tally  // counts of missing, wrong and unknown values in the fitted rows
}

// An encodingRecord is the JSON form of Encoded.
type encodingRecord struct {
	Missing    string           `json:"missing,omitempty"`
	Filled     map[string]int64 `json:"filled,omitempty"` // number of filled values by column
	LeftOut    int64            `json:"rows_left_out"`
	Categories []categoryRecord `json:"categories,omitempty"`
	Columns    int              `json:"columns"` // number of columns after the encoding
	Prepared   []columnRecord   `json:"prepared,omitempty"`
	// number of cells whose type does not fit the column; they count as missing
	Foreign int64 `json:"foreign,omitempty"`
	Unknown int64 `json:"unknown,omitempty"` // values that are not among the levels in the plan

	rows int64 // number of rows in which Filled was counted, including held-out rows
}

// A categoryRecord describes a categorical column.
type categoryRecord struct {
	Column string `json:"column"`
	Levels int    `json:"levels"`
}

// record returns the JSON form of e. It returns nil if e is nil, which means that no column was encoded.
func (e *Encoded) record() *encodingRecord {
	if e == nil {
		return nil
	}
	out := &encodingRecord{
		Missing:  string(e.Encoding.Missing),
		LeftOut:  e.Tally.Dropped.Load(),
		Columns:  e.Encoding.Width(),
		Prepared: e.prepared(),
		Foreign:  e.Tally.Foreign.Load(),
	}
	if e.Learnt == nil {
		out.Unknown = e.Tally.Unknown.Load()
	}
	if e.Learnt != nil {
		out.LeftOut, out.rows = e.Learnt.Dropped, e.Learnt.Rows
		for j, n := range e.Learnt.Missing {
			if n > 0 && out.Filled == nil {
				out.Filled = map[string]int64{}
			}
			if n > 0 {
				out.Filled[e.name(j)] = n
			}
		}
	}
	for _, c := range e.Encoding.Categories {
		out.Categories = append(out.Categories, categoryRecord{e.name(c.Column), len(c.Levels)})
	}
	return out
}

// name returns the name of column j of the file, counted from 0. If the columns have no names, they are called x1,
// x2, and so on.
func (e *Encoded) name(j int) string {
	if e.Encoding.Names == nil {
		return fmt.Sprint("x", j+1)
	}
	return e.Encoding.Names[j]
}

// describeMissing states how missing values were treated. It returns "" if a missing value would have been an
// error.
func (r *encodingRecord) describeMissing() string {
	switch prepare.Missing(r.Missing) {
	case prepare.MissingDrop:
		return fmt.Sprintf(
			"%d %s left out because of missing values",
			r.LeftOut,
			plural(int(r.LeftOut), "row was", "rows were"),
		)
	case prepare.MissingMean:
		if len(r.Filled) == 0 {
			return "no missing values"
		}
		var names []string
		total := int64(0)
		for name, n := range r.Filled {
			names = append(names, name)
			total += n
		}
		slices.SortFunc(names, func(a, b string) int {
			if n := r.Filled[b] - r.Filled[a]; n != 0 {
				return int(n)
			}
			return strings.Compare(a, b)
		})
		const most = 6
		var words []string
		for _, name := range names[:min(len(names), most)] {
			words = append(words, fmt.Sprintf("%s %d", errtext.Text(errtext.Excerpt(name)), r.Filled[name]))
		}
		if len(names) > most {
			words = append(words, fmt.Sprintf("%d more columns", len(names)-most))
		}
		return fmt.Sprintf(
			"%d missing %s in all %d rows %s filled with the mean of the training rows (in categorical columns, "+
				"with a level of its own): %s",
			total,
			plural(int(total), "value", "values"),
			r.rows,
			plural(int(total), "was", "were"),
			strings.Join(words, ", "),
		)
	}
	return ""
}

// describeLeftOut states how many rows the preparation dropped. It returns "" if it dropped none.
func (r *encodingRecord) describeLeftOut() string {
	if r.Prepared == nil || r.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf(
		"%d %s left out: the target, or another required value, is missing",
		r.LeftOut,
		plural(int(r.LeftOut), "row is", "rows are"),
	)
}

// describeSurprises states how many cells have a wrong type or an unknown category. It returns "" if no cell has.
func (r *encodingRecord) describeSurprises() string {
	var words []string
	if r.Foreign > 0 {
		words = append(
			words,
			fmt.Sprintf(
				"%d %s of a wrong type and %s as missing",
				r.Foreign,
				plural(int(r.Foreign), "cell is", "cells are"),
				plural(int(r.Foreign), "counts", "count"),
			),
		)
	}
	if r.Unknown > 0 {
		words = append(
			words,
			fmt.Sprintf(
				"%d %s a level that the plan does not know",
				r.Unknown,
				plural(int(r.Unknown), "value has", "values have"),
			),
		)
	}
	return strings.Join(words, "; ")
}

// describeCategories lists the categorical columns with their numbers of levels. It returns "" if there are none.
func (r *encodingRecord) describeCategories() string {
	if len(r.Categories) == 0 {
		return ""
	}
	const most = 6
	var words []string
	for _, c := range r.Categories[:min(len(r.Categories), most)] {
		words = append(words, fmt.Sprintf("%s (%d levels)", errtext.Text(errtext.Excerpt(c.Column)), c.Levels))
	}
	if n := len(r.Categories) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%d columns after one-hot encoding of %s", r.Columns, strings.Join(words, ", "))
}
