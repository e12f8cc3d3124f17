package eigen

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

func BenchmarkSym(b *testing.B) {
	for _, f := range []int{0, 16} {
		for _, n := range []int{64, 128, 256, 512} {
			for _, k := range []int{0, n/2 + 1, n} {
				b.Run(fmt.Sprintf("%s/n=%d/k=%d", families[f].name, n, k), func(b *testing.B) {
					a := families[f].make(rand.New(rand.NewPCG(1, 2)), n)
					ac, w, v, work := make([]float64, n*n), make([]float64, n), make([]float64, k*n), make([]float64, Work(n, k))
					for b.Loop() {
						copy(ac, a)
						if !Sym(gonumKernels{}, plainLoops{}, matrix.View(n, n, ac), w, matrix.View(k, n, v), work) {
							b.Fatal("not converged")
						}
					}
				})
			}
		}
	}
}
