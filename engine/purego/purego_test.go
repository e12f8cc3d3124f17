package purego_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// TestRepeatable runs operations for GOMAXPROCS 1, 2 and 4, three times each or, with
// -short, once: results must be bitwise the same.
func TestRepeatable(t *testing.T) {
	be, err := purego.New(purego.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	const m, n, k = 300, 200, 150
	a, b, c, sym, tall := fill(m*k), fill(k*n), fill(m*n), fill(m*m), fill(1000*1000)
	work := func(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	times := 3
	if testing.Short() {
		times = 1
	}
	for _, op := range []struct {
		name string
		run  func() []float64
	}{
		{"Gemm", func() []float64 {
			c := slices.Clone(c)
			be.Gemm(false, false, 0.7, matrix.View(m, k, a), matrix.View(k, n, b), -1, matrix.View(m, n, c))
			return c
		}},
		{"Syrk", func() []float64 {
			c := slices.Clone(sym)
			be.Syrk(false, 0.7, matrix.View(m, k, a), -1, matrix.View(m, m, c))
			return c
		}},
		{"Syrk trans", func() []float64 {
			c := slices.Clone(sym)
			be.Syrk(true, 1, matrix.View(m, k, a), 0, matrix.Strided(k, k, c, m))
			return c
		}},
		{"Gram", func() []float64 {
			c := slices.Clone(sym)
			be.Gram(m/3, matrix.View(m, k, a), matrix.View(m, m, c))
			return c
		}},
		{"LeftMul", func() []float64 {
			b := slices.Clone(b)
			be.LeftMul(matrix.View(k/2, k, a), matrix.View(k, n, b), nil)
			return b[:k/2*n]
		}},
		{"Gemv", func() []float64 {
			y, z := work(1000), work(1000)
			be.Gemv(false, 1, matrix.View(1000, 1000, tall), tall, 0, y)
			be.Gemv(true, 1, matrix.View(1000, 1000, tall), tall, 0, z)
			return append(y, z...)
		}},
		{"Gradient", func() []float64 {
			g, r := make([]float64, 3*k), work(m*3)
			be.Gradient(matrix.View(m, k, a), matrix.Strided(3, k, b, n), matrix.Strided(m, 3, c, n), matrix.View(3, k, g), matrix.View(m, 3, r))
			return append(g, r...)
		}},
		{"GradientTwofold", func() []float64 {
			sums := func(rows int) matrix.Twofold {
				return matrix.Twofold{Hi: matrix.View(rows, 3, make([]float64, rows*3)), Lo: matrix.View(rows, 3, make([]float64, rows*3)), Err: matrix.View(rows, 3, make([]float64, rows*3))}
			}
			turned := func(m matrix.Matrix) matrix.Matrix { return matrix.View(3, 500, m.Data) }
			g, r := sums(500), sums(1000)
			be.GradientTwofold(matrix.Strided(1000, 500, tall, 1000), matrix.Strided(3, 500, tall, 1000), matrix.Strided(1000, 3, tall, 1000), nil, nil, matrix.Twofold{Hi: turned(g.Hi), Lo: turned(g.Lo), Err: turned(g.Err)}, r)
			return slices.Concat(g.Hi.Data, g.Lo.Data, g.Err.Data, r.Hi.Data, r.Lo.Data, r.Err.Data)
		}},
		{"SymEig", func() []float64 {
			a, w, v := slices.Clone(sym), work(m), work(n*m)
			if !be.SymEig(matrix.View(m, m, a), w, matrix.View(n, m, v), work(be.SymEigWork(m, n))) {
				t.Fatal("no convergence")
			}
			return append(w, v...)
		}},
		{"SVD", func() []float64 {
			a, s, vt := slices.Clone(b), work(k), work(k*n)
			if !be.SVD(matrix.View(k, n, a), s, matrix.View(min(k, n), n, vt), work(be.SVDWork(k, n))) {
				t.Fatal("no convergence")
			}
			return append(s, vt...)
		}},
		{"QR", func() []float64 {
			a := slices.Clone(a)
			be.QR(matrix.View(m, k, a), work(be.QRWork(m, k)))
			return a[:k*k]
		}},
		{"Cholesky", func() []float64 {
			c := slices.Clone(sym)
			for i := range m {
				c[i*m+i] += 100
			}
			if _, ok := be.Cholesky(matrix.View(m, m, c)); !ok {
				t.Fatal("not positive definite")
			}
			return c
		}},
	} {
		t.Run(op.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			want := op.run()
			for _, procs := range []int{1, 2, 4} {
				runtime.GOMAXPROCS(procs)
				for range times {
					if what := differ(op.run(), want); what != "" {
						t.Fatalf("GOMAXPROCS %d: %s", procs, what)
					}
				}
			}
		})
	}
}

// differ names the first element that is not bitwise the same, "" if all are.
func differ(got, want []float64) string {
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			return fmt.Sprintf("element %d is %x, was %x", i, got[i], want[i])
		}
	}
	return ""
}

func TestNew(t *testing.T) {
	for _, cfg := range []purego.Config{{Kernel: "mmx"}, {MC: -1}, {KC: -1}, {NC: -1}, {MC: math.MaxInt}, {KC: math.MaxInt}, {NC: math.MaxInt}} {
		if be, err := purego.New(cfg); err == nil || be != nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
}

// TestKernels runs the products of every edge on each kernel of the machine, and the suite on
// the second, with blocks so small that every product has several: enginetest's own test has the
// first with blocks of the usual size. Of others what certificates are made of is held to all the
// same. Where FDRIDGE_THOROUGH is set every kernel has the suite in blocks of both sizes.
func TestKernels(t *testing.T) {
	thorough := os.Getenv("FDRIDGE_THOROUGH") != ""
	kernels := purego.Kernels()
	for i, k := range kernels {
		backend := func(cfg purego.Config) *purego.Backend {
			be, err := purego.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return be
		}
		suite := enginetest.RunKernel
		if thorough && !testing.Short() {
			suite = enginetest.Run
		}
		usual := backend(purego.Config{Kernel: k.Name})
		if thorough || testing.Short() {
			t.Run(k.Name, func(t *testing.T) { suite(t, usual) })
		}
		if i > 1 && !thorough && !testing.Short() {
			t.Run(k.Name+"/promises", func(t *testing.T) { enginetest.Promises(t, usual) })
		}
		t.Run(k.Name+"/edges", func(t *testing.T) { enginetest.Edges(t, usual, 2*k.MR+1, 2*k.NR+1) })
		if !testing.Short() && (i == min(1, len(kernels)-1) || thorough) {
			small := backend(purego.Config{Kernel: k.Name, MC: 1, KC: 7, NC: 1})
			t.Run(k.Name+"/small", func(t *testing.T) { suite(t, small) })
		}
	}
}
