package purego_test

import (
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// TestCholeskyLarge solves at an order of many blocks for more right-hand sides
// than a block takes, and for each alone.
func TestCholeskyLarge(t *testing.T) {
	be, err := purego.New(purego.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const n, nrhs = 400, 300
	x, a := normals(n*n), make([]float64, n*n)
	be.Syrk(false, 1, matrix.View(n, n, x), 0, matrix.View(n, n, a))
	for i := range n {
		a[i*n+i] += n
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	l := slices.Clone(a)
	if _, ok := be.Cholesky(matrix.View(n, n, l)); !ok {
		t.Fatal("not positive definite")
	}
	b := normals(nrhs * n)
	y := slices.Clone(b)
	be.CholeskySolve(matrix.View(n, n, l), matrix.View(nrhs, n, y))

	// The residual Y·A − B, for a condition number of about five.
	r := slices.Clone(b)
	be.Gemm(false, false, 1, matrix.View(nrhs, n, y), matrix.View(n, n, a), -1, matrix.View(nrhs, n, r))
	for i, v := range r {
		if !(math.Abs(v) <= n*0x1p-52) {
			t.Fatalf("residual %d is %g", i, v)
		}
	}
	for i := range nrhs {
		be.CholeskySolve(matrix.View(n, n, l), matrix.View(1, n, b[i*n:]))
	}
	for i, v := range b {
		if !(math.Abs(v-y[i]) <= n*0x1p-52*math.Abs(v)+0x1p-52) {
			t.Fatalf("element %d is %g together and %g alone", i, y[i], v)
		}
	}
}
