package plan

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// What sparse rows take, of which Plan is told the entries; cost.go counts n·d where it is not.

// scattered is how many flops of a matrix product take as long as one with an entry of a sparse row,
// measured with one vector: what it is multiplied with, or added to, lies anywhere in d numbers.
const scattered = 20

// gathered is that where the entry is multiplied with a column of many vectors, one after the other.
const gathered = 3

// indexed is that where an entry is multiplied with the others of its column, found by an index.
const indexed = 40

// cgSteps is how many steps conjugate gradients through AAᵀ take, as a rule, and cgMeasured how many
// as long as measuring what they have found, twice.
const cgSteps, cgMeasured = 60, 10

// choleskyFlops is the cost of a Cholesky decomposition, and of the inverse that certificates are
// made of, over n³, in flops of a matrix product: as measured, as reduceFlops is.
const choleskyFlops = 1.3

// entriesOf is how many entries rows are planned with: d where they are dense or it is not known.
func (o *outlook) entriesOf(cfg Config) float64 {
	if o.sparse && cfg.Entries > 0 {
		return math.Min(cfg.Entries, float64(o.d))
	}
	return float64(o.d)
}

// asEntries says that rows are planned as sparse ones.
func (o *outlook) asEntries() bool { return o.sparse && o.entries < float64(o.d) }

// rowBytes is what reading a row takes: 8 bytes a number, 12 an entry.
func (o *outlook) rowBytes() float64 {
	if o.asEntries() {
		return 12 * o.entries
	}
	return 8 * float64(o.d)
}

// gradientFlops are those of multiplying a row with one of q vectors, and of adding it to another.
func (o *outlook) gradientFlops() float64 {
	dense := productFlops * float64(o.d)
	if o.asEntries() {
		return math.Min(dense, productFlops*scattered*o.entries)
	}
	return dense
}

// sparseSketchFlops are those of a row with z entries that stays sparse until a shrink of m rows and
// r such ones; see docs/math.md §2.
func (o *outlook) sparseSketchFlops(m, r float64) float64 {
	d, order := float64(o.d), m+r
	return 4*gathered*m*o.entries + (2*m*m*d+eigenFlops*order*order*order)/r
}

// dualCost is that of a direct solution of n rows for k γ through AAᵀ, with the rows in memory: where
// dense ones leave no room, half of what is left of most bytes.
func (o *outlook) dualCost(n int64, k int, most float64) cost {
	rows := float64(n)
	all := rows * o.entries
	held := dual.KeptBytes(int(n), o.d, o.entries, o.asEntries())
	c := cost{read: o.rowBytes() * rows, memory: ridge.DirectBytes(ridge.Dual, n, o.d, o.t, k, false)}
	factors := math.Min(choleskyFlops*float64(k), reduceFlops) * rows * rows * rows
	switch {
	case !o.asEntries():
		c.flops = rows * (handledFlops + rows) * float64(o.d)
		if room := most - c.memory; held > room {
			held = math.Max(0, room/2)
		}
	case k == 1 && dual.Steps(n, all) >= ridge.FewSteps:
		c.flops, factors = productFlops*scattered*(cgSteps+cgMeasured)*all, 0
		c.memory = ridge.DirectBytes(ridge.DualCG, n, o.d, o.t, k, false)
		held += float64(dual.SparseBytes(int(n), o.d, all))
	default:
		c.flops = math.Min(rows*rows*float64(o.d), indexed*all*all/float64(o.d))
		held += 12*all + 8*float64(o.d) // the index
	}
	c.flops += factors + 8*float64(k)*rows*rows
	return c.holding(held)
}

// keepsSparse is how many sparse rows a sketch keeps as they are between two shrinks, of r that it has
// room for: 0 where they are written out, as those of many entries are.
func (o *outlook) keepsSparse(r int) int {
	if !o.asEntries() || fd.SparseShare*o.entries > float64(o.d) {
		return 0
	}
	return r
}
