package krylov

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// A galerkin solves all systems (K + γI)x = c in one subspace, spanned by the orthonormal rows of Q (k×d), for
// K = AᵀA and c = Aᵀb. Each system has a point x₀ with a known gradient g₀. At first x₀ = 0 and g₀ = −c.
// The passes compute QKQᵀ and KQᵀ. So
//
//	x = x₀ − Qᵀ(QKQᵀ + γI)⁻¹Qg₀,   g = g₀ − (K + γI)Qᵀ(QKQᵀ + γI)⁻¹Qg₀
//
// can be computed for each γ without reading the rows. x minimises the objective over x₀ plus the subspace, and
// Qg = 0 (Galerkin's condition).
//
// Every pass extends Q. Let Ĥ be the Hessian that approximates K + γI. If Ĥ comes from the sketch, Q starts with
// the right singular vectors of the sketch. Later passes add vectors that span the parts of Ĥ⁻¹g orthogonal to the
// subspace, for all systems. Few vectors are enough for any number of γ, because the Krylov spaces of K + γI do not
// depend on γ (A. Frommer, P. Maass, SIAM J. Sci. Comput. 19, 1998).
//
// The formula above updates the gradient g, with round-off. To certify a system, a pass measures the gradient at x; x
// and this gradient then become x₀ and g₀. When the subspace is full, conjugate gradients continue from each x.
type galerkin struct {
	*Batch
	space *subspace
	bases []base // one for each system, in the order of Systems
	work  galerkinWork

	asked     []*System // systems whose gradient the next pass measures
	fresh     int       // number of new vectors, stored after the subspace, for the next pass
	rankBound int       // upper bound on the rank of A, and so on the number of vectors needed
	exhausted bool      // the last pass had no new vectors
	request   Request
	// cg continues the iteration by conjugate gradients after the subspace is full. Before, it is nil.
	cg *separate
}

// galerkinWork is the workspace for all q systems.
type galerkinWork struct {
	g0 []float64 // g₀ of each system, q×d
	u  []float64 // Qg₀ of each system; the leading dimension is the capacity most of the subspace
	// rhs holds the rows of u for the systems to solve. y holds the products of these rows with (QKQᵀ + γI)⁻¹.
	rhs, y    []float64
	v, kv     []float64 // q×d
	zeroAlong []float64 // a zero projection
	*workspace
}

// perVector determines the capacity of the subspace. It is at most perVector times the number of initial vectors.
// Each row of the sketch and each system gives one initial vector.
const perVector = 6

// SubspaceRows returns the capacity, in vectors, of the subspace of the Galerkin method. The argument rank bounds
// the rank of A, sketch is the number of rows of the sketch, and systems is the number of systems.
func SubspaceRows(rank, sketch, systems int) int {
	return min(rank, perVector*(sketch+systems))
}

func newGalerkin(b *Batch) *galerkin {
	e := b.Known.Eigen()
	q := len(b.Systems)
	t := b.targets()
	d := b.Dim()
	rank := max(b.Known.Rank(), len(e.Values), 1)
	most := SubspaceRows(rank, len(e.Values), q)
	m := &galerkin{
		Batch:     b,
		rankBound: rank,
		space:     newSubspace(b.Known.Backend, d, most, q+t),
		request:   b.newRequest(most + q),
	}
	m.work = galerkinWork{
		g0:        make([]float64, q*d),
		u:         make([]float64, q*most),
		rhs:       make([]float64, q*most),
		y:         make([]float64, q*most),
		v:         make([]float64, q*d),
		kv:        make([]float64, q*d),
		zeroAlong: make([]float64, len(e.Values)),
		workspace: newWorkspace(b),
	}
	for i := range b.Systems {
		m.bases = append(m.bases, base{
			x:         make([]float64, d),
			g:         m.work.g0[i*d : (i+1)*d],
			unchanged: math.Inf(1),
		})
	}
	return m
}

