package gram

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A product multiplies vectors by AᵀA, one group of rows at a time.
type product struct {
	be     engine.Backend
	d, t   int
	tuning engine.Tuning
	reader *rows.Reader

	offset    []float64 // μᵀv for each vector
	rhs       []float64 // right-hand sides, n×q
	residuals []float64 // residuals of the last rows added, n×q
	finite    bool      // the residuals of the last rows are finite
	gradients []float64 // result of one call of the backend, q×d
	view      engine.CSR
}

// prepare begins a pass with the vectors v (q×d).
func (p *product) prepare(qs []Query, v []float64) {
	q := len(qs)
	mean := p.reader.Mean()
	p.offset = vec.Grow(p.offset, q)
	p.rhs = vec.Grow(p.rhs, q*engine.MaxGradientRows)
	p.residuals = vec.Grow(p.residuals, q*engine.MaxGradientRows)
	for i := range q {
		p.offset[i] = 0
		if mean != nil {
			p.offset[i] = vec.Dot(mean, v[i*p.d:(i+1)*p.d])
		}
	}
}

// stride returns the number of rows to process together, at most n. It is limited, because the error bounds of
// engine.Accuracy hold only for a limited number of rows in one call of the backend.
func (p *product) stride(n int, sparse bool, q int) int {
	if !sparse {
		return p.tuning.GradientCall(n, p.d, q)
	}
	if v := p.tuning.Gradient.Value; v > 0 {
		n = min(n, v)
	}
	return min(n, engine.MaxGradientRows)
}

// add adds to s what the rows of the block b contribute to the sums, for each row of v and its query in qs. The
// argument b must not have more rows than [product.stride] allows.
func (p *product) add(
	s *sums,
	b dataset.Block,
	qs []Query,
	v []float64,
) {
	q, d := len(qs), p.d
	s.weigh(b)
	x, sparse := p.reader.Read(b)
	rhs := p.rightHandSides(b, qs)
	vs := engine.View(q, d, v)
	right := engine.View(b.N, q, rhs)
	residuals := engine.View(b.N, q, p.residuals)
	switch {
	case sparse == nil:
		s.lengthen(1, roundoff.ManyCalls)
		p.gradients = vec.Grow(p.gradients, q*d)
		clear(p.gradients)
		p.be.Gradient(
			engine.View(b.N, d, x),
			vs,
			right,
			engine.View(q, d, p.gradients),
			residuals,
		)
		vec.Axpy(1, p.gradients, s.plain)
	case scattered(sparse):
		scatter(sparse, vs, right, s.products, residuals)
	default:
		s.lengthen(b.N, roundoff.SparseChain)
		sparse.Gradient(vs, right, engine.View(q, d, s.plain), residuals)
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

// scattered reports whether the rows have few entries. This is the case if a group of SparseChain rows has, on
// average, fewer entries than columns. For such rows, adding each product to a compensated sum is cheaper than
// adding up each group first.
func scattered(rows *engine.CSR) bool {
	return rows.NNZ() < rows.Rows*(rows.Cols/roundoff.SparseChain)
}

// scatter computes the same sums as the backend's Gradient, for rows with few entries (see scattered). It adds each
// product to a compensated sum. Its cost is proportional to the number of entries.
func scatter(
	rows *engine.CSR,
	v, rhs engine.Matrix,
	sums []twofold.Total,
	residuals engine.Matrix,
) {
	d := rows.Cols
	for i := range rows.Rows {
		idx, val := rows.Row(i)
		r := residuals.Row(i)
		for q := range r {
			r[q] = vec.SparseDot(idx, val, v.Row(q))
			if rhs.Data != nil {
				r[q] -= rhs.Row(i)[q]
			}
			twofold.AddScaled(sums[q*d:(q+1)*d], r[q], idx, val)
		}
	}
}

// rightHandSides returns the n×q matrix to be subtracted from the products of the n rows with the q vectors. For an
// affine query, it contains the centred target. For sparse rows, which are not centred, it also contains the
// products of the means with the vectors. The result nil stands for a zero matrix.
func (p *product) rightHandSides(b dataset.Block, qs []Query) []float64 {
	q := len(qs)
	need := b.Sparse != nil && p.reader.Mean() != nil
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
