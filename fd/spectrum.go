package fd

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// A Spectrum is a sketch as it is used: BᵀB = Vᵀ·diag(Sigma2)·V with orthonormal
// rows of V. It is independent of the sketch it came from.
type Spectrum struct {
	Dim    int
	Sigma2 []float64 // σᵢ², descending, all positive, r ≤ m of them, or ≤ d where AᵀA is kept
	V      []float64 // r×Dim, row-major, orthonormal but for [SkewV]
	Bound  Bound     // what BᵀB guarantees about AᵀA
}

// SkewV times 2⁻⁵² bounds how far the rows of V are from orthonormal. It is calibrated:
// docs/math.md §14.
const SkewV = 32

// Matrix returns B = diag(σ)·V, r×Dim; nil where the sketch is empty.
func (p *Spectrum) Matrix() *mat.Dense {
	if len(p.Sigma2) == 0 {
		return nil
	}
	b := mat.NewDense(len(p.Sigma2), p.Dim, nil)
	for i, s2 := range p.Sigma2 {
		sigma, row := math.Sqrt(s2), b.RawRowView(i)
		for j, v := range p.V[i*p.Dim : (i+1)*p.Dim] {
			row[j] = sigma * v
		}
	}
	return b
}

// Spectrum reads the sketch: it makes the last shrink, whose δ counts too, on a
// copy and returns at most m singular values and right singular vectors. Where AᵀA is kept
// they are those of that, at most d. The
// sketch is unchanged and the stream may go on. O(m²d) time, O(md) memory, m = d for AᵀA.
func (s *Sketch) Spectrum() (*Spectrum, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if s.sums != nil || s.keeps && s.rows >= s.cfg.Dim {
		return s.readScatter()
	}
	p := &Spectrum{Dim: s.cfg.Dim}
	var delta, pad float64
	var err error
	switch {
	case s.live() == s.kept:
		p.Sigma2 = append(p.Sigma2, s.norm2[:s.kept]...)
		p.V = s.appendRows(p.V, s.kept)
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
	p.sort()
	p.orthonormalise(s.cfg.Backend)
	var norm2 neumaier.Sum
	for _, v := range p.Sigma2 {
		norm2.Add(v)
	}
	p.Bound = s.bound(delta, pad, norm2.Value())
	return p, nil
}

// readGram is shrinkGram into fresh memory, with the rows of V not yet of
// length one.
func (s *Sketch) readGram(p *Spectrum) (delta, pad float64, err error) {
	k, n, d, be := s.rows, s.live(), s.cfg.Dim, s.cfg.Backend
	r, w := min(s.m, n), make([]float64, n)
	g, u := engine.View(n, n, make([]float64, n*n)), engine.View(r, n, make([]float64, r*n))
	work := new(engine.SparseWork) // that of the sketch is for those who write
	s.gram(g)
	pad = s.gramSparse(g, work)
	if !be.SymEig(g, w, u, make([]float64, be.SymEigWork(n, r))) {
		return 0, 0, errNoConvergence
	}
	delta = s.cut(w)
	live := 0
	for ; live < r && w[live] > delta; live++ {
		p.Sigma2 = append(p.Sigma2, w[live]-delta)
	}
	p.V = make([]float64, live*d)
	v := engine.View(live, d, p.V)
	s.timesCentres(u.Slice(0, live, 0, n))
	be.Gemm(false, false, 1, u.Slice(0, live, 0, k), engine.Strided(k, d, s.buf, s.ld), 0, v)
	if s.sparse.Rows > 0 {
		s.sparse.AddLeftMul(u.Slice(0, live, k, n), v, work)
	}
	return delta, pad + padOfShrink(n, w), nil
}

// readCross is shrinkCross of all rows into fresh memory; the rows of V have length
// one.
func (s *Sketch) readCross(p *Spectrum) (pad float64, err error) {
	d, be := s.cfg.Dim, s.cfg.Backend
	c, w := make([]float64, d*d), make([]float64, d)
	cross(be, s.rows-s.kept, d, s.buf[s.kept*s.ld:], s.ld, false, c)
	if s.kept > 0 {
		cross(be, s.kept, d, s.buf, s.ld, true, c)
	}
	p.V = make([]float64, d*d)
	if !be.SymEig(engine.View(d, d, c), w, engine.View(d, d, p.V), make([]float64, be.SymEigWork(d, d))) {
		return 0, errNoConvergence
	}
	for _, v := range w {
		if v > 0 {
			p.Sigma2 = append(p.Sigma2, v)
		}
	}
	p.V = p.V[:len(p.Sigma2)*d]
	return padOfShrink(min(d, largestOrder), w), nil
}

// appendRows appends the first k rows of B to x.
func (s *Sketch) appendRows(x []float64, k int) []float64 {
	for i := range k {
		x = append(x, s.row(i)...)
	}
	return x
}

func (s *Sketch) readSVD(p *Spectrum) (delta, pad float64, err error) {
	k, d, be := s.rows, s.cfg.Dim, s.cfg.Backend
	q := min(k, d)
	b := s.appendRows(nil, k)
	sigma, vt := make([]float64, q), make([]float64, q*d)
	if !be.SVD(engine.View(k, d, b), sigma, engine.View(q, d, vt), make([]float64, be.SVDWork(k, d))) {
		return 0, 0, errNoConvergence
	}
	tau := 0.0
	if q > s.m {
		tau = sigma[s.m]
	}
	for i := 0; i < min(s.m, q) && sigma[i] > tau; i++ {
		// The rows of vt are as long as the norms that divided them are off.
		p.Sigma2 = append(p.Sigma2, (sigma[i]-tau)*(sigma[i]+tau)*squares(vt[i*d:(i+1)*d]))
	}
	p.V = vt[:len(p.Sigma2)*d]
	for i := range sigma {
		sigma[i] *= sigma[i]
	}
	return tau * tau, padOfShrink(orderSVD(k, d), sigma), nil
}

// sort puts the rows into descending order of Sigma2, which but for round-off they are in
// already, and drops those that underflowed.
func (p *Spectrum) sort() {
	d := p.Dim
	for i := 1; i < len(p.Sigma2); i++ {
		for k := i; k > 0 && p.Sigma2[k-1] < p.Sigma2[k]; k-- {
			p.Sigma2[k-1], p.Sigma2[k] = p.Sigma2[k], p.Sigma2[k-1]
			above, row := p.V[(k-1)*d:k*d], p.V[k*d:(k+1)*d]
			for j, v := range row {
				row[j], above[j] = above[j], v
			}
		}
	}
	live := len(p.Sigma2)
	for live > 0 && !(p.Sigma2[live-1] > 0) {
		live--
	}
	p.Sigma2, p.V = p.Sigma2[:live], p.V[:live*d]
}

// orthonormalise makes the rows of V orthonormal. They come as uᵢᵀB, whose inner
// products are off by eps·λ₁, so that rows of norm² below √eps·λ₁ can be far
// from orthogonal once they have length one. Taken in descending order, each bad
// row is orthogonalised twice against those before it; this moves BᵀB by no more
// than that same eps·λ₁. A row that vanishes was round-off and is dropped.
func (p *Spectrum) orthonormalise(be engine.Backend) {
	d, r := p.Dim, len(p.Sigma2)
	if r == 0 {
		return
	}
	for i := range r {
		normalise(p.V[i*d : (i+1)*d])
	}
	g := make([]float64, r*r)
	be.Syrk(false, 1, engine.View(r, d, p.V), 0, engine.View(r, r, g))
	h := make([]float64, r)
	live := firstSkew(g, r)
	for i := live; i < r; i++ {
		v := p.V[live*d : (live+1)*d]
		copy(v, p.V[i*d:(i+1)*d])
		if !orthogonalise(be, live, d, p.V, v, h) {
			continue
		}
		p.Sigma2[live] = p.Sigma2[i]
		live++
	}
	p.Sigma2, p.V = p.Sigma2[:live], p.V[:live*d]
}

// firstSkew returns the first row of VVᵀ (lower triangle, r×r) that has an entry beyond
// round-off beside the diagonal, or on it no one because the row of V vanished; r if there
// is none.
func firstSkew(g []float64, r int) int {
	for i := range r {
		for _, v := range g[i*r : i*r+i] {
			if !(math.Abs(v) <= SkewV*eps) {
				return i
			}
		}
		if !(g[i*r+i] > 0.5) {
			return i
		}
	}
	return r
}

// orthogonalise subtracts from v its components along the first r rows of V
// until nothing is left to subtract and scales it to length one. It reports
// false when v lies in their span.
func orthogonalise(be engine.Backend, r, d int, vs, v, h []float64) bool {
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

// normalise scales v to length one; false if it is zero.
func normalise(v []float64) bool {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return false
	}
	for i := range v {
		v[i] /= largest
	}
	f := 1 / math.Sqrt(squares(v))
	for i := range v {
		v[i] *= f
	}
	return true
}
