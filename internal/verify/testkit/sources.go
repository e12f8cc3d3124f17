package testkit

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// Uncounted is a source that does not know its number of rows. Asked, if not nil, is
// called at the start of each pass.
type Uncounted struct {
	dataset.Source
	Asked func()
}

func (u Uncounted) Dims() (n int64, d, t int) {
	_, d, t = u.Source.Dims()
	return -1, d, t
}

func (u Uncounted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	if u.Asked != nil {
		u.Asked()
	}
	return u.Source.Blocks(ctx)
}

func Waves(t *testing.T, n, d, targets int) dataset.Source {
	t.Helper()
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = math.Sin(float64(i*i%1009 + i))
	}
	for i := range y {
		y[i] = math.Cos(float64(3*i + i%7))
	}
	return Must(dataset.FromDense(n, d, targets, x, y))(t)
}

// Stored holds rows in memory with weights and two targets. Its source reads ahead in
// blocks. Reached, if not nil, is called with the index of the row to be read next.
type Stored struct {
	N, D    int
	Block   int // rows of a block, storedBlock if not set otherwise
	X, y, W []float64
	Reached func(row int)
}

const (
	StoredTargets = 2
	StoredBlock   = 64
)

func NewStored(seed uint64, n, d int) *Stored {
	r := rand.New(rand.NewPCG(seed, 11))
	s := &Stored{N: n, D: d, Block: StoredBlock}
	for range n {
		var sum float64
		for j := range d {
			v := 3 + r.NormFloat64()/float64(1+j)
			sum += v
			s.X = append(s.X, v)
		}
		s.y = append(s.y, sum+r.NormFloat64(), 1-sum/3+r.NormFloat64())
		s.W = append(s.W, float64(r.IntN(4))/2)
	}
	return s
}

func (s *Stored) Source() dataset.Source {
	src := dataset.NewStream(
		int64(s.N),
		s.D,
		StoredTargets,
		false,
		func() (dataset.Reader, error) { return &storedReader{s, 0}, nil },
	)
	src.BlockRows = s.Block
	return src
}

type storedReader struct {
	*Stored
	at int
}

func (r *storedReader) Read(b *dataset.Buffer, rows int) error {
	if r.Reached != nil {
		r.Reached(r.at)
	}
	if r.at == r.N {
		return io.EOF
	}
	hi := min(r.at+rows, r.N)
	b.X = append(b.X, r.X[r.at*r.D:hi*r.D]...)
	b.Y = append(b.Y, r.y[r.at*StoredTargets:hi*StoredTargets]...)
	b.W = append(b.W, r.W[r.at:hi]...)
	b.N, r.at = b.N+hi-r.at, hi
	return nil
}

func (r *storedReader) Close() error { return nil }

// Said returns all fields of the fits as a text. The decimals distinguish any two different numbers.
func Said(fits ...*ridge.Solution) string {
	var b strings.Builder
	for _, f := range fits {
		fmt.Fprintln(&b, *f)
	}
	return b.String()
}

// FirstDifference shows where two texts part.
func FirstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at byte %d: %q, %q", i, a[i:min(len(a), i+60)], b[i:min(len(b), i+60)])
}

// Changing is a source that changes its blocks by the function Change, from pass number
// From on. Passes are counted from 1. Changing ignores the context.
type Changing struct {
	Table
	From   int
	Change func(*dataset.Block)
	Passes *int
}

func (c Changing) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		*c.Passes++
		for b := range c.Table.Blocks(context.Background()) {
			b.Y = slices.Clone(b.Y)
			if *c.Passes >= c.From {
				c.Change(&b)
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Hard returns a table that needs several passes by each method, with the ridge penalty 0.01 and a sketch of three
// rows.
func Hard(zeroTarget, sparse bool) Table {
	r := rand.New(rand.NewPCG(9, 9))
	p := Table{Sparse: sparse, Block: 20}
	for range 120 {
		row := make([]float64, 12)
		for j := range row {
			row[j] = r.NormFloat64()
		}
		y := row[3] + r.NormFloat64()
		if zeroTarget {
			y = 0
		}
		p.X, p.Y = append(p.X, row), append(p.Y, []float64{y})
	}
	return p
}
