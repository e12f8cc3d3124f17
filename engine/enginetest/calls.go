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
	left := workspace(be.LeftMulWork(m/2, n, m/2+9))
	spd := func() {
		clear(sq)
		for i := range m {
			sq[i*m+i] = float64(i + 1)
		}
	}
	operations := map[string]func(){
		"Gemm":               func() { be.Gemm(false, false, m, n, k, 1, a, k, b, n, 0, c, n) },
		"Gemm T":             func() { be.Gemm(false, true, m, m, k, 1, a, k, a, k, 0, sq, m) },
		"Syrk":               func() { be.Syrk(false, m, k, 1, a, k, 0, sq, m) },
		"Gram":               func() { be.Gram(m/3, m, k, a, k, sq, m) },
		"LeftMul":            func() { be.LeftMul(m/2, n, m/2+9, sq, m, c, n, left) },
		"Gemv":               func() { be.Gemv(false, m, k, 1, a, k, x, 0, y) },
		"Gradient":           func() { be.Gradient(m, k, 3, a, k, b, k, nil, 3, g, k, r, 3) },
		"Gradient of many":   func() { be.Gradient(m, k, 16, a, k, b, k, nil, 16, g, k, r, 16) },
		"Gemm of few rows":   func() { be.Gemm(false, false, 9, n, k, 1, a, k, b, n, 0, c, n) },
		"Gemm T of few rows": func() { be.Gemm(false, true, 9, m, k, 1, a, k, a, k, 0, sq, m) },
		"SymEig": func() {
			spd()
			be.SymEig(m, m/2, sq, m, s, vt, n, eig)
		},
		"SVD": func() { be.SVD(m, n, c, n, s, vt, n, sv) },
		"QR":  func() { be.QR(n, m, c, m, q) },
		"Cholesky": func() {
			spd()
			be.Cholesky(m, sq, m)
			be.CholeskySolve(m, 2, sq, m, r[:2*m], m)
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
	for name, f := range map[string]func(){
		"negative m":       func() { be.Gemm(false, false, -1, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
		"small lda":        func() { be.Gemm(false, false, 2, 2, 3, 1, x, 2, x, 2, 0, x, 2) },
		"short A":          func() { be.Gemm(false, false, 4, 2, 3, 1, x[:11], 3, x, 2, 0, x, 2) },
		"short B":          func() { be.Gemm(false, true, 4, 2, 3, 1, x, 3, x[:5], 3, 0, x, 2) },
		"short C":          func() { be.Gemm(false, false, 4, 2, 3, 1, x, 3, x, 2, 0, x[:7], 2) },
		"zero ld":          func() { be.Syrk(false, 0, 0, 1, x, 0, 0, x, 1) },
		"short syrk":       func() { be.Syrk(true, 3, 5, 1, x[:14], 3, 0, x, 3) },
		"short gram":       func() { be.Gram(1, 3, 5, x[:14], 5, x, 3) },
		"first above n":    func() { be.Gram(4, 3, 5, x, 5, x, 3) },
		"m above k":        func() { be.LeftMul(3, 2, 2, x, 2, x, 2, make([]float64, 10000)) },
		"short W":          func() { be.LeftMul(2, 2, 3, x[:5], 3, x, 2, make([]float64, 10000)) },
		"short x":          func() { be.Gemv(false, 3, 3, 1, x, 3, x[:2], 0, x) },
		"short y":          func() { be.Gemv(true, 2, 3, 1, x, 3, x, 0, x[:2]) },
		"short residual":   func() { be.Gradient(3, 2, 2, x, 2, x, 2, nil, 2, x, 2, x[:5], 2) },
		"short right side": func() { be.Gradient(3, 2, 2, x, 2, x, 2, x[:5], 2, x, 2, x, 2) },
		"k above n":        func() { be.SymEig(2, 3, x, 2, x, x, 2, make([]float64, 10000)) },
		"short eig work":   func() { be.SymEig(4, 4, x, 4, x, x, 4, make([]float64, be.SymEigWork(4, 4)-1)) },
		"short svd work":   func() { be.SVD(4, 5, x, 5, x, x, 5, make([]float64, be.SVDWork(4, 5)-1)) },
		"short qr work":    func() { be.QR(4, 5, x, 5, make([]float64, be.QRWork(4, 5)-1)) },
		"short vt":         func() { be.SVD(4, 5, x, 5, x, x[:19], 5, make([]float64, be.SVDWork(4, 5))) },
		"short qr":         func() { be.QR(4, 5, x[:19], 5, make([]float64, be.QRWork(4, 5))) },
		"negative qr":      func() { be.QR(-4, 5, x, 5, x) },
		"negative svd":     func() { be.SVD(4, -5, x, 5, x, x, 5, x) },
		"short s":          func() { be.SVD(4, 5, x, 5, x[:3], x, 5, make([]float64, be.SVDWork(4, 5))) },
		"negative eig":     func() { be.SymEig(-1, 0, x, 2, x, x, 2, x) },
		"negative k":       func() { be.SymEig(2, -1, x, 2, x, x, 2, make([]float64, 10000)) },
		"short w":          func() { be.SymEig(4, 1, x, 4, x[:3], x, 4, make([]float64, be.SymEigWork(4, 1))) },
		"short v":          func() { be.SymEig(4, 2, x, 4, x, x[:7], 4, make([]float64, be.SymEigWork(4, 2))) },
		"small ldv":        func() { be.SymEig(4, 2, x, 4, x, x, 3, make([]float64, be.SymEigWork(4, 2))) },
		"short gradient":   func() { be.Gradient(3, 2, 2, x, 2, x, 2, nil, 2, x[:3], 2, x, 2) },
		"short weights":    func() { be.Gradient(3, 2, 2, x, 2, x[:3], 2, nil, 2, x, 2, x, 2) },
		"negative targets": func() { be.Gradient(3, 2, -1, x, 2, x, 2, nil, 2, x, 2, x, 2) },
		"short L":          func() { be.Cholesky(5, x[:24], 5) },
		"short rows":       func() { be.CholeskySolve(5, 3, x, 5, x[:14], 5) },
	} {
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
