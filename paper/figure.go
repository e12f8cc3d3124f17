package paper

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/chart"
)

// A figure is a grid of panels with one legend, and the table of its numbers.
type figure struct {
	Number   int
	Title    string
	Columns  int            // panels per row
	Settings map[string]any // what was in force, for the record
	Panels   []chart.Panel
	Table    table
}

// A table has a value for each column in each row: a string, a number or a bool.
type table struct {
	Columns []string
	Rows    [][]any
}

// chart is what is drawn of a figure.
func (f *figure) chart() *chart.Figure {
	return &chart.Figure{Title: fmt.Sprintf("Figure %d. %s", f.Number, f.Title), Columns: f.Columns, Looks: styles, Panels: f.Panels}
}
