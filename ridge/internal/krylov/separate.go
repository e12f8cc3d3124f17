package krylov

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/internal/spectral"
)

// An iteration solves one system independently of the others. Its methods update the iterate and the gradient of
// the system.
type iteration interface {
	// query writes the vector for the next pass to v. If affine is true, the pass computes the gradient at v. Otherwise
	// it computes the product (AᵀA + γI)v, for the penalty γ of the system.
	query(v []float64) (affine bool)
	// absorb updates the iterate and the gradient. hv is the result of the pass for the last query. isGradient reports
	// whether hv is the gradient at the new iterate.
	absorb(hv []float64) (isGradient bool)
	// step receives z, the gradient multiplied by the inverse Hessian, and prepares the next query.
	step(z []float64)
	// verify makes the next query ask for the gradient at the iterate.
	verify()
}

// separate solves each system by an iteration of its own. The systems have only the passes in common.
type separate struct {
	*Batch
	iterations []iteration // one for each system
	request    Request
	*workspace
	// gradientRow[i] is the row of gradients that belongs to the system with index i.
	gradientRow []int
}

// A workspace holds the gradients of all systems and their projections.
type workspace struct {
	gradients spectral.Gradients
	projected []Projection
	gammas    []float64
	m         *spectral.Resolvent
}

func newWorkspace(b *Batch) *workspace {
	q := len(b.Systems)
	e := b.Known.Eigen()
	w := &workspace{
		projected: make([]Projection, q),
		gammas:    make([]float64, q),
		m:         spectral.NewResolvent(e, b.Known.Backend),
	}
	w.gradients.Reserve(q, e)
	return w
}

func newSeparate(b *Batch, kind Kind) (*separate, error) {
	q := len(b.Systems)
	d := b.Dim()
	more := q + b.targets()
	r := b.newRequest(q)
	r.V = make([]float64, more*d)
	r.Out = make([]float64, more*d)
	return newSeparateIn(b, kind, newWorkspace(b), r)
}

// newSeparateIn does what newSeparate does, in the memory of w and r. r must have room for all systems.
func newSeparateIn(b *Batch, kind Kind, w *workspace, r Request) (*separate, error) {
	m := &separate{
		Batch:       b,
		request:     r,
		workspace:   w,
		gradientRow: make([]int, len(b.Systems)),
		iterations:  make([]iteration, len(b.Systems)),
	}
	for _, s := range b.Active {
		it, err := newIteration(kind, s)
		if err != nil {
			return nil, err
		}
		m.iterations[s.index] = it
	}
	return m, nil
}

func newIteration(kind Kind, s *System) (iteration, error) {
	switch kind {
	case Newton:
		return &newton{x: s.X, g: s.G}, nil
	case CG:
		return &cg{
			x:     s.X,
			g:     s.G,
			p:     make([]float64, len(s.X)),
			check: true,
		}, nil
	}
	return nil, fmt.Errorf("ridge: method %d does not iterate on each system by itself", int(kind))
}

// Start sets every iterate to the initial coefficients of the problem. If the problem has none, Start sets the
// iterate of a system to Ĥ⁻¹Aᵀb. Here Ĥ is the Hessian of the problem, and b is the target of the system.
func (m *separate) Start(ctx context.Context) error {
	d := m.Dim()
	if m.Problem.Start != nil {
		m.startAt(m.Problem.Start)
		return nil
	}
	g := &m.gradients
	q := len(m.Systems)
	for i, s := range m.Systems {
		copy(g.G[i*d:(i+1)*d], m.Known.C(s.Target))
		m.gammas[i] = s.Gamma()
	}
	m.m.ProjectAll(q, g)
	if err := m.Hessian.Solve(ctx, m.gammas[:q], g); err != nil {
		return err
	}
	for i, s := range m.Systems {
		copy(s.X, g.Off[i*d:(i+1)*d])
	}
	return nil
}

func (m *separate) Ask(last bool) *Request {
	d := m.Dim()
	r := &m.request
	r.Queries = r.Queries[:0]
	for i, s := range m.Active {
		it := m.iterations[s.index]
		if last {
			it.verify()
		}
		v := r.V[i*d : (i+1)*d]
		r.Queries = append(r.Queries, s.query(it.query(v), v))
	}
	return r
}

func (m *separate) Absorb() error {
	d := m.Dim()
	r := &m.request
	for i, s := range m.Active {
		v := r.V[i*d : (i+1)*d]
		kv := r.Out[i*d : (i+1)*d]
		s.complete(kv, v, r.at(i))
		s.Measured = m.iterations[s.index].absorb(kv)
		if s.Measured {
			s.measured(r.RSS[i], r.at(i))
		}
	}
	return nil
}

func (m *separate) Gradients() []Projection {
	d := m.Dim()
	q := len(m.Active)
	e := m.Known.Eigen()
	for i, s := range m.Active {
		copy(m.gradients.G[i*d:(i+1)*d], s.G)
		m.gradientRow[s.index] = i
	}
	m.m.ProjectAll(q, &m.gradients)
	for i := range q {
		m.projected[i] = m.gradients.Of(i, e)
	}
	return m.projected[:q]
}

// Step multiplies the gradients by the inverse Hessian and passes the products to the iterations. It skips the
// systems whose gradient the next pass must measure first.
func (m *separate) Step(ctx context.Context) error {
	d := m.Dim()
	g := &m.gradients
	e := m.Known.Eigen()
	q := 0
	for _, s := range m.Active {
		if !s.checking {
			g.Move(m.gradientRow[s.index], q, e)
			m.gammas[q] = s.Gamma()
			q++
		} else {
			m.iterations[s.index].verify()
		}
	}
	if q == 0 {
		return nil
	}
	if err := m.Hessian.Solve(ctx, m.gammas[:q], g); err != nil {
		return err
	}
	q = 0
	for _, s := range m.Active {
		if !s.checking {
			m.iterations[s.index].step(g.Off[q*d : (q+1)*d])
			q++
		}
	}
	return nil
}
