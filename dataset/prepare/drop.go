package prepare

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
)

// A dropper decides which rows are left out because of missing values. A nil dropper keeps all rows.
type dropper struct {
	all     bool  // leave out a row if any of its values is missing
	columns []int // leave out a row if one of these features is missing
	target  bool  // leave out a row if a target or the weight is missing
}

// dropper returns nil if all rows are kept.
func (e *Encoding) dropper() *dropper {
	d := &dropper{all: e.Missing == MissingDrop, target: e.Targets == MissingDrop}
	if e.Columns != nil {
		for j, c := range e.read() {
			if c.Missing == MissingDrop && c.Use != UseOmit {
				d.columns = append(d.columns, j)
			}
		}
	}
	if !d.all && !d.target && d.columns == nil {
		return nil
	}
	return d
}

// drops reports whether row i of a dense block with d features is left out. If checkTarget is false, it ignores
// missing targets and weights, unless r.all is set.
func (r *dropper) drops(b dataset.Block, i, d int, checkTarget bool) bool {
	switch {
	case r == nil:
		return false
	case r.all:
		return !isComplete(b, i, d)
	case r.target && checkTarget && !hasTarget(b, i):
		return true
	}
	for _, j := range r.columns {
		if x := b.X[i*d+j]; x != x && !isForeign(x) { // in rows for Look, texts and dates are NaN as well
			return true
		}
	}
	return false
}

// hasTarget reports whether row i has all targets and a weight.
func hasTarget(b dataset.Block, i int) bool {
	t := len(b.Y) / max(b.N, 1)
	return !hasNaN(b.Y[i*t:(i+1)*t]) &&
		(b.W == nil || !math.IsNaN(b.W[i]))
}

// isComplete reports whether row i has no missing value.
func isComplete(b dataset.Block, i, d int) bool {
	return !hasNaN(b.X[i*d:(i+1)*d]) &&
		hasTarget(b, i)
}

func hasNaN(row []float64) bool {
	for _, x := range row {
		if x != x {
			return true
		}
	}
	return false
}
