// Package krylov refines ridge solutions by passes over the data until their errors are certified. [Solve] is the
// loop over the passes, and a [Method] computes the iterates. A Method uses the rows A of the data only through
// products of vectors with AᵀA.
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

// A Problem is a set of linear systems (AᵀA + γI)x = Aᵀb. Each element of Pairs gives the penalty γ and the
// target b of one system.
type Problem struct {
	Known    *certify.Known // bounds from a summary of the rows
	Operator *gram.Operator // multiplies vectors by K = AᵀA in a pass over the rows
	Hessian  Hessian
	Pairs    []Pair // one for each system
	// Start holds initial coefficients for each target (t×d), for every penalty. If it is nil, Hessian⁻¹Aᵀb is
	// used for the target b.
	Start []float64
	// Deflate means that Hessian is a function of BᵀB, where B is the sketch. Then every vector orthogonal to the right
	// singular vectors of B is an eigenvector of Hessian, with the same eigenvalue.
	Deflate bool

	Tol       float64
	MaxPasses int
	Observe   func(s *System) // if not nil, called for every iterate after its pass
	// Progress, if not nil, is called after each block. rows is the number of rows read in this pass. relative is the
	// largest bound on a relative error, and active is the number of systems that have not stopped.
	Progress func(pass int, rows int64, relative float64, active int)
}

// A Pair gives the penalty and the index of the target of one system. The system's right-hand side is Aᵀb for this
// target b.
type Pair struct {
	Gamma  float64
	Target int
}

// A Method requests products with AᵀA and computes the iterates from them. In each pass, [Solve] calls Ask, Absorb
// and Gradients, bounds the errors of the iterates, and then calls Step.
type Method interface {
	// Start sets the initial iterates.
	Start(ctx context.Context) error
	// Ask returns the vectors that the next pass multiplies by AᵀA. If last is true, there will be no further pass, and
	// Ask must request the gradients of all active systems.
	Ask(last bool) *Request
	// Absorb processes the products that Ask requested.
	Absorb() error
	// Gradients returns the gradient of each active system at its iterate, projected onto the right singular vectors of
	// the sketch. The results are valid until the next call of a method of this interface.
	Gradients() []Projection
	// Step computes the next iterates of the systems that have not stopped.
	Step(ctx context.Context) error
}

// A Request holds the vectors that a pass multiplies by AᵀA, and the results. Row i of V is the vector v of
// Queries[i]. Row i of Out is AᵀAv, and RSS[i] is ‖Av‖². If the query is affine, with target b, they are
// Aᵀ(Av − b) and ‖Av − b‖². V, Out and RSS also have room for the vectors that [Batch.read] appends, one for
// each target.
type Request struct {
	Queries     []gram.Query
	V, Out, RSS []float64
	Found       []*gram.Measurement
}

// at returns the measurement for Queries[i], or nil if this query does not have Precise set.
func (r *Request) at(i int) *gram.Measurement {
	if r.Found == nil {
		return nil
	}
	return r.Found[i]
}

// A Kind selects a method.
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

// A Batch is the state of all systems of a Problem during the iteration.
type Batch struct {
	*Problem
	Systems []*System // one for each of Pairs
	// checked lists the targets b whose products Aᵀb are compared with the summary in the first pass. These are the
	// targets that have a system, or all targets if there are no systems.
	checked []int
	Active  []*System // the systems that have not stopped
}

func newBatch(p *Problem) *Batch {
	b := &Batch{Problem: p}
	judge := b.judges()
	for i, s := range p.Pairs {
		b.Systems = append(b.Systems, newSystem(judge(s.Gamma), i, s.Target, b.Dim()))
		b.checked = append(b.checked, s.Target)
	}
	slices.Sort(b.checked)
	b.checked = slices.Compact(b.checked)
	if p.Pairs == nil {
		for j := range p.Known.TSS {
			b.checked = append(b.checked, j)
		}
	}
	b.Active = slices.Clone(b.Systems)
	return b
}

