package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// BenchmarkSparseRows sketches rows such as rows of text, which a goroutine generates meanwhile: as sparse rows, and as
// dense rows. It reports the bound η relative to ‖A‖².
func BenchmarkSparseRows(b *testing.B) {
	for _, c := range []struct {
		law
		m     int
		large bool
	}{
		{law{4000, 55000, 200, 1}, 100, false},
		{law{5000, 360000, 300, 1}, 100, true},
		{law{847000, 359000, 359, 1}, 64, true},
	} {
		for _, how := range []string{"sparse", "sparse,intercept", "dense"} {
			b.Run(
				fmt.Sprintf("n=%d,d=%d,entries=%d,m=%d/%s", c.rows, c.columns, c.entries, c.m, how),
				func(b *testing.B) {
					if c.large || how == "dense" {
						large(b)
					}
					ctx, bound := context.Background(), fd.Bound{}
					for b.Loop() {
						var err error
						if how == "dense" {
							bound, err = sketchDense(ctx, c.law, c.m)
						} else {
							var sum *ridge.Summary
							sum, err = ridge.Summarize(
								ctx, c.source(), ridge.SummaryConfig{Size: c.m, Lanes: 1, Intercept: how != "sparse"}, nil,
							)
							if err == nil {
								bound = sum.Sketch().Bound()
							}
						}
						if err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(bound.FD()/bound.Frobenius2, "eta/trace")
				},
			)
		}
	}
}

// sketchDense sketches the rows of a law in a sketch that expands sparse rows as they arrive.
func sketchDense(ctx context.Context, l law, m int) (fd.Bound, error) {
	s, err := fd.New(fd.Config{Dim: l.columns, Size: m, SparseRows: -1})
	if err != nil {
		return fd.Bound{}, err
	}
	for b, err := range l.source().Blocks(ctx) {
		if err == nil {
			err = s.AppendSparse(b.Sparse)
		}
		if err != nil {
			return fd.Bound{}, err
		}
	}
	return s.Bound(), nil
}

// A law is the distribution of rows. Each row has the given number of entries in different columns.
// Column j is drawn with a probability that falls as 1/(j+1) (G. Zipf). Entries are exponentially
// distributed and scaled to a row of norm 1, like words weighted by tf-idf. A target is the product
// with normal coefficients plus a tenth of noise.
type law struct {
	rows, columns, entries int
	seed                   uint64
}

// source returns the rows. They depend only on the law, and are the same in every pass.
func (l law) source() dataset.Source {
	weights, rng := make([]float64, l.columns), rand.New(rand.NewPCG(l.seed, 1))
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	return dataset.NewStream(int64(l.rows), l.columns, 1, true, func() (dataset.Reader, error) {
		return &reader{
			law:     l,
			weights: weights,
			rng:     rand.New(rand.NewPCG(l.seed, 2)),
			drawn:   make([]int32, l.columns),
			left:    l.rows,
		}, nil
	})
}

// A reader generates the rows of one pass.
type reader struct {
	law
	weights []float64
	rng     *rand.Rand
	drawn   []int32 // for each column the last row, from 1, in which it was drawn
	left    int
}

// Read appends at most the given number of rows.
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

// row appends one row.
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
