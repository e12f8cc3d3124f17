package main

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// A law is what rows are drawn by: each has so many entries, in different columns, of which column j
// is drawn with a probability that falls as 1/(j+1) (G. Zipf), exponentially distributed and scaled
// to a row of norm 1, as words weighted by tf-idf. A target is the product with normal weights, and a
// tenth of noise.
type law struct {
	rows, columns, entries int
	seed                   uint64
}

// source are the rows: they follow from the law, and are the same in every pass.
func (l law) source() dataset.Source {
	weights, rng := make([]float64, l.columns), rand.New(rand.NewPCG(l.seed, 1))
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	return dataset.NewStream(int64(l.rows), l.columns, 1, true, func() (dataset.Reader, error) {
		return &reader{law: l, weights: weights, rng: rand.New(rand.NewPCG(l.seed, 2)), drawn: make([]int32, l.columns), left: l.rows}, nil
	})
}

// A reader makes the rows of one pass.
type reader struct {
	law
	weights []float64
	rng     *rand.Rand
	drawn   []int32 // for each column the last row, from 1, that it was drawn for
	left    int
}

// Read appends up to so many rows.
func (r *reader) Read(b *dataset.Buffer, rows int) error {
	if r.left == 0 {
		return io.EOF
	}
	rows = min(rows, r.left)
	for range rows {
		r.row(&b.CSR, b)
		r.left--
	}
	return nil
}

// row appends one.
func (r *reader) row(x *engine.CSR, b *dataset.Buffer) {
	at, row, span := len(x.ColIdx), int32(r.left), math.Log(float64(r.columns+1))
	for len(x.ColIdx) < at+r.entries {
		j := min(int32(math.Exp(r.rng.Float64()*span))-1, int32(r.columns-1))
		if r.drawn[j] != row {
			r.drawn[j] = row
			x.ColIdx = append(x.ColIdx, j)
		}
	}
	columns := x.ColIdx[at:]
	slices.Sort(columns)
	norm := 0.0
	for range columns {
		v := r.rng.ExpFloat64()
		norm += v * v
		x.Val = append(x.Val, v)
	}
	norm = math.Sqrt(norm)
	y := 0.1 * r.rng.NormFloat64()
	for k, j := range columns {
		x.Val[at+k] /= norm
		y += x.Val[at+k] * r.weights[j]
	}
	b.Y = append(b.Y, y)
	b.EndRow()
}

// Close does nothing.
func (r *reader) Close() error { return nil }
