package purego

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// TestThin: a product of few rows equals the product by packed blocks up to round-off, and is the same on any number of
// threads. It writes nothing outside of C.
func TestThin(t *testing.T) {
	for _, k := range kernel.All() {
		for _, transB := range []bool{false, true} {
			for _, c := range [][3]int{
				{1, 1, 1}, {1, 700, 5}, {2, 513, 130}, {3, 3, 4099}, {5, 70, 4101}, {8, 65, 33}, {9, 77, 300}, {13, 1030, 66},
				{23, 300, 5000}, {24, 521, 64}, {41, 530, 531}, {47, 7, 9},
			} {
				t.Run(
					fmt.Sprint(k.Name, transB, c),
					func(t *testing.T) { testThin(t, k.Name, transB, c[0], c[1], c[2]) },
				)
			}
		}
	}
}

func testThin(t *testing.T, kernel string, transB bool, m, n, k int) {
	be, err := New(Config{Kernel: kernel})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	normal := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	lda, ldb, ldc := k+3, n+1, n+2
	bm := matrix.Strided(k, n, normal(k*ldb), ldb)
	if transB {
		ldb = k + 1
		bm = matrix.Strided(n, k, normal(n*ldb), ldb)
	}
	a, before := normal(m*lda), normal(m*ldc)
	for _, beta := range []float64{0, 1, -0.5} {
		want := append([]float64(nil), before...)
		multiply(
			&product{
				be:    be,
				m:     m,
				n:     n,
				k:     k,
				a:     operand{matrix.Strided(m, k, a, lda), false},
				b:     operand{bm, transB},
				c:     matrix.Strided(m, n, want, ldc),
				alpha: 1.5,
				beta:  beta,
			},
		)
		var first []float64
		for _, threads := range []int{1, 2, 7} {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			c := append([]float64(nil), before...)
			if beta == 0 {
				for i := range m {
					c[i*ldc] = math.NaN() // is overwritten
				}
			}
			be.Gemm(false, transB, 1.5, matrix.Strided(m, k, a, lda), bm, beta, matrix.Strided(m, n, c, ldc))
			if first == nil {
				first = c
			}
			for i, v := range c {
				if off := math.Abs(v - want[i]); !(off <= 1e-14*float64(k)+1e-14*math.Abs(want[i])) {
					t.Fatalf(
						"beta %v, %d threads: element (%d, %d) is %v, want %v",
						beta,
						threads,
						i/ldc,
						i%ldc,
						v,
						want[i],
					)
				}
				if v != first[i] {
					t.Fatalf(
						"beta %v: element (%d, %d) is %v on %d threads, %v on one",
						beta,
						i/ldc,
						i%ldc,
						v,
						threads,
						first[i],
					)
				}
			}
		}
	}
}
