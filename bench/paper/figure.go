package paper

// A Figure is a grid of panels with one legend, and the table of its numbers.
type Figure struct {
	Number   int
	Title    string
	Columns  int            // panels per row
	Settings map[string]any // what was in force, for the record
	Panels   []Panel
	Table    Table
}

// A Panel is one set of axes.
type Panel struct {
	Title, X, Y string
	LogX        int // 0 linear, otherwise the base of its ticks, 2 or 10
	LogY        bool
	YMin, YMax  float64 // 0, 0: automatic
	Lines       []Line
}

// A Line is one method in one panel.
type Line struct {
	Method string // key of the style table: the same look in all figures
	X, Y   []float64
	Label  string // in the legend; default Method
	Dashed bool   // a prediction: dotted, without markers
}

// A Table has a value for each column in each row: a string, a number or a bool.
type Table struct {
	Columns []string
	Rows    [][]any
}
