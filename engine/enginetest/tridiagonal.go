package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// tridiagonals tests Tridiagonal and ApplyQ.
func tridiagonals(t *testing.T, be engine.Backend, fewer bool) {
	for i, n := range sizes {
		for s, sp := range spectra {
			if fewer && n > 33 && (i+s)%3 > 0 {
				continue
			}
			tridiagonalOnce(t, be, fmt.Sprintf("Tridiagonal(%s, n=%d)", sp.name, n), n, tabulate(n, sp.at(n)))
		}
	}
	for _, n := range []int{1, 3, 70} {
		spoiled(n, n, func(what string, a *matrix) {
			d, e, tau, work := newMatrix(1, n, nan), newMatrix(1, n-1, nan), newMatrix(1, n, nan), newMatrix(1, be.TridiagonalWork(n), nan)
			if be.Tridiagonal(a.view(), d.data, e.data, tau.data, work.data) {
				t.Errorf("Tridiagonal(n=%d) with %s reports success", n, what)
			}
		})
	}
	tridiagonalShared(t, be)
}

// tridiagonalOnce checks Tridiagonal and ApplyQ for one symmetric n×n matrix A. It computes the matrix Q by
// applying ApplyQ to the unit vectors. It checks that Q is orthonormal and that Q·T·Qᵀ = A for the tridiagonal
// matrix T. It also checks that ApplyQ with trans inverts ApplyQ without trans.
func tridiagonalOnce(t *testing.T, be engine.Backend, what string, n int, at func(i, j int) float64) {
	t.Helper()
	sym := func(i, j int) float64 { return at(max(i, j), min(i, j)) }
	a := newMatrix(n, n, lowerOnly(sym))
	d, e, tau, work := newMatrix(1, n, nan), newMatrix(1, max(n-1, 0), nan), newMatrix(1, n, nan), newMatrix(1, be.TridiagonalWork(n), nan)
	if !be.Tridiagonal(a.view(), d.data, e.data, tau.data, work.data) {
		t.Fatalf("%s: fails", what)
	}
	for _, m := range []*matrix{a, d, e, tau, work} {
		m.checkGuards(t, what, anywhere)
	}
	q := newMatrix(n, n, diagonal(func(int) float64 { return 1 })) // row i becomes Q·eᵢ, column i of Q
	applyQ(t, be, what, false, a, tau, q)
	checkOrthonormal(t, what, q)
	tol := limit * eps * float64(n) * maxNorm(n, at)
	for i := range n { // A·Q = Q·T, column by column
		residual := 0.0
		for r := range n {
			var s sum
			for j := range n {
				s.add(sym(r, j), q.at(i, j))
			}
			s.add(-d.at(0, i), q.at(i, r))
			if i > 0 {
				s.add(-e.at(0, i-1), q.at(i-1, r))
			}
			if i+1 < n {
				s.add(-e.at(0, i), q.at(i+1, r))
			}
			residual = math.Hypot(residual, s.value())
		}
		if !(residual <= tol) {
			t.Fatalf("%s: A·Q − Q·T is %g in column %d, allowed %g", what, residual, i, tol)
		}
	}
	for _, k := range []int{0, 1, 5} {
		x := newMatrix(k, n, normal(random(uint64(n+k))))
		tol := limit * eps * float64(n+1) * x.norm()
		there := newMatrix(k, n, x.was)
		applyQ(t, be, what, true, a, tau, there)
		for i := range k {
			for j := range n { // (Qᵀx)ⱼ is the product of x with column j
				var s sum
				for r := range n {
					s.add(q.at(j, r), x.was(i, r))
				}
				if !(math.Abs(s.value()-there.at(i, j)) <= tol) {
					t.Fatalf("%s: component %d of Qᵀx is %g, want %g", what, j, there.at(i, j), s.value())
				}
			}
		}
		back := newMatrix(k, n, there.at)
		applyQ(t, be, what, false, a, tau, back)
		for i := range k {
			for j := range n {
				if !(math.Abs(back.at(i, j)-x.was(i, j)) <= tol) {
					t.Fatalf("%s: QQᵀx is %g at %d, x is %g", what, back.at(i, j), j, x.was(i, j))
				}
			}
		}
	}
}

// applyQ calls ApplyQ and checks that it writes only the matrix x and the workspace.
func applyQ(t *testing.T, be engine.Backend, what string, trans bool, a, tau, x *matrix) {
	t.Helper()
	before := append([]float64(nil), a.all...)
	work := newMatrix(1, be.ApplyQWork(x.c, x.r), nan)
	be.ApplyQ(trans, a.view(), tau.data, x.view(), work.data)
	x.checkGuards(t, what, anywhere)
	work.checkGuards(t, what, anywhere)
	for i, v := range a.all {
		if math.Float64bits(v) != math.Float64bits(before[i]) {
			t.Fatalf("%s: ApplyQ has written A", what)
		}
	}
}

// tridiagonalShared checks the decomposition A = Q·T·Qᵀ of Tridiagonal by products with a few vectors. The matrix A
// is large enough to use several goroutines.
func tridiagonalShared(t *testing.T, be engine.Backend) {
	const n, k = 901, 3
	rng := random(11)
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = rng.NormFloat64() / float64(1+i-j)
			a[j*n+i] = a[i*n+j]
		}
	}
	x := make([]float64, k*n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	want := workspace(k * n)
	be.Gemm(false, true, 1, engine.View(k, n, x), engine.View(n, n, a), 0, engine.View(k, n, want))
	d, e, tau := workspace(n), workspace(n-1), workspace(n)
	if !be.Tridiagonal(engine.View(n, n, a), d, e, tau, workspace(be.TridiagonalWork(n))) {
		t.Fatalf("Tridiagonal(%d) fails", n)
	}
	be.ApplyQ(true, engine.View(n, n, a), tau, engine.View(k, n, x), workspace(be.ApplyQWork(n, k)))
	z := workspace(k * n)
	for q := range k {
		row, out := x[q*n:(q+1)*n], z[q*n:(q+1)*n]
		for i := range n {
			out[i] = d[i] * row[i]
			if i > 0 {
				out[i] += e[i-1] * row[i-1]
			}
			if i+1 < n {
				out[i] += e[i] * row[i+1]
			}
		}
	}
	be.ApplyQ(false, engine.View(n, n, a), tau, engine.View(k, n, z), workspace(be.ApplyQWork(n, k)))
	for i, v := range z {
		if !(math.Abs(v-want[i]) <= 1e-10) {
			t.Fatalf("Tridiagonal(%d): element %d of QTQᵀx is %g, want %g", n, i, v, want[i])
		}
	}
}
