// Package adversary looks for data on which a certificate of the library is false:
// a [Genome] describes a ridge problem and how it is streamed, [Evaluate] compares
// every bound that fd, ridge and randsketch then report with 512-bit arithmetic, and
// a [Search] mutates genomes to make (true error)/(reported bound) as large as it
// can. A ratio above 1 is a false certificate.
package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/fdridge/fdridge/ridge"
)

// Shape is how singular values fall from the largest to the smallest.
type Shape int

const (
	Geometric Shape = iota // evenly in their logarithms
	Step                   // half of them large, half small
	Spike                  // one large, the others small
)

// Basis is where the singular vectors of the rows are.
type Basis int

const (
	Rotated Basis = iota // random: small directions drown in the rounding of the entries
	Columns              // along the axes: columns of different size
	Rows                 // rows of different size, without a common direction
)

// Order is that of the rows in the stream.
type Order int

const (
	Drawn    Order = iota // repeated rows one after another
	Shuffled              // at random
	Rising                // small rows first
	Falling               // large rows first
)

// Weighting is how rows are weighted.
type Weighting int

const (
	Unweighted Weighting = iota
	Counts               // 0 to 7
	Uneven               // 0 to 7 times powers of two from 2⁻³⁰ to 2³⁰
)

// A Genome describes a problem and what is done to it. Numbers that are sizes are
// powers of ten.
type Genome struct {
	Seed                uint64
	Rows, Cols, Targets int // distinct rows, d, t

	Top, Span float64 // of the largest singular value; decades down to the smallest
	Shape     Shape
	Basis     Basis
	Repeat    int     // how often each row stands in the stream
	Near      float64 // how far rows are from a few of them, relatively; 0 is not at all near
	Mean      float64 // of the rows, relative to the largest singular value; below −17 none
	Zeros     float64 // share of the entries that are zero
	Single    bool    // entries are float32

	Scale float64 // of the targets
	Noise float64 // relative to the part of the targets in the range of A
	Along float64 // where that part lies, from 0, the largest singular vector, to 1

	Order     Order
	Weights   Weighting
	Intercept bool
	Sparse    bool
	Block     int // rows of a block
	Parts     int // summaries that are merged
	Decays    int // up to 3
	Size      int // m
	Shrink    int // p
	SVD       bool

	Gamma   float64 // γ, relative to ‖A‖²_F
	Method  ridge.Method
	PlainFD bool
	Tol     float64
	Passes  int
	Folds   int
}

// Random draws a genome; half of the genes are ordinary.
func Random(r *rand.Rand) Genome {
	g := Ordinary(r)
	for range 8 {
		g = g.Mutate(r)
	}
	return g
}

// Ordinary draws a genome of well-behaved data, of which certificates should say
// something.
func Ordinary(r *rand.Rand) Genome {
	d := 2 + r.IntN(6)
	return Genome{
		Seed: r.Uint64(), Rows: 20 + r.IntN(40), Cols: d, Targets: 1 + r.IntN(2),
		Span: r.Float64(), Repeat: 1, Mean: -20, Noise: -1, Along: r.Float64(),
		Block: 16, Parts: 1, Size: 1 + r.IntN(d+1), Shrink: 1 + r.IntN(d+1), Gamma: -3 + 3*r.Float64(),
		Method: ridge.Method(r.IntN(4)), Tol: -8, Passes: 60, Folds: 3, Intercept: r.IntN(2) == 0,
	}
}

// Mutate returns g with one to three genes changed.
func (g Genome) Mutate(r *rand.Rand) Genome {
	for range 1 + r.IntN(3) {
		g.change(r)
	}
	return g.clip()
}

