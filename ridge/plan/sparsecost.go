package plan

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// In this file, the unit of the costs of sparse rows is the cost of one flop in a matrix product of dense matrices.

// scattered is the cost of multiplying a sparse entry.
const scattered = 20

// gathered is the cost of multiplying a sparse entry by one element of each of several vectors, divided by the
// number of vectors. These elements are adjacent in memory.
const gathered = 3

// indexed is the cost of multiplying two sparse entries of the same column.
const indexed = 40

// cgSteps is the usual number of steps of conjugate gradients. cgMeasured is the cost of the products for the error
// bounds, which follow these steps, in units of the cost of a step.
const cgSteps, cgMeasured = 60, 10

// choleskyFlops·n³ is the measured cost of factoring and inverting.
const choleskyFlops = 1.3

// countsEntries reports whether sparse rows have a known size.
func (o *forecast) countsEntries() bool {
	return o.sparse && o.entries < float64(o.d)
}

func (o *forecast) rowBytes() float64 {
	if o.countsEntries() {
		return 12 * o.entries
	}
	return 8 * float64(o.d)
}

// gradientFlops is the cost of multiplying a row by a vector twice, as the computation of a gradient does.
func (o *forecast) gradientFlops() float64 {
	dense := productFlops * float64(o.d)
	if o.countsEntries() {
		return math.Min(dense, productFlops*scattered*o.entries)
	}
	return dense
}

// sparseSketchFlops returns the cost for each row of sketching sparse rows. The sketch has m rows, and takes r
// sparse rows between two shrinks. Source: docs/math.md §2.
func (o *forecast) sparseSketchFlops(m, r float64) float64 {
	d := float64(o.d)
	order := m + r
	return 4*gathered*m*o.entries + (2*m*m*d+eigenFlops*order*order*order)/r
}

// dualCost returns the cost of solving for n rows A and k values of the penalty γ with the n×n matrix AAᵀ. If dense
// rows do not fit in maxBytes of memory, only half of the free memory is used to hold rows.
func (o *forecast) dualCost(n int64, k int, maxBytes float64) cost {
	rows := float64(n)
	all := rows * o.entries
	held := dual.KeptBytes(int(n), o.d, o.entries, o.countsEntries())
	c := cost{
		read: o.rowBytes() * rows,
		memory: ridge.DirectBytes(
			ridge.Dual,
			n,
			o.d,
			o.t,
			k,
			false,
		),
	}
	factors := math.Min(choleskyFlops*float64(k), reduceFlops) * rows * rows * rows
	switch {
	case !o.countsEntries():
		c.flops = rows * (prepareFlops + rows) * float64(o.d)
		if room := maxBytes - c.memory; held > room {
			held = math.Max(0, room/2)
		}
	case k == 1 && dual.Steps(n, all) >= ridge.FewSteps:
		c.flops = productFlops * scattered * (cgSteps + cgMeasured) * all
		factors = 0
		c.memory = ridge.DirectBytes(ridge.DualCG, n, o.d, o.t, k, false)
		held += float64(dual.SparseBytes(int(n), o.d, all))
	default:
		c.flops = math.Min(rows*rows*float64(o.d), indexed*all*all/float64(o.d))
		held += 12*all + 8*float64(o.d) // memory of the index by columns
	}
	c.flops += factors + 8*float64(k)*rows*rows
	return c.holding(held)
}

// keepsSparse returns r if the sketch stores rows in sparse form. If it stores them as dense rows, keepsSparse
// returns 0.
func (o *forecast) keepsSparse(r int) int {
	if !o.countsEntries() || fd.SparseShare*o.entries > float64(o.d) {
		return 0
	}
	return r
}
