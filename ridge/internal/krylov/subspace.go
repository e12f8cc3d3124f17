package krylov

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// errNoConvergence is [engine.ErrNoConvergence] in the words of package ridge.
var errNoConvergence = fmt.Errorf("ridge: %w", engine.ErrNoConvergence)

// A subspace is spanned by the rows of Q (k×d), orthonormal to round-off. The rows of kq are
// those of QK. It solves with QKQᵀ + γI for many γ: the first base rows and columns of
// T = QKQᵀ are decomposed, as SᵀΘS, and the few that came after them are eliminated by their
// Schur complement,
//
//	⎡SᵀΘS  Fᵀ⎤        for each γ: M = C + γI − FSᵀ(Θ+γ)⁻¹SFᵀ,
//	⎣F     C ⎦                    (C, F of size w×w and w×base).
type subspace struct {
	be   engine.Backend
	d, k int
	most int       // rows that the subspace may have; q and kq have room for more behind them
	q    []float64 // d columns
	kq   []float64
	t    []float64 // k×k, both triangles, leading dimension most

	last  int       // rows that came last
	base  int       // rows that are decomposed
	theta []float64 // descending
	s     []float64 // base×base, rows are eigenvectors
	work  subspaceWork
}

// subspaceWork is memory for one call at a time.
type subspaceWork struct {
	eigen      []float64 // of SymEig
	t          []float64 // T, which SymEig overwrites
	h, f       []float64 // coefficients along S
	m          []float64 // small matrices: Gram's, Schur's
	projection []float64 // vectors' projections onto the subspace
}

// schurRows is how many rows are eliminated at most before T is decomposed anew.
const schurRows = 64

// newSubspace makes room for most rows, more behind them, and as many vectors at a
// time to propose from or to solve for.
func newSubspace(be engine.Backend, d, most, behind int) *subspace {
	n, wide := max(most, behind), max(behind, BlockRows)
	return &subspace{
		be: be, d: d, most: most,
		q: make([]float64, (most+behind)*d), kq: make([]float64, (most+behind)*d),
		t: make([]float64, most*most), s: make([]float64, most*most), theta: make([]float64, most),
		work: subspaceWork{
			eigen: make([]float64, be.SymEigWork(n, n)), t: make([]float64, most*most),
			h: make([]float64, most*wide), f: make([]float64, 2*schurRows*most),
			m:          make([]float64, max(schurRows*schurRows, behind*(2*behind+1))),
			projection: make([]float64, wide*d),
		},
	}
}

// grow takes the next b rows of q and kq, which a pass has filled, into the subspace.
func (s *subspace) grow(b int) error {
	if b == 0 {
		return nil
	}
	k, n := s.k, s.k+b
	s.be.Gemm(false, true, 1, engine.View(b, s.d, s.kq[k*s.d:]), engine.View(n, s.d, s.q), 0, engine.Strided(b, n, s.t[k*s.most:], s.most))
	for i := k; i < n; i++ {
		for j := range i {
			s.t[j*s.most+i] = s.t[i*s.most+j]
		}
	}
	s.k, s.last = n, b
	if s.k-s.base > schurRows {
		return s.decompose()
	}
	return nil
}

// decompose decomposes all of T, as SᵀΘS. K has no negative eigenvalues, so neither has T
// but by round-off.
func (s *subspace) decompose() error {
	copyMatrix(s.k, s.k, s.work.t, s.k, s.t, s.most)
	if !s.be.SymEig(engine.View(s.k, s.k, s.work.t), s.theta, engine.View(s.k, s.k, s.s), s.work.eigen) {
		return errNoConvergence
	}
	for i, v := range s.theta[:s.k] {
		s.theta[i] = math.Max(v, 0)
	}
	s.base = s.k
	return nil
}

// solve overwrites row i of y (q×k) with (T + γᵢI)⁻¹uᵢ. Rows of u and y are most
// apart.
func (s *subspace) solve(q int, gamma, u, y []float64) error {
	if s.eliminate(q, gamma, u, y) {
		return nil
	}
	// Round-off made T + γI indefinite for a tiny γ.
	if err := s.decompose(); err != nil {
		return err
	}
	s.eliminate(q, gamma, u, y)
	return nil
}

