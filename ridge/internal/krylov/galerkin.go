package krylov

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// A galerkin solves all systems in one subspace, span(Qᵀ) for a k×d matrix Q of
// orthonormal rows, that every pass extends. With QKQᵀ and KQᵀ at hand,
//
//	x = x₀ − Qᵀ(QKQᵀ + γI)⁻¹Qg₀,   g = g₀ − (K + γI)Qᵀ(QKQᵀ + γI)⁻¹Qg₀
//
// follow for each γ from an x₀ with its gradient g₀ (at first 0 and −c) without
// reading the data: x is where the objective is least on x₀ + span(Qᵀ) (Galerkin's
// condition, Qg = 0).
//
// Where Ĥ is the sketch's, Q starts with its right singular vectors. Each pass multiplies
// K with the parts of all systems' Ĥ⁻¹g that are orthogonal to the subspace. These nearly
// span a space of few dimensions, so that every γ is served at the price of few products: the
// Krylov spaces of K + γI don't depend on γ (A. Frommer, P. Maass, SIAM J. Sci. Comput. 19,
// 1998), nor does their deflation by given vectors.
//
// g is carried along; a system is certified by a gradient that a pass has measured,
// which then is its g₀. When there is no more room, conjugate gradients go on from
// each x.
type galerkin struct {
	*Batch
	space *subspace
	bases []base // of the systems, in their order
	work  galerkinWork

	asked     []*System // whose gradients the next pass measures
	fresh     int       // vectors behind the subspace that it multiplies
	rankBound int       // as many vectors as solve for any γ: the rank of A at most
	exhausted bool      // no vectors were found for the last pass
	request   Request
	cg        *separate // conjugate gradients, once there is no more room; nil before
}

// galerkinWork is for the systems together.
type galerkinWork struct {
	g0        []float64 // all g₀, q×d
	u         []float64 // Qg₀, q×most
	rhs, y    []float64 // those of the systems that move, and (QKQᵀ + γI)⁻¹Qg₀
	v, kv     []float64 // q×d
	noneAlong []float64 // the projection onto V of a vector orthogonal to it
	*workspace
}

// perVector is how many vectors the subspace has room for, by each that is given: the
// sketch's and one of each system, all of which are kept anyway.
const perVector = 6

// SubspaceRows is how many vectors Galerkin's subspace has room for at most, with those of
// a sketch of so many rows and as many systems, where rank bounds that of A.
func SubspaceRows(rank, sketch, systems int) int { return min(rank, perVector*(sketch+systems)) }

func newGalerkin(b *Batch) *galerkin {
	e, q, t, d := b.Known.Eigen(), len(b.Systems), b.targets(), b.Dim()
	rank := max(b.Known.Rank(), len(e.Values), 1)
	most := SubspaceRows(rank, len(e.Values), q)
	m := &galerkin{Batch: b, rankBound: rank, space: newSubspace(b.Known.Backend, d, most, q+t), request: b.newRequest(most + q)}
	m.work = galerkinWork{
		g0: make([]float64, q*d), u: make([]float64, q*most), rhs: make([]float64, q*most), y: make([]float64, q*most),
		v: make([]float64, q*d), kv: make([]float64, q*d), noneAlong: make([]float64, len(e.Values)), workspace: newWorkspace(b),
	}
	for i := range b.Systems {
		m.bases = append(m.bases, base{x: make([]float64, d), g: m.work.g0[i*d : (i+1)*d], unchanged: math.Inf(1)})
	}
	return m
}

// Start puts the first vectors behind the empty subspace.
func (m *galerkin) Start(ctx context.Context) error {
	d, q, w := m.Dim(), len(m.Systems), &m.work
	rank := 0
	if m.Deflate {
		rank = copy(m.space.q, m.Known.Eigen().V) / d
	}
	m.fresh = rank
	if m.Problem.Start != nil { // of whose gradient nothing is known
		m.startAt(m.Problem.Start)
		m.asked = append(m.asked, m.Active...)
		return nil
	}
	for i, s := range m.Systems {
		vec.Axpy(-1, m.Known.C(s.Target), s.G)
		m.rebase(s)
		w.gammas[i] = s.Gamma()
	}
	g := &w.gradients
	copy(g.G, w.g0)
	w.m.ProjectAll(q, g)
	if err := m.Hessian.Solve(ctx, w.gammas[:q], g); err != nil {
		return err
	}
	if m.MaxPasses == 1 { // the first pass only measures
		for i, s := range m.Systems {
			vec.Axpy(-1, g.Off[i*d:(i+1)*d], s.X)
		}
	}
	m.space.k = rank // to propose vectors orthogonal to V, with which K has yet to be multiplied
	more, err := m.space.propose(m.space.orthogonalParts(q, g.Off), g.Off)
	m.space.k = 0
	m.fresh += more
	return err
}

