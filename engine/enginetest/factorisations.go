package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// limit is how many eps·dimension·norm a residual or a loss of orthogonality may
// be; LAPACK's own tests allow 30 to 50.
const limit = 10

// spectra are symmetric matrices that are hard on eigensolvers.
var spectra = []struct {
	name string
	at   func(n int) func(i, j int) float64
}{
	{"random", func(n int) func(i, j int) float64 {
		rng := random(uint64(n))
		x := make([]float64, n*n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return func(i, j int) float64 { return x[i*n+j] }
	}},
	{"zero", func(int) func(i, j int) float64 { return func(i, j int) float64 { return 0 } }},
	{"identity", func(int) func(i, j int) float64 { return diagonal(func(int) float64 { return 1 }) }},
	{"rank one", func(int) func(i, j int) float64 { return func(i, j int) float64 { return float64(i+1) * float64(j+1) } }},
	{"all equal", func(int) func(i, j int) float64 { return func(i, j int) float64 { return 1 } }},
	{"clustered", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1 + 1e-14*float64(i) })
	}},
	{"repeated", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return float64(i / 5) })
	}},
	{"graded", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return math.Pow(10, -30*float64(i)/float64(n)) })
	}},
	{"indefinite", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return float64(i) - float64(n)/2 })
	}},
	{"Wilkinson", func(n int) func(i, j int) float64 {
		return tridiagonal(func(i int) float64 { return math.Abs(float64(i) - float64(n-1)/2) }, func(int) float64 { return 1 })
	}},
	{"glued Wilkinson", func(int) func(i, j int) float64 {
		return tridiagonal(func(i int) float64 { return math.Abs(float64(i%21) - 10) }, func(i int) float64 {
			if i%21 == 20 {
				return 1e-8
			}
			return 1
		})
	}},
	{"1-2-1", func(int) func(i, j int) float64 {
		return tridiagonal(func(int) float64 { return 2 }, func(int) float64 { return -1 })
	}},
	{"arrowhead", func(int) func(i, j int) float64 {
		return func(i, j int) float64 {
			switch {
			case i == j:
				return float64(i)
			case i == 0 || j == 0:
				return 1
			}
			return 0
		}
	}},
	{"huge", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1e150 * float64(i+1) })
	}},
	{"tiny", func(n int) func(i, j int) float64 {
		return reflected(n, func(i int) float64 { return 1e-150 * float64(i+1) })
	}},
}

func diagonal(d func(i int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if i == j {
			return d(i)
		}
		return 0
	}
}

func tridiagonal(d, e func(i int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		switch i - j {
		case 0:
			return d(i)
		case 1:
			return e(j)
		case -1:
			return e(i)
		}
		return 0
	}
}

// reflected is (I − 2vvᵀ)·diag(d)·(I − 2vvᵀ) with v = 1/√n: the eigenvalues d in a
// full matrix.
func reflected(n int, d func(i int) float64) func(i, j int) float64 {
	total := 0.0
	for i := range n {
		total += d(i)
	}
	f := 2 / float64(n)
	return func(i, j int) float64 {
		v := f*f*total - f*(d(i)+d(j))
		if i == j {
			v += d(i)
		}
		return v
	}
}

