package adversary

import (
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/ridge"
)

// Random draws a genome; half of the genes are ordinary.
func Random(r *rand.Rand) Genome {
	g := Ordinary(r)
	if r.IntN(2) == 0 {
		recipes[r.IntN(len(recipes))](&g, r)
		g = g.clip()
	}
	for range r.IntN(8) {
		g = g.Mutate(r)
	}
	return g
}

// iterations are the methods that a genome may have.
var iterations = []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton}

// Ordinary draws a genome of well-behaved data. Certificates of such data should be near the errors.
func Ordinary(r *rand.Rand) Genome {
	d, seed := 2+r.IntN(6), r.Uint64()
	return Genome{
		Seed: seed, Keep: Keeping(seed % 3), Lanes: int(seed >> 2 % 5), Deals: 1 + int(seed>>5%4), Rows: 20 + r.IntN(40),
		Cols: d, Targets: 1 + r.IntN(2),
		Span: r.Float64(), Repeat: 1, Mean: -20, Noise: -1, Along: r.Float64(),
		Block: 16, Parts: 1, Size: 1 + r.IntN(d+1), Shrink: 1 + r.IntN(d+1), Gamma: -3 + 3*r.Float64(),
		Method: iterations[r.IntN(len(iterations))], Tol: -8 - 10*r.Float64()*float64(r.IntN(2)), Passes: 60, Folds: 3,
		Intercept: r.IntN(2) == 0,
	}
}

// recipes are data from elsewhere.
var recipes = []func(g *Genome, r *rand.Rand){
	outlier, outlier, forgetting, drift, drift, cancelling, tinyWeights, vanishing, longStream, prepared, hollow, hollow,
}

// outlier is one row or a few far from the others, first, with a weight at which it
// counts or does not.
func outlier(g *Genome, r *rand.Rand) {
	g.Intercept = true
	g.Cols = 1 + r.IntN(3)
	g.LevelRows = 1 + r.IntN(2)*r.IntN(40)
	far := []float64{8, 20, 25}[r.IntN(3)]
	switch r.IntN(4) {
	case 0:
		g.LevelY = far * r.Float64()
	case 1:
		g.Level, g.LevelY = far*r.Float64(), far*r.Float64()
	default:
		g.Level = far * r.Float64()
	}
	if r.IntN(3) > 0 {
		g.LevelWeight = -math.Max(g.Level, g.LevelY) * (1.5 + 3*r.Float64())
	}
	if r.IntN(3) == 0 {
		g.Gamma = 2 - 4*r.Float64()
	}
	g.Sparse = r.IntN(3) == 0
	g.Codec = r.IntN(2)
}

// forgetting is weights ρ^age.
func forgetting(g *Genome, r *rand.Rand) {
	g.Intercept, g.Repeat = true, 1+r.IntN(10)
	g.Forget = []float64{3, 20, 60, 450}[r.IntN(4)] * r.Float64()
	g.LevelRows, g.Level, g.LevelY = 1+r.IntN(40), 10*r.Float64(), 10*r.Float64()
	g.WeightTop = []float64{0, 10, 150}[r.IntN(3)] * (2*r.Float64() - 1)
}

// drift is a level that was left, decays, and merges of what remembers it.
func drift(g *Genome, r *rand.Rand) {
	g.Intercept, g.Repeat = true, 1+r.IntN(20)
	g.LevelRows, g.Level, g.LevelY = 1+r.IntN(100), 10*r.Float64(), 10*r.Float64()
	g.Decays, g.Beta = 1+r.IntN(mostDecays), []float64{0.5, 0.25, 0.75, 0.875, 0x1p-20}[r.IntN(5)]
	g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
	g.Order, g.Codec = Shuffled, r.IntN(3)
}

// cancelling is targets that cancel, near the ends of the range or not.
func cancelling(g *Genome, r *rand.Rand) {
	g.Rows, g.Cols, g.Repeat = 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(5)
	g.LevelRows, g.LevelEvery, g.Alternate, g.LevelY = 2, 2, true, 40*r.Float64()
	g.Top = []float64{0, -100, leastSize}[r.IntN(3)] * r.Float64()
	g.Absolute, g.Gamma = r.IntN(2) == 0, 72*(1-2*r.Float64())
	g.Intercept = r.IntN(4) == 0
}

// tinyWeights is weights whose sum is near where float64 ends.
func tinyWeights(g *Genome, r *rand.Rand) {
	g.WeightTop = -325 + 30*r.Float64()
	g.Weights = Weighting(r.IntN(3))
	g.Top = 100 * r.Float64()
}

// vanishing is rows, targets or what decays leave of them whose squares underflow.
func vanishing(g *Genome, r *rand.Rand) {
	g.Absolute, g.Gamma = r.IntN(3) > 0, 40*(1-2*r.Float64())
	low := func() float64 { return leastSize + 40*r.Float64() }
	switch r.IntN(4) {
	case 0:
		g.Top = low()
	case 1:
		g.Scale = low()
	case 2:
		g.Top, g.Scale = low(), low()
	case 3:
		g.Top, g.Scale = -30*r.Float64(), -30*r.Float64()
		g.Decays, g.Beta = 1+r.IntN(3), 0x1p-1000
	}
	g.Intercept = r.IntN(3) == 0
}

// longStream is some thousands of rows that round alike.
func longStream(g *Genome, r *rand.Rand) {
	g.Rows, g.Cols = 1+r.IntN(4), 1+r.IntN(2)
	g.Repeat, g.Block = 500+r.IntN(500), 2048
	g.LevelRows, g.Level = r.IntN(2), 10*r.Float64()
	g.Order, g.Sparse, g.Intercept = Shuffled, r.IntN(2) == 0, r.IntN(4) > 0
	g.Gamma = 12 * r.Float64()
}

// hollow mixes rows with few nonzeros, which stay sparse though they are centred, with other rows. The level of a row
// applies only to its nonzeros.
func hollow(g *Genome, r *rand.Rand) {
	g.Sparse, g.Hollow, g.Intercept, g.Mixed = true, true, r.IntN(8) > 0, r.IntN(4) == 0
	g.Keep, g.Cols, g.Zeros = RowsKept, 8+r.IntN(mostCols-7), 0.85+0.14*r.Float64()
	g.Size, g.Shrink, g.Block = 1+r.IntN(4), 2+r.IntN(8), []int{7, 16, 256}[r.IntN(3)]
	g.Weights, g.Mean = Weighting(r.IntN(3)), 10*r.Float64()-4
	g.LevelRows, g.Level, g.LevelY = r.IntN(60), 10*r.Float64(), 10*r.Float64()
	if r.IntN(3) == 0 {
		g.Decays, g.Beta = 1+r.IntN(3), 0.25
		g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
		g.Codec = r.IntN(3)
	}
}

// prepared is features computed from the rows.
func prepared(g *Genome, r *rand.Rand) {
	g.Preparation, g.Components = Preparation(1+r.IntN(5)), 2+r.IntN(mostCols-1)
	g.Mean = 8*r.Float64() - 4
}

// Long draws a genome of few columns and many rows.
func Long(r *rand.Rand) Genome {
	g := Ordinary(r)
	longStream(&g, r)
	g.Cycles = 1 + mostLong/(g.Rows*g.Repeat)/(1+r.IntN(100))
	switch r.IntN(3) {
	case 0:
		g.Decays, g.Beta = r.IntN(20), 0.5
		g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
	case 1:
		g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
	}
	for range r.IntN(3) {
		g = g.Mutate(r)
	}
	return g.clip()
}
