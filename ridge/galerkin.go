package ridge

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
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
// Q starts with the right singular vectors of the sketch. Each pass multiplies K with
// what the Ĥ⁻¹g of all systems have outside the subspace; these are nearly multiples
// of few vectors, so every γ is served at the price of few: the Krylov spaces of
// K + γI don't depend on γ (A. Frommer, P. Maass, SIAM J. Sci. Comput. 19, 1998), nor
// does their deflation by given vectors.
//
// g is carried along; a system is certified by a gradient that a pass has measured,
// which then is its g₀. When there is no more room, conjugate gradients go on from
// each x.
type galerkin struct {
	*refinement
	space *subspace
	bases []*based  // of the systems, in their order
	g0    []float64 // q×d
	u     []float64 // Qg₀, q×most
	rhs   []float64 // those of the systems that move, and
	y     []float64 // (QKQᵀ + γI)⁻¹Qg₀
	asked []*system // whose gradients the pass under way measures

	deflated bool      // Q starts with the vectors of the sketch,
	none     []float64 // of which a g with Qg = 0 has this
	whole    int       // as many vectors as solve for any γ: the rank of A at most
	stayed   bool      // no vectors were found for it
	full     bool      // there is no more room for any
}

// based is a system of Galerkin's method: x moves with the subspace and not by step.
type based struct {
	x, g, x0, g0 []float64
	moved        bool    // g₀ is not what u was made of
	stayed       float64 // the bound that was last measured without new vectors
}

func newBased(x, g []float64) *based {
	return &based{x: x, g: g, x0: make([]float64, len(x)), stayed: math.Inf(1)}
}

func (b *based) query(v []float64) bool {
	copy(v, b.x)
	return true
}

func (b *based) absorb(hv []float64) bool {
	copy(b.g, hv)
	b.rebase()
	return true
}

func (b *based) rebase() {
	copy(b.x0, b.x)
	copy(b.g0, b.g)
	b.moved = true
}

func (b *based) step([]float64) {}
func (b *based) verify()        {}

// perVector is how many vectors the subspace has room for, by each that is given: the
// sketch's and one of each system, all of which are kept anyway.
const perVector = 6

func newGalerkin(r *refinement) *galerkin {
	d, q, t := r.sum.cfg.Dim, len(r.systems), r.sum.cfg.Targets
	whole := max(r.know.rank(), len(r.know.spec.Sigma2), 1)
	most := min(whole, perVector*(len(r.know.spec.Sigma2)+q))
	g := &galerkin{refinement: r, whole: whole, space: newSubspace(r.sum.be, d, most, q+t)}
	if _, g.deflated = r.hessian.(*sketched); g.deflated {
		g.none = make([]float64, len(r.know.spec.Sigma2))
	}
	g.g0 = make([]float64, q*d)
	g.u, g.rhs, g.y = make([]float64, q*most), make([]float64, q*most), make([]float64, q*most)
	for i, s := range r.systems {
		b := s.iteration.(*based)
		b.g0 = g.g0[i*d : (i+1)*d]
		g.bases = append(g.bases, b)
	}
	r.rss, r.queries = make([]float64, most+q+t), make([]query, most+q+t)
	return g
}

// run iterates until every system has stopped.
func (g *galerkin) run(ctx context.Context) error {
	fresh, err := g.start(ctx)
	for pass := 1; err == nil && len(g.active) > 0; pass++ {
		last := pass == g.opts.MaxPasses
		if last {
			fresh, g.asked = 0, append(g.asked[:0], g.active...)
		}
		if err = g.pass(ctx, pass, fresh); err != nil {
			break
		}
		if err = g.judgeAll(pass, last); err != nil {
			break
		}
		if fresh, err = g.extend(ctx); g.full && err == nil {
			for _, s := range g.active {
				s.iteration = newCG(s.x, s.g)
			}
			return g.iterate(ctx, pass+1)
		}
	}
	return err
}

