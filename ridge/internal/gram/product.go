package gram

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A product adds to sums what some rows contribute.
type product struct {
	be     engine.Backend
	d, t   int
	tuning engine.Tuning
	reader *rows.Reader

	offset    []float64 // μᵀv of each vector
	rhs       []float64 // right-hand sides n×q
	residuals []float64 // of the rows last added, n×q
	finite    bool      // all residuals are
	gradients []float64 // of one call, q×d
	view      engine.CSR
}

func newProduct(d, t int, mean []float64, be engine.Backend, tuning engine.Tuning) product {
	return product{be: be, d: d, t: t, tuning: tuning, reader: rows.NewReader(d, t, mean)}
}

// prepare prepares a pass for vectors v (q×d).
func (p *product) prepare(qs []Query, v []float64) {
	q, mean := len(qs), p.reader.Mean()
	p.offset = vec.Grow(p.offset, q)
	p.rhs, p.residuals = vec.Grow(p.rhs, q*engine.MaxGradientRows), vec.Grow(p.residuals, q*engine.MaxGradientRows)
	p.gradients = vec.Grow(p.gradients, q*p.d)
	for i := range q {
		p.offset[i] = 0
		if mean != nil {
			p.offset[i] = vec.Dot(mean, v[i*p.d:(i+1)*p.d])
		}
	}
}

// stride is how many of n rows are taken at a time: dense ones so many that an element of
// a call's sums is the end of no more additions than the backend promises.
func (p *product) stride(n int, sparse bool, q int) int {
	if !sparse {
		return p.tuning.GradientCall(n, p.d, q)
	}
	if v := p.tuning.Gradient.Value; v > 0 {
		n = min(n, v)
	}
	return min(n, engine.MaxGradientRows)
}

// add adds what a block contributes to the products for v (q×d). It has no more rows than
// stride allows.
func (p *product) add(s *sums, b dataset.Block, qs []Query, v []float64) {
	q, d := len(qs), p.d
	longer, longest := 1, roundoff.ManyCalls
	if b.Sparse != nil {
		longer, longest = b.N, roundoff.SparseChain
	}
	s.lengthen(longer, longest)
	s.weigh(b)
	x, sparse := p.reader.Read(b)
	rhs := p.rightHandSides(b, qs)
	if sparse != nil {
		sparse.Gradient(engine.View(q, d, v), engine.View(b.N, q, rhs), engine.View(q, d, s.plain), engine.View(b.N, q, p.residuals))
	} else {
		clear(p.gradients)
		p.be.Gradient(engine.View(b.N, d, x), engine.View(q, d, v), engine.View(b.N, q, rhs), engine.View(q, d, p.gradients), engine.View(b.N, q, p.residuals))
		vec.Axpy(1, p.gradients, s.plain)
	}
	p.finite = true
	centred := b.Sparse != nil && p.reader.Mean() != nil
	for i, r := range p.residuals[:b.N*q] {
		p.finite = p.finite && math.Abs(r) <= math.MaxFloat64
		s.rss[i%q].Add(r * r)
		if centred {
			s.ones[i%q].Add(p.reader.Weighted(i/q, r))
		}
	}
}

// rightHandSides returns what Gradient has to subtract (n×q), nil for nothing.
func (p *product) rightHandSides(b dataset.Block, qs []Query) []float64 {
	q, need := len(qs), b.Sparse != nil && p.reader.Mean() != nil
	for _, s := range qs {
		need = need || s.Affine
	}
	if !need {
		return nil
	}
	for i, s := range qs {
		var shift float64
		if b.Sparse != nil {
			shift = p.offset[i]
		}
		mean := p.reader.TargetMean(s.Target)
		for row := range b.N {
			if s.Affine {
				p.rhs[row*q+i] = p.reader.Weighted(row, b.Y[row*p.t+s.Target]-mean+shift)
			} else {
				p.rhs[row*q+i] = p.reader.Weighted(row, shift)
			}
		}
	}
	return p.rhs
}
