package main

import (
	"io"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
)

// A generator makes the rows of one shard of one epoch; they follow from the seed,
// the epoch and the shard alone. It is the [dataset.Reader] of these rows.
//
// Row i is μ + Q·diag(s)z with z normal, Q the reflection across v. μ and v go round
// in circles, and s_j = (j+1)^−p where p swings between ¼ and 1¾: from a spectrum that
// no sketch holds to one that it nearly does.
type generator struct {
	rng      *rand.Rand
	d, left  int
	sd, v, μ []float64
	x0       [targets][]float64 // the weights behind the targets
}

const targets = 2

// Period is how many epochs a whole drift takes.
const period = 3000

func newGenerator(seed uint64, d, epoch, shard, rows int) *generator {
	g := &generator{
		rng: rand.New(rand.NewPCG(seed, uint64(epoch)<<8|uint64(shard))), d: d, left: rows,
		sd: make([]float64, d), v: make([]float64, d), μ: make([]float64, d),
	}
	fixed := rand.New(rand.NewPCG(seed, math.MaxUint64))
	phase := 2 * math.Pi * float64(epoch) / period
	sin, cos := math.Sincos(phase)
	p := 1 + 0.75*math.Sin(3*phase)
	var norm float64
	for j := range d {
		g.sd[j] = math.Pow(float64(j+1), -p)
		g.v[j] = cos*fixed.NormFloat64() + sin*fixed.NormFloat64()
		g.μ[j] = 5 + 2*cos*fixed.NormFloat64() + 2*sin*fixed.NormFloat64()
		norm += g.v[j] * g.v[j]
	}
	for j := range g.v {
		g.v[j] *= math.Sqrt(2 / norm)
	}
	for k := range g.x0 {
		g.x0[k] = make([]float64, d)
		for j := range d {
			g.x0[k][j] = cos*fixed.NormFloat64() + sin*fixed.NormFloat64()
		}
	}
	return g
}

// Read appends up to so many rows.
func (g *generator) Read(b *dataset.Buffer, rows int) error {
	if g.left == 0 {
		return io.EOF
	}
	rows = min(rows, g.left)
	g.left -= rows
	for range rows {
		at := len(b.X)
		var along float64
		for j := range g.d {
			z := g.sd[j] * g.rng.NormFloat64()
			b.X = append(b.X, z)
			along += g.v[j] * z
		}
		row := b.X[at:]
		for j := range row {
			row[j] += g.μ[j] - along*g.v[j]
		}
		for k := range g.x0 {
			y := 3 + g.rng.NormFloat64()
			for j, x := range row {
				y += g.x0[k][j] * x
			}
			b.Y = append(b.Y, y)
		}
		w := g.rng.ExpFloat64()
		if g.rng.IntN(16) == 0 {
			w = 0
		}
		b.W = append(b.W, w)
		b.EndRow()
	}
	return nil
}

// Close does nothing.
func (g *generator) Close() error { return nil }