// Ask asks for products of the fresh vectors, and for the gradients of some systems.
func (m *galerkin) Ask(last bool) *Request {
	if m.cg != nil {
		return m.cg.Ask(last)
	}
	if last {
		m.fresh, m.asked = 0, append(m.asked[:0], m.Active...)
	}
	k, d, r := m.space.k, m.Dim(), &m.request
	r.V, r.Out, r.Queries = m.space.q[k*d:], m.space.kq[k*d:], r.Queries[:0]
	for range m.fresh {
		r.Queries = append(r.Queries, gram.Query{})
	}
	for i, s := range m.asked {
		row := m.fresh + i
		v := r.V[row*d : (row+1)*d]
		copy(v, s.X)
		r.Queries = append(r.Queries, s.query(true, v))
	}
	return r
}

// Absorb takes in the products, and moves the systems that were not measured to where
// they are best in the larger subspace.
func (m *galerkin) Absorb() error {
	if m.cg != nil {
		return m.cg.Absorb()
	}
	for _, s := range m.Active {
		s.Measured = false
	}
	k, d, r := m.space.k, m.Dim(), &m.request
	for i, s := range m.asked {
		row := m.fresh + i
		copy(s.G, r.Out[row*d:(row+1)*d])
		s.shift(s.G, r.V[row*d:(row+1)*d], r.at(row))
		s.measured(r.RSS[row], r.at(row))
		m.rebase(s)
	}
	if err := m.space.grow(m.fresh); err != nil {
		return err
	}
	m.coefficients(k)
	return m.move()
}

// coefficients completes u = Qg₀, of which it has the columns before from.
func (m *galerkin) coefficients(from int) {
	s, w := m.space, &m.work
	if n := s.k - from; n > 0 {
		s.be.Gemm(false, true, 1, engine.View(len(m.Systems), s.d, w.g0), engine.View(n, s.d, s.q[from*s.d:]), 0, engine.Strided(len(m.Systems), n, w.u[from:], s.most))
	}
	for i := range m.bases {
		if b := &m.bases[i]; b.moved {
			s.be.Gemv(false, 1, engine.View(s.k, s.d, s.q), b.g, 0, w.u[i*s.most:i*s.most+s.k])
			b.moved = false
		}
	}
}

// move takes the active systems whose gradient was not just measured to the Galerkin
// solution, and carries their gradients along.
func (m *galerkin) move() error {
	s, w, n := m.space, &m.work, 0
	for i, sys := range m.Systems {
		if sys.Status == Iterating && !sys.Measured {
			copy(w.rhs[n*s.most:], w.u[i*s.most:i*s.most+s.k])
			w.gammas[n] = sys.Gamma()
			n++
		}
	}
	if err := s.solve(n, w.gammas, w.rhs, w.y); err != nil {
		return err
	}
	s.be.Gemm(false, false, 1, engine.Strided(n, s.k, w.y, s.most), engine.View(s.k, s.d, s.q), 0, engine.View(n, s.d, w.v))
	s.be.Gemm(false, false, 1, engine.Strided(n, s.k, w.y, s.most), engine.View(s.k, s.d, s.kq), 0, engine.View(n, s.d, w.kv))
	n = 0
	for i, sys := range m.Systems {
		if sys.Status == Iterating && !sys.Measured {
			m.bases[i].advance(sys, w.v[n*s.d:(n+1)*s.d], w.kv[n*s.d:(n+1)*s.d])
			sys.Residual = carriedResidual(sys, m.Known.TSS[sys.Target], m.Known.C(sys.Target))
			n++
		}
	}
	return nil
}

// Gradients projects those of the active systems onto V. A gradient that was carried along is
// orthogonal to Q, which starts with V where Deflate is set: its projection is zero.
func (m *galerkin) Gradients() []Projection {
	if m.cg != nil {
		return m.cg.Gradients()
	}
	d, e, w := m.Dim(), m.Known.Eigen(), &m.work
	n := 0
	for _, s := range m.Active {
		if s.Measured || !m.Deflate {
			copy(w.gradients.G[n*d:(n+1)*d], s.G)
			n++
		}
	}
	w.m.ProjectAll(n, &w.gradients)
	n = 0
	for i, s := range m.Active {
		if s.Measured || !m.Deflate {
			w.projected[i] = w.gradients.Of(n, e)
			n++
			continue
		}
		norm := vec.Norm(s.G)
		w.projected[i] = Projection{Along: w.noneAlong, Norm: norm, Off: norm}
	}
	return w.projected[:len(m.Active)]
}

