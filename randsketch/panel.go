package randsketch

import "github.com/fdridge/fdridge/engine"

// panelRows is how many rows are multiplied at a time. It is the same on every
// machine and counts from the first row, so that sums don't depend on blocks.
const panelRows = 256

// A panel is dense rows that wait until they are panelRows, to be multiplied together.
type panel struct {
	waiting []float64 // room for panelRows rows without gaps, of which the first
	held    int       // so many are there
}

// A call is the rows that an Append has been given, dense or sparse, of which those from lo
// to hi are at hand: panelRows of them at most, and the first is row first of A. Between
// calls there are none.
type call struct {
	x      []float64 // dense rows, ldx apart
	ldx    int
	csr    *engine.CSR // sparse rows
	y      []float64   // the targets of either, n×t
	lo, hi int
	first  int64
}
