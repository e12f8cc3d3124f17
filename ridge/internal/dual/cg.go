package dual

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// CG solves (G + γI)e = r by conjugate gradients, where G = AAᵀ and A holds sparse rows (M. Hestenes, E. Stiefel,
// 1952).
//
// The columns are divided as A = [H L]. H is a dense matrix of the columns with many entries, and L holds the other
// columns as sparse rows. The preconditioner is D + HHᵀ, where D is the diagonal of LLᵀ + γI. For a residual r,
// the preconditioned residual is
//
//	z = D⁻¹(r − Ht),   t = C⁻¹HᵀD⁻¹r = Hᵀz,   C = I + HᵀD⁻¹H.
//
// When the search direction p becomes z + βp, the product HHᵀp becomes Ht + βHHᵀp. Therefore a step needs only
// two products with H.
type CG struct {
	rows  *Rows
	light light
	heavy *heavy    // nil if no column has many entries
	scale []float64 // D⁻¹
	gamma float64
	share []float64 // q with qᵢ = √(wᵢ/Σw); nil without an intercept
	// parts has d numbers for each worker, which hold its part of a product Xᵀ·times. X are the rows before centring.
	parts   [][]float64
	u       []float64 // the sum of parts, stored in the first of them
	times   []float64 // the vector to multiply by Xᵀ, n
	p, z, q []float64
}

// Steps returns the number of steps of [CG] that take as long as computing and factoring AAᵀ. The matrix A has n
// rows with the given number of entries in all. A step takes 4 flops for each entry. A flop in a sparse product is
// assumed to take ten times as long as a flop in a matrix product.
func Steps(n int64, entries float64) int {
	const scattered, least, most = 10, 50, 100000
	rows := float64(n)
	step := 4 * math.Max(entries, 1) * scattered
	return int(math.Min(least+2*rows*rows*rows/3/step, most))
}

// Steps returns the result of the function [Steps] for these rows.
func (r *Rows) Steps() int {
	return Steps(int64(r.n), r.NNZ())
}

// NewCG returns a CG for the penalty gamma. If a number overflows, it returns nil.
func (r *Rows) NewCG(be engine.Backend, gamma float64) *CG {
	c := &CG{rows: r, gamma: gamma, share: r.share()}
	for range r.workers() {
		c.parts = append(c.parts, make([]float64, r.d))
	}
	c.u = c.parts[0]
	for _, v := range []*[]float64{&c.scale, &c.times, &c.p, &c.z, &c.q} {
		*v = make([]float64, r.n)
	}
	list, entries := r.heavyColumns()
	c.light = r.without(list, entries)
	for i := range r.n {
		_, val := c.light.row(i)
		sum := 0.0
		for _, v := range val {
			sum += v * v
		}
		c.scale[i] = 1 / (r.Weight(i)*sum + gamma)
	}
	if len(list) > 0 {
		c.heavy = r.newHeavy(be, list, c.scale)
		if c.heavy == nil {
			return nil
		}
	}
	return c
}

// Solve solves (AAᵀ + γI)e = r, and overwrites r with e. After each step it calls done with the norm of the
// residual, ‖r − (AAᵀ + γI)e‖, and with ‖Aᵀe‖. Solve returns true as soon as done returns true or the
// residual is zero. It returns false after maxSteps steps, or if the iteration breaks down.
func (c *CG) Solve(
	r []float64,
	maxSteps int,
	done func(residual, weights float64) bool,
) (converged bool) {
	n := len(r)
	e := make([]float64, n)
	defer func() { copy(r, e) }()
	start := append([]float64(nil), r...)
	c.precondition(r)
	c.updateDirection(0)
	rz := vec.Dot(r, c.z)
	for range maxSteps {
		if rz == 0 {
			return true
		}
		c.apply()
		pq := vec.Dot(c.p, c.q)
		step := rz / pq
		if !(pq > 0) ||
			math.IsInf(step, 0) ||
			math.IsNaN(step) {
			return false
		}
		vec.Axpy(step, c.p, e)
		vec.Axpy(-step, c.q, r) // now r is the residual for e, up to round-off
		// ‖Aᵀe‖² = eᵀGe = eᵀ(start − r − γe).
		size := vec.Dot(e, start) -
			vec.Dot(e, r) -
			c.gamma*vec.Dot(e, e)
		if done(vec.Norm(r), math.Sqrt(math.Max(0, size))) {
			return true
		}
		c.precondition(r)
		next := vec.Dot(r, c.z)
		c.updateDirection(next / rz)
		rz = next
	}
	return false
}

