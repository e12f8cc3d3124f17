package enginetest

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// concurrent makes the same calls from many goroutines at the same time and checks each result.
func concurrent(t *testing.T, be engine.Backend) {
	const workers = 96
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			// Each goroutine has its own sub-test, because t.Fatal ends only the goroutine that calls it.
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				gradientOnce(t, be, 130, 33, 3, true, uint64(i))
				symEigOnce(t, be, "SymEig", 65, 20, spectra[0].at(65))
				svdOnce(t, be, "SVD", 24, 49, normal(random(uint64(i))))
			})
		})
	}
	wg.Wait()
}

// allocations checks that no operation allocates Go memory after its first call.
func allocations(t *testing.T, be engine.Backend) {
	long := 500
	if testing.Short() {
		long = 130
	}
	for name, o := range operations(t, be, 160, 96, 130, long) {
		o.run()
		if got := testing.AllocsPerRun(10, o.run); !(got == 0) {
			t.Errorf("%s allocates %v times a call", name, got)
		}
		if got := allocationsInParallel(20, o.run); !(got == 0) {
			t.Errorf("%s allocates %v times a call on all processors", name, got)
		}
	}
}

// allocationsInParallel counts the allocations of a call of f, like testing.AllocsPerRun. In contrast to that
// function it leaves GOMAXPROCS unchanged, so that f can use several threads. It returns the smallest of three
// counts, because allocations of the Go runtime are counted too.
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

