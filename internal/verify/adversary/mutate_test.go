package adversary

import (
	"math/rand/v2"
)

// Mutate returns g with one to three genes changed.
func (g Genome) Mutate(r *rand.Rand) Genome {
	for range 1 + r.IntN(3) {
		g.change(r)
	}
	return g.clip()
}

// A step changes one gene, half of the time by little.
type step struct {
	*rand.Rand
	near bool
}

func (r step) number(x *float64, lo, hi float64) {
	if r.near {
		*x += 0.1 * r.NormFloat64() * (1 + 0.05*(hi-lo))
	} else {
		*x = lo + (hi-lo)*r.Float64()
	}
}

func (r step) count(x *int, lo, hi int) {
	if r.near {
		*x += r.IntN(3) - 1
	} else {
		*x = lo + r.IntN(hi-lo+1)
	}
}

func flip(x *bool) { *x = !*x }

// change moves one gene.
func (g *Genome) change(rng *rand.Rand) {
	r := step{rng, rng.IntN(2) == 0}
	switch r.IntN(4) {
	case 0:
		g.changeData(r)
	case 1:
		g.changeStream(r)
	case 2:
		g.changeOrigin(r)
	default:
		g.changeFit(r)
	}
}

// changeData moves a gene of the distinct rows.
func (g *Genome) changeData(r step) {
	switch r.IntN(16) {
	case 0, 1:
		g.Seed = r.Uint64()
	case 2:
		r.count(&g.Rows, 1, mostRows)
	case 3:
		r.count(&g.Cols, 1, mostCols)
	case 4:
		r.count(&g.Targets, 1, 3)
	case 5:
		r.number(&g.Top, -mostSize, mostSize)
	case 6:
		if r.near {
			r.number(&g.Span, 0, 12)
		} else {
			g.Span = []float64{0, 1, 4, 8, 16, 40, 150, 450}[r.IntN(8)] * r.Float64()
		}
	case 7:
		g.Shape = Shape(r.IntN(3))
	case 8:
		g.Basis = Basis(r.IntN(3))
	case 9:
		r.number(&g.Near, -17, 0)
	case 10:
		r.number(&g.Mean, -20, 9)
	case 11:
		r.number(&g.Zeros, 0, 1)
	case 12:
		flip(&g.Single)
	case 13:
		r.number(&g.Scale, -mostSize, mostSize)
	case 14:
		r.number(&g.Noise, -18, 6)
	case 15:
		r.number(&g.Along, 0, 1)
	}
}

// changeStream moves a gene of how the rows come.
func (g *Genome) changeStream(r step) {
	switch r.IntN(14) {
	case 0:
		if r.near {
			g.Repeat += 1 + r.IntN(100)
		} else {
			g.Repeat = []int{1, 1, 2, 40, 256, 1024}[r.IntN(6)]
		}
	case 1:
		g.Order = Order(r.IntN(4))
	case 2:
		g.Weights = Weighting(r.IntN(3))
	case 3, 4:
		flip(&g.Intercept)
	case 5:
		flip(&g.Sparse)
	case 6:
		g.Block = []int{1, 1, 7, 16, 256, 257, 2048}[r.IntN(7)]
	case 7:
		r.count(&g.Parts, 1, mostParts)
	case 8:
		r.count(&g.Decays, 0, []int{3, mostDecays}[r.IntN(2)])
	case 9:
		g.Beta = []float64{0, 0.5, 0.5, 0.25, 0.75, 0x1p-40, 1e-12, 1e-300, 0x1p-1000}[r.IntN(9)]
	case 10:
		g.Deal = Deal(r.IntN(3))
	case 11:
		g.Merging = Merging(r.IntN(5))
	case 12:
		g.Codec = r.IntN(4)
	case 13:
		if g.Cycles > 1 {
			r.count(&g.Cycles, 2, 4*g.Cycles)
		}
	}
}

// changeOrigin moves a gene of where rows and weights come from.
func (g *Genome) changeOrigin(r step) {
	switch r.IntN(10) {
	case 0, 1:
		r.number(&g.Level, 0, 20)
	case 2:
		r.number(&g.LevelY, 0, 30)
	case 3, 4:
		g.LevelRows = []int{0, 1, 1, 2, 3, 10, 40}[r.IntN(7)]
	case 5:
		g.LevelEvery = r.IntN(4)
	case 6:
		if r.near || r.IntN(3) > 0 {
			r.number(&g.LevelWeight, -80, 10)
		} else {
			g.LevelWeight = 0
		}
	case 7:
		flip(&g.Alternate)
	case 8:
		g.WeightTop = []float64{0, 0, 10, 150, 320}[r.IntN(5)] * (1.5*r.Float64() - 1)
	case 9:
		g.Forget = []float64{0, 0, 20, 60, 600}[r.IntN(5)] * r.Float64()
	}
}