// start puts the first vectors behind the empty subspace and returns how many.
func (g *galerkin) start(ctx context.Context) (int, error) {
	rank := 0
	if g.deflated {
		rank = copy(g.space.q, g.know.spec.V) / g.space.d
	}
	if g.opts.Start != nil { // of whose gradient nothing is known
		for _, s := range g.systems {
			mat.Row(s.x, s.target, g.opts.Start)
		}
		g.asked = append(g.asked, g.active...)
		return rank, nil
	}
	d, q := g.space.d, len(g.systems)
	for i, s := range g.systems {
		axpy(-1, g.know.cross[s.target*d:(s.target+1)*d], s.g)
		g.bases[i].rebase()
		g.gammas[i] = s.gamma
	}
	copy(g.v, g.g0)
	g.sketch.projections(q, g.v, g.rest, g.projection)
	if err := g.solve(ctx, q); err != nil {
		return 0, err
	}
	if g.opts.MaxPasses == 1 { // which only measures
		for i, s := range g.systems {
			axpy(-1, g.rest[i*d:(i+1)*d], s.x)
		}
	}
	g.space.k = rank // for once of vectors with which K has not been multiplied
	more, err := g.space.propose(g.space.outside(q, g.rest), g.rest)
	g.space.k = 0
	return rank + more, err
}

// pass reads the data for the fresh vectors and the asked systems, and moves the
// others to where they are best in the larger subspace.
func (g *galerkin) pass(ctx context.Context, pass, fresh int) error {
	k, d := g.space.k, g.space.d
	v, kv := g.space.q[k*d:], g.space.kq[k*d:]
	for i := range fresh {
		g.queries[i] = query{}
	}
	for i, s := range g.asked {
		row := fresh + i
		g.queries[row] = query{s.target, s.query(v[row*d : (row+1)*d])}
	}
	if err := g.read(ctx, pass, fresh+len(g.asked), v, kv); err != nil {
		return err
	}
	for _, s := range g.active {
		s.measured = false
	}
	for i, s := range g.asked {
		row := fresh + i
		g.hand(s, v[row*d:(row+1)*d], kv[row*d:(row+1)*d], g.rss[row])
	}
	if err := g.space.grow(fresh); err != nil {
		return err
	}
	g.coefficients(k)
	return g.move()
}

// coefficients completes u = Qg₀, of which it has the columns before from.
func (g *galerkin) coefficients(from int) {
	s := g.space
	if n := s.k - from; n > 0 {
		s.be.Gemm(false, true, 1, engine.View(len(g.systems), s.d, g.g0), engine.View(n, s.d, s.q[from*s.d:]), 0, engine.Strided(len(g.systems), n, g.u[from:], s.most))
	}
	for i, b := range g.bases {
		if b.moved {
			s.be.Gemv(false, 1, engine.View(s.k, s.d, s.q), b.g0, 0, g.u[i*s.most:i*s.most+s.k])
			b.moved = false
		}
	}
}

// move takes the active systems whose gradient was not just measured to the Galerkin
// solution, and carries their gradients along.
func (g *galerkin) move() error {
	s, n := g.space, 0
	for i, sys := range g.systems {
		if sys.stop == "" && !sys.measured {
			copy(g.rhs[n*s.most:], g.u[i*s.most:i*s.most+s.k])
			g.gammas[n] = sys.gamma
			n++
		}
	}
	if err := s.solve(n, g.gammas, g.rhs, g.y); err != nil {
		return err
	}
	s.be.Gemm(false, false, 1, engine.Strided(n, s.k, g.y, s.most), engine.View(s.k, s.d, s.q), 0, engine.View(n, s.d, g.v))
	s.be.Gemm(false, false, 1, engine.Strided(n, s.k, g.y, s.most), engine.View(s.k, s.d, s.kq), 0, engine.View(n, s.d, g.hv))
	n = 0
	for i, sys := range g.systems {
		if sys.stop == "" && !sys.measured {
			g.bases[i].advance(sys.gamma, g.v[n*s.d:(n+1)*s.d], g.hv[n*s.d:(n+1)*s.d])
			sys.residual = g.residual(sys)
			n++
		}
	}
	return nil
}

// advance sets x to x₀ − v and g to the gradient there, given Kv.
func (b *based) advance(gamma float64, v, kv []float64) {
	for i, w := range v {
		b.x[i] = b.x0[i] - w
		b.g[i] = b.g0[i] - (kv[i] + gamma*w)
	}
}

