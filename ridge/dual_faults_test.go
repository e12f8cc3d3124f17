package ridge_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// faulty yields n rows in dense blocks of three. change may change any block.
type faulty struct {
	n, d   int
	change func(b *dataset.Block)
}

func (s faulty) Dims() (n int64, d, t int) { return int64(s.n), s.d, 2 }

func (s faulty) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < s.n; lo += 3 {
			n := min(3, s.n-lo)
			b := dataset.Block{First: int64(lo), N: n, X: make([]float64, n*s.d), Y: make([]float64, 2*n)}
			for i := range b.X {
				b.X[i] = math.Sin(float64(lo*s.d + i*i))
			}
			for i := range b.Y {
				b.Y[i] = float64(lo + i)
			}
			s.change(&b)
			if !yield(b, nil) {
				return
			}
		}
	}
}

// TestDualFaults: a number that is not finite is reported with its row and column. Blocks without weights have weight
// 1. Both hold for rows in memory, and for rows that do not fit and are read again.
func TestDualFaults(t *testing.T) {
	const n, d = 10, 200
	for name, most := range map[string]uint64{"in memory": 0, "read again": 45000} {
		opts := ridge.ExactOptions{Method: ridge.Dual, MaxBytes: most}
		for _, at := range [][2]int{{7, 3}, {7, d + 1}, {7, d + 2}} {
			_, err := ridge.SolveExact(context.Background(), faulty{n, d, func(b *dataset.Block) {
				switch i := 7 - int(b.First); {
				case i < 0 || i >= b.N:
				case at[1] < d:
					b.X[i*d+at[1]] = math.Inf(1)
				case at[1] < d+2:
					b.Y[i*2+at[1]-d] = math.NaN()
				default:
					b.W = []float64{1, math.NaN(), 1}[:b.N]
				}
			}}, []float64{1}, opts)
			if e, ok := errors.AsType[*fd.NonFiniteError](err); !ok || e.Row != at[0] || e.Col != at[1] {
				t.Errorf("%s, row %d, column %d: %v", name, at[0], at[1], err)
			}
		}
		var fits [2][]*ridge.Solution
		for k := range fits {
			fits[k] = testkit.Must(ridge.SolveExact(context.Background(), faulty{n, d, func(b *dataset.Block) {
				if b.First == 3 || k == 1 {
					b.W = []float64{1, 1, 1}[:b.N]
				}
			}}, []float64{1}, opts))(t)
		}
		if a, b := fits[0][0].Targets[1].Coef[5], fits[1][0].Targets[1].Coef[5]; a != b || a == 0 {
			t.Errorf("%s: %g where all blocks have weights, %g where some have", name, b, a)
		}
	}
	// Dense rows are Dual: that n² numbers are too many is told before any row is kept.
	seen := 0
	_, err := ridge.SolveExact(
		context.Background(),
		faulty{40000, 2, func(*dataset.Block) { seen++ }},
		[]float64{1},
		ridge.ExactOptions{Method: ridge.DualCG},
	)
	if _, ok := errors.AsType[*ridge.SizeError](err); !ok || seen > 1 {
		t.Errorf("after %d blocks: %v", seen, err)
	}
}
