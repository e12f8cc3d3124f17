package accum

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// An Extent holds bounds on sums over a set of rows. They decide whether a merge of these rows could overflow; see
// [Extent.InRange].
type Extent struct {
	Squares float64 // Σ weight·‖row‖², targets included
	Weight  float64
	// Far is the largest ‖row‖² of a row with positive weight. Any such row may become the origin of the means.
	Far float64
}

// Add adds row i of the block b to the sums. b must be valid.
func (e *Extent) Add(b dataset.Block, i, d, t int) {
	var x []float64
	if b.Sparse == nil {
		x = b.X[i*d : (i+1)*d]
	} else {
		_, x = b.Sparse.Row(i)
	}
	y := b.Y[i*t : (i+1)*t]
	w := b.Weight(i)
	norm2 := vec.Dot(x, x) + vec.Dot(y, y)
	e.Squares += w * norm2
	e.Weight += w
	if w > 0 {
		e.Far = max(e.Far, norm2)
	}
}

// Merge adds the rows of o.
func (e *Extent) Merge(o Extent) {
	e.Squares += o.Squares
	e.Weight += o.Weight
	e.Far = max(e.Far, o.Far)
}

// InRange reports whether the rows can be merged in any order without overflow. intercept says whether they are
// centred.
func (e *Extent) InRange(intercept bool) bool {
	const slack = 1 + 1e-6 // covers round-off, which depends on the order of the merges
	// The origin of a lane is one of its rows. So the squared distance between the origins of two lanes is at most
	// 4·Far.
	return e.Squares*slack <= rows.MaxSquares &&
		(!intercept || rows.Spreads(4*slack*e.Far, e.Weight))
}

// extent returns the Extent of the rows of the lane l.
func (l *Lane) extent() Extent {
	return Extent{
		Squares: l.raw,
		Weight:  l.Stage.Weight.Value(),
		Far:     l.Stage.Reach(dataset.Block{}),
	}
}

// Extent returns the Extent of all rows.
func (a *Accumulator) Extent() (e Extent) {
	for _, l := range a.lanes {
		e.Merge(l.extent())
	}
	return e
}