// Start chooses the vectors for the first pass. It stores them in the memory of the subspace, which has no vectors
// yet.
func (m *galerkin) Start(ctx context.Context) error {
	d := m.Dim()
	q := len(m.Systems)
	w := &m.work
	rank := 0
	if m.Deflate {
		rank = copy(m.space.q, m.Known.Eigen().V) / d
	}
	m.fresh = rank
	if m.Problem.Start != nil { // the gradients at the initial points are unknown
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
	if m.MaxPasses == 1 { // the only pass measures the gradients and multiplies no other vectors
		for i, s := range m.Systems {
			vec.Axpy(-1, g.Off[i*d:(i+1)*d], s.X)
		}
	}
	// For the moment, count the right singular vectors V of the sketch as rows of the subspace. New vectors are then
	// orthogonal to V, although the products of V with AᵀA are not known yet.
	m.space.k = rank
	more, err := m.space.propose(m.space.orthogonalParts(q, g.Off), g.Off)
	m.space.k = 0
	m.fresh += more
	return err
}

// Ask requests the products of AᵀA with the new vectors, and the gradients of the systems in m.asked.
func (m *galerkin) Ask(last bool) *Request {
	if m.cg != nil {
		return m.cg.Ask(last)
	}
	if last {
		m.fresh = 0
		m.asked = append(m.asked[:0], m.Active...)
	}
	k := m.space.k
	d := m.Dim()
	r := &m.request
	r.V = m.space.q[k*d:]
	r.Out = m.space.kq[k*d:]
	r.Queries = r.Queries[:0]
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

// Absorb adds the new vectors and their products to the subspace. It then solves the systems in the larger
// subspace. It leaves out the systems whose gradient this pass has measured.
func (m *galerkin) Absorb() error {
	if m.cg != nil {
		return m.cg.Absorb()
	}
	for _, s := range m.Active {
		s.Measured = false
	}
	k := m.space.k
	d := m.Dim()
	r := &m.request
	for i, s := range m.asked {
		row := m.fresh + i
		copy(s.G, r.Out[row*d:(row+1)*d])
		s.complete(s.G, r.V[row*d:(row+1)*d], r.at(row))
		s.measured(r.RSS[row], r.at(row))
		m.rebase(s)
	}
	if err := m.space.grow(m.fresh); err != nil {
		return err
	}
	m.coefficients(k)
	return m.move()
}

// coefficients updates the product Qg₀ of each system after the subspace has grown, with Q and g₀ of [galerkin]. It
// computes the elements from index firstNew on. If g₀ of a system has changed, it computes all elements.
func (m *galerkin) coefficients(firstNew int) {
	s := m.space
	w := &m.work
	if n := s.k - firstNew; n > 0 {
		s.be.Gemm(
			false,
			true,
			1,
			engine.View(len(m.Systems), s.d, w.g0),
			engine.View(n, s.d, s.q[firstNew*s.d:]),
			0,
			engine.Strided(len(m.Systems), n, w.u[firstNew:], s.most),
		)
	}
	for i := range m.bases {
		if b := &m.bases[i]; b.moved {
			along := w.u[i*s.most : i*s.most+s.k]
			s.be.Gemv(false, 1, engine.View(s.k, s.d, s.q), b.g, 0, along)
			b.moved = false
		}
	}
}

// move sets the active systems to their solutions in the subspace and updates their gradients. It skips the systems
// whose gradient this pass has measured, because their current iterates must be certified first.
func (m *galerkin) move() error {
	s := m.space
	w := &m.work
	n := 0
	for i, sys := range m.Systems {
		if sys.Status == Iterating && !sys.Measured {
			along := w.u[i*s.most : i*s.most+s.k]
			copy(w.rhs[n*s.most:], along)
			w.gammas[n] = sys.Gamma()
			n++
		}
	}
	if err := s.solve(n, w.gammas, w.rhs, w.y); err != nil {
		return err
	}
	s.be.Gemm(
		false,
		false,
		1,
		engine.Strided(n, s.k, w.y, s.most),
		engine.View(s.k, s.d, s.q),
		0,
		engine.View(n, s.d, w.v),
	)
	s.be.Gemm(
		false,
		false,
		1,
		engine.Strided(n, s.k, w.y, s.most),
		engine.View(s.k, s.d, s.kq),
		0,
		engine.View(n, s.d, w.kv),
	)
	n = 0
	for i, sys := range m.Systems {
		if sys.Status == Iterating && !sys.Measured {
			from := n * s.d
			to := (n + 1) * s.d
			m.bases[i].advance(sys, w.v[from:to], w.kv[from:to])
			sys.Residual = carriedResidual(
				sys,
				m.Known.TSS[sys.Target],
				m.Known.C(sys.Target),
			)
			n++
		}
	}
	return nil
}

// Gradients returns the gradients of the active systems, projected onto the right singular vectors V of the sketch.
// If Deflate is true, the subspace contains V. The gradient at a solution in the subspace is then orthogonal to V,
// and only measured gradients have to be projected.
func (m *galerkin) Gradients() []Projection {
	if m.cg != nil {
		return m.cg.Gradients()
	}
	d := m.Dim()
	e := m.Known.Eigen()
	w := &m.work
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
		w.projected[i] = Projection{Along: w.zeroAlong, Norm: norm, Off: norm}
	}
	return w.projected[:len(m.Active)]
}

// Step chooses the vectors that the next pass multiplies by AᵀA. If the subspace is full, Step switches to
// conjugate gradients.
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
		r.V = m.work.v
		r.Out = m.work.kv
		m.cg, err = newSeparateIn(m.Batch, CG, m.work.workspace, r)
	}
	return err
}

