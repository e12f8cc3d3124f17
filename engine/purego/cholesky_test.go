package purego_test

import (
	"math"
	"slices"
	"testing"

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
	be.Syrk(false, n, n, 1, x, n, 0, a, n)
	for i := range n {
		a[i*n+i] += n
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	l := slices.Clone(a)
	if !be.Cholesky(n, l, n) {
		t.Fatal("not positive definite")
	}
	b := normals(nrhs * n)
	y := slices.Clone(b)
	be.CholeskySolve(n, nrhs, l, n, y, n)

	// The residual Y·A − B, for a condition number of about five.
	r := slices.Clone(b)
	be.Gemm(false, false, nrhs, n, n, 1, y, n, a, n, -1, r, n)
	for i, v := range r {
		if !(math.Abs(v) <= n*0x1p-52) {
			t.Fatalf("residual %d is %g", i, v)
		}
	}
	for i := range nrhs {
		be.CholeskySolve(n, 1, l, n, b[i*n:], n)
	}
	for i, v := range b {
		if !(math.Abs(v-y[i]) <= n*0x1p-52*math.Abs(v)+0x1p-52) {
			t.Fatalf("element %d is %g together and %g alone", i, y[i], v)
		}
	}
}
