package enginetest

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// reproducible checks backends whose field Accuracy.Reproducible is true. They must give the same bits for any
// number of threads, and in repeated calls.
func reproducible(t *testing.T, be engine.Backend) {
	if !be.Accuracy().Reproducible {
		t.Skip("not promised")
	}
	threads := []int{1, 2, 3, 4, 8}
	if testing.Short() {
		threads = []int{2, 4}
	}
	for name, o := range operations(t, be, 300, 200, 150, 1000) {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			o.run()
			want := slices.Concat(o.out...)
			if i := slices.IndexFunc(want, math.IsNaN); i >= 0 {
				t.Fatalf("element %d is NaN", i)
			}
			for _, n := range threads {
				runtime.GOMAXPROCS(n)
				o.run()
				if !slices.Equal(slices.Concat(o.out...), want) {
					t.Fatalf("GOMAXPROCS %d: other bits", n)
				}
			}
		})
	}
}

// An invocation is a function run that calls the backend with fixed operands, and the slices out with its results.
type invocation struct {
	run func()
	out [][]float64
}

// operations returns one call of each operation by name. Most operands have dimensions m, n and k. Some operations
// use several threads only for large operands, so the dimensions of their operands are about largeOrder.
func operations(t *testing.T, be engine.Backend, m, n, k, largeOrder int) map[string]invocation {
	rng := random(1)
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	a, b, x, tall, spd := fill(m*k), fill(k*n), fill(m*max(m, n, k)), fill(largeOrder*largeOrder), fill(m*m)
	for i := range m {
		spd[i*m+i] += float64(m)
	}
	rows, cols, large, view := engine.View(m, k, a), engine.View(k, n, b), engine.View(largeOrder, largeOrder, tall), engine.View
	// on returns an invocation that calls f with copies of args. The copies are also its results.
	on := func(f func(c [][]float64), args ...[]float64) invocation {
		c := make([][]float64, len(args))
		for i := range c {
			c[i] = slices.Clone(args[i])
		}
		return invocation{func() {
			for i := range c {
				copy(c[i], args[i])
			}
			f(c)
		}, c}
	}
	gemm := func(tb bool, a, b engine.Matrix, r, c int) invocation {
		return on(func(out [][]float64) { be.Gemm(false, tb, 0.7, a, b, -1, view(r, c, out[0])) }, x[:r*c])
	}
	gradient := func(q int) invocation {
		return on(func(c [][]float64) {
			be.Gradient(rows, view(q, k, b), view(m, q, x), view(q, k, c[0]), view(m, q, c[1]))
		}, a[:q*k], workspace(m*q))
	}
	twofold := func(rows, cols int, c [][]float64) engine.Twofold {
		return engine.Twofold{Hi: view(rows, cols, c[0]), Lo: view(rows, cols, c[1]), Err: view(rows, cols, c[2])}
	}
	must := func(ok bool) {
		if !ok {
			t.Error("reports failure")
		}
	}
	order, half := largeOrder*4/5, largeOrder/2
	eig, sv, q := workspace(be.SymEigWork(m, n)), workspace(be.SVDWork(k, n)), workspace(be.QRWork(m, k))
	tri, turned, left := workspace(be.TridiagonalWork(order)), workspace(be.ApplyQWork(order, 2)), workspace(be.LeftMulWork(k/2, n, k))
	zeros := func(n int) []float64 { return make([]float64, n) }
	cos := newCosineCase(rng, m, 20, k)
	sparse := toCSR(cos.x.view(), noZeros)
	return map[string]invocation{
		"Gemm":               gemm(false, rows, cols, m, n),
		"Gemm T":             gemm(true, rows, rows, m, m),
		"Gemm of few rows":   gemm(false, view(9, k, a), cols, 9, n),
		"Gemm T of few rows": gemm(true, view(9, k, a), rows, 9, m),
		"Syrk":               on(func(c [][]float64) { be.Syrk(false, 0.7, rows, -1, view(m, m, c[0])) }, x[:m*m]),
		"Syrk T": on(
			func(c [][]float64) { be.Syrk(true, 1, rows, 0, engine.Strided(k, k, c[0], m)) },
			x[:m*k],
		),
		"Gram":    on(func(c [][]float64) { be.Gram(m/3, rows, view(m, m, c[0])) }, x[:m*m]),
		"LeftMul": on(func(c [][]float64) { be.LeftMul(view(k/2, k, a), view(k, n, c[0]), left) }, b),
		"Gemv": on(
			func(c [][]float64) { be.Gemv(false, 1, large, tall, 0, c[0]) },
			workspace(largeOrder),
		),
		"Gemv T":           on(func(c [][]float64) { be.Gemv(true, 1, large, tall, 0, c[0]) }, workspace(largeOrder)),
		"Gradient":         gradient(3),
		"Gradient of many": gradient(16),
		"GradientTwofold": on(func(c [][]float64) {
			be.GradientTwofold(
				engine.Strided(largeOrder, half, tall, largeOrder),
				engine.Strided(3, half, tall, largeOrder),
				engine.Strided(largeOrder, 3, tall, largeOrder),
				nil,
				nil,
				twofold(3, half, c[:3]),
				twofold(largeOrder, 3, c[3:]),
			)
		}, zeros(3*half), zeros(3*half), zeros(3*half), zeros(3*largeOrder), zeros(3*largeOrder), zeros(3*largeOrder)),
		"Cosines": on(func(c [][]float64) { must(be.Cosines(cos.m, cos.x.view(), view(m, k, c[0]))) }, workspace(m*k)),
		"SparseCosines": on(func(c [][]float64) {
			must(be.SparseCosines(cos.m, sparse.RowPtr, sparse.ColIdx, sparse.Val, view(m, k, c[0])))
		}, workspace(m*k)),
		"SymEig": on(
			func(c [][]float64) { must(be.SymEig(view(m, m, c[0]), c[1], view(n, m, c[2]), eig)) },
			spd,
			workspace(m),
			workspace(n*m),
		),
		"Tridiagonal": on(func(c [][]float64) {
			must(be.Tridiagonal(view(order, order, c[0]), c[1], c[2], c[3], tri))
			be.ApplyQ(true, view(order, order, c[0]), c[3], view(2, order, c[4]), turned)
		}, tall[:order*order], workspace(order), workspace(order-1), workspace(order), tall[:2*order]),
		"SVD": on(
			func(c [][]float64) { must(be.SVD(view(k, n, c[0]), c[1], view(min(k, n), n, c[2]), sv)) },
			b,
			workspace(min(k, n)),
			workspace(min(k, n)*n),
		),
		"QR": on(func(c [][]float64) { be.QR(view(m, k, c[0]), q) }, a),
		"Cholesky": on(func(c [][]float64) {
			_, ok := be.Cholesky(view(m, m, c[0]))
			must(ok)
			be.CholeskySolve(view(m, m, c[0]), view(2, m, c[1]))
		}, spd, x[:2*m]),
	}
}