// correct solves a system again, without a pass, if the last pass measured its gradient with twice the digits. If
// the new iterate is expected to meet the tolerance, the next pass will measure the gradient there.
func (m *galerkin) correct() error {
	found := false
	for _, s := range m.Active {
		if s.Measured && s.origin.isCurrent() {
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
		if s := m.Active[i]; s.precision == doubleDouble && !s.Measured {
			rounding := s.distance(&g, 0)
			s.checking = s.Relative <= m.Tol || s.bound < roundedAway*rounding
		}
	}
	return nil
}

// minVectors is a number of vectors. The subspace counts as full if it has no room for minVectors more vectors, nor
// for all vectors of the next pass.
const minVectors = 16

// extend stores the vectors for the next pass after the rows of the subspace. It also chooses the systems whose
// gradient the next pass measures. full reports that the subspace has no more room, or that it cannot improve a
// system any more. Then conjugate gradients have to continue.
func (m *galerkin) extend(ctx context.Context) (full bool, err error) {
	moved, rows, err := m.directions(ctx)
	if err != nil {
		return false, err
	}
	s := m.space
	if s.most < m.rankBound && s.most-s.k < min(moved, minVectors) {
		return true, nil
	}
	fresh, err := s.propose(rows, m.work.gradients.Off)
	if err != nil {
		return false, err
	}
	// The dimension of the subspace is now the bound on the rank of A. So the subspace contains every solution, up to
	// round-off and up to components orthogonal to the rows of A. Such components come from initial coefficients, or
	// from a Hessian that is not the sketch's. Only conjugate gradients can reduce them.
	if fresh == 0 &&
		moved > 0 &&
		s.k == s.most &&
		s.most < s.d {
		return true, nil
	}
	if fresh == 0 && moved > 0 {
		if m.isStuck() {
			return true, nil
		}
		if err := m.solveAgain(); err != nil {
			return false, err
		}
	}
	if fresh > 0 {
		fresh = s.fill(fresh)
	}
	m.fresh = fresh
	m.exhausted = fresh == 0
	m.asked = m.asked[:0]
	for _, sys := range m.Active {
		if sys.checking || m.exhausted {
			m.asked = append(m.asked, sys)
		}
	}
	return false, nil
}

// directions computes new directions for the systems to solve, from the gradient g of each system. Let Ĥ be the
// approximation of AᵀA + γI. The direction is the part of Ĥ⁻¹g that is orthogonal to the subspace. directions
// writes it to a row of gradients.Off. The result moved is the number of systems, and rows is the number of rows
// written.
//
// If Deflate is true, the orthogonal part of Ĥ⁻¹g is a multiple of the orthogonal part of g. Then directions uses
// the orthogonal part of g.
func (m *galerkin) directions(ctx context.Context) (moved, rows int, err error) {
	d := m.Dim()
	w := &m.work
	if !m.Deflate {
		moved, err = m.preconditioned(ctx)
		return moved, m.space.orthogonalParts(moved, w.gradients.Off), err
	}
	for _, measured := range []bool{true, false} {
		for _, s := range m.Active {
			if s.Measured == measured && (!s.checking || s.measuresPrecisely()) {
				copy(w.gradients.Off[rows*d:], s.G)
				rows++
				moved++
			}
		}
		if measured { // the gradients that were not measured are already orthogonal to the subspace
			rows = m.space.orthogonalParts(rows, w.gradients.Off)
		}
	}
	return moved, rows, nil
}

// preconditioned writes Ĥ⁻¹g to gradients.Off for each system to solve, and returns the number of these systems. g
// is the gradient of the system, and Ĥ is the approximation of AᵀA + γI.
func (m *galerkin) preconditioned(ctx context.Context) (moved int, err error) {
	d := m.Dim()
	g := &m.work.gradients
	for _, s := range m.Active {
		if !s.checking || s.measuresPrecisely() {
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

// isStuck reports whether the subspace cannot improve some system any more. This is the case if solving the system
// again in the unchanged subspace did not halve its error bound.
func (m *galerkin) isStuck() bool {
	return m.exhausted &&
		slices.ContainsFunc(m.Active, func(s *System) bool {
			return s.Measured && !(s.bound < m.bases[s.index].unchanged/2)
		})
}

// solveAgain solves the systems again in the unchanged subspace. It starts from the gradients that the last pass
// measured.
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