// residual is ‖Ax − b‖ as the gradient carried along has it:
// ‖b‖² − cᵀx + xᵀ(g − γx).
func (g *galerkin) residual(s *system) float64 {
	c := g.know.cross[s.target*g.space.d : (s.target+1)*g.space.d]
	x := norm(s.x)
	return math.Sqrt(math.Max(0, g.know.tss[s.target]-dot(c, s.x)+dot(s.x, s.g)-s.gamma*x*x))
}

// judgeAll judges where each system stands after a pass. A gradient carried along has
// nothing of the vectors that Q starts with; one that was measured is projected.
func (g *galerkin) judgeAll(pass int, last bool) error {
	if !g.deflated {
		return g.refinement.judgeAll(pass, last)
	}
	d, n := g.space.d, 0
	for _, s := range g.active {
		if s.measured {
			copy(g.v[n*d:(n+1)*d], s.g)
			n++
		}
	}
	g.sketch.projections(n, g.v[:n*d], g.rest[:n*d], g.projection)
	n = 0
	for _, s := range g.active {
		p := projection{along: g.none, norm: norm(s.g)}
		p.rest2 = p.norm * p.norm
		if s.measured {
			p = g.projection[n]
			n++
		}
		if err := g.judge(s, &p, pass, last); err != nil {
			return err
		}
	}
	return nil
}

// fewest is how much room there is to be for the vectors of the next pass, unless
// there are fewer.
const fewest = 16

// extend puts vectors for the next pass behind the subspace, returns how many, and
// says of which systems the gradient is to be measured.
func (g *galerkin) extend(ctx context.Context) (int, error) {
	moved, wanted, err := g.wanted(ctx)
	if err != nil {
		return 0, err
	}
	s := g.space
	if g.full = s.most < g.whole && s.most-s.k < min(moved, fewest); g.full {
		return 0, nil
	}
	fresh, err := s.propose(wanted, g.rest)
	if err != nil {
		return 0, err
	}
	// As many vectors as the rank are enough but for round-off, and for what a start or
	// another Hessian has outside the row space.
	if g.full = fresh == 0 && moved > 0 && s.k == s.most && s.most < s.d; g.full {
		return 0, nil
	}
	if fresh == 0 && moved > 0 {
		if err := g.stay(); err != nil {
			return 0, err
		}
	}
	if fresh > 0 {
		fresh = s.fill(fresh)
	}
	g.stayed = fresh == 0
	g.asked = g.asked[:0]
	for _, sys := range g.active {
		if sys.checking || g.stayed {
			g.asked = append(g.asked, sys)
		}
	}
	return fresh, nil
}

// wanted drops the systems that have stopped and leaves in rest, as that many rows,
// what the Ĥ⁻¹g of those that go on have outside the subspace. Of a g with Qg = 0 this
// is a multiple of g when Q starts with the vectors of the sketch.
func (g *galerkin) wanted(ctx context.Context) (moved, rows int, err error) {
	if !g.deflated {
		moved, err = g.step(ctx)
		return moved, g.space.outside(moved, g.rest), err
	}
	g.active = slices.DeleteFunc(g.active, func(s *system) bool { return s.stop != "" })
	d := g.space.d
	for _, measured := range []bool{true, false} {
		for _, s := range g.active {
			if s.measured == measured && !s.checking {
				copy(g.rest[rows*d:], s.g)
				rows++
				moved++
			}
		}
		if measured {
			rows = g.space.outside(rows, g.rest)
		}
	}
	return moved, rows, nil
}

// stay is for a subspace that has all the systems want: they are solved in it once
// more, from the gradients last measured, to be measured again.
func (g *galerkin) stay() error {
	left := g.active[:0]
	for _, sys := range g.active {
		if b := sys.iteration.(*based); sys.measured {
			if g.stayed && !(sys.bound < b.stayed/2) {
				sys.stop = stopStalled
				continue
			}
			b.stayed = sys.bound
		}
		sys.measured = false
		left = append(left, sys)
	}
	g.active = left
	g.coefficients(g.space.k)
	return g.move()
}