// changeFit moves a gene of what is done with the rows.
func (g *Genome) changeFit(r step) {
	switch r.IntN(9) {
	case 0:
		r.count(&g.Size, 1, mostCols+2)
		r.count(&g.Shrink, 1, mostCols+2)
		k := r.IntN(6)
		g.SVD, g.Keep = k%2 == 0, Keeping(k/2)
		g.Lanes, g.Deals = r.IntN(5), 1+r.IntN(5)
	case 1, 2, 3:
		switch {
		case r.near:
			r.number(&g.Gamma, -12, 6)
		case r.IntN(8) == 0:
			g.Absolute = !g.Absolute
			g.Gamma = 72 * (2*r.Float64() - 1)
		default:
			g.Gamma = []float64{3, 12, 18, 60}[r.IntN(4)] * (2*r.Float64() - 1.4)
		}
	case 4:
		g.Method = iterations[r.IntN(len(iterations))]
		g.PlainFD = r.IntN(3) == 0
	case 5:
		r.number(&g.Tol, -18, -1)
	case 6:
		r.count(&g.Passes, 1, 60)
	case 7:
		r.count(&g.Folds, 2, 5)
	case 8:
		if r.IntN(2) == 0 {
			g.Preparation = Raw
		} else {
			g.Preparation, g.Components = Preparation(r.IntN(6)), 1+r.IntN(mostCols)
		}
	}
}

// The limits of genomes. mostStream limits the rows of an ordinary stream, mostLong the rows of a stream that repeats,
// and mostMade the rows with computed features. leastSize and mostSize limit powers of ten of entries, and mostGamma
// limits the power of ten of γ/‖A‖²_F.
const (
	mostRows   = 48
	mostCols   = 12
	mostStream = 6000
	mostLong   = 10_000_000
	mostMade   = 200
	mostDecays = 100
	mostParts  = 8
	leastSize  = -170.0
	mostSize   = 150.0
	mostGamma  = 90.0
	mostLevel  = 40.0
)

// clip brings genes back to where they mean something, and the reference is exact
// enough: data of float32 must fit it.
func (g Genome) clip() Genome {
	between := func(x *int, lo, hi int) { *x = min(max(*x, lo), hi) }
	number := func(x *float64, lo, hi float64) { *x = min(max(*x, lo), hi) }
	between(&g.Rows, 1, mostRows)
	between(&g.Cols, 1, mostCols)
	between(&g.Targets, 1, 3)
	between(&g.Repeat, 1, mostStream/g.Rows)
	between(&g.Parts, 1, mostParts)
	between(&g.Decays, 0, mostDecays)
	between(&g.Size, 1, mostCols+2)
	between(&g.Shrink, 1, mostCols+2)
	between(&g.Passes, 1, 60)
	between(&g.Folds, 2, 5)
	least, most := leastSize, mostSize
	if g.Single {
		least, most = -28, 28
	}
	number(&g.Top, least, most)
	number(&g.Scale, least, most)
	number(&g.Span, 0, 450)
	number(&g.Near, -17, 0)
	number(&g.Mean, -20, 9)
	number(&g.Zeros, 0, 1)
	number(&g.Noise, -18, 6)
	number(&g.Along, 0, 1)
	number(&g.Gamma, -mostGamma, mostGamma)
	number(&g.Tol, -18, -1)
	number(&g.Level, 0, mostLevel)
	number(&g.LevelY, 0, mostLevel)
	number(&g.Level, 0, most-g.Top)
	number(&g.LevelY, 0, most-g.Scale)
	between(&g.LevelRows, 0, 100)
	between(&g.LevelEvery, 0, 50)
	number(&g.LevelWeight, -300, 150)
	number(&g.WeightTop, -325, 160)
	number(&g.Forget, 0, 600)
	between(&g.Codec, 0, 50)
	between(&g.Lanes, 0, 9)
	between(&g.Deals, 0, 300)
	g.clipLong()
	g.clipPreparation()
	return g
}

// clipLong keeps what comes often small otherwise.
func (g *Genome) clipLong() {
	if g.Cycles <= 1 {
		g.Cycles = 0
		return
	}
	g.Cols, g.Size, g.Shrink = min(g.Cols, 3), min(g.Size, 4), min(g.Shrink, 4)
	g.Cycles = min(g.Cycles, mostLong/(g.Rows*g.Repeat))
	g.Passes = min(g.Passes, 2)
	g.Forget, g.Codec, g.Preparation = 0, 0, Raw
	g.Block = max(g.Block, 256)
}

// clipPreparation keeps the features that are computed few.
func (g *Genome) clipPreparation() {
	if g.Preparation == Raw {
		g.Components = 0
		return
	}
	g.Repeat = min(g.Repeat, max(1, mostMade/g.Rows))
	g.Components = min(max(g.Components, 1), mostCols)
	if g.Preparation == Monomials || g.Preparation == StandardisedMonomials { // d(d+3)/2 of them
		g.Cols = min(g.Cols, 3)
		g.Top, g.Level = max(min(g.Top, mostSize/2), leastSize/2), min(g.Level, mostSize/2-min(g.Top, mostSize/2))
	}
}
