package fd

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Spectrum holds the squared singular values Sigma2 and the right singular vectors V of a sketch B. The rows of V
// are the vectors, so BᵀB = Vᵀ·diag(Sigma2)·V. A Spectrum shares no memory with the sketch.
type Spectrum struct {
	Dim    int
	Sigma2 []float64 // σᵢ², positive and descending; r ≤ m of them, or r ≤ d if AᵀA is kept
	V      []float64 // r×Dim, row-major, orthonormal up to Skew
	// Skew is a measured bound on ‖VVᵀ − I‖_F. The exactly orthonormal matrix nearest to V is at most Skew away
	// from V. Bound also holds if V is replaced by this matrix.
	Skew  float64
	Bound Bound // the guarantee that BᵀB gives about AᵀA
}

// Matrix returns the sketch B as a matrix with Dim columns and one row for each singular value. Row i is the square
// root of Sigma2[i] times row i of V. Matrix returns nil if the sketch is empty.
func (p *Spectrum) Matrix() *mat.Dense {
	if len(p.Sigma2) == 0 {
		return nil
	}
	return mat.NewDense(len(p.Sigma2), p.Dim, p.rows())
}

// rows returns the entries of [Spectrum.Matrix], row by row.
func (p *Spectrum) rows() []float64 {
	b := slices.Clone(p.V)
	for i, s2 := range p.Sigma2 {
		floats.Scale(math.Sqrt(s2), b[i*p.Dim:(i+1)*p.Dim])
	}
	return b
}

// Spectrum returns the singular values and right singular vectors of the sketch, at most Size of them. It makes the
// last shrink on a copy, and the returned Bound includes this shrink. The sketch is unchanged, and more rows may be
// appended to it.
//
// If the sketch keeps AᵀA, Spectrum returns the singular values and vectors of A, at most Dim of them. Spectrum
// takes O(m²·Dim) time and O(m·Dim) memory. Here m is Size, or Dim if the sketch keeps AᵀA.
func (s *Sketch) Spectrum() (*Spectrum, error) {
	if err := s.checkReady(); err != nil {
		return nil, err
	}
	if s.sums != nil || s.keepsScatter && s.rows >= s.cfg.Dim {
		return s.readScatter()
	}
	p := &Spectrum{Dim: s.cfg.Dim}
	var delta, pad float64
	var err error
	switch {
	case s.live() == s.kept:
		p.Sigma2 = slices.Repeat([]float64{1}, s.kept)
		for i := range s.kept {
			p.V = append(p.V, s.row(i)...)
		}
		pad, err = p.fromRows(s.cfg.Backend)
	case s.cfg.Shrink == SVD:
		delta, pad, err = s.readSVD(p)
	case s.lossless() && s.rows > s.m:
		pad, err = s.readCross(p)
	default:
		delta, pad, err = s.readGram(p)
	}
	if err != nil {
		return nil, err
	}
	norm2 := twofold.TotalOf(p.Sigma2)
	p.Bound = s.bound(delta, pad, norm2.Value())
	return p, nil
}

// readGram sets p to the spectrum that the sketch would have after a shrink by the Gram driver. The sketch is
// unchanged. This shrink would add delta to the shrinkage, and pad bounds its round-off.
func (s *Sketch) readGram(p *Spectrum) (delta, pad float64, err error) {
	k := s.rows
	n := s.live()
	d := s.cfg.Dim
	be := s.cfg.Backend
	r := min(s.m, n)
	w := make([]float64, n)
	g := engine.View(n, n, make([]float64, n*n))
	u := engine.View(r, n, make([]float64, r*n))
	work := new(engine.SparseWork) // s.sparse.work belongs to writers
	whole := *s
	whole.kept = 0 // all products are computed
	x := whole.reduction(g, make([]float64, n), work)
	x.gram = engine.View(n, n, make([]float64, n*n))
	copyLower(x.gram, g)
	if !be.SymEig(g, w, u, make([]float64, be.SymEigWork(n, r))) {
		return 0, 0, errNoConvergence
	}
	x.delta = s.cut(w)

	x.kept, x.scale = x.cut(w[:r], make([]float64, r), make([]float64, r))
	live := len(x.kept)
	x.u = u.Slice(0, live, 0, n)
	pad, _ = x.measure(be, g, make([]float64, measureWork(live, n)))
	if math.IsInf(pad, 1) {
		return 0, 0, errNoConvergence
	}

	p.V = make([]float64, live*d)
	v := engine.View(live, d, p.V)
	s.multiplyByL(x.u)
	dense := engine.Strided(k, d, s.buf, s.ld)
	be.Gemm(false, false, 1, x.u.Slice(0, live, 0, k), dense, 0, v)
	if s.sparse.Rows > 0 {
		s.sparse.AddLeftMul(x.u.Slice(0, live, k, n), v, work)
	}
	for _, f := range x.scale {
		p.Sigma2 = append(p.Sigma2, f*f)
	}
	more, err := p.fromRows(be)
	return x.delta, pad + more, err
}

