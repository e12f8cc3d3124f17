package adversary

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Large is a genome of 70 to 600 features.
type Large Genome

// String is g as a composite literal.
func (g Large) String() string { return literal("Large", fmt.Sprintf("%#v", g)) }

// Bounds of large problems: columns, n·d² and rows before they are repeated.
const (
	leastLarge = 70
	mostLarge  = 600
	mostGram   = 1e9
	mostTall   = 6000
)

// RandomLarge draws a large genome. The number of columns is log-uniform, and sometimes larger than the number of rows.
func RandomLarge(r *rand.Rand) Large {
	d := int(leastLarge * math.Pow(float64(mostLarge)/leastLarge, r.Float64()))
	ratio := []float64{0.3 + 0.7*r.Float64(), 1 + r.Float64(), 2 + 8*r.Float64(), 2 + 8*r.Float64()}[r.IntN(4)]
	g := Genome{
		Seed: r.Uint64(), Rows: int(ratio * float64(d)), Cols: d, Targets: 1 + r.IntN(3),
		Span: 3 * r.Float64(), Shape: Shape(r.IntN(3)), Basis: Basis(r.IntN(2)), Repeat: 1, Mean: -20,
		Noise: -3 * r.Float64(), Along: r.Float64(),
		Block: []int{64, 256, 1000, 2048}[r.IntN(4)], Parts: 1, Gamma: 3 - 11*r.Float64(),
		Method: iterations[r.IntN(len(iterations))],
		Tol:    -4 - 9*r.Float64(), Passes: 5 + r.IntN(25), Intercept: r.IntN(2) == 0, PlainFD: r.IntN(4) == 0,
	}
	g.Size = max(1, int(float64(d)*math.Pow(r.Float64(), 2)))
	if r.IntN(4) == 0 { // nothing is lost but to rounding
		g.Size = d + r.IntN(3)
	}
	g.Shrink, g.Keep = 1+g.Size/2+r.IntN(2*g.Size), Keeping(g.Seed%3)
	g.Lanes, g.Deals = int(g.Seed>>2%4), 1+int(g.Seed>>5%40)
	for range r.IntN(4) {
		largeRecipes[r.IntN(len(largeRecipes))](&g, r)
	}
	return Large(g).clip()
}

// farAway is an outlier or two that weigh nothing, and an intercept.
func farAway(g *Genome, r *rand.Rand) {
	g.LevelRows, g.Level, g.LevelY = 1+r.IntN(2), 14*r.Float64(), 14*r.Float64()
	g.LevelWeight = -math.Max(g.Level, g.LevelY) * (2 + 2*r.Float64())
	g.Intercept = true
	g.Sparse = g.Sparse || r.IntN(3) == 0
}

// largeHollow is rows with few entries, an intercept and levels of the entries.
func largeHollow(g *Genome, r *rand.Rand) {
	g.Sparse, g.Hollow, g.Intercept, g.Mixed = true, true, r.IntN(8) > 0, r.IntN(4) == 0
	g.Keep, g.Zeros, g.Mean = RowsKept, 0.9+0.1*r.Float64(), 8*r.Float64()-4
	g.LevelRows, g.Level, g.LevelY = r.IntN(100), 7*r.Float64(), 7*r.Float64()
}

