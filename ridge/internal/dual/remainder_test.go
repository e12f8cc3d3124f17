package dual

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// TestRemainders: the bounds hold for any dual vector, and are small for a solution.
func TestRemainders(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 36))
		n, d := 1+rng.IntN(6), 1+rng.IntN(9)
		sparse, intercept, weighted := seed&1 != 0, seed&2 != 0, seed&4 != 0
		b := dataset.Block{N: n, Y: make([]float64, n)}
		x := make([][]float64, n)
		far, scale := math.Ldexp(rng.Float64(), rng.IntN(30)), math.Ldexp(1, rng.IntN(80)-40)
		for i := range x {
			x[i] = make([]float64, d)
			for j := range x[i] {
				if !sparse || rng.IntN(2) == 0 {
					x[i][j] = scale * (far + rng.NormFloat64())
				}
			}
			b.Y[i] = far + rng.NormFloat64()
			if weighted {
				b.W = append(b.W, rng.Float64())
			}
		}
		rows := rowsWith(x, b, sparse, intercept)
		g, err := rows.Gram(context.Background(), be, make([]float64, n*n), make([]float64, n*n))
		if err != nil {
			t.Fatal(err)
		}
		gamma := g.Norm() * g.Norm() * math.Ldexp(rng.Float64(), rng.IntN(60)-40)
		target := rows.Centred(0)
		alpha := make([]float64, n)
		if form, _ := g.Reduce(be, make([]float64, n*n)); seed&8 != 0 && form != nil {
			copy(alpha, target)
			form.SolveEach([]float64{gamma}, alpha)
		} else {
			for i := range alpha {
				alpha[i] = rng.NormFloat64()
			}
		}
		bound := g.Remainders(be, []float64{gamma}, alpha, target)[0]
		// In exact arithmetic: the centred and weighted rows, the target, and the column for an intercept.
		total, a := wide(0), make([][]*big.Float, n)
		for i := range n {
			total = plus(total, wide(b.Weight(i)))
		}
		root := func(i int) *big.Float { return wide(0).Sqrt(wide(b.Weight(i))) }
		for i := range n {
			for j := range d + 1 {
				v, mean := b.Y[i], wide(0)
				for k := range n {
					w := b.Y[k]
					if j < d {
						w, v = x[k][j], x[i][j]
					}
					mean = plus(mean, times(wide(b.Weight(k)), wide(w)))
				}
				mean.Quo(mean, total)
				if !intercept {
					mean = wide(0)
				}
				a[i] = append(a[i], times(root(i), minus(wide(v), mean)))
			}
		}
		var rest []*big.Float
		for i := range n {
			sum := minus(a[i][d], times(wide(gamma), wide(alpha[i])))
			for k := range n {
				product := times(times(wide(g.Shift), wide(0).Quo(root(i), total)), root(k))
				for j := range d {
					product = plus(product, times(a[i][j], a[k][j]))
				}
				sum = minus(sum, times(product, wide(alpha[k])))
			}
			rest = append(rest, sum)
		}
		if norm(rest).Cmp(wide(bound)) > 0 {
			t.Errorf("seed %d: the remainder has norm %v, bound %g", seed, norm(rest), bound)
		}
	}
}
