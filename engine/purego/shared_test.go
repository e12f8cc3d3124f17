package purego

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// TestSharedBlocks checks that parts that share packed blocks of B give the bits of one thread, for several blocks in
// both directions.
func TestSharedBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	be, err := New(Config{MC: 64, KC: 200, NC: 400})
	if err != nil {
		t.Fatal(err)
	}
	const m, n, k = 701, 750, 460
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(rows, cols int) matrix.Matrix {
		x := matrix.Matrix{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float64, rows*(cols+3))}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		return x
	}
	a, at, b, bt, c := random(m, k), random(k, m), random(k, n), random(n, k), random(m, m+n)
	shared := 0
	for name, f := range map[string]func(c matrix.Matrix){
		"A·B":          func(c matrix.Matrix) { be.Gemm(false, false, 1, a, b, 1, c.Slice(0, m, 0, n)) },
		"A·Bᵀ":         func(c matrix.Matrix) { be.Gemm(false, true, -2, a, bt, 0, c.Slice(0, m, 0, n)) },
		"Aᵀ·B":         func(c matrix.Matrix) { be.Gemm(true, false, 1, at, b, 3, c.Slice(0, m, 0, n)) },
		"Aᵀ·A":         func(c matrix.Matrix) { be.Syrk(true, 1, at, 1, c.Slice(0, m, 0, m)) },
		"A·Aᵀ":         func(c matrix.Matrix) { be.Syrk(false, 1, a, 0, c.Slice(0, m, 0, m)) },
		"rows of A·Aᵀ": func(c matrix.Matrix) { be.Gram(300, a, c.Slice(0, m, 0, m)) },
	} {
		var want []float64
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			got := matrix.Matrix{Rows: m, Cols: m + n, Stride: c.Stride, Data: slices.Clone(c.Data)}
			f(got)
			if threads == 1 {
				want = got.Data
			} else if !slices.Equal(got.Data, want) {
				t.Errorf("%s: other bits with %d threads", name, threads)
			}
		}
	}
	for _, p := range []product{{be: be, m: m, n: n, k: k}, {be: be, m: m, n: m, k: k, triangle: triangle{lower: true}}} {
		team := productTeam{product: p}
		team.divide(2)
		if team.packs > 0 {
			shared++
		}
	}
	if shared != 2 {
		t.Errorf("%d of 2 products share blocks", shared)
	}
}
