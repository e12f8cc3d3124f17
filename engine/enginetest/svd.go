package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

func svd(t *testing.T, be engine.Backend, fewer bool) {
	for i, m := range sizes {
		for _, n := range []int{m, pick(sizes, i+3), pick(sizes, 2*i+1)} {
			if m*n > 97*97 {
				continue
			}
			for name, f := range map[string]func(i, j int) float64{
				"random":   normal(random(uint64(m*1000 + n))),
				"zero":     func(int, int) float64 { return 0 },
				"rank one": func(i, j int) float64 { return float64(i+1) / float64(j+1) },
				"graded": func(i, j int) float64 {
					return math.Pow(10, -float64(2*i+j)/4) * math.Cos(float64(i*n+j))
				},
				"1e150":  func(i, j int) float64 { return 1e150 * math.Sin(float64(i*n+j)) },
				"1e-150": func(i, j int) float64 { return 1e-150 * math.Sin(float64(i*n+j)) },
			} {
				if fewer && m*n > 49*49 && name != "random" && name != "graded" {
					continue
				}
				svdOnce(t, be, fmt.Sprintf("SVD(%s, %d×%d)", name, m, n), m, n, f)
			}
		}
	}
	for _, d := range [][2]int{{1, 1}, {2, 2}, {3, 40}, {40, 3}, {33, 33}} {
		m, n := d[0], d[1]
		spoiled(m, n, func(what string, a *matrix) {
			s, vt, work := newMatrix(1, min(m, n), nan), newMatrix(min(m, n), n, nan), newMatrix(1, be.SVDWork(m, n), nan)
			if be.SVD(a.view(), s.data, vt.view(), work.data) {
				t.Errorf("SVD(%d×%d) with %s reports success", m, n, what)
			}
		})
	}
}

// svdOnce checks the singular values σ_i and right singular vectors v_i of an m×n matrix A. It does not compute the
// left singular vectors U of A = U·Σ·Vᵀ. The columns of V are the vectors v_i. It checks that
//
//   - the vectors A·v_i satisfy ‖A·v_i‖ = σ_i and (A·v_i)·(A·v_j) = 0
//   - the vectors v_i are orthonormal
//   - A = (A·V)·Vᵀ
//
// If A + E is exactly U·Σ·Vᵀ for an error E, the first two equations have errors of at most ‖E‖ and
// ‖E‖(σ_i + σ_j).
func svdOnce(t *testing.T, be engine.Backend, what string, m, n int, f func(i, j int) float64) {
	t.Helper()
	q := min(m, n)
	a, s, vt, work := newMatrix(m, n, f), newMatrix(1, q, nan), newMatrix(q, n, nan), newMatrix(1, be.SVDWork(m, n), nan)
	if !be.SVD(a.view(), s.data, vt.view(), work.data) {
		t.Fatalf("%s: no convergence", what)
	}
	for _, m := range []*matrix{a, s, vt, work} {
		m.checkGuards(t, what, anywhere)
	}
	checkOrthonormal(t, what, vt)
	norm := a.norm()
	if norm == 0 {
		norm = 1
	}
	tol := limit * eps * float64(max(m, n)) // relative to ‖A‖
	av := make([][]float64, q)
	for i := range q {
		if i > 0 && !(s.at(0, i) <= s.at(0, i-1)) || !(s.at(0, i) >= 0) {
			t.Fatalf("%s: singular values do not descend to 0 at %d", what, i)
		}
		av[i] = make([]float64, m)
		length := 0.0
		for r := range m {
			var p sum
			for l := range n {
				p.add(a.was(r, l)/norm, vt.at(i, l))
			}
			av[i][r] = p.value()
			length = math.Hypot(length, p.value())
		}
		if off := length - s.at(0, i)/norm; !(math.Abs(off) <= tol) {
			t.Fatalf("%s: ‖Av‖ is off σ_%d = %g by %g‖A‖", what, i, s.at(0, i), off)
		}
		for j := range i {
			var p sum
			for r := range m {
				p.add(av[i][r], av[j][r])
			}
			if !(math.Abs(p.value()) <= tol*((s.at(0, i)+s.at(0, j))/norm+tol)) {
				t.Fatalf("%s: (Av_%d)·(Av_%d) is %g‖A‖²", what, i, j, p.value())
			}
		}
	}
	for r := range m {
		off := 0.0
		for l := range n {
			var p sum
			p.add(a.was(r, l)/norm, 1)
			for i := range q {
				p.add(-av[i][r], vt.at(i, l))
			}
			off = math.Hypot(off, p.value())
		}
		if !(off <= tol) {
			t.Fatalf("%s: row %d is off the span of V by %g‖A‖", what, r, off)
		}
	}
}
