package enginetest

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// concurrent makes the same calls from many goroutines; each must be right.
func concurrent(t *testing.T, be engine.Backend) {
	const workers = 96
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			// Sub-tests end their own goroutine on a failure, so that each of these
			// can.
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				gradientOnce(t, be, 130, 33, 3, true, uint64(i))
				symEigOnce(t, be, "SymEig", 65, 20, spectra[0].at(65))
				svdOnce(t, be, "SVD", 24, 49, normal(random(uint64(i))))
			})
		})
	}
	wg.Wait()
}

// allocations checks that no operation allocates Go memory in steady state.
func allocations(t *testing.T, be engine.Backend) {
	const m, n, k = 96, 160, 130
	rng := random(1)
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	a, b, c, x, y := fill(m*k), fill(k*n), fill(m*n), fill(k), fill(m)
	g, r, sq, s, vt := fill(16*k), fill(16*m), fill(m*m), fill(m), fill(m*n)
	eig, sv, q := workspace(be.SymEigWork(m, m/2)), workspace(be.SVDWork(m, n)), workspace(be.QRWork(n, m))
	tri, turned := workspace(be.TridiagonalWork(m)), workspace(be.TurnWork(m, 4))
	left := workspace(be.LeftMulWork(m/2, n, m/2+9))
	spd := func() {
		clear(sq)
		for i := range m {
			sq[i*m+i] = float64(i + 1)
		}
	}
	operations := map[string]func(){
		"Gemm":    func() { be.Gemm(false, false, 1, engine.View(m, k, a), engine.View(k, n, b), 0, engine.View(m, n, c)) },
		"Gemm T":  func() { be.Gemm(false, true, 1, engine.View(m, k, a), engine.View(m, k, a), 0, engine.View(m, m, sq)) },
		"Syrk":    func() { be.Syrk(false, 1, engine.View(m, k, a), 0, engine.View(m, m, sq)) },
		"Gram":    func() { be.Gram(m/3, engine.View(m, k, a), engine.View(m, m, sq)) },
		"LeftMul": func() { be.LeftMul(engine.Strided(m/2, m/2+9, sq, m), engine.View(m/2+9, n, c), left) },
		"Gemv":    func() { be.Gemv(false, 1, engine.View(m, k, a), x, 0, y) },
		"Gradient": func() {
			be.Gradient(engine.View(m, k, a), engine.View(3, k, b), engine.Matrix{}, engine.View(3, k, g), engine.View(m, 3, r))
		},
		"Gradient of many": func() {
			be.Gradient(engine.View(m, k, a), engine.View(16, k, b), engine.Matrix{}, engine.View(16, k, g), engine.View(m, 16, r))
		},
		"Gemm of few rows":   func() { be.Gemm(false, false, 1, engine.View(9, k, a), engine.View(k, n, b), 0, engine.View(9, n, c)) },
		"Gemm T of few rows": func() { be.Gemm(false, true, 1, engine.View(9, k, a), engine.View(m, k, a), 0, engine.View(9, m, sq)) },
		"SymEig": func() {
			spd()
			be.SymEig(engine.View(m, m, sq), s, engine.Strided(m/2, m, vt, n), eig)
		},
		"Tridiagonal": func() {
			spd()
			be.Tridiagonal(engine.View(m, m, sq), s, y, r[:m], tri)
			be.Turn(true, engine.View(m, m, sq), r[:m], engine.View(4, m, vt[:4*m]), turned)
		},
		"SVD": func() { be.SVD(engine.View(m, n, c), s, engine.View(min(m, n), n, vt), sv) },
		"QR":  func() { be.QR(engine.View(n, m, c), q) },
		"Cholesky": func() {
			spd()
			be.Cholesky(engine.View(m, m, sq))
			be.CholeskySolve(engine.View(m, m, sq), engine.View(2, m, r[:2*m]))
		},
	}
	for name, f := range operations {
		f()
		if got := testing.AllocsPerRun(10, f); !(got == 0) {
			t.Errorf("%s allocates %v times a call", name, got)
		}
		if got := allocationsInParallel(20, f); !(got == 0) {
			t.Errorf("%s allocates %v times a call on all processors", name, got)
		}
	}
}

