package purego

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// BenchmarkGradients compares a pass with twice the digits with a plain one, over rows
// that come from memory.
func BenchmarkGradients(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{40000, 1024, 1}, {8192, 4096, 1}, {40000, 1024, 4}, {8192, 4096, 16}, {8192, 4096, 48}} {
		n, d, t := s[0], s[1], s[2]
		draw := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			return x
		}
		a, x, rhs := matrix.View(n, d, draw(n*d)), matrix.View(t, d, draw(t*d)), matrix.View(n, t, draw(n*t))
		zeros := func(r, c int) matrix.Matrix { return matrix.View(r, c, make([]float64, r*c)) }
		g, r := matrix.Twofold{Hi: zeros(t, d), Lo: zeros(t, d), Err: zeros(t, d)}, matrix.Twofold{Hi: zeros(512, t), Lo: zeros(512, t), Err: zeros(512, t)}
		be, err := New(Config{})
		if err != nil {
			b.Fatal(err)
		}
		call := 512
		pass := func(f func(a, rhs matrix.Matrix, n int)) func(b *testing.B) {
			return func(b *testing.B) {
				b.SetBytes(int64(8 * n * d))
				for b.Loop() {
					for lo := 0; lo < n; lo += call {
						hi := min(n, lo+call)
						f(a.Slice(lo, hi, 0, d), rhs.Slice(lo, hi, 0, t), hi-lo)
					}
				}
			}
		}
		name := fmt.Sprintf("%dx%d,t=%d", n, d, t)
		b.Run(name+"/plain", pass(func(a, rhs matrix.Matrix, n int) { be.Gradient(a, x, rhs, g.Hi, r.Hi.Slice(0, n, 0, t)) }))
		b.Run(name+"/twofold", pass(func(a, rhs matrix.Matrix, n int) {
			be.GradientTwofold(a, x, rhs, nil, g, matrix.Twofold{Hi: r.Hi.Slice(0, n, 0, t), Lo: r.Lo.Slice(0, n, 0, t), Err: r.Err.Slice(0, n, 0, t)})
		}))
	}
}
