package adversary

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkProblem is one problem of each size.
func BenchmarkProblem(b *testing.B) {
	b.Run("up to 12", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		for b.Loop() {
			Evaluate(Random(r))
		}
	})
	for _, d := range []int{70, 150, 300, 600} {
		b.Run(fmt.Sprint(d), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				g := RandomLarge(r)
				g.Rows = g.Rows * d / g.Cols
				if g.Preparation == Raw {
					g.Cols = d
				}
				EvaluateLarge(g.clip())
			}
		})
	}
}
