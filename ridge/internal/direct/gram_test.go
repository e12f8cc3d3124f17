package direct

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// TestGram compares [A Y]ᵀ[A Y] of many folds with the exact sums. In the stack "lost", each fold is about a
// third of the rounding of the sum, so that plain sums lose all but the first.
func TestGram(t *testing.T) {
	type kind struct {
		name string
		at   func(rng *rand.Rand, i, j int) float64
	}
	kinds := []kind{{"lost", func(_ *rand.Rand, i, j int) float64 {
		if i == 0 {
			return float64(1 + j)
		}
		return float64(1+j) * 0x1.2p-28
	}}}
	for _, s := range stacks {
		kinds = append(kinds, kind{s.name, s.at})
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, k := range kinds {
			const q, m, folds = 4, 2, 300
			for name, f := range map[string]Factorization{
				"cholesky": newNormalEquations(be, q-1, 1, m, true), "tridiagonal": reduced{newNormalEquations(be, q-1, 1, m, true)}, "qr": NewQR(be, q-1, 1, true),
			} {
				rng := rand.New(rand.NewPCG(34, 1))
				exact := zeros(q * q)
				for fold := range folds {
					rows := f.buffer()[:m*q]
					for i := range rows {
						rows[i] = k.at(rng, fold*m+i/q, i%q)
					}
					exactSquares(exact, rows, q)
					f.fold(m)
				}
				col := f.columns()
				sums, rounding := f.(gramFactorization).gram()
				if name != "qr" && !(rounding <= m+3) {
					t.Errorf("%s: rounding = %g", name, rounding)
				}
				for i := range q {
					for j := range i + 1 {
						off, _ := new(big.Float).Sub(exact[i*q+j], big.NewFloat(sums[i*q+j])).Float64()
						if !(math.Abs(off) <= rounding*roundoff.Unit*col[i]*col[j]+roundoff.LostSquares) {
							t.Errorf(
								"%s, %s: entry %d, %d is off by %g, bound %g",
								k.name,
								name,
								i,
								j,
								off,
								rounding*roundoff.Unit*col[i]*col[j],
							)
						}
					}
				}
			}
		}
	})
}

// TestGroups checks that background products give the bits and the longest chain of one thread. With two threads,
// several groups of short rows are multiplied together.
func TestGroups(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []int{3, 40, 700} {
		var want *normalEquations
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			e, rng := newNormalEquations(be, q-1, 1, 32, false), rand.New(rand.NewPCG(7, uint64(q)))
			fill, rows := 0, 5003
			for i := range rows {
				for j := range q {
					e.buffer()[fill*q+j] = rng.NormFloat64()
				}
				fill++
				if (fill+1)*q > len(e.buffer()) || i == rows-1 {
					e.fold(fill)
					fill = 0
				}
			}
			e.columns()
			if want == nil {
				want = e
			} else if !slices.Equal(e.sum, want.sum) || !slices.Equal(e.col, want.col) || e.chain != want.chain {
				t.Errorf("%d columns, %d threads: other sums, or a chain of %g instead of %g", q, threads, e.chain, want.chain)
			}
		}
	}
}