// panics checks that operands of wrong shape cause a panic with a string, before any output is written.
func panics(t *testing.T, be engine.Backend) {
	x, long, none := make([]float64, 100), make([]float64, 10000), engine.Matrix{}
	v := func(r, c int) engine.Matrix { return engine.View(r, c, x) }
	short := func(r, c int) engine.Matrix { return engine.View(r, c, x[:r*c-1]) }
	gemm := func(tb bool, a, b, c engine.Matrix) func() { return func() { be.Gemm(false, tb, 1, a, b, 0, c) } }
	gradient := func(a, x, b, g, r engine.Matrix) func() { return func() { be.Gradient(a, x, b, g, r) } }
	eig := func(a engine.Matrix, w []float64, v engine.Matrix, work int) func() {
		return func() { be.SymEig(a, w, v, make([]float64, work)) }
	}
	svd := func(a engine.Matrix, s []float64, vt engine.Matrix, work int) func() {
		return func() { be.SVD(a, s, vt, make([]float64, work)) }
	}
	mustPanic(t, map[string]func(){
		"negative m":       gemm(false, v(-1, 2), v(2, 2), v(-1, 2)),
		"other k":          gemm(false, v(4, 3), v(2, 2), v(4, 2)),
		"other C":          func() { be.Gemm(true, false, 1, v(3, 4), v(3, 2), 0, v(2, 4)) },
		"small lda":        gemm(false, engine.Strided(2, 3, x, 2), v(3, 2), v(2, 2)),
		"short A":          gemm(false, short(4, 3), v(3, 2), v(4, 2)),
		"short B":          gemm(true, v(4, 3), short(2, 3), v(4, 2)),
		"short C":          gemm(false, v(4, 3), v(3, 2), short(4, 2)),
		"zero stride":      func() { be.Syrk(false, 1, engine.Strided(2, 2, x, 0), 0, v(2, 2)) },
		"short syrk":       func() { be.Syrk(true, 1, short(5, 3), 0, v(3, 3)) },
		"short gram":       func() { be.Gram(1, short(3, 5), v(3, 3)) },
		"first above n":    func() { be.Gram(4, v(3, 5), v(3, 3)) },
		"m above k":        func() { be.LeftMul(v(3, 2), v(2, 2), long) },
		"short W":          func() { be.LeftMul(short(2, 3), v(3, 2), long) },
		"short x":          func() { be.Gemv(false, 1, v(3, 3), x[:2], 0, x) },
		"short y":          func() { be.Gemv(true, 1, v(2, 3), x, 0, x[:2]) },
		"other weights":    gradient(v(3, 2), v(2, 3), none, v(2, 2), v(3, 2)),
		"other gradient":   gradient(v(3, 2), v(2, 2), none, v(1, 2), v(3, 2)),
		"other residual":   gradient(v(3, 2), v(2, 2), none, v(2, 2), v(4, 2)),
		"short residual":   gradient(v(3, 2), v(2, 2), none, v(2, 2), short(3, 2)),
		"short right side": gradient(v(3, 2), v(2, 2), short(3, 2), v(2, 2), v(3, 2)),
		"short gradient":   gradient(v(3, 2), v(2, 2), none, short(2, 2), v(3, 2)),
		"short weights":    gradient(v(3, 2), short(2, 2), none, v(2, 2), v(3, 2)),
		"negative targets": gradient(v(3, 2), v(-1, 2), none, v(-1, 2), engine.Strided(3, -1, x, 2)),

		"no square":              func() { be.Cholesky(v(3, 2)) },
		"short L":                func() { be.Cholesky(short(5, 5)) },
		"other rows of b":        func() { be.CholeskySolve(v(3, 3), v(2, 2)) },
		"short rows":             func() { be.CholeskySolve(v(5, 5), short(3, 5)) },
		"other vectors":          eig(v(4, 4), x, v(2, 3), be.SymEigWork(4, 2)),
		"k above n":              eig(v(2, 2), x, v(3, 2), 10000),
		"short eig work":         eig(v(4, 4), x, v(4, 4), be.SymEigWork(4, 4)-1),
		"negative eig":           eig(v(-1, -1), x, v(0, -1), 100),
		"negative k":             eig(v(2, 2), x, v(-1, 2), 10000),
		"short w":                eig(v(4, 4), x[:3], v(1, 4), be.SymEigWork(4, 1)),
		"short v":                eig(v(4, 4), x, short(2, 4), be.SymEigWork(4, 2)),
		"small ldv":              eig(v(4, 4), x, engine.Strided(2, 4, x, 3), be.SymEigWork(4, 2)),
		"other vt":               svd(v(4, 5), x, v(5, 5), be.SVDWork(4, 5)),
		"short svd work":         svd(v(4, 5), x, v(4, 5), be.SVDWork(4, 5)-1),
		"short vt":               svd(v(4, 5), x, short(4, 5), be.SVDWork(4, 5)),
		"negative svd":           svd(v(4, -5), x, v(-5, -5), 100),
		"short s":                svd(v(4, 5), x[:3], v(4, 5), be.SVDWork(4, 5)),
		"short qr work":          func() { be.QR(v(4, 5), make([]float64, be.QRWork(4, 5)-1)) },
		"short qr":               func() { be.QR(short(4, 5), make([]float64, be.QRWork(4, 5))) },
		"negative qr":            func() { be.QR(v(-4, 5), x) },
		"short tridiagonal work": func() { be.Tridiagonal(v(4, 4), x, x, x, make([]float64, be.TridiagonalWork(4)-1)) },
		"short diagonal":         func() { be.Tridiagonal(v(4, 4), x[:3], x, x, long) },
		"short beside":           func() { be.Tridiagonal(v(4, 4), x, x[:2], x, long) },
		"short tau":              func() { be.Tridiagonal(v(4, 4), x, x, x[:3], long) },
		"no square turn":         func() { be.ApplyQ(false, v(4, 3), x, v(2, 4), long) },
		"other turned":           func() { be.ApplyQ(false, v(4, 4), x, v(2, 3), long) },
		"short turn tau":         func() { be.ApplyQ(true, v(4, 4), x[:3], v(2, 4), long) },
		"short turn work":        func() { be.ApplyQ(true, v(4, 4), x, v(2, 4), make([]float64, be.ApplyQWork(4, 2)-1)) },
	})
}

// mustPanic checks that each call panics with a string.
func mustPanic(t *testing.T, calls map[string]func()) {
	t.Helper()
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
