package dual

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// CG solves (G + γI)e = r by conjugate gradients on the sparse rows, and overwrites r with e (M.
// Hestenes, E. Stiefel, 1952). It ends where done says of ‖r − (G + γI)e‖ and ‖Aᵀe‖, as the
// recursions have them, that they are near enough; false where that is not so after most steps.
//
// A = [H L] are columns of many entries, written out, and all others, sparse. The preconditioner is
// D + HHᵀ, D being the diagonal of LLᵀ + γI: what is far from a multiple of I in G is for the most
// part HHᵀ. With C = I + HᵀD⁻¹H and t = C⁻¹HᵀD⁻¹r it makes z = D⁻¹(r − Ht) of r, for which Hᵀz = t:
// so a step, p ← z + βp, needs no other product with H than these two, HHᵀp ← Ht + β·HHᵀp.
type CG struct {
	rows    *Rows
	light   light
	heavy   *heavy    // nil where no column has many entries
	scale   []float64 // D⁻¹
	gamma   float64
	share   []float64   // √(w/Σw) with an intercept
	parts   [][]float64 // what each of several workers finds of Xᵀ of something, d
	u       []float64   // their sum, the first of them
	times   []float64   // what X is multiplied by, n
	p, z, q []float64
}

// Steps is how many steps of CG, of 4 flops an entry, take as long as G and its factor, for n rows of
// so many entries in all: scattered entries are taken to cost ten times as much as those of a matrix
// product.
func Steps(n int64, entries float64) int {
	const scattered, least, most = 10, 50, 100000
	rows := float64(n)
	return int(math.Min(least+2*rows*rows*rows/3/(4*math.Max(entries, 1)*scattered), most))
}

// Steps is that of these rows.
func (r *Rows) Steps() int { return Steps(int64(r.n), r.NNZ()) }

// NewCG prepares for one γ. It returns nil where numbers are beyond range.
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
		if c.heavy = r.newHeavy(be, list, c.scale); c.heavy == nil {
			return nil
		}
	}
	return c
}

// Solve overwrites r (n) with e, in at most so many steps. Where it has not converged, or broken
// down, it returns false, and e is the best there is.
func (c *CG) Solve(r []float64, most int, done func(residual, weights float64) bool) (converged bool) {
	n := len(r)
	e := make([]float64, n)
	defer func() { copy(r, e) }()
	start := append([]float64(nil), r...)
	c.precondition(r)
	c.turn(0)
	rz := vec.Dot(r, c.z)
	for range most {
		if rz == 0 {
			return true
		}
		c.apply()
		pq := vec.Dot(c.p, c.q)
		step := rz / pq
		if !(pq > 0) || math.IsInf(step, 0) || math.IsNaN(step) {
			return false
		}
		vec.Axpy(step, c.p, e)
		vec.Axpy(-step, c.q, r)
		// ‖Aᵀe‖² = eᵀGe = eᵀ(start − r − γe)
		size := vec.Dot(e, start) - vec.Dot(e, r) - c.gamma*vec.Dot(e, e)
		if done(vec.Norm(r), math.Sqrt(math.Max(0, size))) {
			return true
		}
		c.precondition(r)
		next := vec.Dot(r, c.z)
		c.turn(next / rz)
		rz = next
	}
	return false
}

// precondition sets z, and Ht. What is orthogonal to the direction of the means stays so.
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

// turn sets p to the next direction, and HHᵀp.
func (c *CG) turn(beta float64) {
	for i, z := range c.z {
		c.p[i] = z + beta*c.p[i]
	}
	if c.heavy != nil {
		c.heavy.turn(beta)
	}
}

// apply sets q = (G + γI)p, by way of Lᵀp.
func (c *CG) apply() {
	r := c.rows
	copy(c.times, c.p)
	c.weigh(c.times)
	r.divide(c.workers(), func(k, lo, hi int) { c.scatter(c.parts[k], lo, hi) })
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

// workers is how many share the rows.
func (c *CG) workers() int { return len(c.parts) }

// scatter overwrites u with what rows lo to hi contribute to the sparse columns' Xᵀ of c.times.
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

// gather sets rows lo to hi of X·u.
func (c *CG) gather(lo, hi int) {
	for i := lo; i < hi; i++ {
		idx, val := c.light.row(i)
		c.q[i] = sparseDot(idx, val, c.u)
	}
}

// weigh makes W^{½}Πv of v, Π = I − qqᵀ being what centring does.
func (c *CG) weigh(v []float64) {
	c.project(v)
	for i, root := range c.rows.root {
		v[i] *= root
	}
}

// project takes out the direction of the means.
func (c *CG) project(v []float64) {
	if c.share != nil {
		vec.Axpy(-vec.Dot(c.share, v), c.share, v)
	}
}

// sparseDot is Σ valₖ·y[idxₖ], in four sums, of which none waits for another.
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
