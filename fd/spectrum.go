package fd

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/orthogonal"
)

// A Spectrum is a sketch as it is used: BᵀB = Vᵀ·diag(Sigma2)·V with orthonormal
// rows of V. It is independent of the sketch it came from.
type Spectrum struct {
	Dim    int
	Sigma2 []float64 // σᵢ², descending, all positive, r ≤ m of them, or ≤ d where AᵀA is kept
	V      []float64 // r×Dim, row-major, orthonormal but for Skew
	// Skew bounds ‖VVᵀ − I‖_F, as measured. Matrices with exactly orthonormal rows in place of
	// V, no further from V than this, satisfy Bound too.
	Skew  float64
	Bound Bound // what BᵀB guarantees about AᵀA
}

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

// Spectrum reads the sketch: it makes the last shrink, whose δ counts too, on a copy and returns
// at most m singular values and right singular vectors. If AᵀA is kept they are those of AᵀA, at
// most d. The sketch is unchanged and the stream may go on. O(m²d) time, O(md) memory, m = d for AᵀA.
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
		p.Sigma2 = append(p.Sigma2, make([]float64, s.kept)...)
		p.V = s.appendRows(p.V, s.kept)
		for i := range p.Sigma2 {
			p.Sigma2[i] = 1
		}
		pad, err = p.ofRows(s.cfg.Backend)
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
	var norm2 neumaier.Sum
	for _, v := range p.Sigma2 {
		norm2.Add(v)
	}
	p.Bound = s.bound(delta, pad, norm2.Value())
	return p, nil
}

// readGram is shrinkGram into fresh memory.
func (s *Sketch) readGram(p *Spectrum) (delta, pad float64, err error) {
	k, n, d, be := s.rows, s.live(), s.cfg.Dim, s.cfg.Backend
	r, w := min(s.m, n), make([]float64, n)
	g, u := engine.View(n, n, make([]float64, n*n)), engine.View(r, n, make([]float64, r*n))
	work := new(engine.SparseWork) // that of the sketch is for those who write
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
	if pad, _ = x.measure(be, g, make([]float64, measureWork(live, n))); math.IsInf(pad, 1) {
		return 0, 0, errNoConvergence
	}
	p.V = make([]float64, live*d)
	v := engine.View(live, d, p.V)
	s.timesCentres(x.u)
	be.Gemm(false, false, 1, x.u.Slice(0, live, 0, k), engine.Strided(k, d, s.buf, s.ld), 0, v)
	if s.sparse.Rows > 0 {
		s.sparse.AddLeftMul(x.u.Slice(0, live, k, n), v, work)
	}
	for _, f := range x.scale {
		p.Sigma2 = append(p.Sigma2, f*f)
	}
	more, err := p.ofRows(be)
	return x.delta, pad + more, err
}

// readCross is shrinkCross of all rows into fresh memory.
func (s *Sketch) readCross(p *Spectrum) (pad float64, err error) {
	d, be := s.cfg.Dim, s.cfg.Backend
	c, w, sums := engine.View(d, d, make([]float64, d*d)), make([]float64, d), make([]neumaier.Sum, d*(d+1)/2)
	first := engine.View(d, d, make([]float64, d*d))
	pad = cross(be, engine.Strided(s.rows, d, s.buf, s.ld), sums, first)
	_, more := crossed(sums, c)
	pad += more
	copyLower(first, c)
	p.V = make([]float64, d*d)
	if !be.SymEig(c, w, engine.View(d, d, p.V), make([]float64, be.SymEigWork(d, d))) {
		return 0, errNoConvergence
	}
	more, err = p.ofMatrix(w, first, c, be)
	return pad + more, err
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
	x := singular{rows: engine.Strided(k, d, s.buf, s.ld), sigma: make([]float64, q), vt: engine.View(q, d, make([]float64, q*d))}
	scratch := engine.View(k, d, make([]float64, k*d))
	pad, err = x.factor(be, s.m, scratch, make([]float64, be.SVDWork(k, d)), make([]float64, measureSVDWork(k, d)))
	if err != nil {
		return 0, 0, err
	}
	for _, sigma := range x.sigma[:x.live] {
		p.Sigma2 = append(p.Sigma2, (sigma-x.tau)*(sigma+x.tau))
	}
	p.V = x.vt.Data[:x.live*d]
	more, err := p.ofRows(be)
	return x.tau * x.tau, pad + more, err
}

