package purego

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// randomMatrix returns a matrix of normally distributed numbers. Its rows begin stride numbers apart in memory.
func randomMatrix(rng *rand.Rand, rows, cols, stride int) matrix.Matrix {
	x := matrix.Matrix{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, rows*stride)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	return x
}

// eachKernel runs a subtest f for each kernel of this machine. The backend of the subtest has small blocks, so that
// small matrices consist of several blocks.
func eachKernel(t *testing.T, f func(t *testing.T, be *Backend)) {
	for _, k := range Kernels() {
		t.Run(k.Name, func(t *testing.T) {
			be, err := New(Config{Kernel: k.Name, MC: 64, KC: 200, NC: 400})
			if err != nil {
				t.Fatal(err)
			}
			f(t, be)
		})
	}
}

// TestNarrowProducts checks that products have the same bits in two cases. A wide product reads a packed copy of A.
// A narrow product, with some of the columns of B, reads the rows of A directly.
func TestNarrowProducts(t *testing.T) {
	const m, n, k = 61, 1100, 460
	eachKernel(t, func(t *testing.T, be *Backend) {
		rng := rand.New(rand.NewPCG(3, 4))
		a := randomMatrix(rng, m, k, k+3)
		for _, transB := range []bool{false, true} {
			b := randomMatrix(rng, k, n, n)
			if transB {
				b = randomMatrix(rng, n, k, k)
			}
			wide := randomMatrix(rng, m, n, n)
			before := slices.Clone(wide.Data)
			be.Gemm(false, transB, -2, a, b, 1, wide)
			for _, columns := range [][2]int{{0, 100}, {3, 4}, {7, 260}, {1000, n}} {
				lo, hi := columns[0], columns[1]
				var part matrix.Matrix
				if transB {
					part = b.Slice(lo, hi, 0, k)
				} else {
					part = b.Slice(0, k, lo, hi)
				}
				got := matrix.Matrix{Rows: m, Cols: n, Stride: n, Data: slices.Clone(before)}
				be.Gemm(false, transB, -2, a, part, 1, got.Slice(0, m, lo, hi))
				for i := range m {
					want := slices.Clone(before[i*n : (i+1)*n])
					copy(want[lo:hi], wide.Row(i)[lo:hi])
					if !slices.Equal(got.Row(i), want) {
						t.Fatalf("transB %t, columns %d to %d: row %d has other bits", transB, lo, hi, i)
					}
				}
			}
		}
		isNarrow := func(n int) bool { return (&product{be: be, m: m, n: n, k: k}).readsRows() }
		if isNarrow(n) || !isNarrow(100) {
			t.Error("the products do not use both ways")
		}
	})
}

// TestNarrowTriangles checks that the lower triangle of A·Aᵀ, computed alone, has the bits of the whole product.
// The products are narrow and wide.
func TestNarrowTriangles(t *testing.T) {
	eachKernel(t, func(t *testing.T, be *Backend) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1, 50, 113, 1060} {
			const k = 210
			a := randomMatrix(rng, n, k, k)
			full, got := randomMatrix(rng, n, n, n), randomMatrix(rng, n, n, n+1)
			before := slices.Clone(got.Data)
			multiply(&product{
				be: be, m: n, n: n, k: k, a: operand{a, false}, b: operand{a, true}, c: full, alpha: 1,
			})
			first := n / 3
			be.Gram(first, a, got)
			for i := range n {
				want := slices.Clone(before[i*got.Stride : i*got.Stride+n])
				if i >= first {
					copy(want[:i+1], full.Row(i))
				}
				if !slices.Equal(got.Row(i), want) {
					t.Fatalf("n = %d: row %d differs", n, i)
				}
			}
		}
	})
}

// TestEvictedRows checks that a gradient has the same bits for different distances between rows in memory. At a
// distance of 4 KiB, rows evict each other from the cache, and the kernels may copy them first.
func TestEvictedRows(t *testing.T) {
	eachKernel(t, func(t *testing.T, be *Backend) {
		const n, d, targets = 150, 500, 20
		var want []float64
		for _, stride := range []int{d, 512, 1024} {
			rng := rand.New(rand.NewPCG(7, 8))
			x, g := randomMatrix(rng, targets, d, d), randomMatrix(rng, targets, d, d)
			rows := randomMatrix(rng, n, d, d)
			a := matrix.Matrix{Rows: n, Cols: d, Stride: stride, Data: make([]float64, n*stride)}
			for i := range n {
				copy(a.Row(i), rows.Row(i))
			}
			r := randomMatrix(rng, n, targets, targets)
			be.Gradient(a, x, matrix.Matrix{}, g, r)
			switch got := append(g.Data, r.Data...); {
			case want == nil:
				want = got
			case !slices.Equal(got, want):
				t.Errorf("stride %d: other bits", stride)
			}
		}
	})
}
