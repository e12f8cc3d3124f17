package randsketch

import "github.com/fdridge/fdridge/engine"

// panelRows is the number of rows that are multiplied together. Panels are counted from the first row, so that
// sums do not depend on how the rows are divided into blocks.
const panelRows = 256

// A panel is a buffer of panelRows dense rows, which are collected and then multiplied together.
type panel struct {
	waiting []float64 // the buffered rows, with room for panelRows rows without gaps
	held    int       // number of rows in waiting
}

// A call holds the rows of one call of AppendRows or AppendSparse, and no rows afterwards. The current rows are rows
// lo to hi−1 of the call, at most panelRows rows, which are processed together. Row lo is row number firstRow of A.
type call struct {
	x        []float64 // dense rows with leading dimension ldx
	ldx      int
	csr      *engine.CSR // sparse rows
	y        []float64   // targets of the rows, n×t
	lo, hi   int
	firstRow int64
}