// startAt sets the initial iterate of each system to the row of x for the target of the system. x has one row of d
// coefficients for each target.
func (b *Batch) startAt(x []float64) {
	d := b.Dim()
	for _, s := range b.Systems {
		copy(s.X, x[s.Target*d:(s.Target+1)*d])
	}
}

// Dim returns the number of features d.
func (b *Batch) Dim() int { return b.Known.Eigen().Dim }

// targets returns the number of targets b whose product Aᵀb is checked in the first pass.
func (b *Batch) targets() int { return len(b.checked) }

// newRequest returns a Request with room for q vectors and for the targets to check. The caller sets V and Out.
func (b *Batch) newRequest(q int) Request {
	q += b.targets()
	return Request{Queries: make([]gram.Query, 0, q), RSS: make([]float64, q)}
}

// pass makes one pass and computes the next iterates.
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
			return fmt.Errorf(
				"ridge: the first gradient of target %d at gamma = %g is not finite: gamma is too small for these "+
					"data, or the Hessian or Start is unusable",
				s.Target+1,
				s.Gamma(),
			)
		}
	}
	b.Active = slices.DeleteFunc(b.Active, func(s *System) bool {
		return s.Status != Iterating
	})
	return m.Step(ctx)
}

// read makes the pass for a request. It returns an error if the pass has read other rows than the summary. For this
// check, the first pass also computes Aᵀb of each target b.
func (b *Batch) read(ctx context.Context, pass int, r *Request) error {
	q := len(r.Queries)
	d := b.Dim()
	k := b.Known
	qs := r.Queries
	if pass == 1 { // the gradients at zero are −AᵀY
		clear(r.V[q*d : (q+b.targets())*d])
		for _, j := range b.checked {
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

// rejudge replaces Known by k. The bounds for each system then come from k as well.
func (b *Batch) rejudge(k *certify.Known) {
	b.Known = k
	judge := b.judges()
	for _, s := range b.Systems {
		s.judged = judge(s.Gamma())
	}
}

// judges returns a function that returns the Judge of a penalty. The function computes each Judge only once.
func (b *Batch) judges() func(gamma float64) *certify.Judge {
	made := map[float64]*certify.Judge{}
	return func(gamma float64) *certify.Judge {
		if made[gamma] == nil {
			made[gamma] = b.Known.Judge(gamma)
		}
		return made[gamma]
	}
}

// compare returns an error if this pass has read other rows than the summary, because certificates would then be
// wrong. The first q queries are those that the method asked for. The remaining ones were added for this check.
func (b *Batch) compare(qs []gram.Query, q int, r Request) error {
	const other = "this pass read other rows than the summary"
	k := b.Known
	d := b.Dim()
	for i, s := range qs {
		x := r.V[i*d : (i+1)*d]
		out := r.Out[i*d : (i+1)*d]
		if off, differs := k.ProductDiffers(s.Target, s.Affine, x, out); differs {
			return rows.Unfit(other+": a product with AᵀA differs by %.3g", off)
		}
		if !s.Affine {
			continue
		}
		if want, differs := k.ResidualDiffers(s.Target, x, out, r.RSS[i]); differs {
			got, made := digits.Apart(r.RSS[i], want)
			return rows.Unfit(other+": target %d has ‖Ax − b‖² = %s, expected %s", s.Target+1, got, made)
		}
		if i < q {
			continue
		}
		// The queries from index q on ask for gradients at zero, which are −Aᵀb.
		if off, differs := k.CrossDiffers(s.Target, out, r.RSS[i]); differs {
			is, was := digits.Apart(r.RSS[i], k.TSS[s.Target])
			return rows.Unfit(
				other+": target %d has ‖Y‖² = %s, expected %s, and AᵀY differs by %.3g",
				s.Target+1,
				is,
				was,
				off,
			)
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
