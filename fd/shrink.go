package fd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// workspace is the memory that a shrink needs besides the sketch. Sizes use the letters of [Config]: d features, m
// rows kept, p rows between shrinks, r sparse rows. Fields marked Gram or SVD serve only the driver of this name.
type workspace struct {
	row  []float64 // one row, d
	w    []float64 // eigenvalues of BBᵀ, or singular values of B
	work []float64 // workspace of the backend
	gram []float64 // Gram: BBᵀ, (m+p)×(m+p); for m = d: BᵀB, or the product that is added to K, d×d
	u    []float64 // Gram, m < d: leading eigenvectors as rows, m×(m+p)
	// If the sketch stores r sparse rows, the sizes of w, gram and u have max(p, r) instead of p, see
	// [Config.Order].
	copy []float64 // SVD: B, destroyed by the factorisation, (m+p)×d
	vt   []float64 // SVD: right singular vectors, min(m+p, d)×d
	measuring
}

// measuring is the memory for measuring the error of the eigenvectors that a shrink has computed.
type measuring struct {
	// With the Gram driver: a copy of BBᵀ, (m+p)×(m+p). For m = d: a copy of BᵀB and a partial product, both d×d
	first   []float64
	sums    []twofold.Total // for m = d: sums of BᵀB, lower triangle
	lengths []float64       // Gram, m < d: m+p
	kept    []float64       // Gram, m < d: m
	scale   []float64       // Gram, m < d: m
	check   []float64       // Gram, m < d: see measureWork; SVD: see measureSVDWork
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
		ws.vt = make([]float64, min(rows, cfg.Dim)*cfg.Dim)
		ws.check = make([]float64, measureSVDWork(rows, cfg.Dim))
		ws.work = make([]float64, cfg.Backend.SVDWork(rows, cfg.Dim))
		return ws
	}
	if m == cfg.Dim {
		ws.gram = make([]float64, m*m)
		ws.first = make([]float64, 2*m*m)
		ws.sums = make([]twofold.Total, m*(m+1)/2)
		ws.work = make([]float64, cfg.Backend.SymEigWork(m, m))
		return ws
	}
	ws.allocGram(cfg, m, rows)
	return ws
}

// allocGram allocates the memory of the Gram driver for eigenproblems of the given order. The number m of rows kept
// must be less than the number of columns.
func (ws *workspace) allocGram(cfg Config, m, order int) {
	ws.w = make([]float64, order)
	ws.gram = make([]float64, order*order)
	ws.u = make([]float64, m*order)
	forEigen := cfg.Backend.SymEigWork(order, m)
	forProduct := cfg.Backend.LeftMulWork(m, cfg.Dim, order)
	ws.work = make([]float64, max(forEigen, forProduct))
	ws.first = make([]float64, order*order)
	ws.lengths = make([]float64, order)
	ws.kept = make([]float64, m)
	ws.scale = make([]float64, m)
	ws.check = make([]float64, measureWork(m, order))
}

// shrink reduces the rows B in the buffer to at most m orthogonal rows, where m is the size of the sketch. Let λᵢ
// be the eigenvalues of BBᵀ in descending order, and let the columns of Uₘ be the m leading eigenvectors. Then
//
//	δ = λ_{m+1},   B ← diag(√max(1 − δ/λᵢ, 0))·UₘᵀB,
//
// and δ is added to the shrinkage, the bound on the loss. If m is the number of columns, δ is 0; see lossless.go.
// If the sketch keeps AᵀA, shrink adds the rows to AᵀA instead; see scatter.go.
//
// This is Algorithm A1 of C. Dickens (2020) with λ_{m+1} instead of λ_m (docs/math.md §2, §16).
func (s *Sketch) shrink() error {
	switch {
	case s.keepsScatter:
		s.addToScatter()
		return nil
	case s.cfg.Shrink == SVD:
		return s.shrinkSVD()
	case s.lossless():
		return s.shrinkCross()
	}
	return s.shrinkGram()
}

// renewal is the number of successive shrinks that form a group. The first shrink of a group computes the inner
// products of all rows. The later shrinks assume that the rows left by the previous shrink are orthogonal. They add
// the error of this assumption to the round-off bound.
const renewal = 4

func (s *Sketch) shrinkGram() error {
	if s.shrinks%renewal == 0 {
		s.kept = 0
	}
	n := s.live()
	be := s.cfg.Backend
	ws := &s.ws
	r := min(s.m, n-s.countCentres())
	g := engine.View(n, n, ws.gram)
	x := s.reduction(g, ws.lengths[:n], &s.sparse.work)
	x.gram = engine.View(n, n, ws.first)
	copyLower(x.gram, g)
	if !be.SymEig(g, ws.w, engine.View(r, n, ws.u), ws.work) {
		return errNoConvergence
	}
	x.delta = s.cut(ws.w[:n])
	// Here, the buffer has fewer than m rows besides the centres. A centre counts as a row of zeros, so the
	// eigenvalues after the first r are only round-off. delta has to cover the largest of them.
	if r < min(s.m, n) {
		x.delta = max(ws.w[r], 0)
	}
	x.kept, x.scale = x.cut(ws.w[:r], ws.kept, ws.scale)
	live := len(x.kept)
	x.u = engine.View(live, n, ws.u)
	pad, drift := x.measure(be, g, ws.check)
	if math.IsInf(pad, 1) {
		return errNoConvergence
	}
	for i, f := range x.scale {
		floats.Scale(f, x.u.Row(i)) // U ← diag(scale)·U
	}
	copy(s.norm2, x.kept)
	s.combine(x.u)
	s.sparse.empty()
	later := renewal - 1 - s.shrinks%renewal
	s.finish(0, live, x.delta, pad+float64(later)*drift)
	return nil
}

