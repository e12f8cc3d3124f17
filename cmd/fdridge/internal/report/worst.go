package report

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/ridge"
)

// A WorstRow is a row with a large leave-one-out residual.
type WorstRow struct {
	Row      int64          `json:"row"`    // counted from 1
	Target   int            `json:"target"` // counted from 1
	Leverage ridge.Interval `json:"leverage"`
	Residual ridge.Interval `json:"residual"`
	LeftOut  ridge.Interval `json:"leave_one_out"`

	Estimate DiagnosedRow `json:"-"` // for a picture
}

// WriteWorst writes a table of rows with large residuals. targets is the number of targets of the fit. If there are
// several, the table has a column for the target.
func WriteWorst(w io.Writer, rows []WorstRow, targets int) {
	head := []string{"row", "leave-one-out", "residual", "leverage"}
	if targets > 1 {
		head = append(head, "target")
	}
	t := &table{keys: 1, rows: [][]string{head}}
	for _, o := range rows {
		cells := []string{
			fmt.Sprint(o.Row),
			formatFigure(o.LeftOut),
			formatFigure(o.Residual),
			formatFigure(o.Leverage),
		}
		if targets > 1 {
			cells = append(cells, fmt.Sprint(o.Target))
		}
		t.add(cells...)
	}
	t.write(w)
}
