package dual

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Cholesky factors AAᵀ + γI = LLᵀ in the slice work, of length n² for n rows. The field R of the result is
// Lᵀ. If the matrix is not positive definite up to round-off, the result is nil.
func (g *Gram) Cholesky(be engine.Backend, gamma float64, work []float64) *certify.Factored {
	n := g.N
	for i := range n {
		row := g.G[i*n : i*n+i+1]
		copy(work[i*n:], row)
		work[i*n+i] += gamma
	}
	if _, ok := be.Cholesky(engine.View(n, n, work)); !ok {
		return nil
	}
	for i := range n {
		for j := range i {
			work[j*n+i] = work[i*n+j]
		}
	}
	return &certify.Factored{
		Gamma: gamma,
		Triangle: certify.Triangle{
			R:    work,
			Ld:   n,
			Gram: roundoff.Unit * roundoff.CholeskyFactor(g.Units, float64(n)),
			Lost: g.Lost,
		},
	}
}

// Reduce reduces AAᵀ to the form QTQᵀ with Q orthogonal and T tridiagonal. One reduction serves many penalties.
// Reduce stores the reflections of Q in the slice a, of length n² for n rows. columns holds the columns of Q, one
// after the other. If T overflows, t is nil.
func (g *Gram) Reduce(be engine.Backend, a []float64) (t *direct.TridiagonalForm, columns []float64) {
	size := vec.Norm(g.Norms)
	streamed := roundoff.Unit*g.Units*size*size + g.Lost
	return direct.NewTridiagonalForm(
		be,
		engine.View(g.N, g.N, g.G),
		a,
		g.Norms,
		streamed*roundoff.Inflate,
	)
}

// InverseDiagonal returns the diagonal of (QTQᵀ + γI)⁻¹ for the tridiagonal form t. q holds the columns of Q, one
// after the other. If T + γI is not positive definite, the result is nil.
//
// Let T + γI = LDLᵀ. For the unit vector eᵢ, let y = L⁻¹Qᵀeᵢ. Then element i of the result is Σ
// yₖ²/Dₖₖ over all k.
func InverseDiagonal(t *direct.TridiagonalForm, q []float64, gamma float64) []float64 {
	pivots, factors, ok := t.Factor(gamma)
	if !ok {
		return nil
	}
	n := len(pivots)
	y, out := make([]float64, n), make([]float64, n)
	for k, p := range pivots {
		column := q[k*n : (k+1)*n]
		l := factors[k]
		if k == 0 {
			l = 0
		}
		for i, v := range column {
			v -= float64(l * y[i])
			y[i] = v
			out[i] += v * v / p
		}
	}
	return out
}