// Step looks for the vectors of the next pass, or goes on with conjugate gradients.
func (m *galerkin) Step(ctx context.Context) error {
	if m.cg != nil {
		return m.cg.Step(ctx)
	}
	if len(m.Active) == 0 {
		return nil
	}
	if err := m.correct(); err != nil {
		return err
	}
	full, err := m.extend(ctx)
	if err == nil && full {
		r := m.request
		r.V, r.Out = m.work.v, m.work.kv
		m.cg, err = newSeparateIn(m.Batch, CG, m.work.workspace, r)
	}
	return err
}

// correct moves the systems whose gradients were just measured with twice the digits to where
// they are best in the subspace that there is, which takes no pass. Where that promises the
// tolerance they are measured again at once.
func (m *galerkin) correct() error {
	found := false
	for _, s := range m.Active {
		if s.Measured && s.origin.isHere() {
			s.Measured, found = false, true
		}
	}
	if !found {
		return nil
	}
	m.coefficients(m.space.k)
	if err := m.move(); err != nil {
		return err
	}
	for i, g := range m.Gradients() {
		if s := m.Active[i]; s.precision == twice && !s.Measured {
			rounding := s.distance(&g, 0)
			s.checking = s.Relative <= m.Tol || s.bound < roundedAway*rounding
		}
	}
	return nil
}

// fewest is how many vectors of the next pass the subspace must have room for, if there are
// as many.
const fewest = 16

// extend puts vectors for the next pass behind the subspace and says of which systems the
// gradient is to be measured, or that there is no more room.
func (m *galerkin) extend(ctx context.Context) (full bool, err error) {
	moved, rows, err := m.wanted(ctx)
	if err != nil {
		return false, err
	}
	s := m.space
	if s.most < m.rankBound && s.most-s.k < min(moved, fewest) {
		return true, nil
	}
	fresh, err := s.propose(rows, m.work.gradients.Off)
	if err != nil {
		return false, err
	}
	// As many vectors as the rank of A are enough, but for round-off, and for the parts of a
	// start, or of another Hessian's solutions, that are orthogonal to the rows of A.
	if fresh == 0 && moved > 0 && s.k == s.most && s.most < s.d {
		return true, nil
	}
	if fresh == 0 && moved > 0 {
		if m.unhelped() {
			return true, nil
		}
		if err := m.solveAgain(); err != nil {
			return false, err
		}
	}
	if fresh > 0 {
		fresh = s.fill(fresh)
	}
	m.fresh, m.exhausted = fresh, fresh == 0
	m.asked = m.asked[:0]
	for _, sys := range m.Active {
		if sys.checking || m.exhausted {
			m.asked = append(m.asked, sys)
		}
	}
	return false, nil
}

// wanted writes to gradients.Off, as so many rows, the parts orthogonal to the subspace of
// Ĥ⁻¹g for the systems that move, and counts these. Where Q starts with V and Ĥ is the
// sketch's, a gradient that was carried along is orthogonal to Q, and its Ĥ⁻¹g a multiple of it.
func (m *galerkin) wanted(ctx context.Context) (moved, rows int, err error) {
	d, w := m.Dim(), &m.work
	if !m.Deflate {
		moved, err = m.preconditioned(ctx)
		return moved, m.space.orthogonalParts(moved, w.gradients.Off), err
	}
	for _, measured := range []bool{true, false} {
		for _, s := range m.Active {
			if s.Measured == measured && (!s.checking || s.measuresAnew()) {
				copy(w.gradients.Off[rows*d:], s.G)
				rows++
				moved++
			}
		}
		if measured {
			rows = m.space.orthogonalParts(rows, w.gradients.Off)
		}
	}
	return moved, rows, nil
}

// preconditioned writes to gradients.Off the Ĥ⁻¹g of the systems that move.
func (m *galerkin) preconditioned(ctx context.Context) (moved int, err error) {
	d, g := m.Dim(), &m.work.gradients
	for _, s := range m.Active {
		if !s.checking || s.measuresAnew() {
			copy(g.G[moved*d:(moved+1)*d], s.G)
			m.work.gammas[moved] = s.Gamma()
			moved++
		}
	}
	if moved == 0 {
		return 0, nil
	}
	m.work.m.ProjectAll(moved, g)
	return moved, m.Hessian.Solve(ctx, m.work.gammas[:moved], g)
}

// unhelped reports that solving once more in a subspace without new vectors has not halved the
// bound of some system: the subspace is no good for it any more.
func (m *galerkin) unhelped() bool {
	return m.exhausted && slices.ContainsFunc(m.Active, func(s *System) bool {
		return s.Measured && !(s.bound < m.bases[s.index].unchanged/2)
	})
}

// solveAgain solves the systems once more in a subspace for which no new vectors were found,
// from the gradients last measured. Their new gradients are to be measured, too.
func (m *galerkin) solveAgain() error {
	for _, s := range m.Active {
		if s.Measured {
			m.bases[s.index].unchanged = s.bound
		}
		s.Measured = false
	}
	m.coefficients(m.space.k)
	return m.move()
}
