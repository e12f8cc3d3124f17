package plan

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// The costs of sparse rows in this file have the unit of one flop in a matrix product.

// scattered is the cost of multiplying a sparse entry.
const scattered = 20

// gathered is the cost per vector for vectors stored together.
const gathered = 3

// indexed is the cost of multiplying two entries in one column.
const indexed = 40

// cgSteps is the usual number of steps of conjugate gradients. The products for the error bounds afterwards cost as
// much as cgMeasured steps.
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

// gradientFlops is the cost of two products of a row.
func (o *forecast) gradientFlops() float64 {
	dense := productFlops * float64(o.d)
	if o.countsEntries() {
		return math.Min(dense, productFlops*scattered*o.entries)
	}
	return dense
}

// sparseSketchFlops returns the cost per row of a sketch of m rows that takes r sparse rows between two shrinks, see
// docs/math.md §2.
func (o *forecast) sparseSketchFlops(m, r float64) float64 {
	d := float64(o.d)
	order := m + r
	return 4*gathered*m*o.entries + (2*m*m*d+eigenFlops*order*order*order)/r
}

// dualCost returns the cost of a direct solution of n rows at k values of γ by the n×n matrix AAᵀ. If dense rows
// do not fit in maxBytes, half of the memory that is left holds rows.
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

// keepsSparse returns r, or 0 if the sketch stores dense rows.
func (o *forecast) keepsSparse(r int) int {
	if !o.countsEntries() || fd.SparseShare*o.entries > float64(o.d) {
		return 0
	}
	return r
}
