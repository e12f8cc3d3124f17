package bench

import (
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// BenchmarkGemm measures square products and the products of a shrink. These are the Gram matrix of new and kept rows,
// and the rebuilding of m rows from m+p.
func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		name    string
		tb      bool
		m, n, k int
	}{
		{"NN/512", false, 512, 512, 512}, {"NN/1024", false, 1024, 1024, 1024}, {"NN/2048", false, 2048, 2048, 2048}, {"NT/1024", true, 1024, 1024, 1024},
		{"Gram/256×256×1024", true, 256, 256, 1024}, {"Gram/64×64×16384", true, 64, 64, 16384},
		{"Rebuild/256×512×512", false, 256, 512, 512}, {"Rebuild/64×256×128", false, 64, 256, 128},
	} {
		b.Run(s.name, func(b *testing.B) {
			x, y, z := Numbers(s.m*s.k), engine.View(s.k, s.n, Numbers(s.k*s.n)), make([]float64, s.m*s.n)
			if s.tb {
				y = engine.View(s.n, s.k, y.Data)
			}
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					be.Gemm(false, s.tb, 1, engine.View(s.m, s.k, x), y, 0, engine.View(s.m, s.n, z))
				}
				flopRate(b, 2*float64(s.m)*float64(s.n)*float64(s.k))
			})
		})
	}
}

func BenchmarkSyrk(b *testing.B) {
	for _, s := range [][2]int{{512, 1024}, {256, 4096}, {128, 16384}} {
		n, k := s[0], s[1]
		b.Run(fmt.Sprintf("%d×%d", n, k), func(b *testing.B) {
			a, c := Numbers(n*k), make([]float64, n*n)
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					be.Syrk(false, 1, engine.View(n, k, a), 0, engine.View(n, n, c))
				}
				flopRate(b, float64(n)*float64(n+1)*float64(k))
			})
		})
	}
}

func BenchmarkGemv(b *testing.B) {
	const m, n = 32768, 1024
	a, x, y := Numbers(m*n), Numbers(m), make([]float64, m)
	for name, trans := range map[string]bool{"A·x": false, "Aᵀ·x": true} {
		b.Run(fmt.Sprintf("%s/%d×%d", name, m, n), func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					be.Gemv(trans, 1, engine.View(m, n, a), x, 0, y)
				}
				readRate(b, 8*m*n)
			})
		})
	}
}

// BenchmarkGradient measures R = A·Xᵀ − B and RᵀA for t right-hand sides.
func BenchmarkGradient(b *testing.B) {
	const n, d = 32768, 1024
	a := Numbers(n * d)
	for _, t := range []int{1, 3, 10} {
		b.Run(fmt.Sprintf("%d×%d/t=%d", n, d, t), func(b *testing.B) {
			x, y, g, r := Numbers(t*d), Numbers(n*t), make([]float64, t*d), make([]float64, n*t)
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					be.Gradient(
						engine.View(n, d, a),
						engine.View(t, d, x),
						engine.View(n, t, y),
						engine.View(t, d, g),
						engine.View(n, t, r),
					)
				}
				readRate(b, 8*n*d)
				flopRate(b, 4*n*d*float64(t))
			})
		})
	}
}

// BenchmarkGradientTwofold measures gradients in twice the precision beside plain ones. A call has as many rows as in
// a pass. Both count the flops of the plain gradient.
func BenchmarkGradientTwofold(b *testing.B) {
	for _, s := range []struct{ n, d, t int }{{40000, 1024, 1}, {40000, 1024, 4}, {8192, 4096, 1}, {8192, 4096, 16}, {8192, 4096, 48}} {
		n, d, t := s.n, s.d, s.t
		a, x, y := engine.View(n, d, Numbers(n*d)), engine.View(t, d, Numbers(t*d)), engine.View(n, t, Numbers(n*t))
		zeros := func(r, c int) engine.Matrix { return engine.View(r, c, make([]float64, r*c)) }
		twofold := func(r, c int) engine.Twofold {
			return engine.Twofold{Hi: zeros(r, c), Lo: zeros(r, c), Err: zeros(r, c)}
		}
		g, r := twofold(t, d), twofold(n, t)
		pass := func(b *testing.B, call func(a, y engine.Matrix, r engine.Twofold)) {
			for b.Loop() {
				for lo := 0; lo < n; lo += engine.MaxGradientRows {
					hi := min(n, lo+engine.MaxGradientRows)
					call(
						a.Slice(lo, hi, 0, d),
						y.Slice(lo, hi, 0, t),
						engine.Twofold{
							Hi:  r.Hi.Slice(lo, hi, 0, t),
							Lo:  r.Lo.Slice(lo, hi, 0, t),
							Err: r.Err.Slice(lo, hi, 0, t),
						},
					)
				}
			}
			readRate(b, 8*float64(n)*float64(d))
			flopRate(b, 4*float64(n)*float64(d)*float64(t))
		}
		b.Run(fmt.Sprintf("%d×%d/t=%d", n, d, t), func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				b.Run("plain", func(b *testing.B) {
					pass(b, func(a, y engine.Matrix, r engine.Twofold) { be.Gradient(a, x, y, g.Hi, r.Hi) })
				})
				b.Run("twofold", func(b *testing.B) {
					pass(b, func(a, y engine.Matrix, r engine.Twofold) { be.GradientTwofold(a, x, y, nil, nil, g, r) })
				})
			})
		})
	}
}

