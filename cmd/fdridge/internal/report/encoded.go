package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/printable"
)

// Encoded is what was made of the columns of the rows as they came.
type Encoded struct {
	Encoding *dataset.Encoding
	Learnt   *dataset.Learnt // by a pass of its own; nil: there was none
	Tally    *dataset.Tally  // of the rows that were fitted
}

// An encodingRecord is an Encoded for a program.
type encodingRecord struct {
	Missing    string           `json:"missing,omitempty"`
	Filled     map[string]int64 `json:"filled,omitempty"` // values of each column that the mean stands for, or that are a level
	LeftOut    int64            `json:"rows_left_out"`
	Categories []categoryRecord `json:"categories,omitempty"`
	Columns    int              `json:"columns"` // that are made
}

// A categoryRecord is a categorical column.
type categoryRecord struct {
	Column string `json:"column"`
	Levels int    `json:"levels"`
}

// record is nil where columns are fitted as they come.
func (e *Encoded) record() *encodingRecord {
	if e == nil {
		return nil
	}
	out := &encodingRecord{Missing: string(e.Encoding.Missing), LeftOut: e.Tally.Dropped.Load(), Columns: e.Encoding.Width()}
	if e.Learnt != nil {
		out.LeftOut = e.Learnt.Dropped
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

// name is that of a column as it came.
func (e *Encoded) name(j int) string {
	if e.Encoding.Names == nil {
		return fmt.Sprint("x", j+1)
	}
	return e.Encoding.Names[j]
}

// missing says what became of missing values, "" where they were refused.
func (r *encodingRecord) missing() string {
	switch dataset.Missing(r.Missing) {
	case dataset.MissingDrop:
		return fmt.Sprintf("%d %s left out, in which a value is missing", r.LeftOut, plural(int(r.LeftOut), "row is", "rows are"))
	case dataset.MissingMean:
		if len(r.Filled) == 0 {
			return "no value is missing"
		}
		var names []string
		total := int64(0)
		for name, n := range r.Filled {
			names, total = append(names, name), total+n
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
			words = append(words, fmt.Sprintf("%s %d", printable.Text(excerpt.Of(name)), r.Filled[name]))
		}
		if len(names) > most {
			words = append(words, fmt.Sprintf("%d more columns", len(names)-most))
		}
		return fmt.Sprintf("%d %s missing, for which the means of the training rows stand, or a level of its own in a categorical column: %s", total, plural(int(total), "value is", "values are"), strings.Join(words, ", "))
	}
	return ""
}

// categorical says which columns were made of categorical ones, "" where none were.
func (r *encodingRecord) categorical() string {
	if len(r.Categories) == 0 {
		return ""
	}
	const most = 6
	var words []string
	for _, c := range r.Categories[:min(len(r.Categories), most)] {
		words = append(words, fmt.Sprintf("%s (%d levels)", printable.Text(excerpt.Of(c.Column)), c.Levels))
	}
	if n := len(r.Categories) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%d columns are made of those of the file: one for each level of %s", r.Columns, strings.Join(words, ", "))
}