// change moves one gene, half of the time by little.
func (g *Genome) change(r *rand.Rand) {
	near := r.IntN(2) == 0
	number := func(x *float64, lo, hi float64) {
		if near {
			*x += 0.1 * r.NormFloat64() * (1 + 0.05*(hi-lo))
		} else {
			*x = lo + (hi-lo)*r.Float64()
		}
	}
	count := func(x *int, lo, hi int) {
		if near {
			*x += r.IntN(3) - 1
		} else {
			*x = lo + r.IntN(hi-lo+1)
		}
	}
	flip := func(x *bool) { *x = !*x }
	switch r.IntN(30) {
	case 0, 1:
		g.Seed = r.Uint64()
	case 2:
		count(&g.Rows, 1, mostRows)
	case 3:
		count(&g.Cols, 1, mostCols)
	case 4:
		count(&g.Targets, 1, 3)
	case 5:
		number(&g.Top, -150, 150)
	case 6:
		if near {
			number(&g.Span, 0, 12)
		} else {
			g.Span = []float64{0, 1, 4, 8, 16, 40, 150, 450}[r.IntN(8)] * r.Float64()
		}
	case 7:
		g.Shape = Shape(r.IntN(3))
	case 8:
		g.Basis = Basis(r.IntN(3))
	case 9:
		if near {
			g.Repeat = g.Repeat + 1 + r.IntN(100)
		} else {
			g.Repeat = []int{1, 1, 2, 40, 256, 1024}[r.IntN(6)]
		}
	case 10:
		number(&g.Near, -17, 0)
	case 11:
		number(&g.Mean, -20, 9)
	case 12:
		number(&g.Zeros, 0, 1)
	case 13:
		flip(&g.Single)
	case 14:
		number(&g.Scale, -150, 150)
	case 15:
		number(&g.Noise, -18, 6)
	case 16:
		number(&g.Along, 0, 1)
	case 17:
		g.Order = Order(r.IntN(4))
	case 18:
		g.Weights = Weighting(r.IntN(3))
	case 19:
		flip(&g.Intercept)
	case 20:
		flip(&g.Sparse)
	case 21:
		g.Block = []int{1, 7, 16, 256, 257, 2048}[r.IntN(6)]
	case 22:
		count(&g.Parts, 1, 4)
	case 23:
		g.Decays = r.IntN(4)
	case 24:
		count(&g.Size, 1, mostCols+2)
		count(&g.Shrink, 1, mostCols+2)
		g.SVD = r.IntN(2) == 0
	case 25, 26:
		if near {
			number(&g.Gamma, -12, 6)
		} else {
			g.Gamma = []float64{3, 12, 18, 60}[r.IntN(4)] * (2*r.Float64() - 1.4)
		}
	case 27:
		g.Method = ridge.Method(r.IntN(4))
		g.PlainFD = r.IntN(3) == 0
	case 28:
		number(&g.Tol, -14, -1)
	case 29:
		count(&g.Passes, 1, 60)
		count(&g.Folds, 2, 5)
	}
}

// Most distinct rows, columns and rows of a stream, and the largest power of ten of
// entries and of γ relative to ‖A‖²_F.
const (
	mostRows   = 48
	mostCols   = 8
	mostStream = 6000
	mostSize   = 150.0
	mostGamma  = 90.0
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
	between(&g.Parts, 1, 4)
	between(&g.Decays, 0, 3)
	between(&g.Size, 1, mostCols+2)
	between(&g.Shrink, 1, mostCols+2)
	between(&g.Passes, 1, 60)
	between(&g.Folds, 2, 5)
	top := mostSize
	if g.Single {
		top = 28
	}
	number(&g.Top, -top, top)
	number(&g.Scale, -top, top)
	number(&g.Span, 0, 450)
	number(&g.Near, -17, 0)
	number(&g.Mean, -20, 9)
	number(&g.Zeros, 0, 1)
	number(&g.Noise, -18, 6)
	number(&g.Along, 0, 1)
	number(&g.Gamma, -mostGamma, mostGamma)
	number(&g.Tol, -15, -1)
	return g
}

// String is g as a composite literal of this package, without the genes that are
// zero.
func (g Genome) String() string {
	var b strings.Builder
	b.WriteString("Genome{")
	for _, f := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", g), "adversary.Genome{"), "}"), ", ") {
		name, value, _ := strings.Cut(f, ":")
		if value == "0" || value == "0x0" || value == "false" {
			continue
		}
		if b.Len() > len("Genome{") {
			b.WriteString(", ")
		}
		b.WriteString(name + ": " + value)
	}
	return b.String() + "}"
}