var largeRecipes = []func(g *Genome, r *rand.Rand){
	func(g *Genome, r *rand.Rand) { g.Mean, g.Intercept = 8*r.Float64(), r.IntN(4) > 0 },
	func(g *Genome, r *rand.Rand) { g.Sparse, g.Zeros = true, 0.5+0.5*r.Float64() },
	largeHollow, largeHollow,
	func(g *Genome, r *rand.Rand) { g.Weights = Weighting(1 + r.IntN(2)) },
	func(g *Genome, r *rand.Rand) {
		g.Repeat, g.Order = 2+r.IntN(6), Order(r.IntN(4))
		g.Rows = max(1, g.Rows/g.Repeat)
	},
	func(g *Genome, r *rand.Rand) {
		g.LevelRows, g.Level, g.LevelY = 1+r.IntN(3)*r.IntN(20), 7*r.Float64(), 7*r.Float64()
		g.Sparse = g.Sparse || r.IntN(3) == 0
	},
	farAway, farAway,
	func(g *Genome, r *rand.Rand) {
		g.Decays, g.Beta = 1+r.IntN(mostDecays/2), []float64{0.5, 0.25}[r.IntN(2)]
		g.LevelRows, g.Level, g.LevelY = 1+r.IntN(100), 7*r.Float64(), 7*r.Float64()
		g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
	},
	func(g *Genome, r *rand.Rand) { g.Forget = 30 * r.Float64() },
	func(g *Genome, r *rand.Rand) {
		g.Parts, g.Deal, g.Merging = 1+r.IntN(mostParts), Deal(r.IntN(3)), Merging(r.IntN(5))
		g.Codec = r.IntN(3)
	},
	func(g *Genome, r *rand.Rand) { g.Near, g.Order = -17*r.Float64(), Order(r.IntN(4)) },
	func(g *Genome, r *rand.Rand) {
		g.Preparation = []Preparation{Standardised, Monomials, Waves, StandardisedMonomials, StandardisedWaves}[r.IntN(5)]
		if g.Preparation != Standardised {
			g.Components = g.Cols
			g.Cols = max(2, int(math.Sqrt(2*float64(g.Cols)))-1)
		}
	},
	func(g *Genome, r *rand.Rand) { g.Top, g.Scale = 40*r.Float64()-20, 40*r.Float64()-20 },
	func(g *Genome, r *rand.Rand) { g.SVD, g.Single = true, r.IntN(2) == 0 },
}

// Mutate returns g with a few genes changed, and as many columns.
func (g Large) Mutate(r *rand.Rand) Large {
	d, n, m, p, made := g.Cols, g.Rows, g.Size, g.Shrink, g.Components
	prepared := g.Preparation
	out := Genome(g)
	for range 1 + r.IntN(3) {
		switch r.IntN(8) {
		case 0:
			n = max(1, int(float64(n)*math.Exp(0.3*r.NormFloat64())))
		case 1:
			m = max(1, int(float64(m)*math.Exp(0.5*r.NormFloat64())))
			p = 1 + m/2 + r.IntN(2*m)
		default:
			out.change(r)
		}
	}
	out.Cols, out.Rows, out.Size, out.Shrink, out.Components, out.Preparation = d, n, m, p, made, prepared
	return Large(out).clip()
}

// clip keeps a large genome to what can be had in a second or two, and what pairs of
// float64 can tell.
func (g Large) clip() Large {
	number := func(x *float64, lo, hi float64) { *x = min(max(*x, lo), hi) }
	d, n, m, p, made, prepared, block := g.Cols, g.Rows, g.Size, g.Shrink, g.Components, g.Preparation, g.Block
	repeat := g.Repeat
	out := Genome(g).clip()
	out.Components, out.Preparation, out.Shrink = made, prepared, max(p, 1)
	switch prepared {
	case Raw, Standardised:
		out.Cols = min(max(d, 1), mostLarge)
		made = out.Cols
	case Monomials, StandardisedMonomials:
		out.Cols = min(max(d, 1), 33)
		made = out.Cols * (out.Cols + 3) / 2
	default:
		out.Cols, out.Components = min(max(d, 1), mostLarge), min(max(made, 1), mostLarge)
		made = out.Components
	}
	out.Size = min(max(m, 1), made+2)
	out.Repeat = min(max(repeat, 1), 20)
	most := int(math.Min(mostTall, mostGram/float64(made)/float64(made)))
	if prepared != Raw { // prepared repetitions are rows of their own
		most /= out.Repeat
	}
	out.Rows = min(max(n, 1), max(most, 2))
	out.Block = max(block, 16)
	out.Parts = max(1, min(out.Parts, out.Rows*out.Repeat))
	out.Cycles, out.Absolute = 0, false
	number(&out.Gamma, -9, 6)
	number(&out.Span, 0, 8)
	number(&out.Mean, -20, 8)
	number(&out.Level, 0, 14)
	number(&out.LevelY, 0, 14)
	number(&out.LevelWeight, -60, 10)
	number(&out.WeightTop, -60, 60)
	number(&out.Forget, 0, 60)
	number(&out.Top, -25, 25)
	number(&out.Scale, -25, 25)
	number(&out.Noise, -10, 6)
	if out.Beta != 0.5 && out.Beta != 0.25 {
		out.Beta = 0.5
	}
	out.Decays = min(out.Decays, mostDecays/2)
	return Large(out)
}