// BenchmarkSymEig counts 4n³/3 flops for the reduction, 4n³/3 for divide and conquer without deflation (J. Demmel,
// "Applied Numerical Linear Algebra", 1997, §5.3.3), and 2n²k for k eigenvectors.
func BenchmarkSymEig(b *testing.B) {
	for _, n := range []int{128, 256, 384, 512} {
		k := n/2 + 1
		b.Run(fmt.Sprintf("%d/%d", n, k), func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				spd, a := positiveDefinite(be, n), make([]float64, n*n)
				w, v, work := make([]float64, n), make([]float64, k*n), make([]float64, be.SymEigWork(n, k))
				for b.Loop() {
					copy(a, spd)
					if !be.SymEig(engine.View(n, n, a), w, engine.View(k, n, v), work) {
						b.Fatal("no convergence")
					}
				}
				flopRate(b, float64(8*n*n*n/3+2*n*n*k))
			})
		})
	}
}

// BenchmarkTridiagonal counts 4n³/3 flops. Half of them multiply a matrix that is read again for each row, so the
// speed of the memory limits them.
func BenchmarkTridiagonal(b *testing.B) {
	for _, n := range []int{512, 1024, 2048, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 2048 {
				large(b)
			}
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				spd, a := positiveDefinite(be, n), make([]float64, n*n)
				d, e, tau, work := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, be.TridiagonalWork(n))
				for b.Loop() {
					copy(a, spd)
					if !be.Tridiagonal(engine.View(n, n, a), d, e, tau, work) {
						b.Fatal("overflow")
					}
				}
				flopRate(b, 4*float64(n)*float64(n)*float64(n)/3)
			})
		})
	}
}

func BenchmarkSVD(b *testing.B) {
	const m, n = 256, 1024
	x, a := Numbers(m*n), make([]float64, m*n)
	onEachBackend(b, func(b *testing.B, be engine.Backend) {
		s, vt, work := make([]float64, m), make([]float64, m*n), make([]float64, be.SVDWork(m, n))
		for b.Loop() {
			copy(a, x)
			if !be.SVD(engine.View(m, n, a), s, engine.View(min(m, n), n, vt), work) {
				b.Fatal("no convergence")
			}
		}
	})
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{1024, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				spd, a := positiveDefinite(be, n), make([]float64, n*n)
				for b.Loop() {
					copy(a, spd)
					if _, ok := be.Cholesky(engine.View(n, n, a)); !ok {
						b.Fatal("not positive definite")
					}
				}
				flopRate(b, float64(n)*float64(n)*float64(n)/3)
			})
		})
	}
}

func BenchmarkQR(b *testing.B) {
	const m, n = 2048, 512
	x, a := Numbers(m*n), make([]float64, m*n)
	onEachBackend(b, func(b *testing.B, be engine.Backend) {
		work := make([]float64, be.QRWork(m, n))
		for b.Loop() {
			copy(a, x)
			be.QR(engine.View(m, n, a), work)
		}
		flopRate(b, 2*m*n*n-2*n*n*n/3)
	})
}

// positiveDefinite returns XXᵀ for a random n×2n matrix X.
func positiveDefinite(be engine.Backend, n int) []float64 {
	a := make([]float64, n*n)
	be.Syrk(false, 1, engine.View(n, 2*n, Numbers(2*n*n)), 0, engine.View(n, n, a))
	return a
}
