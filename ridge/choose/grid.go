package choose

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// Grid returns k γ, ascending and evenly spaced in log γ over [10⁻³, 10³]·‖A‖²_F/d.
//
// ‖A‖²_F/d is the mean eigenvalue of K, so that the grid needs no unit of the data:
// at its upper end the effective dimension Σλ/(λ+γ) is at most d/1000, next to
// nothing is fitted; at its lower end an average direction is shrunk by no more than
// one part in a thousand. A single γ is the mean eigenvalue. Where all rows are zero
// it is taken to be 1, and so it is for the zero Summary.
func Grid(sum *ridge.Summary, k int) []float64 {
	return gridAround(sum.MeanEigenvalue(), k)
}

// gridAround returns [Grid] for a mean eigenvalue.
func gridAround(mean float64, k int) []float64 {
	if !(mean > 0x1p-1000) { // 10⁻³ of it would be no normal number
		mean = 1
	}
	out := make([]float64, max(k, 0))
	for i := range out {
		at := 0.0
		if k > 1 {
			at = 6*float64(i)/float64(k-1) - 3
		}
		out[i] = mean * math.Pow(10, at)
	}
	return out
}

// GridOf returns the grid that [Gamma] chooses from.
func GridOf(sum *ridge.Summary) ([]float64, error) { return gridOf(sum, GridSize) }

func gridOf(sum *ridge.Summary, k int) ([]float64, error) {
	spec, err := sum.Spectrum()
	if err != nil {
		return nil, err
	}
	squares := spec.ColumnNorms()
	for j, v := range squares {
		squares[j] = v * v
	}
	return spanning(Grid(sum, k), squares), nil
}

// GridFor returns the grid that γ is chosen from if the mean eigenvalue of K and the sums of squares of the columns are known;
// squares may be nil.
func GridFor(mean float64, squares []float64) []float64 {
	return spanning(gridAround(mean, GridSize), squares)
}

// known is the index at which a grid of n γ, of which all but the last k are below the six powers of
// ten, is to begin: above the largest of those γ of which the score is not known to one per cent, as
// much as a choice leaves open unasked. Of what lies below nothing would be said but that it may be better.
func known(n, k int, score func(i int) ridge.Interval) int {
	from := max(n-k, 0)
	for from > 0 {
		if v := score(from - 1); !(v.Hi <= (1+DefaultTol)*v.Lo) {
			break
		}
		from--
	}
	return from
}

// spanning is a grid that goes on downwards, in the same steps, to the least of the columns' sums of
// squares: where columns are of very different size the mean eigenvalue is that of the large ones,
// and the γ that is best for the small ones lies far below. Sums below 2⁻¹⁰⁴ of the largest are
// left out: a constant column has such of the rounding of its mean.
func spanning(grid, squares []float64) []float64 {
	if len(squares) == 0 {
		return grid
	}
	least, largest := math.Inf(1), slices.Max(squares)
	for _, v := range squares {
		if v > 0x1p-104*largest {
			least = math.Min(least, v)
		}
	}
	if len(grid) < 2 {
		return grid
	}
	var below []float64
	step := grid[0] / grid[1]
	for at := grid[0]; at > least && len(below) < mostMore*len(grid)/2; {
		if at *= step; at == 0 {
			break
		}
		below = append(below, at)
	}
	slices.Reverse(below)
	return append(below, grid...)
}