// readCross sets p to the spectrum of all rows in the buffer, for a sketch that keeps as many rows as there are
// columns. The sketch is unchanged. The returned pad bounds the round-off.
func (s *Sketch) readCross(p *Spectrum) (pad float64, err error) {
	d, be := s.cfg.Dim, s.cfg.Backend
	c := engine.View(d, d, make([]float64, d*d))
	w := make([]float64, d)
	sums := make([]twofold.Total, d*(d+1)/2)
	first := engine.View(d, d, make([]float64, d*d))
	pad = sumCross(be, engine.Strided(s.rows, d, s.buf, s.ld), sums, first)
	_, more := roundSums(sums, c)
	pad += more
	copyLower(first, c)
	p.V = make([]float64, d*d)
	work := make([]float64, be.SymEigWork(d, d))
	if !be.SymEig(c, w, engine.View(d, d, p.V), work) {
		return 0, errNoConvergence
	}
	more, err = p.fromMatrix(w, first, c, be)
	return pad + more, err
}

func (s *Sketch) readSVD(p *Spectrum) (delta, pad float64, err error) {
	k := s.rows
	d := s.cfg.Dim
	be := s.cfg.Backend
	q := min(k, d)
	x := singular{
		rows:  engine.Strided(k, d, s.buf, s.ld),
		sigma: make([]float64, q),
		vt:    engine.View(q, d, make([]float64, q*d)),
	}
	scratch := engine.View(k, d, make([]float64, k*d))
	pad, err = x.factor(
		be,
		s.m,
		scratch,
		make([]float64, be.SVDWork(k, d)),
		make([]float64, measureSVDWork(k, d)),
	)
	if err != nil {
		return 0, 0, err
	}
	for _, sigma := range x.sigma[:x.live] {
		p.Sigma2 = append(p.Sigma2, (sigma-x.tau)*(sigma+x.tau))
	}
	p.V = x.vt.Data[:x.live*d]
	more, err := p.fromRows(be)
	return x.tau * x.tau, pad + more, err
}

// fromRows sets p to the spectrum of the matrix Σ Sigma2ᵢ·vᵢᵀvᵢ. The vᵢ are the rows of p.V before the
// call, and their lengths need not be 1. The result pad bounds the norm of the error of the spectrum.
func (p *Spectrum) fromRows(be engine.Backend) (pad float64, err error) {
	d, all := p.Dim, 0.0
	for i := range p.Sigma2 {
		v := p.V[i*d : (i+1)*d]
		p.Sigma2[i] *= vec.Dot(v, v)
		all += p.Sigma2[i]
	}
	// Each row v adds σ²vᵀv to the matrix, where σ² is its Sigma2. Rounding σ² and the entries of v/‖v‖
	// changes this matrix by at most 24·eps·σ².
	pad = 24 * eps * all
	p.sort()
	pad += p.orthonormalise(be)
	more, err := p.measureSkew(be)
	return pad + more, err
}

// measureSkew sets p.Skew. The result pad bounds how far Vᵀ·diag(Sigma2)·V would move if V were replaced by the
// nearest matrix with exactly orthonormal rows.
func (p *Spectrum) measureSkew(be engine.Backend) (pad float64, err error) {
	d := p.Dim
	r := len(p.Sigma2)
	if r == 0 {
		return 0, nil
	}
	work := make([]float64, spectral.Work(r, d))
	p.Skew = spectral.Loss(be, engine.View(r, d, p.V), engine.Matrix{}, work)
	if !(p.Skew <= 0x1p-10) {
		return 0, errNoConvergence
	}
	return p.Skew * (1 + 2*p.Skew) * p.Sigma2[0] * inflate, nil
}

// sort sorts the rows of V in descending order of Sigma2. It removes rows whose Sigma2 underflowed to 0. Before the
// call, the rows are sorted except for round-off.
func (p *Spectrum) sort() {
	d := p.Dim
	for i := 1; i < len(p.Sigma2); i++ {
		for k := i; k > 0 && p.Sigma2[k-1] < p.Sigma2[k]; k-- {
			p.Sigma2[k-1], p.Sigma2[k] = p.Sigma2[k], p.Sigma2[k-1]
			above := p.V[(k-1)*d : k*d]
			row := p.V[k*d : (k+1)*d]
			for j, v := range row {
				row[j] = above[j]
				above[j] = v
			}
		}
	}
	live := len(p.Sigma2)
	for live > 0 && !(p.Sigma2[live-1] > 0) {
		live--
	}
	p.Sigma2 = p.Sigma2[:live]
	p.V = p.V[:live*d]
}

