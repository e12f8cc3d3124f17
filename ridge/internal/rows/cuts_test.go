package rows

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
)

// TestCheckedBlocks: a block that was checked before it is loaded, cut by cut, is staged with the same bits as an
// unchecked block. The same holds if the block is loaded in other cuts, and if the block before it was refused.
func TestCheckedBlocks(t *testing.T) {
	const d, k = 9000, 2 // cuts of 233 rows
	most := RowsPerStage(d, false)
	r := rand.New(rand.NewPCG(18, 2))
	made := func(n int, weighted bool) dataset.Block {
		b := dataset.Block{N: n, X: make([]float64, n*d), Y: make([]float64, n*k)}
		for i := range b.X {
			b.X[i] = 3 + r.NormFloat64()
		}
		for i := range b.Y {
			b.Y[i] = r.NormFloat64() - 7
		}
		for i := 0; weighted && i < n; i++ {
			b.W = append(b.W, float64(i%3)+0.5)
		}
		return b
	}
	for _, weighted := range []bool{false, true} {
		checked, plain := NewStage(d, k, true), NewStage(d, k, true)
		for turn, n := range []int{3, most + 18, 2*most - 1, 17} {
			b := made(n, weighted)
			bad := made(5, weighted)
			bad.X[4*d+7] = math.NaN()
			var notFinite *fd.NonFiniteError
			before := checked.State
			if _, err := checked.Check(bad, 100, 0); !errors.As(err, &notFinite) || notFinite.Row != 104 ||
				notFinite.Col != 7 {
				t.Fatalf("a number that isn't one: %v", err)
			}
			raw, err := checked.Check(b, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := CheckBlock(b, d, k, 0, 1); err != nil || raw != want {
				t.Fatalf("squares sum to %g, want %g (%v)", raw, want, err)
			}
			if !reflect.DeepEqual(checked.State, before) {
				t.Fatal("Check has changed the state")
			}
			step := most
			if turn == 2 {
				step = 100 // other cuts than were checked
			}
			for lo := 0; lo < n; lo += step {
				part := b.Cut(lo, min(lo+step, n), d, k, &checked.view)
				got, want := checked.Load(part, false), plain.Load(part, false)
				x, y := features(got, d), features(want, d)
				if got.N != want.N || !reflect.DeepEqual(x, y) || !reflect.DeepEqual(got.Y, want.Y) {
					t.Fatalf("weighted %v, turn %d: rows %d and on are not the same", weighted, turn, lo)
				}
				if !reflect.DeepEqual(checked.State, plain.State) {
					t.Fatalf("weighted %v, turn %d, after row %d: another state", weighted, turn, lo)
				}
				// Rows in pieces, and a row with its targets, are the same numbers.
				row := make([]float64, d+k)
				got.Write(got.N-1, row)
				if !reflect.DeepEqual(row[:d], x[(got.N-1)*d:]) {
					t.Fatalf("turn %d: the last row is another alone", turn)
				}
			}
		}
	}
}

// TestHypot: the bits of math.Hypot.
func TestHypot(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 3))
	at := []float64{0, 0x1p-1074, 1e-300, 1, 3, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	for range 2000 {
		at = append(at, math.Ldexp(r.Float64(), r.IntN(40)-20))
	}
	for i, p := range at {
		for _, q := range []float64{at[(7*i+3)%len(at)], 0, p, 1e-300, math.Inf(1), math.NaN()} {
			if got, want := hypot(p, q), math.Hypot(p, q); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("hypot(%g, %g) is %g, want %g", p, q, got, want)
			}
		}
	}
}
