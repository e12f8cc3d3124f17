package report

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
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

// prepared returns a record for each column in e.Encoding.Columns. It returns nil unless a plan file or a pass over
// the rows decided how the columns are converted.
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
		n := len(c.Levels)
		words = append(words, fmt.Sprintf("%d %s", n, plural(n, "level", "levels")))
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

// preparedTable returns a table that describes each column in a row, with at most maxRows rows. more is the number
// of columns that have no row.
func preparedTable(columns []columnRecord, maxRows int) (t *table, more int) {
	t = &table{keys: 1, rows: [][]string{{"column", "kind", "what was done", "why"}}}
	shown := columns[:min(len(columns), maxRows)]
	for _, c := range shown {
		t.add(errtext.Text(c.Column), string(c.Kind), c.Done, errtext.Text(c.Why))
	}
	return t, len(columns) - len(shown)
}

// wrapPrepared returns the same table as preparedTable, but for the text report. A long cell continues in the rows
// below. Therefore nothing is cut, and the table is at most textWidth characters wide.
func wrapPrepared(columns []columnRecord, maxRows int) (t *table, more int) {
	const long = 30 // characters of a long cell; textWidth has room for three of them
	whole, more := preparedTable(columns, maxRows)
	t = &table{keys: whole.keys}
	for _, row := range whole.rows {
		parts := [][]string{
			wrapCell(row[0], long-2), {row[1]}, wrapCell(row[2], long), wrapCell(row[3], long),
		}
		for i := 0; i < max(len(parts[0]), len(parts[2]), len(parts[3])); i++ {
			line := make([]string, len(parts))
			for j, part := range parts {
				if i < len(part) {
					line[j] = part[i]
				}
			}
			t.add(line...)
		}
	}
	return t, more
}

// wrapCell splits a text into lines of at most width characters. It splits between words, unless a word is longer
// than a line.
func wrapCell(text string, width int) []string {
	lines := []string{""}
	room := width // in the last line
	for i, word := range strings.Split(text, " ") {
		runes := []rune(word)
		if i > 0 && len(runes) < room {
			lines[len(lines)-1] += " "
			room--
		} else if i > 0 {
			lines = append(lines, "")
			room = width
		}
		for len(runes) > 0 {
			if room == 0 {
				lines = append(lines, "")
				room = width
			}
			n := min(len(runes), room)
			lines[len(lines)-1] += string(runes[:n])
			runes = runes[n:]
			room -= n
		}
	}
	return lines
}
