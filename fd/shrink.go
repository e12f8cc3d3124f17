package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
)

// workspace is all the memory of a shrink beside the sketch itself.
type workspace struct {
	row  []float64 // one row, d
	w    []float64 // eigenvalues of BBᵀ, or singular values of B
	work []float64 // the backend's
	gram []float64 // Gram: BBᵀ, (m+p)×(m+p); for m = d: BᵀB, or what is added to K, d×d
	u    []float64 // Gram, m < d: leading eigenvectors as rows, m×(m+p)
	// With sparse rows, w, gram and u are of order m+max(p, r).
	copy []float64 // SVD: B, destroyed by the factorisation, (m+p)×d
}

func newWorkspace(cfg Config, m, rows int) workspace {
	ws := workspace{row: make([]float64, cfg.Dim)}
	if cfg.Store == StoreScatter {
		ws.gram = make([]float64, m*m)
		return ws
	}
	ws.w = make([]float64, rows)
	if cfg.Shrink == SVD {
		ws.copy = make([]float64, rows*cfg.Dim)
		ws.work = make([]float64, cfg.Backend.SVDWork(rows, cfg.Dim))
		return ws
	}
	if m == cfg.Dim {
		ws.gram = make([]float64, m*m)
		ws.work = make([]float64, cfg.Backend.SymEigWork(m, m))
		return ws
	}
	ws.ofOrder(cfg, m, rows)
	return ws
}

// ofOrder makes the memory of Gram for eigenproblems of that order, m < d.
func (ws *workspace) ofOrder(cfg Config, m, order int) {
	ws.w = make([]float64, order)
	ws.gram = make([]float64, order*order)
	ws.u = make([]float64, m*order)
	ws.work = make([]float64, max(cfg.Backend.SymEigWork(order, m), cfg.Backend.LeftMulWork(m, cfg.Dim, order)))
}

// shrink reduces the live rows to at most m orthogonal ones (docs/math.md, §2 and §16: Algorithm A1
// of the paper with λ_{m+1} for λ_m):
//
//	δ = λ_{m+1}(BBᵀ), η ← η + δ, B ← diag(√max(1 − δ/λᵢ, 0))·UₘᵀB.
//
// Where m = d, δ is 0 and nothing is cut; see lossless.go. Where K is kept the rows are added
// to it; see scatter.go.
func (s *Sketch) shrink() error {
	switch {
	case s.keeps:
		s.addToScatter()
		return nil
	case s.cfg.Shrink == SVD:
		return s.shrinkSVD()
	case s.lossless():
		return s.shrinkCross()
	}
	return s.shrinkGram()
}

func (s *Sketch) shrinkGram() error {
	n, be, ws := s.live(), s.cfg.Backend, &s.ws
	r, g := min(s.m, n-s.countCentres()), engine.View(n, n, ws.gram)
	s.gram(g)
	pad := s.gramSparse(g, &s.sparse.work)
	if !be.SymEig(g, ws.w, engine.View(r, n, ws.u), ws.work) {
		return errNoConvergence
	}
	delta := s.cut(ws.w[:n])
	if r < min(s.m, n) { // centres are rows of zeros: of the eigenvalues past the others only rounding is left
		delta = max(ws.w[r], 0)
	}
	live := 0
	for ; live < r && ws.w[live] > delta; live++ {
		lambda := ws.w[live]
		s.norm2[live] = lambda - delta
		f := math.Sqrt(1 - delta/lambda)
		u := ws.u[live*n : (live+1)*n]
		for j := range u {
			u[j] *= f
		}
	}
	s.combine(engine.View(live, n, ws.u))
	s.sparse.empty()
	s.finish(0, live, delta, pad+padOfShrink(n, ws.w[:n]))
	return nil
}

func (s *Sketch) shrinkSVD() error {
	first := 0
	if s.lossless() {
		var rest float64
		for i := s.kept; i < s.rows; i++ {
			rest += squares(s.row(i))
		}
		first = s.spared(rest)
	}
	k, d, ws := s.rows-first, s.cfg.Dim, &s.ws
	q := min(k, d)
	for i := range k {
		copy(ws.copy[i*d:(i+1)*d], s.row(first+i))
	}
	if !s.cfg.Backend.SVD(engine.View(k, d, ws.copy), ws.w[:q], engine.Strided(q, d, s.buf[first*s.ld:], s.ld), ws.work) {
		return errNoConvergence
	}
	tau := 0.0
	if q > s.m {
		tau = ws.w[s.m]
	}
	live := 0
	for ; live < min(s.m, q) && ws.w[live] > tau; live++ {
		sigma := ws.w[live]
		row := s.row(first + live)
		f := math.Sqrt(sigma-tau) * math.Sqrt(sigma+tau)
		for j := range row {
			row[j] *= f
		}
		s.norm2[first+live] = squares(row)
	}
	for i := range q {
		ws.w[i] *= ws.w[i]
	}
	s.finish(first, live, tau*tau, padOfShrink(orderSVD(k, d), ws.w[:q]))
	return nil
}

// cut is δ for the descending eigenvalues w of BBᵀ: λ_{m+1}, and 0 where there
// are no more than m, or where m = d and rank(B) ≤ m leaves only round-off.
func (s *Sketch) cut(w []float64) float64 {
	if len(w) <= s.m || s.m == s.cfg.Dim {
		return 0
	}
	return max(w[s.m], 0)
}

// finish accounts for a shrink by δ with round-off pad, which left the first spared rows as
// they were and made live rows of all others.
func (s *Sketch) finish(spared, live int, delta, pad float64) {
	s.rows = spared + live
	if spared == 0 {
		s.kept = live
	}
	s.eta += delta
	s.roundOff += pad
	s.shrinks++
}

// gram writes the lower triangle of BBᵀ to the first rows of g, n×n with as many rows as are live.
// The first kept rows of B are orthogonal with squared norms norm2, so that only
// the products with later rows are computed.
func (s *Sketch) gram(g engine.Matrix) {
	k := s.rows
	for i := range s.kept {
		row := g.Row(i)
		clear(row[:i])
		row[i] = s.norm2[i]
	}
	s.cfg.Backend.Gram(s.kept, engine.Strided(k, s.cfg.Dim, s.buf, s.ld), g.Slice(0, k, 0, k))
}
