// Package krylov refines ridge solutions by passes over the data until their errors are
// certified: one loop, and the methods that move the iterates. A method sees products
// with K, a Hessian and bounds, and nothing of where they come from.
package krylov

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Problem is what is to be solved: a system H(γ)x = c for each γ and target.
type Problem struct {
	Known    *certify.Known // by a summary of the rows
	Operator *gram.Operator // a pass over them
	Hessian  Hessian
	Gammas   []float64
	Start    []float64 // t×d, where every γ starts from; nil: Ĥ⁻¹c
	// Deflate says that Ĥ is a function of the sketch's BᵀB, so that Ĥ⁻¹v is a multiple of v
	// for every v orthogonal to V.
	Deflate bool

	Tol       float64
	MaxPasses int
	Observe   func(s *System) // nil, or shown every iterate after the pass that reached it
	// Progress is nil, or told after each block the pass, the rows read in it, the worst
	// relative bound and the number of active systems.
	Progress func(pass int, rows int64, relative float64, active int)
}

// A Method asks for products of K and moves the iterates. In each pass it is asked once,
// absorbs the answer, says what the gradients are, and takes a step after these have been
// judged.
type Method interface {
	// Start sets where the systems start from.
	Start(ctx context.Context) error
	// Ask returns the vectors to be multiplied. In the last pass all active systems are to
	// be measured.
	Ask(last bool) *Request
	// Absorb takes the answer to what was asked for.
	Absorb() error
	// Gradients returns the projections of those of the active systems, valid until the
	// next call of any method.
	Gradients() []Projection
	// Step moves on the active systems, from which those that have stopped were dropped.
	Step(ctx context.Context) error
}

// A Request asks for the products of K with the rows of V, to be written to Out, and their
// squared residuals, to RSS. All have room for one more vector for each target. Found has
// what was measured where a query is precise.
type Request struct {
	Queries     []gram.Query
	V, Out, RSS []float64
	Found       []*gram.Measurement
}

// at is what was measured for query i, nil for nothing.
func (r *Request) at(i int) *gram.Measurement {
	if r.Found == nil {
		return nil
	}
	return r.Found[i]
}

// A Kind is one of the methods.
type Kind int

// The methods.
const (
	CG Kind = iota
	Newton
	Galerkin
)