// precondition sets c.z to the preconditioned residual by the formula of [CG]. It then subtracts from c.z the
// component along c.share.
func (c *CG) precondition(r []float64) {
	for i, v := range r {
		c.z[i] = c.scale[i] * v
	}
	if c.heavy != nil {
		c.heavy.set(c.z)
		for i, v := range r {
			c.z[i] = c.scale[i] * (v - c.heavy.ht[i])
		}
	}
	c.project(c.z)
}

// updateDirection sets the search direction p to z + beta·p, and updates HHᵀp, where H are the dense columns.
func (c *CG) updateDirection(beta float64) {
	for i, z := range c.z {
		c.p[i] = z + beta*c.p[i]
	}
	if c.heavy != nil {
		c.heavy.updateProduct(beta)
	}
}

// apply sets c.q to (AAᵀ + γI)p, where p is the search direction in c.p.
func (c *CG) apply() {
	r := c.rows
	copy(c.times, c.p)
	c.weigh(c.times)
	r.divide(c.workers(), func(k, lo, hi int) {
		c.scatter(c.parts[k], lo, hi)
	})
	for _, part := range c.parts[1:] {
		floats.Add(c.u, part)
	}
	r.divide(c.workers(), func(_, lo, hi int) { c.gather(lo, hi) })
	if r.root != nil {
		for i, v := range r.root {
			c.q[i] *= v
		}
	}
	c.project(c.q)
	vec.Axpy(c.gamma, c.p, c.q)
	if c.heavy != nil {
		vec.Axpy(1, c.heavy.hhp, c.q)
	}
}

// workers returns the number of goroutines that share the rows.
func (c *CG) workers() int { return len(c.parts) }

// scatter overwrites u with the sum of c.times[i] times row i of L, over the rows lo to hi−1. L holds the sparse
// columns of [CG].
func (c *CG) scatter(u []float64, lo, hi int) {
	clear(u)
	for i := lo; i < hi; i++ {
		idx, val := c.light.row(i)
		t := c.times[i]
		val = val[:len(idx)]
		for k, j := range idx {
			u[j] += t * val[k]
		}
	}
}

// gather writes elements lo to hi−1 of the product L·c.u to c.q. L holds the sparse columns of [CG].
func (c *CG) gather(lo, hi int) {
	for i := lo; i < hi; i++ {
		idx, val := c.light.row(i)
		c.q[i] = sparseDot(idx, val, c.u)
	}
}

// weigh overwrites v with W^{½}(I − qqᵀ)v. W is the diagonal matrix of the sample weights, and q is c.share. The
// projection I − qqᵀ has the effect of centring the columns of A.
func (c *CG) weigh(v []float64) {
	c.project(v)
	for i, root := range c.rows.root {
		v[i] *= root
	}
}

// project subtracts from v its component along c.share. Without an intercept it does nothing.
func (c *CG) project(v []float64) {
	if c.share != nil {
		vec.Axpy(-vec.Dot(c.share, v), c.share, v)
	}
}

// sparseDot returns Σ valₖ·y[idxₖ], in four independent sums.
func sparseDot(idx []int32, val, y []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(idx) >= 4 && len(val) >= 4 {
		s0 += val[0] * y[idx[0]]
		s1 += val[1] * y[idx[1]]
		s2 += val[2] * y[idx[2]]
		s3 += val[3] * y[idx[3]]
		idx, val = idx[4:], val[4:]
	}
	for k, j := range idx {
		s0 += val[k] * y[j]
	}
	return (s0 + s1) + (s2 + s3)
}
