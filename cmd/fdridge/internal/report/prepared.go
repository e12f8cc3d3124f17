package report

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/printable"
)

// A columnRecord is the JSON record of how one column of the file was converted to features.
type columnRecord struct {
	Column  string       `json:"column"`
	Kind    prepare.Kind `json:"kind"`
	Use     prepare.Use  `json:"use"`
	Columns int          `json:"columns"` // number of features
	Done    string       `json:"done"`
	Why     string       `json:"why,omitempty"`
}

// prepared returns a record for each column, if a plan file or a pass over the rows decided how columns are
// converted.
func (e *Encoded) prepared() []columnRecord {
	var out []columnRecord
	for j := range e.Encoding.Columns {
		c := &e.Encoding.Columns[j]
		name := c.Name
		if e.Encoding.Names == nil {
			name = e.name(j)
		}
		out = append(out, columnRecord{name, c.Kind, c.Use, c.Width(), done(c), c.Why})
	}
	return out
}

// done describes in words how a column was converted.
func done(c *prepare.Column) string {
	var words []string
	switch c.Use {
	case prepare.UseOmit:
		return "left out"
	case prepare.UseNumber:
		words = append(words, "as it is")
		if c.Scale != 0 {
			words[0] = "standardised"
		}
	case prepare.UseLevels:
		words = append(words, fmt.Sprintf("%d %s", len(c.Levels), plural(len(c.Levels), "level", "levels")))
		if c.Other {
			words = append(words, "(other)")
		}
	case prepare.UseDate:
		for _, p := range c.Parts {
			words = append(words, string(p.Part))
		}
	}
	if c.Indicator {
		words = append(words, "indicator")
	}
	return strings.Join(words, ", ")
}

// preparedTable returns a table with one row per column, but at most maxRows rows. more is the number of columns
// without a row. Reasons are cut to width characters.
func preparedTable(columns []columnRecord, maxRows, width int) (t *table, more int) {
	t = &table{keys: 1, rows: [][]string{{"column", "kind", "what was done", "why"}}}
	shown := columns[:min(len(columns), maxRows)]
	for _, c := range shown {
		t.add(
			shorten(printable.Text(c.Column), max(20, width-10)),
			string(c.Kind),
			shorten(c.Done, max(37, width)),
			shorten(printable.Text(c.Why), width),
		)
	}
	return t, len(columns) - len(shown)
}
