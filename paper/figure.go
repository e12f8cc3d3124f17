package paper

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/chart"
)

// A Figure is a grid of panels with one legend, and the table of its numbers.
type Figure struct {
	Number   int
	Title    string
	Columns  int            // panels per row
	Settings map[string]any // what was in force, for the record
	Panels   []chart.Panel
	Table    Table
}

// A Table has a value for each column in each row: a string, a number or a bool.
type Table struct {
	Columns []string
	Rows    [][]any
}

// chart is what is drawn of a figure.
func (f *Figure) chart() *chart.Figure {
	return &chart.Figure{Title: fmt.Sprintf("Figure %d. %s", f.Number, f.Title), Columns: f.Columns, Looks: styles, Panels: f.Panels}
}
