package engine_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/purego"
)

// TestRowLoops: rows of any number and length are centred, added up and squared to the bits of
// plain loops, whatever the kernel, and nothing beside them is written.
func TestRowLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20)
		}
		return x
	}
	for _, name := range append(purego.KernelNames(), "no such kernel") {
		l := purego.RowLoopsOf(name)
		for _, d := range []int{0, 1, 5, 64, 255, 256, 257, 1023, 1024, 1031, 2600} {
			for n := range 10 {
				x := engine.Strided(n, d, numbers(n*(d+3)), d+3)
				origin, sum, squares := numbers(d), numbers(d), numbers(d)
				wantSum, wantSquares := append([]float64(nil), sum...), append([]float64(nil), squares...)
				for i := range n {
					for j, v := range x.Row(i) {
						z := v - origin[j]
						wantSum[j] += z
						wantSquares[j] += float64(z * z)
					}
				}
				l.Spread(x, origin, sum, squares)
				same(t, name, "sum", sum, wantSum)
				same(t, name, "squares", squares, wantSquares)
				if n > 4 || n == 0 {
					continue
				}
				for i, got := range l.SquaredNorms(x) {
					if want := 0.0; i < n {
						exact := floats.Dot(x.Row(i), x.Row(i))
						if !(math.Abs(got-exact) <= 0x1p-52*float64(d/4+6)*exact) {
							t.Fatalf("%s: row %d of %d numbers has the norm² %g, want %g", name, i, d, got, exact)
						}
					} else if got != want {
						t.Fatalf("%s: the norm² of no row is %g", name, got)
					}
				}
			}
			x, origin, mean, z := numbers(d), numbers(d), numbers(d), numbers(d+2)
			want := append([]float64(nil), z...)
			for j, v := range x {
				want[j] = (v - origin[j]) - mean[j]
			}
			l.Centre(x, origin, mean, z[:d])
			same(t, name, "z", z, want)

			blocks := (d + engine.BlockOfSquares - 1) / engine.BlockOfSquares
			sums := numbers(blocks + 1)
			last := sums[blocks]
			l.BlockSquares(x, sums)
			for k := range blocks {
				part := x[k*engine.BlockOfSquares : min((k+1)*engine.BlockOfSquares, d)]
				var s [4]float64
				for j, v := range part {
					if j >= len(part)/4*4 {
						j = 0
					}
					s[j%4] += float64(v * v)
				}
				if want := (s[0] + s[1]) + (s[2] + s[3]); sums[k] != want {
					t.Fatalf("%s: block %d of %d numbers has the sum %g, want %g", name, k, d, sums[k], want)
				}
			}
			if sums[blocks] != last {
				t.Fatalf("%s: wrote behind the sums of %d numbers", name, d)
			}
		}
	}
	x := []float64{1, math.Inf(1), 3, math.NaN()}
	if s := engine.SquaredNorms(engine.View(4, 1, x)); !math.IsInf(s[1], 1) || !math.IsNaN(s[3]) || s[0] != 1 ||
		s[2] != 9 {
		t.Errorf("norms² %v of %v", s, x)
	}
}

func same(t *testing.T, kernel, what string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if math.Float64bits(got[i]) != math.Float64bits(v) {
			t.Fatalf("%s: %s[%d] of %d is %x, want %x", kernel, what, i, len(want), got[i], v)
		}
	}
}