// allocationsInParallel is testing.AllocsPerRun, rounding down like it, without
// its GOMAXPROCS of 1, under which nothing is shared out to other goroutines. It counts
// what the runtime allocates meanwhile too: of three counts the least is f's own.
func allocationsInParallel(runs int, f func()) float64 {
	f()
	least := math.Inf(1)
	for attempt := 0; attempt < 3 && least > 0; attempt++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			f()
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64((after.Mallocs-before.Mallocs)/uint64(runs)))
	}
	return least
}

// panics checks that wrong shapes panic with a string, before anything happens.
func panics(t *testing.T, be engine.Backend) {
	x := make([]float64, 100)
	for _, calls := range []map[string]func(){wrongProducts(be, x), wrongFactorisations(be, x)} {
		for name, f := range calls {
			func() {
				defer func() {
					if _, ok := recover().(string); !ok {
						t.Errorf("%s: no panic with a string", name)
					}
				}()
				f()
			}()
		}
	}
}

func wrongProducts(be engine.Backend, x []float64) map[string]func() {
	return map[string]func(){
		"negative m": func() {
			be.Gemm(false, false, 1, engine.View(-1, 2, x), engine.View(2, 2, x), 0, engine.View(-1, 2, x))
		},
		"other k": func() {
			be.Gemm(false, false, 1, engine.View(4, 3, x), engine.View(2, 2, x), 0, engine.View(4, 2, x))
		},
		"other C": func() {
			be.Gemm(true, false, 1, engine.View(3, 4, x), engine.View(3, 2, x), 0, engine.View(2, 4, x))
		},
		"other weights": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 3, x), engine.Matrix{}, engine.View(2, 2, x), engine.View(3, 2, x))
		},
		"other gradient": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x), engine.Matrix{}, engine.View(1, 2, x), engine.View(3, 2, x))
		},
		"other residual": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x), engine.Matrix{}, engine.View(2, 2, x), engine.View(4, 2, x))
		},
		"small lda": func() {
			be.Gemm(false, false, 1, engine.Strided(2, 3, x, 2), engine.View(3, 2, x), 0, engine.View(2, 2, x))
		},
		"short A": func() {
			be.Gemm(false, false, 1, engine.View(4, 3, x[:11]), engine.View(3, 2, x), 0, engine.View(4, 2, x))
		},
		"short B": func() {
			be.Gemm(false, true, 1, engine.View(4, 3, x), engine.View(2, 3, x[:5]), 0, engine.View(4, 2, x))
		},
		"short C": func() {
			be.Gemm(false, false, 1, engine.View(4, 3, x), engine.View(3, 2, x), 0, engine.View(4, 2, x[:7]))
		},
		"zero stride":   func() { be.Syrk(false, 1, engine.Strided(2, 2, x, 0), 0, engine.View(2, 2, x)) },
		"short syrk":    func() { be.Syrk(true, 1, engine.View(5, 3, x[:14]), 0, engine.View(3, 3, x)) },
		"short gram":    func() { be.Gram(1, engine.View(3, 5, x[:14]), engine.View(3, 3, x)) },
		"first above n": func() { be.Gram(4, engine.View(3, 5, x), engine.View(3, 3, x)) },
		"m above k":     func() { be.LeftMul(engine.View(3, 2, x), engine.View(2, 2, x), make([]float64, 10000)) },
		"short W":       func() { be.LeftMul(engine.View(2, 3, x[:5]), engine.View(3, 2, x), make([]float64, 10000)) },
		"short x":       func() { be.Gemv(false, 1, engine.View(3, 3, x), x[:2], 0, x) },
		"short y":       func() { be.Gemv(true, 1, engine.View(2, 3, x), x, 0, x[:2]) },
		"short residual": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x), engine.Matrix{}, engine.View(2, 2, x), engine.View(3, 2, x[:5]))
		},
		"short right side": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x), engine.View(3, 2, x[:5]), engine.View(2, 2, x), engine.View(3, 2, x))
		},
		"short gradient": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x), engine.Matrix{}, engine.View(2, 2, x[:3]), engine.View(3, 2, x))
		},
		"short weights": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(2, 2, x[:3]), engine.Matrix{}, engine.View(2, 2, x), engine.View(3, 2, x))
		},
		"negative targets": func() {
			be.Gradient(engine.View(3, 2, x), engine.View(-1, 2, x), engine.Matrix{}, engine.View(-1, 2, x), engine.Strided(3, -1, x, 2))
		},
	}
}