// ofRows makes p the spectrum of Σ Sigma2ᵢ·vᵢᵀvᵢ for the rows v of p.V, whatever their lengths. It
// returns a bound on the norm of what p is off by.
func (p *Spectrum) ofRows(be engine.Backend) (pad float64, err error) {
	d, all := p.Dim, 0.0
	for i := range p.Sigma2 {
		p.Sigma2[i] *= squares(p.V[i*d : (i+1)*d])
		all += p.Sigma2[i]
	}
	// Of σ² and the entries of v, divided by ‖v‖, this is the relative error of σ²vᵀv.
	pad = 24 * eps * all
	p.sort()
	pad += p.orthonormalise(be)
	more, err := p.measureSkew(be)
	return pad + more, err
}

// measureSkew measures Skew. It returns a bound on ‖VᵀΣ²V − V̄ᵀΣ²V̄‖ for the matrix V̄ with exactly
// orthonormal rows that is nearest to V.
func (p *Spectrum) measureSkew(be engine.Backend) (pad float64, err error) {
	d, r := p.Dim, len(p.Sigma2)
	if r == 0 {
		return 0, nil
	}
	p.Skew = orthogonal.Loss(be, engine.View(r, d, p.V), engine.Matrix{}, make([]float64, orthogonal.Work(r, d)))
	if !(p.Skew <= 0x1p-10) {
		return 0, errNoConvergence
	}
	return p.Skew * (1 + 2*p.Skew) * p.Sigma2[0] * inflate, nil
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
// row is orthogonalised twice against the rows before it. A row that vanishes was round-off and is
// dropped. It returns a bound on what this moves BᵀB by: with Z the changes of the rows B' that
// change, ‖B'ᵀZ + ZᵀB' + ZᵀZ‖, and the squares of the rows that are dropped.
func (p *Spectrum) orthonormalise(be engine.Backend) (moved float64) {
	d, r := p.Dim, len(p.Sigma2)
	if r == 0 {
		return 0
	}
	for i := range r {
		normalise(p.V[i*d : (i+1)*d])
	}
	g := make([]float64, r*r)
	be.Syrk(false, 1, engine.View(r, d, p.V), 0, engine.View(r, r, g))
	h, old := make([]float64, r), make([]float64, d)
	live := firstSkew(g, r)
	var changed, change, dropped float64 // squares
	for i := live; i < r; i++ {
		v, s2 := p.V[live*d:(live+1)*d], p.Sigma2[i]
		copy(old, p.V[i*d:(i+1)*d])
		copy(v, old)
		if !orthogonalise(be, live, d, p.V, v, h) {
			dropped += s2
			continue
		}
		for j, x := range v {
			old[j] -= x
		}
		off := math.Sqrt(squares(old)) + 2*eps
		changed += s2
		change += s2 * off * off
		p.Sigma2[live] = s2
		live++
	}
	p.Sigma2, p.V = p.Sigma2[:live], p.V[:live*d]
	return (2*math.Sqrt(changed)*math.Sqrt(change) + change + dropped) * inflate
}

// firstSkew returns the first row of VVᵀ (lower triangle, r×r) that is to be orthogonalised: it has
// an entry beyond round-off beside the diagonal, or its row of V vanished. It is r if there is none.
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

// ColumnNorms returns upper bounds on the norms of the columns of A: K_jj ≤ (BᵀB)_jj + η.
func (p *Spectrum) ColumnNorms() []float64 {
	out := make([]float64, p.Dim)
	for j := range out {
		out[j] = p.Bound.FD()
	}
	for i, s2 := range p.Sigma2 {
		for j, v := range p.V[i*p.Dim : (i+1)*p.Dim] {
			out[j] += s2 * v * v
		}
	}
	for j, v := range out {
		out[j] = math.Sqrt(v) * 1.01 // for the rounding of this
	}
	return out
}
