package purego_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// TestGradientGroups computes the gradients of several vectors at once. Kernels process the vectors in groups, and
// threads in tasks. A gradient has the same bits for any number of vectors that use the same groups, and up to three
// vectors have the bits of single vectors.
func TestGradientGroups(t *testing.T) {
	const n, d, ld, most = 546, 547, 550, 70 // 16 parts or 4, rows beyond the fours, several strips
	rng := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	const all = most + 8
	a, x, b, g0 := random(n*ld), random(all*ld), random(n*all), random(all*ld)
	for _, k := range purego.Kernels() {
		be, err := purego.New(purego.Config{Kernel: k.Name})
		if err != nil {
			t.Fatal(err)
		}
		// want returns R and G computed with w vectors at a time. It keeps the result of the first vector of each call.
		type result struct{ r, g []float64 }
		want := func(w int) (s result) {
			s.r, s.g = make([]float64, n*all), slices.Clone(g0)
			r := make([]float64, n*all)
			for q := range most {
				h := slices.Clone(g0[q*ld:])
				be.Gradient(
					matrix.Strided(n, d, a, ld),
					matrix.Strided(w, d, x[q*ld:], ld),
					matrix.Strided(n, w, b[q:], all),
					matrix.Strided(w, d, h, ld),
					matrix.Strided(n, w, r, all),
				)
				copy(s.g[q*ld:], h[:ld])
				for i := range n {
					s.r[i*all+q] = r[i*all]
				}
			}
			gemvGradient(t, be, n, d, a, ld, s.r, all, g0, s.g)
			return s
		}
		few, several, many := want(1), want(4), want(8)
		for _, procs := range []int{1, 2, 3, 16} {
			for _, q := range []int{2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 23, 24, 25, 32, 33, 40, 47, 48, most} {
				t.Run(fmt.Sprintf("%s/%d vectors/GOMAXPROCS %d", k.Name, q, procs), func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					want := few
					switch {
					case q >= 8 && 2*((q+k.MR-1)/k.MR*k.MR) <= 3*q: // in tiles
						want = many
					case q >= 4:
						want = several
					}
					r, g := make([]float64, n*all), slices.Clone(g0)
					be.Gradient(
						matrix.Strided(n, d, a, ld),
						matrix.Strided(q, d, x, ld),
						matrix.Strided(n, q, b, all),
						matrix.Strided(q, d, g, ld),
						matrix.Strided(n, q, r, all),
					)
					for i := range n {
						if what := differ(r[i*all:i*all+q], want.r[i*all:i*all+q]); what != "" {
							t.Fatalf("R, row %d: %s", i, what)
						}
					}
					if what := differ(g[:q*ld], want.g[:q*ld]); what != "" {
						t.Fatalf("G: %s", what)
					}
				})
			}
		}
	}
}

// gemvGradient compares the first row of G with g₀ + Aᵀr, r being R's first column.
func gemvGradient(
	t *testing.T,
	be *purego.Backend,
	n, d int,
	a []float64,
	lda int,
	r []float64,
	ldr int,
	g0, g []float64,
) {
	t.Helper()
	c, want := make([]float64, n), slices.Clone(g0[:d])
	for i := range c {
		c[i] = r[i*ldr]
	}
	be.Gemv(true, 1, matrix.Strided(n, d, a, lda), c, 1, want)
	const tol = 1e-9 // above 2·n·u·Σ|r·a|
	for j := range want {
		if e := math.Abs(g[j] - want[j]); !(e <= tol) {
			t.Fatalf("G[%d] is %v, by Gemv %v", j, g[j], want[j])
		}
	}
}