func wrongFactorisations(be engine.Backend, x []float64) map[string]func() {
	return map[string]func(){
		"no square":       func() { be.Cholesky(engine.View(3, 2, x)) },
		"other rows of b": func() { be.CholeskySolve(engine.View(3, 3, x), engine.View(2, 2, x)) },
		"other vt":        func() { be.SVD(engine.View(4, 5, x), x, engine.View(5, 5, x), make([]float64, be.SVDWork(4, 5))) },
		"other vectors":   func() { be.SymEig(engine.View(4, 4, x), x, engine.View(2, 3, x), make([]float64, be.SymEigWork(4, 2))) },
		"k above n":       func() { be.SymEig(engine.View(2, 2, x), x, engine.View(3, 2, x), make([]float64, 10000)) },
		"short eig work": func() {
			be.SymEig(engine.View(4, 4, x), x, engine.View(4, 4, x), make([]float64, be.SymEigWork(4, 4)-1))
		},
		"short tridiagonal work": func() {
			be.Tridiagonal(engine.View(4, 4, x), x, x, x, make([]float64, be.TridiagonalWork(4)-1))
		},
		"short diagonal": func() { be.Tridiagonal(engine.View(4, 4, x), x[:3], x, x, make([]float64, 10000)) },
		"short beside":   func() { be.Tridiagonal(engine.View(4, 4, x), x, x[:2], x, make([]float64, 10000)) },
		"short tau":      func() { be.Tridiagonal(engine.View(4, 4, x), x, x, x[:3], make([]float64, 10000)) },
		"no square turn": func() { be.Turn(false, engine.View(4, 3, x), x, engine.View(2, 4, x), make([]float64, 10000)) },
		"other turned":   func() { be.Turn(false, engine.View(4, 4, x), x, engine.View(2, 3, x), make([]float64, 10000)) },
		"short turn tau": func() { be.Turn(true, engine.View(4, 4, x), x[:3], engine.View(2, 4, x), make([]float64, 10000)) },
		"short turn work": func() {
			be.Turn(true, engine.View(4, 4, x), x, engine.View(2, 4, x), make([]float64, be.TurnWork(4, 2)-1))
		},
		"short svd work": func() {
			be.SVD(engine.View(4, 5, x), x, engine.View(4, 5, x), make([]float64, be.SVDWork(4, 5)-1))
		},
		"short qr work": func() { be.QR(engine.View(4, 5, x), make([]float64, be.QRWork(4, 5)-1)) },
		"short vt": func() {
			be.SVD(engine.View(4, 5, x), x, engine.View(4, 5, x[:19]), make([]float64, be.SVDWork(4, 5)))
		},
		"short qr":     func() { be.QR(engine.View(4, 5, x[:19]), make([]float64, be.QRWork(4, 5))) },
		"negative qr":  func() { be.QR(engine.View(-4, 5, x), x) },
		"negative svd": func() { be.SVD(engine.View(4, -5, x), x, engine.View(-5, -5, x), x) },
		"short s": func() {
			be.SVD(engine.View(4, 5, x), x[:3], engine.View(4, 5, x), make([]float64, be.SVDWork(4, 5)))
		},
		"negative eig": func() { be.SymEig(engine.View(-1, -1, x), x, engine.View(0, -1, x), x) },
		"negative k":   func() { be.SymEig(engine.View(2, 2, x), x, engine.View(-1, 2, x), make([]float64, 10000)) },
		"short w": func() {
			be.SymEig(engine.View(4, 4, x), x[:3], engine.View(1, 4, x), make([]float64, be.SymEigWork(4, 1)))
		},
		"short v": func() {
			be.SymEig(engine.View(4, 4, x), x, engine.View(2, 4, x[:7]), make([]float64, be.SymEigWork(4, 2)))
		},
		"small ldv": func() {
			be.SymEig(engine.View(4, 4, x), x, engine.Strided(2, 4, x, 3), make([]float64, be.SymEigWork(4, 2)))
		},
		"short L":    func() { be.Cholesky(engine.View(5, 5, x[:24])) },
		"short rows": func() { be.CholeskySolve(engine.View(5, 5, x), engine.View(3, 5, x[:14])) },
	}
}
