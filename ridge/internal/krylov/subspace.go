package krylov

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// errNoConvergence is [engine.ErrNoConvergence] with the prefix of package ridge.
var errNoConvergence = fmt.Errorf("ridge: %w", engine.ErrNoConvergence)

// A subspace is spanned by the rows of a k×d matrix Q, which are orthonormal up to round-off. It stores the
// products of the rows with K = AᵀA. Let T = QKQᵀ. A subspace solves systems with T + γI for many penalties γ.
//
// SᵀΘS is the eigendecomposition of the first n = eigenRows rows and columns of T. It was computed before the last
// w = k − n rows were added. Elimination of the first n rows leaves the Schur complement M:
//
//	T = ⎡SᵀΘS  Fᵀ⎤        M = C + γI − FSᵀ(Θ+γI)⁻¹SFᵀ
//	    ⎣F     C ⎦        (C is w×w, F is w×n).
type subspace struct {
	be   engine.Backend
	d, k int
	// most is the capacity in rows. q and kq have room for further rows, which are not in the subspace.
	most int
	q    []float64 // Q, d columns
	kq   []float64
	t    []float64 // T, both triangles, leading dimension most

	last      int       // number of rows added by the last grow
	eigenRows int       // number n of rows whose part of T is decomposed as SᵀΘS
	theta     []float64 // Θ, descending
	s         []float64 // S, n×n, with the eigenvectors as rows
	work      subspaceWork
}

// subspaceWork is workspace whose contents do not matter between calls.
type subspaceWork struct {
	eigen      []float64 // workspace of SymEig
	t          []float64 // copy of T for SymEig
	h, f       []float64 // products with Sᵀ
	m          []float64 // Gram matrices and Schur complements
	projection []float64 // projections of vectors onto the subspace
}

// schurRows is the largest number of rows of the Schur complement M in [subspace].
const schurRows = 64

// newSubspace returns an empty subspace with room for capacity rows of length d. Its memory has room for extra more
// rows, for vectors that are not in the subspace. The argument extra is also the largest number of vectors in a
// call of propose or solve.
func newSubspace(be engine.Backend, d, capacity, extra int) *subspace {
	n := max(capacity, extra)
	wide := max(extra, BlockRows)
	return &subspace{
		be:    be,
		d:     d,
		most:  capacity,
		q:     make([]float64, (capacity+extra)*d),
		kq:    make([]float64, (capacity+extra)*d),
		t:     make([]float64, capacity*capacity),
		s:     make([]float64, capacity*capacity),
		theta: make([]float64, capacity),
		work: subspaceWork{
			eigen:      make([]float64, be.SymEigWork(n, n)),
			t:          make([]float64, capacity*capacity),
			h:          make([]float64, capacity*wide),
			f:          make([]float64, 2*schurRows*capacity),
			m:          make([]float64, max(schurRows*schurRows, extra*(2*extra+1))),
			projection: make([]float64, wide*d),
		},
	}
}

// grow adds b rows to the subspace, which are the next rows of s.q. Their products with AᵀA must already be in
// s.kq.
func (s *subspace) grow(b int) error {
	if b == 0 {
		return nil
	}
	k := s.k
	n := s.k + b
	s.be.Gemm(
		false,
		true,
		1,
		engine.View(b, s.d, s.kq[k*s.d:]),
		engine.View(n, s.d, s.q),
		0,
		engine.Strided(b, n, s.t[k*s.most:], s.most),
	)
	for i := k; i < n; i++ {
		for j := range i {
			s.t[j*s.most+i] = s.t[i*s.most+j]
		}
	}
	s.k, s.last = n, b
	if s.k-s.eigenRows > schurRows {
		return s.decompose()
	}
	return nil
}

// decompose computes the eigendecomposition of the matrix T in [subspace]. T is positive semidefinite. Therefore
// negative eigenvalues are round-off, and decompose sets them to zero.
func (s *subspace) decompose() error {
	copyMatrix(s.k, s.k, s.work.t, s.k, s.t, s.most)
	t := engine.View(s.k, s.k, s.work.t)
	vectors := engine.View(s.k, s.k, s.s)
	if !s.be.SymEig(t, s.theta, vectors, s.work.eigen) {
		return errNoConvergence
	}
	for i, v := range s.theta[:s.k] {
		s.theta[i] = math.Max(v, 0)
	}
	s.eigenRows = s.k
	return nil
}

// solve multiplies row i of u by (T + gamma[i]·I)⁻¹, for the matrix T in [subspace], and writes the product to
// row i of y. The argument u and y have q rows, with the row stride s.most.
func (s *subspace) solve(q int, gamma, u, y []float64) error {
	if s.eliminate(q, gamma, u, y) {
		return nil
	}
	// Because of round-off and a tiny penalty, the Schur complement is not positive definite.
	if err := s.decompose(); err != nil {
		return err
	}
	s.eliminate(q, gamma, u, y)
	return nil
}