// orthonormalise makes the rows of V orthonormal. The rows are in descending order of their squared singular values
// σ². Each row that is not orthogonal to the rows before it is changed. Only rows whose σ² is below √eps times
// the largest σ² may need this change. A row that becomes zero was only round-off and is removed.
//
// The result moved bounds the norm of the change of Σ σᵢ²·vᵢᵀvᵢ, where vᵢ is row i of V.
func (p *Spectrum) orthonormalise(be engine.Backend) (moved float64) {
	d := p.Dim
	r := len(p.Sigma2)
	if r == 0 {
		return 0
	}
	for i := range r {
		normalise(p.V[i*d : (i+1)*d])
	}
	g := make([]float64, r*r)
	be.Syrk(false, 1, engine.View(r, d, p.V), 0, engine.View(r, r, g))
	h := make([]float64, r)
	old := make([]float64, d)
	live := firstSkew(g, r)
	var changed, change, dropped float64 // squares
	for i := live; i < r; i++ {
		v := p.V[live*d : (live+1)*d]
		s2 := p.Sigma2[i]
		copy(old, p.V[i*d:(i+1)*d])
		copy(v, old)
		if !orthogonalise(be, live, d, p.V, v, h) {
			dropped += s2
			continue
		}
		floats.Sub(old, v)
		off := math.Sqrt(squares(old)) + 2*eps
		changed += s2
		change += s2 * off * off
		p.Sigma2[live] = s2
		live++
	}
	p.Sigma2 = p.Sigma2[:live]
	p.V = p.V[:live*d]
	// Each row v that was not orthogonal to the rows before it has become v + z. Let σ² be its squared singular
	// value. Over these rows, changed is the sum of σ², and change is the sum of σ²‖z‖². Over the removed rows,
	// dropped is the sum of σ².
	return (2*math.Sqrt(changed)*math.Sqrt(change) + change + dropped) * inflate
}

// firstSkew returns the index of the first row of V that is not orthogonal to the rows before it. If there is none,
// it returns r. The argument g holds the lower triangle of the r×r matrix VVᵀ. Row i is chosen if an entry of row i
// of VVᵀ left of the diagonal exceeds round-off. It is also chosen if the diagonal entry is at most ½.
func firstSkew(g []float64, r int) int {
	for i := range r {
		for _, v := range g[i*r : i*r+i] {
			if !(math.Abs(v) <= 32*eps) {
				return i
			}
		}
		if !(g[i*r+i] > 0.5) {
			return i
		}
	}
	return r
}

// orthogonalise makes v orthogonal to the first r rows of vs, up to round-off, and scales v to length one. It
// returns false if v is, up to round-off, a linear combination of these rows. The argument h is a workspace.
func orthogonalise(
	be engine.Backend,
	r, d int,
	vs, v, h []float64,
) bool {
	for range 4 {
		if !normalise(v) {
			return false
		}
		be.Gemv(false, 1, engine.View(r, d, vs), v, 0, h[:r])
		be.Gemv(true, -1, engine.View(r, d, vs), h[:r], 1, v)
		var along float64
		for _, c := range h[:r] {
			along += c * c
		}
		if along <= 32*eps*eps*float64(d) {
			return normalise(v)
		}
	}
	return false
}

// normalise scales v to length one. If v is zero, it returns false.
func normalise(v []float64) bool {
	largest := floats.Norm(v, math.Inf(1))
	if largest == 0 {
		return false
	}
	for i := range v {
		v[i] /= largest
	}
	floats.Scale(1/math.Sqrt(vec.Dot(v, v)), v)
	return true
}

// ColumnNorms returns an upper bound on the norm of each column of the rows A that were sketched. The squared norm
// of column j of A is at most [Bound.FD] plus the squared norm of column j of [Spectrum.Matrix].
func (p *Spectrum) ColumnNorms() []float64 {
	out := slices.Repeat([]float64{p.Bound.FD()}, p.Dim)
	for i, s2 := range p.Sigma2 {
		for j, v := range p.V[i*p.Dim : (i+1)*p.Dim] {
			out[j] += s2 * v * v
		}
	}
	for j, v := range out {
		out[j] = math.Sqrt(v) * 1.01 // round-off
	}
	return out
}