// reduction computes the Gram matrix RRᵀ of the rows R in the buffer. It writes the lower triangle of RRᵀ to g, and
// the norms of the rows to lengths. The eigenvectors of the returned reduction are not set yet.
func (s *Sketch) reduction(
	g engine.Matrix,
	lengths []float64,
	work *engine.SparseWork,
) reduction {
	be := s.cfg.Backend
	k := s.rows
	n := g.Rows
	x := reduction{
		lengths: lengths,
		chain:   be.Accuracy().Sum(n) + engine.Roundings + 1,
	}
	s.gram(g)
	old, added := 0.0, 0.0
	for i := range k {
		if i < s.kept {
			old += s.norm2[i]
		} else {
			added += g.Row(i)[i]
		}
	}
	// norm2 holds computed squared norms of the rows that the last shrink left. The exact squared norm of such a
	// row is at most its norm2 plus the RoundOff of the sketch.
	old += float64(s.kept) * s.roundOff
	dot := be.Accuracy().Dot(s.cfg.Dim) + engine.Roundings + 1
	x.gramError = dot * eps * (math.Sqrt(old)*math.Sqrt(added) + added) * inflate
	x.gramError += s.gramSparse(g, work) * inflate
	for i := range n {
		lengths[i] = math.Sqrt(math.Abs(g.Row(i)[i]) + x.gramError + s.roundOff)
	}
	if s.sparse.hasCentres() {
		x.chain *= 2 // the coefficient of a centre in U·L is a sum, too
		var c centre
		for i, f := range s.sparse.times {
			if s.centreOf(i, &c) != nil {
				_, val := s.sparse.Row(i)
				lengths[k+i] = math.Sqrt(squares(val)) + c.length(f)
			}
		}
	}
	return x
}

// cut computes the squared norms of the rows after the shrink by delta, and the factors that scale these rows. For
// each eigenvalue λ in w that exceeds delta, the squared norm is λ − delta and the factor is √(1 − delta/λ).
// The results are stored in kept and scale.
func (x *reduction) cut(w, kept, scale []float64) (norm2, factors []float64) {
	live := 0
	for ; live < len(w) && w[live] > x.delta; live++ {
		kept[live] = w[live] - x.delta
		scale[live] = math.Sqrt(1 - x.delta/w[live])
	}
	return kept[:live], scale[:live]
}

// copyLower copies the lower triangle of a to b.
func copyLower(b, a engine.Matrix) {
	for i := range a.Rows {
		copy(b.Row(i)[:i+1], a.Row(i)[:i+1])
	}
}

func (s *Sketch) shrinkSVD() error {
	first := 0
	if s.lossless() {
		var rest float64
		for i := s.kept; i < s.rows; i++ {
			rest += squares(s.row(i))
		}
		first = s.countSpared(rest)
	}
	k := s.rows - first
	d := s.cfg.Dim
	ws := &s.ws
	q := min(k, d)
	x := singular{
		rows:  engine.Strided(k, d, s.buf[first*s.ld:], s.ld),
		sigma: ws.w[:q],
		vt:    engine.View(q, d, ws.vt),
	}
	rows := engine.View(k, d, ws.copy)
	pad, err := x.factor(s.cfg.Backend, s.m, rows, ws.work, ws.check)
	if err != nil {
		return err
	}
	for i := range x.live {
		row := s.row(first + i)
		f := math.Sqrt(x.sigma[i]-x.tau) * math.Sqrt(x.sigma[i]+x.tau)
		for j, v := range x.vt.Row(i) {
			row[j] = f * v
		}
		s.norm2[first+i] = squares(row)
	}
	s.finish(first, x.live, x.tau*x.tau, pad)
	return nil
}

// cut returns the amount by which a shrink lowers the eigenvalues w of BBᵀ, which are in descending order. It is
// eigenvalue m+1, for a sketch of m rows, or 0 if there are at most m eigenvalues. If m is the number of columns,
// it is 0, because eigenvalue m+1 is then only round-off.
func (s *Sketch) cut(w []float64) float64 {
	if len(w) <= s.m || s.m == s.cfg.Dim {
		return 0
	}
	return max(w[s.m], 0)
}

// finish updates the counts and bounds of the sketch after a shrink by delta with the round-off bound pad. The
// shrink left the first rows unchanged; spared is their number. It replaced all other rows by new rows; live is
// their number.
func (s *Sketch) finish(spared, live int, delta, pad float64) {
	s.rows = spared + live
	if spared == 0 {
		s.kept = live
	}
	s.eta += delta
	s.roundOff += pad
	s.shrinks++
}

// gram writes the lower triangle of BBᵀ, for the dense rows B, to the leading part of g. The rows left by the last
// shrink are orthogonal, and norm2 holds their squared norms. So gram computes no products of these rows.
func (s *Sketch) gram(g engine.Matrix) {
	k := s.rows
	for i := range s.kept {
		row := g.Row(i)
		clear(row[:i])
		row[i] = s.norm2[i]
	}
	s.cfg.Backend.Gram(
		s.kept,
		engine.Strided(k, s.cfg.Dim, s.buf, s.ld),
		g.Slice(0, k, 0, k),
	)
}