// eliminate does what solve does, by Schur complements. It returns false if a Schur complement is not positive
// definite.
func (s *subspace) eliminate(q int, gamma, u, y []float64) bool {
	n := s.eigenRows
	w := s.k - s.eigenRows
	ld := max(s.eigenRows, 1)
	f := s.work.f[:w*ld]
	scaled := s.work.f[w*ld : 2*w*ld]
	s.be.Gemm(
		false,
		true,
		1,
		engine.Strided(q, n, u, s.most),
		engine.Strided(n, n, s.s, ld),
		0,
		engine.Strided(q, n, s.work.h, ld),
	)
	s.be.Gemm(
		false,
		true,
		1,
		engine.Strided(w, n, s.t[n*s.most:], s.most),
		engine.Strided(n, n, s.s, ld),
		0,
		engine.Strided(w, n, f, ld),
	)
	for i := range q {
		h := s.work.h[i*ld : i*ld+n]
		z := y[i*s.most+n : i*s.most+s.k]
		copy(z, u[i*s.most+n:])
		for j := range h {
			h[j] /= s.theta[j] + gamma[i]
		}
		if w == 0 {
			continue
		}
		for l := range w {
			row := f[l*ld : l*ld+n]
			z[l] -= vec.Dot(row, h)
			for j, v := range row {
				scaled[l*ld+j] = v / math.Sqrt(s.theta[j]+gamma[i])
			}
		}
		if !s.solveSchur(gamma[i], scaled, z) {
			return false
		}
		for l, v := range z {
			for j, e := range f[l*ld : l*ld+n] {
				h[j] -= v * e / (s.theta[j] + gamma[i])
			}
		}
	}
	s.be.Gemm(
		false,
		false,
		1,
		engine.Strided(q, n, s.work.h, ld),
		engine.Strided(n, n, s.s, ld),
		0,
		engine.Strided(q, n, y, s.most),
	)
	return true
}

// solveSchur overwrites z with M⁻¹z, where M is the Schur complement in [subspace]. In the notation of [subspace],
// f is FSᵀ(Θ+γI)^{-½}. If M is not positive definite, solveSchur returns false.
func (s *subspace) solveSchur(gamma float64, f, z []float64) bool {
	n := s.eigenRows
	w := s.k - s.eigenRows
	copyMatrix(w, w, s.work.m, w, s.t[n*s.most+n:], s.most)
	for l := range w {
		s.work.m[l*w+l] += gamma
	}
	rows := engine.View(w, n, f)
	s.be.Syrk(false, -1, rows, 1, engine.View(w, w, s.work.m))
	if _, ok := s.be.Cholesky(engine.View(w, w, s.work.m)); !ok {
		return false
	}
	s.be.CholeskySolve(engine.View(w, w, s.work.m), engine.View(1, w, z))
	return true
}

const (
	// newDirection is a ratio of singular values. The method propose leaves out directions whose singular value is at
	// most newDirection times the largest one.
	newDirection = 3e-5
	// roundOff is a norm. If the part of a unit vector orthogonal to the subspace has at most this norm, it counts as
	// zero.
	roundOff = 1e-12
	// tiniest is a norm. A vector whose norm is at most tiniest is not used. The square of a larger norm does not
	// underflow.
	tiniest = 0x1p-500
)

// orthogonalParts replaces each of the n rows of z by its part orthogonal to the subspace, scaled to length one. It
// removes rows whose orthogonal part is only round-off, and returns the number of remaining rows.
func (s *subspace) orthogonalParts(n int, z []float64) int {
	n = s.normalised(n, z, tiniest)
	s.subtractProjections(n, z)
	n = s.normalised(n, z, roundOff)
	s.subtractProjections(n, z) // scaling to length one has magnified the round-off
	return s.normalised(n, z, 0.5)
}

// propose computes orthonormal rows that span the n rows of z, in descending order of their singular values in z.
// It stores the new rows after the rows of the subspace and returns their number. On entry, the rows of z must be
// orthogonal to the subspace up to round-off. propose overwrites z.
func (s *subspace) propose(n int, z []float64) (int, error) {
	n = s.normalised(n, z, tiniest)
	if n == 0 {
		return 0, nil
	}
	gram := s.work.m[:n*n]
	v := s.work.m[n*n : 2*n*n]
	w := s.work.m[2*n*n : 2*n*n+n]
	old := engine.View(n, s.d, z)
	s.be.Syrk(false, 1, old, 0, engine.View(n, n, gram))
	b := min(n, s.most-s.k)
	vectors := engine.View(b, n, v)
	if !s.be.SymEig(engine.View(n, n, gram), w, vectors, s.work.eigen) {
		return 0, errNoConvergence
	}
	for b > 0 && !(w[b-1] > newDirection*newDirection*w[0]) {
		b--
	}
	rows := s.q[s.k*s.d : (s.k+b)*s.d]
	s.be.Gemm(false, false, 1, engine.View(b, n, v), old, 0, engine.View(b, s.d, rows))
	b = s.normalised(b, rows, tiniest)
	s.subtractProjections(b, rows)
	b = s.normalised(b, rows, 0.5)
	s.subtractProjections(b, rows) // again, because the first subtraction leaves round-off
	return orthonormal(0, b, b, s.d, rows), nil
}

