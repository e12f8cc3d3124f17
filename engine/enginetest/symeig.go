package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

func symEig(t *testing.T, be engine.Backend, fewer bool) {
	for i, n := range sizes {
		for s, sp := range spectra {
			if fewer && n > 33 && (i+s)%3 > 0 {
				continue
			}
			at := tabulate(n, sp.at(n))
			all := symEigOnce(t, be, fmt.Sprintf("SymEig(%s, n=%d, k=%[2]d)", sp.name, n), n, n, at)
			for _, k := range []int{0, min(1, n), n / 2} {
				if n > 33 && (s+k)%2 == 0 { // half of the large matrices is enough
					continue
				}
				what := fmt.Sprintf("SymEig(%s, n=%d, k=%d)", sp.name, n, k)
				some := symEigOnce(t, be, what, n, k, at)
				tol := limit * eps * float64(n) * maxNorm(n, at)
				for i := range n {
					if !(math.Abs(some.at(0, i)-all.at(0, i)) <= tol) {
						t.Fatalf("%s: eigenvalue %d is %v, with all vectors %v", what, i, some.at(0, i), all.at(0, i))
					}
				}
			}
		}
	}
	for _, n := range []int{1, 3, 70} {
		for _, k := range []int{0, 1, n} {
			spoiled(n, n, func(what string, a *matrix) {
				w, v, work := newMatrix(1, n, nan), newMatrix(k, n, nan), newMatrix(1, be.SymEigWork(n, k), nan)
				if be.SymEig(a.view(), w.data, v.view(), work.data) {
					t.Errorf("SymEig(n=%d, k=%d) with %s reports success", n, k, what)
				}
			})
		}
	}
}

// maxNorm returns the largest sum of the magnitudes in a row of a symmetric matrix. The function at returns the
// entries of its lower triangle.
func maxNorm(n int, at func(i, j int) float64) float64 {
	largest := 0.0
	for i := range n {
		row := 0.0
		for j := range n {
			row += math.Abs(at(max(i, j), min(i, j)))
		}
		largest = max(largest, row)
	}
	return largest
}

// symEigOnce computes all eigenvalues and k eigenvectors of a symmetric matrix A. It checks ‖A·v − w·v‖ for
// every eigenvector v with eigenvalue w, and the orthogonality of the eigenvectors. It compares the sum of all
// eigenvalues with the trace of A. It returns all eigenvalues.
func symEigOnce(t *testing.T, be engine.Backend, what string, n, k int, at func(i, j int) float64) *matrix {
	t.Helper()
	sym := func(i, j int) float64 { return at(max(i, j), min(i, j)) }
	a := newMatrix(n, n, lowerOnly(sym))
	w, v, work := newMatrix(1, n, nan), newMatrix(k, n, nan), newMatrix(1, be.SymEigWork(n, k), nan)
	if !be.SymEig(a.view(), w.data, v.view(), work.data) {
		t.Fatalf("%s: no convergence", what)
	}
	for _, m := range []*matrix{a, w, v, work} {
		m.checkGuards(t, what, anywhere)
	}
	tol := limit * eps * float64(n) * maxNorm(n, at)
	trace := 0.0
	for i := range n {
		trace += sym(i, i)/float64(n) - w.at(0, i)/float64(n)
		if i > 0 && !(w.at(0, i) <= w.at(0, i-1)) {
			t.Fatalf("%s: eigenvalues %v and %v do not descend", what, w.at(0, i-1), w.at(0, i))
		}
	}
	if !(math.Abs(trace) <= tol) {
		t.Fatalf("%s: the eigenvalues' mean is off the trace by %g", what, trace)
	}
	for i := range k {
		residual := 0.0
		for r := range n {
			var s sum
			for j := range n {
				s.add(sym(r, j), v.at(i, j))
			}
			s.add(-w.at(0, i), v.at(i, r))
			residual = math.Hypot(residual, s.value())
		}
		if !(residual <= tol) {
			t.Fatalf("%s: residual of pair %d is %g, allowed %g", what, i, residual, tol)
		}
	}
	checkOrthonormal(t, what, v)
	return w
}
