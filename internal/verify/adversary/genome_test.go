// Package adversary looks for data on which a certificate of the library is false. A [Genome] describes a ridge problem
// and how its rows are streamed. [Evaluate] compares every bound that fd, ridge and randsketch then report with 512-bit
// arithmetic. A [Search] mutates genomes to make (true error)/(reported bound) as large as it can. A ratio above 1 is a
// false certificate. A [Large] problem has up to 600 features, and twofold arithmetic for a reference.
//
// The tests are the searches:
//
//	TestSearch   up to 12 features
//	TestLarge    70 to 600 features
//	TestLong     up to 10⁷ rows, when FDRIDGE_ADVERSARY_LONG is set
//	TestSettings the first two under extreme FDRIDGE_* variables
//
// With FDRIDGE_ADVERSARY_CASES=N each search tries N problems, with FDRIDGE_ADVERSARY=30m it takes so much time. Both
// begin with another seed each time, unless FDRIDGE_ADVERSARY_SEED is set.
package adversary

import (
	"fmt"
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

// Order is the order of the rows in the stream.
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

// Deal is how rows are dealt to the summaries that are merged.
type Deal int

const (
	InTurn     Deal = iota // block by block
	Contiguous             // equal runs of rows
	Lopsided               // all to the first, but for one of the last rows to each other
)

// Merging is who takes in whom.
type Merging int

const (
	IntoFirst Merging = iota
	IntoLast          // from the one before it to the first
	Chain             // each into the next
	Tree              // neighbours in pairs, into the first of each
	BackTree          // into the second
)

// Keeping says whether sketches store rows or AᵀA.
type Keeping int

const (
	RowsKept    Keeping = iota // the rows of a sketch
	ScatterKept                // AᵀA itself
	BothKept                   // every other part AᵀA
)

// Preparation is the first transformation of the rows.
type Preparation int

const (
	Raw Preparation = iota
	Standardised
	Monomials             // of degree 2
	Waves                 // random Fourier features
	StandardisedMonomials // monomials of standardised rows
	StandardisedWaves
)

// A Genome describes a problem and what is done to it. Numbers that are sizes are
// powers of ten. The zero value of a gene below Folds leaves it out.
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
	Decays    int // at equal distances
	Size      int // m
	Shrink    int // p
	SVD       bool
	Keep      Keeping

	Gamma   float64      // γ, relative to ‖A‖²_F
	Method  ridge.Method // one of iterations; Auto is CG
	PlainFD bool
	Tol     float64
	Passes  int
	Folds   int

	Level, LevelY float64 // how far some rows and targets are off, relative to Top and Scale
	LevelRows     int     // how many: outliers, or another level
	LevelEvery    int     // each k-th row is one of them; 0: the first are
	LevelWeight   float64 // of these rows
	Alternate     bool    // they are off to one side and the other in turn

	WeightTop float64 // of all weights
	Forget    float64 // decades by which weights rise from the first row to the last

	Beta    float64 // of each decay, the last at the end; 0: drawn, none at the end
	Deal    Deal
	Merging Merging
	Codec   int // summaries are written and read back after every k-th block
	Cycles  int // how often the stream comes, unweighted and with its level but once
	Lanes   int // more than one: lanes of each summary
	Deals   int // rows in a row that go to the same lane; 0: the default

	Absolute    bool // Gamma is the power of ten of γ itself
	Preparation Preparation
	Components  int // Fourier features

	Hollow bool // the level of a row applies only to its nonzero entries
	Mixed  bool // if rows are sparse: rows of every other block are dense
}

// weighted reports whether rows come with weights.
func (g *Genome) weighted() bool {
	return g.Weights != Unweighted || g.LevelWeight != 0 || g.WeightTop != 0 || g.Forget != 0
}

// levelled reports whether there are rows of another level.
func (g *Genome) levelled() bool { return g.LevelRows > 0 }

// cycles is how often the stream comes, at least once.
func (g *Genome) cycles() int { return max(g.Cycles, 1) }

// String is g as a composite literal of this package, without the genes that are
// zero.
func (g Genome) String() string { return literal("Genome", fmt.Sprintf("%#v", g)) }

// literal returns the text of %#v for a flat struct of this package, without the fields that are zero.
func literal(name, text string) string {
	var b strings.Builder
	for _, f := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "adversary."+name+"{"), "}"), ", ") {
		field, value, _ := strings.Cut(f, ":")
		if value == "0" || value == "0x0" || value == "false" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(field + ": " + value)
	}
	return name + "{" + b.String() + "}"
}