func symEig(t *testing.T, be engine.Backend) {
	for _, n := range sizes {
		for s, sp := range spectra {
			at := sp.at(n)
			all := symEigOnce(t, be, fmt.Sprintf("SymEig(%s, n=%d, k=%[2]d)", sp.name, n), n, n, at)
			for _, k := range []int{0, min(1, n), n / 2} {
				if n > 33 && (s+k)%2 == 0 { // half of the large ones will do
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
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int{1, 3, 70} {
			for _, k := range []int{0, 1, n} {
				for _, where := range [][2]int{{0, 0}, {n - 1, 0}, {n - 1, n - 1}} {
					a := newMatrix(n, n, func(i, j int) float64 {
						if i == where[0] && j == where[1] {
							return bad
						}
						return 1 / float64(1+i+j)
					})
					w, v, work := newMatrix(1, n, nan), newMatrix(k, n, nan), newMatrix(1, be.SymEigWork(n, k), nan)
					if be.SymEig(a.view(), w.data, v.view(), work.data) {
						t.Errorf("SymEig(n=%d, k=%d) with %v at %v reports success", n, k, bad, where)
					}
				}
			}
		}
	}
}

// maxNorm is ‖A‖_∞ of the symmetric matrix whose lower triangle at describes.
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

// symEigOnce checks ‖A·v − w·v‖ of every pair and the vectors' orthogonality, and
// returns all eigenvalues. Those without vectors are checked by the trace alone.
func symEigOnce(t *testing.T, be engine.Backend, what string, n, k int, at func(i, j int) float64) *matrix {
	t.Helper()
	sym := func(i, j int) float64 { return at(max(i, j), min(i, j)) }
	a := newMatrix(n, n, lowerOnly(sym))
	w, v, work := newMatrix(1, n, nan), newMatrix(k, n, nan), newMatrix(1, be.SymEigWork(n, k), nan)
	if !be.SymEig(a.view(), w.data, v.view(), work.data) {
		t.Fatalf("%s: no convergence", what)
	}
	for _, m := range []*matrix{a, w, v, work} {
		m.guarded(t, what, anywhere)
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
	orthonormal(t, what, v)
	return w
}

// orthonormal checks V·Vᵀ = I.
func orthonormal(t *testing.T, what string, v *matrix) {
	t.Helper()
	for i := range v.r {
		for j := range i + 1 {
			var s sum
			for l := range v.c {
				s.add(v.at(i, l), v.at(j, l))
			}
			if i == j {
				s.add(-1, 1)
			}
			if !(math.Abs(s.value()) <= limit*eps*float64(v.c)) {
				t.Fatalf("%s: vectors %d and %d are off orthonormal by %g", what, i, j, s.value())
			}
		}
	}
}

func svd(t *testing.T, be engine.Backend) {
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
				svdOnce(t, be, fmt.Sprintf("SVD(%s, %d×%d)", name, m, n), m, n, f)
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, d := range [][2]int{{1, 1}, {2, 2}, {3, 40}, {40, 3}, {33, 33}} {
			m, n := d[0], d[1]
			a := newMatrix(m, n, func(i, j int) float64 {
				if i == m-1 && j == n-1 {
					return bad
				}
				return 1 / float64(1+i+j)
			})
			s, vt, work := newMatrix(1, min(m, n), nan), newMatrix(min(m, n), n, nan), newMatrix(1, be.SVDWork(m, n), nan)
			if be.SVD(a.view(), s.data, vt.view(), work.data) {
				t.Errorf("SVD(%d×%d) of a matrix with %v reports success", m, n, bad)
			}
		}
	}
}

// svdOnce checks A = U·Σ·Vᵀ without U, through the rows A·v_i of UΣ: ‖A·v_i‖ = σ_i,
// (A·v_i)·(A·v_j) = 0, V orthonormal and A = (A·V)·Vᵀ. If A + E is exactly
// U·Σ·Vᵀ, the first is off by ‖E‖ and the second by ‖E‖(σ_i + σ_j) at most.
func svdOnce(t *testing.T, be engine.Backend, what string, m, n int, f func(i, j int) float64) {
	t.Helper()
	q := min(m, n)
	a, s, vt, work := newMatrix(m, n, f), newMatrix(1, q, nan), newMatrix(q, n, nan), newMatrix(1, be.SVDWork(m, n), nan)
	if !be.SVD(a.view(), s.data, vt.view(), work.data) {
		t.Fatalf("%s: no convergence", what)
	}
	for _, m := range []*matrix{a, s, vt, work} {
		m.guarded(t, what, anywhere)
	}
	orthonormal(t, what, vt)
	norm := a.norm()
	if norm == 0 {
		norm = 1
	}
	tol := limit * eps * float64(max(m, n)) // of ‖A‖, by which all is divided
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

func cholesky(t *testing.T, be engine.Backend) {
	for _, n := range sizes {
		rng := random(uint64(n))
		x := make([]float64, n*n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		spd := func(i, j int) float64 {
			var s sum
			for l := range n {
				s.add(x[i*n+l], x[j*n+l])
			}
			if i == j {
				return s.value() + 1
			}
			return s.value()
		}
		a := newMatrix(n, n, lowerOnly(spd))
		what := fmt.Sprintf("Cholesky(%d)", n)
		if _, ok := be.Cholesky(a.view()); !ok {
			t.Fatalf("%s: not positive definite", what)
		}
		a.guarded(t, what, lower)
		for i := range n {
			for j := range i + 1 {
				var s sum
				for l := range j + 1 {
					s.add(a.at(i, l), a.at(j, l))
				}
				if !(math.Abs(s.value()-spd(i, j)) <= float64(n+2)*eps*(s.abs+math.Abs(spd(i, j)))) {
					t.Fatalf("%s: LLᵀ(%d, %d) is %g, want %g", what, i, j, s.value(), spd(i, j))
				}
			}
		}
		for _, nrhs := range []int{0, 1, 3, 8} {
			choleskySolve(t, be, a, nrhs)
		}
	}
	// A diagonal of 2 with one entry changed is no longer positive definite.
	for _, n := range []int{1, 2, 3, 64, 129} {
		for name, change := range map[string]struct {
			i, j int
			to   float64
		}{
			"indefinite":        {n - 1, 0, -3},
			"negative":          {n / 2, n / 2, -1},
			"singular":          {n - 1, n - 1, 0},
			"NaN first":         {0, 0, math.NaN()},
			"NaN last":          {n - 1, n - 1, math.NaN()},
			"NaN off-diagonal":  {n - 1, 0, math.NaN()},
			"infinite negative": {n - 1, n - 1, math.Inf(-1)},
			"infinite first":    {0, 0, math.Inf(1)},
			"infinite last":     {n - 1, n - 1, math.Inf(1)},
		} {
			a := newMatrix(n, n, lowerOnly(diagonal(func(int) float64 { return 2 })))
			a.data[change.i*a.ld+change.j] = change.to
			if pivot, ok := be.Cholesky(a.view()); ok || pivot != change.i {
				t.Errorf("Cholesky(%d), %s: reports pivot %d, success %v; pivot %d fails", n, name, pivot, ok, change.i)
			}
		}
	}
}

// choleskySolve checks L·Lᵀ·x = b for the L in l, row by row of B.
func choleskySolve(t *testing.T, be engine.Backend, l *matrix, nrhs int) {
	t.Helper()
	n := l.r
	before := append([]float64(nil), l.all...)
	b := newMatrix(nrhs, n, normal(random(uint64(n+nrhs))))
	be.CholeskySolve(l.view(), b.view())
	what := fmt.Sprintf("CholeskySolve(%d, %d)", n, nrhs)
	b.guarded(t, what, anywhere)
	for i, v := range l.all {
		if math.Float64bits(v) != math.Float64bits(before[i]) {
			t.Fatalf("%s: L was written", what)
		}
	}
	for q := range nrhs {
		y := make([]float64, n) // Lᵀx, and what of it is round-off
		abs := make([]float64, n)
		for i := range n {
			var s sum
			for k := i; k < n; k++ {
				s.add(l.at(k, i), b.at(q, k))
			}
			y[i], abs[i] = s.value(), s.abs
		}
		for i := range n {
			var s, scale sum
			for k := range i + 1 {
				s.add(l.at(i, k), y[k])
				scale.add(math.Abs(l.at(i, k)), abs[k])
			}
			if !(math.Abs(s.value()-b.was(q, i)) <= 4*float64(n+2)*eps*(scale.abs+math.Abs(b.was(q, i)))) {
				t.Fatalf("%s: LLᵀx is off by %g", what, s.value()-b.was(q, i))
			}
		}
	}
}

func qr(t *testing.T, be engine.Backend) {
	for i, m := range sizes {
		for _, n := range []int{m, pick(sizes, i+2), pick(sizes, 2*i+5)} {
			for name, f := range map[string]func(i, j int) float64{
				"random":   normal(random(uint64(m*1000 + n))),
				"zero":     func(int, int) float64 { return 0 },
				"rank one": func(i, j int) float64 { return float64(i+1) / float64(j+1) },
				"graded":   func(i, j int) float64 { return math.Pow(10, -float64(j)) * math.Cos(float64(i*n+j)) },
			} {
				qrOnce(t, be, fmt.Sprintf("QR(%s, %d×%d)", name, m, n), m, n, f)
			}
		}
	}
}

// qrOnce checks RᵀR = AᵀA, which is A = Q·R with some orthogonal Q. The error of
// Householder's QR is bounded column by column.
func qrOnce(t *testing.T, be engine.Backend, what string, m, n int, f func(i, j int) float64) {
	t.Helper()
	a, work := newMatrix(m, n, f), newMatrix(1, be.QRWork(m, n), nan)
	be.QR(a.view(), work.data)
	a.guarded(t, what, anywhere)
	work.guarded(t, what, anywhere)
	norms := make([]float64, n)
	for j := range n {
		for r := range m {
			norms[j] = math.Hypot(norms[j], a.was(r, j))
		}
	}
	for j := range n {
		for k := range j + 1 {
			var s sum
			for r := range m {
				s.add(a.was(r, j), a.was(r, k))
			}
			for r := range min(m, k+1) {
				s.add(-a.at(r, j), a.at(r, k))
			}
			if !(math.Abs(s.value()) <= limit*eps*float64(max(m, n))*norms[j]*norms[k]) {
				t.Fatalf("%s: (AᵀA − RᵀR)(%d, %d) is %g", what, j, k, s.value())
			}
		}
	}
}