// eliminate is solve with T as it is; false says that a Schur complement is not
// positive definite.
func (s *subspace) eliminate(q int, gamma, u, y []float64) bool {
	n, w, ld := s.base, s.k-s.base, max(s.base, 1)
	f, scaled := s.work.f[:w*ld], s.work.f[w*ld:2*w*ld]
	s.be.Gemm(false, true, 1, engine.Strided(q, n, u, s.most), engine.Strided(n, n, s.s, ld), 0, engine.Strided(q, n, s.work.h, ld))
	s.be.Gemm(false, true, 1, engine.Strided(w, n, s.t[n*s.most:], s.most), engine.Strided(n, n, s.s, ld), 0, engine.Strided(w, n, f, ld))
	for i := range q {
		h, z := s.work.h[i*ld:i*ld+n], y[i*s.most+n:i*s.most+s.k]
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
	s.be.Gemm(false, false, 1, engine.Strided(q, n, s.work.h, ld), engine.Strided(n, n, s.s, ld), 0, engine.Strided(q, n, y, s.most))
	return true
}

// solveSchur overwrites z with M⁻¹z, M = C + γI − ffᵀ, where f is FSᵀ scaled by (Θ+γ)^{-½}.
// false says that M is not positive definite.
func (s *subspace) solveSchur(gamma float64, f, z []float64) bool {
	n, w := s.base, s.k-s.base
	copyMatrix(w, w, s.work.m, w, s.t[n*s.most+n:], s.most)
	for l := range w {
		s.work.m[l*w+l] += gamma
	}
	s.be.Syrk(false, -1, engine.View(w, n, f), 1, engine.View(w, w, s.work.m))
	if _, ok := s.be.Cholesky(engine.View(w, w, s.work.m)); !ok {
		return false
	}
	s.be.CholeskySolve(engine.View(w, w, s.work.m), engine.View(1, w, z))
	return true
}

const (
	// newDirection is how large the components of unit vectors in a direction must be,
	// relative to those in the direction where they are largest, for it to be worth a
	// product with K.
	newDirection = 3e-5
	// roundOff is the length below which the part of a unit vector that is orthogonal to the
	// subspace is taken for round-off of the projection.
	roundOff = 1e-12
	// tiniest is a length whose square does not underflow yet.
	tiniest = 0x1p-500
)

// orthogonalParts replaces the rows of z (n×d) by their parts orthogonal to the subspace,
// scaled to length one. It drops those that are round-off, and returns how many are left.
func (s *subspace) orthogonalParts(n int, z []float64) int {
	n = s.normalised(n, z, tiniest)
	s.subtractProjections(n, z)
	n = s.normalised(n, z, roundOff)
	s.subtractProjections(n, z) // again: scaling has enlarged the round-off of the first
	return s.normalised(n, z, 0.5)
}

// propose writes rows of q, behind those of the subspace: orthonormal ones that span the rows
// of z (n×d, overwritten), the most important first. It returns how many. The rows of z are
// orthogonal to the subspace but for round-off.
func (s *subspace) propose(n int, z []float64) (int, error) {
	n = s.normalised(n, z, tiniest)
	if n == 0 {
		return 0, nil
	}
	gram, v, w := s.work.m[:n*n], s.work.m[n*n:2*n*n], s.work.m[2*n*n:2*n*n+n]
	s.be.Syrk(false, 1, engine.View(n, s.d, z), 0, engine.View(n, n, gram))
	b := min(n, s.most-s.k)
	if !s.be.SymEig(engine.View(n, n, gram), w, engine.View(b, n, v), s.work.eigen) {
		return 0, errNoConvergence
	}
	for b > 0 && !(w[b-1] > newDirection*newDirection*w[0]) {
		b--
	}
	rows := s.q[s.k*s.d : (s.k+b)*s.d]
	s.be.Gemm(false, false, 1, engine.View(b, n, v), engine.View(n, s.d, z), 0, engine.View(b, s.d, rows))
	b = s.normalised(b, rows, tiniest)
	s.subtractProjections(b, rows)
	b = s.normalised(b, rows, 0.5)
	s.subtractProjections(b, rows) // twice is enough
	return orthonormal(0, b, b, s.d, rows), nil
}

// A pass is to have BlockRows vectors while the subspace has less than fillTo of its
// room: to read the data costs more than to multiply.
const (
	BlockRows = 32
	fillTo    = 0.5
)

// fill adds to the b rows behind the subspace, up to BlockRows of them in all, the next
// block of a Krylov space: orthonormal rows that span the parts of the last rows of kq that
// are orthogonal to all of these. It returns how many rows there are then.
func (s *subspace) fill(b int) int {
	n := min(s.last, BlockRows, s.most-s.k-b)
	if float64(s.k) >= fillTo*float64(s.most) || b >= BlockRows || n <= 0 {
		return b
	}
	d := s.d
	rows := s.q[s.k*d : (s.k+b+n)*d]
	return orthonormal(b, b+s.next(n, rows[b*d:]), BlockRows, d, rows)
}

// next is orthogonalParts of the first n of the rows of kq that came last, written to z.
// Their products with the rows of Q are in T.
func (s *subspace) next(n int, z []float64) int {
	d, k := s.d, s.k
	for i := range n {
		j := k - s.last + i
		row, along := z[i*d:(i+1)*d], s.work.h[i*k:(i+1)*k]
		copy(row, s.kq[j*d:(j+1)*d])
		copy(along, s.t[j*s.most:])
		if l := vec.Norm(row); l > tiniest {
			vec.Scale(1/l, row)
			vec.Scale(1/l, along)
		}
	}
	s.be.Gemm(false, false, -1, engine.View(n, k, s.work.h), engine.View(k, d, s.q), 1, engine.View(n, d, z))
	n = s.normalised(n, z, roundOff)
	s.subtractProjections(n, z) // as in orthogonalParts
	return s.normalised(n, z, 0.5)
}

// orthogonalise subtracts from a row of length one its projection onto n orthonormal ones,
// and scales it to length one again; false says that next to nothing is left.
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

// normalised scales the rows of z to length one, drops those that are not longer than
// least, or not finite, and returns how many are left.
func (s *subspace) normalised(n int, z []float64, least float64) int {
	live := 0
	for i := range n {
		row := z[i*s.d : (i+1)*s.d]
		if l := vec.Norm(row); l > least && l <= math.MaxFloat64 {
			vec.Scale(1/l, row)
			copy(z[live*s.d:(live+1)*s.d], row)
			live++
		}
	}
	return live
}

// subtractProjections subtracts from the rows of z (n×d) their projections onto the subspace,
// zQᵀQ.
func (s *subspace) subtractProjections(n int, z []float64) {
	ld := max(n, 1)
	along := s.work.projection[:n*s.d]
	clear(along)
	s.be.Gradient(engine.View(s.k, s.d, s.q), engine.View(n, s.d, z), engine.Matrix{}, engine.View(n, s.d, along), engine.Strided(s.k, n, s.work.h, ld))
	vec.Axpy(-1, along, z[:n*s.d])
}

// orthonormal makes n rows of length one orthonormal, of which the first ones are already, and
// stops when there are most. It drops rows that lie next to the span of those before, as
// rows of round-off may, and returns how many are left.
func orthonormal(first, n, most, d int, z []float64) int {
	live := first
	for i := first; i < n && live < most; i++ {
		if row := z[i*d : (i+1)*d]; orthogonalise(live, d, z, row) {
			copy(z[live*d:(live+1)*d], row)
			live++
		}
	}
	return live
}

func copyMatrix(m, n int, dst []float64, ldd int, src []float64, lds int) {
	for i := range m {
		copy(dst[i*ldd:i*ldd+n], src[i*lds:i*lds+n])
	}
}
