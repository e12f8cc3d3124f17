package dual

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// TestCG: conjugate gradients solve (G + γI)e = b. Heavy columns of the rows are written out, and may be far from
// zero. Rows may be weighted and centred, and one row has entries only in heavy columns. Few steps are enough, even for
// very small γ, because the written-out columns make most of G.
func TestCG(t *testing.T) {
	const n, d = 240, 400
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, intercept := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, gamma := range []float64{1, 1e-6} {
				t.Run(fmt.Sprintf("intercept=%v,weighted=%v,gamma=%v", intercept, weighted, gamma), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(4, 9))
					x := draw(rng, n, d, 30, false)
					clear(x[7][d/8:]) // a row of heavy columns alone
					var w []float64
					for range n {
						if weighted {
							w = append(w, 0.5+rng.Float64())
						}
					}
					rows := rowsOf(x, w, true, intercept)
					if list, entries := rows.heavyColumns(); len(list) < d/8 || entries < len(list)*n/8 {
						t.Fatalf("%d columns of %d entries are heavy, %d are full", len(list), entries, d/8)
					}
					b := make([]float64, n)
					for i := range b {
						b[i] = rng.NormFloat64()
					}
					if share := rows.share(); share != nil {
						vec.Axpy(-vec.Dot(share, b), share, b)
					}
					e, steps := append([]float64(nil), b...), 0
					c := rows.NewCG(be, gamma)
					if !c.Solve(e, 4*n, func(residual, _ float64) bool { steps++; return residual <= 1e-10*vec.Norm(b) }) {
						t.Fatalf("not converged in %d steps", steps)
					}
					g, err := rows.Gram(t.Context(), be, make([]float64, n*n), make([]float64, n*n))
					if err != nil {
						t.Fatal(err)
					}
					left := append([]float64(nil), b...)
					for i := range n {
						left[i] -= gamma * e[i]
						for j := range n {
							left[i] -= g.G[max(i, j)*n+min(i, j)] * e[j]
						}
					}
					if norm := vec.Norm(left); !(norm <= 1e-7*vec.Norm(b)) {
						t.Errorf("‖b − (G + γI)e‖ = %g for ‖b‖ = %g after %d steps", norm, vec.Norm(b), steps)
					}
					if most := 80; steps > most {
						t.Errorf("%d steps, more than %d", steps, most)
					}
				})
			}
		}
	}
}