const (
	// BlockRows is a number of vectors that a pass multiplies in less time than it takes to read the rows.
	BlockRows = 32
	// fillTo is a fraction of the capacity of the subspace. If at least this fraction is in use, fill adds no vectors.
	fillTo = 0.5
)

// fill adds more rows to the b new rows that are stored after the rows of the subspace. It returns the number of
// new rows, at most BlockRows if b is at most BlockRows. The added rows continue the Krylov space. They are the
// last products with AᵀA, made orthogonal to the subspace and to the b rows.
func (s *subspace) fill(b int) int {
	n := min(s.last, BlockRows, s.most-s.k-b)
	if float64(s.k) >= fillTo*float64(s.most) ||
		b >= BlockRows ||
		n <= 0 {
		return b
	}
	d := s.d
	rows := s.q[s.k*d : (s.k+b+n)*d]
	return orthonormal(b, b+s.next(n, rows[b*d:]), BlockRows, d, rows)
}

// next writes up to n vectors to z. They are the products of AᵀA with n of the newest vectors of the subspace, made
// orthogonal to the subspace and scaled to length one. next leaves out products that are only round-off, and
// returns the number of vectors.
func (s *subspace) next(n int, z []float64) int {
	d, k := s.d, s.k
	for i := range n {
		j := k - s.last + i
		row := z[i*d : (i+1)*d]
		along := s.work.h[i*k : (i+1)*k]
		copy(row, s.kq[j*d:(j+1)*d])
		copy(along, s.t[j*s.most:]) // products of row with the subspace
		if l := vec.Norm(row); l > tiniest {
			vec.Scale(1/l, row)
			vec.Scale(1/l, along)
		}
	}
	along := engine.View(n, k, s.work.h)
	basis := engine.View(k, d, s.q)
	s.be.Gemm(false, false, -1, along, basis, 1, engine.View(n, d, z))
	n = s.normalised(n, z, roundOff)
	s.subtractProjections(n, z) // again, as in orthogonalParts
	return s.normalised(n, z, 0.5)
}

// orthogonalise makes the unit vector row orthogonal to the first n rows of z, which are orthonormal, and scales it
// to length one. If almost nothing of row is left, it returns false.
func orthogonalise(n, d int, z, row []float64) bool {
	for range 2 {
		for i := range n {
			before := z[i*d : (i+1)*d]
			vec.Axpy(-vec.Dot(row, before), before, row)
		}
		left := vec.Norm(row)
		if left < 0.1 {
			return false
		}
		vec.Scale(1/left, row)
	}
	return true
}

// normalised scales the n rows of z to length one. It removes rows that are not finite and rows whose norm is at
// most minNorm, and returns the number of remaining rows.
func (s *subspace) normalised(n int, z []float64, minNorm float64) int {
	live := 0
	for i := range n {
		row := z[i*s.d : (i+1)*s.d]
		if l := vec.Norm(row); l > minNorm && l <= math.MaxFloat64 {
			vec.Scale(1/l, row)
			copy(z[live*s.d:(live+1)*s.d], row)
			live++
		}
	}
	return live
}

// subtractProjections subtracts from each of the n rows of z its projection onto the subspace.
func (s *subspace) subtractProjections(n int, z []float64) {
	ld := max(n, 1)
	along := s.work.projection[:n*s.d]
	clear(along)
	s.be.Gradient(
		engine.View(s.k, s.d, s.q),
		engine.View(n, s.d, z),
		engine.Matrix{},
		engine.View(n, s.d, along),
		engine.Strided(s.k, n, s.work.h, ld),
	)
	vec.Axpy(-1, along, z[:n*s.d])
}

// orthonormal makes the n unit rows of z orthonormal. On entry, rows 0 to done−1 must be orthonormal already. It
// removes rows that are close to the span of earlier rows, keeps at most limit rows, and returns their number.
func orthonormal(done, n, limit, d int, z []float64) int {
	live := done
	for i := done; i < n && live < limit; i++ {
		row := z[i*d : (i+1)*d]
		if orthogonalise(live, d, z, row) {
			copy(z[live*d:(live+1)*d], row)
			live++
		}
	}
	return live
}

func copyMatrix(
	m, n int,
	dst []float64,
	ldd int,
	src []float64,
	lds int,
) {
	for i := range m {
		copy(dst[i*ldd:i*ldd+n], src[i*lds:i*lds+n])
	}
}
