package choose

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// Grid returns k values of the penalty γ in ascending order, for the rows A of sum with d columns. They are evenly
// spaced in log γ, from 10⁻³ to 10³ times ‖A‖²_F/d.
//
// ‖A‖²_F/d is the mean eigenvalue of AᵀA. So the grid scales with the units of A. At the largest γ, the
// effective dimension Σλ/(λ+γ) over the eigenvalues λ of AᵀA is at most d/1000: almost nothing is fitted. At
// the smallest γ, a direction with the mean eigenvalue is shrunk by 0.1 %. For k = 1, Grid returns the mean
// eigenvalue. If sum has no rows or all rows are zero, Grid uses 1 as the mean eigenvalue.
func Grid(sum *ridge.Summary, k int) []float64 {
	return gridAround(sum.MeanEigenvalue(), k)
}

// gridAround returns the [Grid] for the given mean eigenvalue.
func gridAround(mean float64, k int) []float64 {
	if !(mean > 0x1p-1000) { // the lower end would underflow
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

// DefaultGrid returns the values of the penalty γ that [Gamma] compares by default for the rows of sum. The error
// is [ridge.ErrEmpty] if there are no rows.
func DefaultGrid(sum *ridge.Summary) (GammaGrid, error) {
	return gridOf(sum, GridSize)
}

// gridOf returns the [Grid] of sum with k values of γ, extended downwards for small columns.
func gridOf(sum *ridge.Summary, k int) (GammaGrid, error) {
	spec, err := sum.Spectrum()
	if err != nil {
		return GammaGrid{}, err
	}
	squares := spec.ColumnNorms()
	for j, v := range squares {
		squares[j] = v * v
	}
	return GammaGrid{Gammas: extendDown(Grid(sum, k), squares), Keep: k}, nil
}

// A GammaGrid holds candidates for the penalty γ, ascending in Gammas. Four rules decide which γ stay candidates
// after their scores are known:
//
//   - The largest γ stay: as many as Keep says.
//   - The chosen γ and all larger γ stay.
//   - A smaller γ stays if its score is known to one per cent and the next larger γ stays.
//   - All other γ are left out.
type GammaGrid struct {
	Gammas []float64
	Keep   int
	// Fixed means that exactly the γ in Gammas are candidates: no γ is left out or added.
	Fixed bool
	// Given means that the user gave Gammas. No γ is then added between them, even if the criterion asks for it.
	Given bool
	// Small means that the grid has few γ. A criterion that needs a pass over the rows can then use the grid as it
	// is, see [Search].
	Small bool
}

// densities is the number of equal steps in log γ into which [SearchEach] divides each step of a default grid. Only
// a criterion that refines its choice needs such small steps.
const densities = 4

// dense returns the ascending gammas, with densities − 1 new values between neighbours, evenly spaced in log γ.
func dense(gammas []float64) []float64 {
	var out []float64
	for i, g := range gammas {
		if i > 0 {
			for k := 1; k < densities; k++ {
				share := float64(k) / densities
				out = append(out, gammas[i-1]*math.Pow(g/gammas[i-1], share))
			}
		}
		out = append(out, g)
	}
	return out
}

// AroundGCV returns the grid for leave-one-out errors: 11 values of γ from a tenth to 10⁶ times γ₀, the choice of
// generalised cross-validation (GCV). The factor between neighbours is √10 up to 100·γ₀, and 10 above. If a tenth
// of the largest γ that GCV tried is larger, the grid continues upwards to it. This happens if the columns differ
// much in size.
//
// The best γ for leave-one-out errors is rarely smaller than γ₀. It may be far larger if a few rows
// have large leverages. The grid is small because each γ costs as much as a product with all rows.
func AroundGCV(byGCV *GammaChoice) GammaGrid {
	powers := [...]float64{-1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5, 6}
	out := GammaGrid{}
	for _, at := range powers {
		if g := byGCV.Gamma() * math.Pow(10, at); !math.IsInf(g, 0) {
			out.Gammas = append(out.Gammas, g)
		}
	}
	top := slices.Max(gammasOf(byGCV.Path))
	for g := out.Gammas[len(out.Gammas)-1] * 10; g <= top/10; g *= 10 {
		out.Gammas = append(out.Gammas, g)
	}
	return out
}

// AroundMean returns a small grid for leave-one-out errors. It has 9 values of the penalty γ from a tenth to 10⁴
// times mean, the mean eigenvalue of AᵀA. The factor between neighbours is √10 up to 100·mean, and 10 above.
func AroundMean(mean float64) GammaGrid {
	if !(mean > 0x1p-1000) { // the smallest γ would underflow
		mean = 1
	}
	out := GammaGrid{Small: true}
	for _, at := range [...]float64{-1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4} {
		if g := mean * math.Pow(10, at); !math.IsInf(g, 0) {
			out.Gammas = append(out.Gammas, g)
		}
	}
	return out
}

// GridFor returns the values of the penalty γ to compare by default, for a matrix A of rows. The argument mean is
// the mean eigenvalue of AᵀA. squares holds the sum of squares of each column of A, or is nil.
func GridFor(mean float64, squares []float64) GammaGrid {
	return GammaGrid{Gammas: extendDown(gridAround(mean, GridSize), squares), Keep: GridSize}
}

// start returns the index of the smallest γ that stays a candidate, of n ascending γ. The g.Keep largest γ stay. A
// smaller γ stays if its score is known within 1 % and the next larger γ stays.
func (g GammaGrid) start(n int, score func(i int) ridge.Interval) int {
	return knownFrom(max(n-g.Keep, 0), score)
}

// startAt is like start, for the ascending gammas that were tried. The chosen γ, gammas[chosen], and all larger γ
// stay, too.
func (g GammaGrid) startAt(gammas []float64, chosen int, score func(i int) ridge.Interval) int {
	from := chosen
	if g.Keep > 0 {
		least, _ := slices.BinarySearch(gammas, g.Gammas[max(len(g.Gammas)-g.Keep, 0)])
		from = min(from, least)
	}
	return knownFrom(from, score)
}

// knownFrom returns the smallest index i such that the scores i to from − 1 are all known within 1 %.
func knownFrom(from int, score func(i int) ridge.Interval) int {
	for from > 0 {
		if v := score(from - 1); !(v.Hi <= (1+DefaultTol)*v.Lo) {
			break
		}
		from--
	}
	return from
}

// extendDown extends an ascending grid of values of γ downwards to the smallest element of squares. squares holds
// the sum of squares of each column. The grid is extended because small columns may need a small γ. Sums below
// 2⁻¹⁰⁴ of the largest are ignored: they may be the round-off of a constant column minus its mean.
func extendDown(grid, squares []float64) []float64 {
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
	for at := grid[0]; at > least && len(below) < maxExtensions*len(grid)/2; {
		at *= step
		if at == 0 {
			break
		}
		below = append(below, at)
	}
	slices.Reverse(below)
	return append(below, grid...)
}