// Solve iterates until every system has stopped.
func Solve(ctx context.Context, p Problem, kind Kind) (*Batch, error) {
	b := newBatch(&p)
	m, err := newMethod(kind, b)
	if err != nil {
		return nil, err
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	for pass := 1; len(b.Active) > 0; pass++ {
		if err := b.pass(ctx, m, pass); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func newMethod(kind Kind, b *Batch) (Method, error) {
	if kind == Galerkin {
		return newGalerkin(b), nil
	}
	return newSeparate(b, kind)
}

// A Batch is all systems on their way.
type Batch struct {
	*Problem
	Systems []*System // target by target for each γ in turn
	Active  []*System // those that have not stopped
}

func newBatch(p *Problem) *Batch {
	b := &Batch{Problem: p}
	d, t := b.Dim(), b.targets()
	for _, gamma := range p.Gammas {
		judge := p.Known.Judge(gamma)
		for j := range t {
			b.Systems = append(b.Systems, newSystem(judge, len(b.Systems), j, d))
		}
	}
	b.Active = slices.Clone(b.Systems)
	return b
}

// startAt starts every system from the weights given for its target, t×d.
func (b *Batch) startAt(x []float64) {
	d := b.Dim()
	for _, s := range b.Systems {
		copy(s.X, x[s.Target*d:(s.Target+1)*d])
	}
}

// Dim is the length of the vectors.
func (b *Batch) Dim() int { return b.Known.Eigen().Dim }

func (b *Batch) targets() int { return len(b.Known.TSS) }

// newRequest makes room for requests of up to q vectors, without V and Out.
func (b *Batch) newRequest(q int) Request {
	q += b.targets()
	return Request{Queries: make([]gram.Query, 0, q), RSS: make([]float64, q)}
}

// pass makes one pass, and a step.
func (b *Batch) pass(ctx context.Context, m Method, pass int) error {
	last := pass == b.MaxPasses
	if err := b.read(ctx, pass, m.Ask(last)); err != nil {
		return err
	}
	if err := m.Absorb(); err != nil {
		return err
	}
	for i, g := range m.Gradients() {
		s := b.Active[i]
		s.passes = pass
		s.judge(&g, b.Tol, b.Observe)
		if last && s.Status == Iterating {
			s.Status = PassLimit
		}
		if s.Measured && !s.best.known {
			return fmt.Errorf("ridge: at the start for gamma = %g the gradient of target %d is not finite; the Hessian, or Start, is no good", s.Gamma(), s.Target)
		}
	}
	b.Active = slices.DeleteFunc(b.Active, func(s *System) bool { return s.Status != Iterating })
	return m.Step(ctx)
}

// read answers a request, and sees to it that the rows read are those of the summary. The
// first one asks for AᵀY too.
func (b *Batch) read(ctx context.Context, pass int, r *Request) error {
	q, d, k := len(r.Queries), b.Dim(), b.Known
	qs := r.Queries
	if pass == 1 { // the gradients at zero, −AᵀY
		clear(r.V[q*d : (q+b.targets())*d])
		for j := range b.targets() {
			qs = append(qs, gram.Query{Target: j, Affine: true})
		}
	}
	found, err := b.Operator.Apply(ctx, qs, r.V, r.Out, r.RSS, b.progress(pass))
	if err != nil {
		return err
	}
	r.Found = found
	if b.Operator.Sparse() && !k.Sparse {
		b.rejudge(k.ReadSparse())
	}
	return b.compare(qs, q, *r)
}

// rejudge replaces what is known, and with it the judges of all systems.
func (b *Batch) rejudge(k *certify.Known) {
	b.Known = k
	judges := make(map[float64]*certify.Judge, len(b.Gammas))
	for _, s := range b.Systems {
		gamma := s.Gamma()
		if judges[gamma] == nil {
			judges[gamma] = k.Judge(gamma)
		}
		s.judged = judges[gamma]
	}
}

// compare refuses rows that are not those of the summary: nothing certified by
// both would be true of either. The answers behind the first q are gradients at zero.
func (b *Batch) compare(qs []gram.Query, q int, r Request) error {
	const other = "the rows of this pass are not those of the summary"
	k, d := b.Known, b.Dim()
	for i, s := range qs {
		x, out := r.V[i*d:(i+1)*d], r.Out[i*d:(i+1)*d]
		if off, differs := k.ProductDiffers(s.Target, s.Affine, x, out); differs {
			return rows.Unfit(other+": one of their products is %.3g away", off)
		}
		if !s.Affine {
			continue
		}
		if want, differs := k.ResidualDiffers(s.Target, x, out, r.RSS[i]); differs {
			got, made := digits.Apart(r.RSS[i], want)
			return rows.Unfit(other+": of target %d ‖Ax − b‖² is %s where they make it %s", s.Target+1, got, made)
		}
		if i < q {
			continue
		}
		if off, differs := k.CrossDiffers(s.Target, out, r.RSS[i]); differs {
			is, was := digits.Apart(r.RSS[i], k.TSS[s.Target])
			return rows.Unfit(other+": of target %d ‖Y‖² is %s where it was %s, and AᵀY is %.3g away", s.Target+1, is, was, off)
		}
	}
	return nil
}

func (b *Batch) progress(pass int) func(int64) {
	if b.Progress == nil {
		return nil
	}
	worst := 0.0
	for _, s := range b.Systems {
		worst = math.Max(worst, s.best.relative)
	}
	return func(rows int64) { b.Progress(pass, rows, worst, len(b.Active)) }
}
