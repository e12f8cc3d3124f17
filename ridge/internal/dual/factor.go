package dual

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Cholesky factors G + γI = LLᵀ in work, of n² elements: R is Lᵀ. It is nil where that is not
// numerically positive definite.
func (g *Gram) Cholesky(be engine.Backend, gamma float64, work []float64) *certify.Factored {
	n := g.N
	for i := range n {
		copy(work[i*n:i*n+i+1], g.G[i*n:i*n+i+1])
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
	return &certify.Factored{Gamma: gamma, Triangle: certify.Triangle{
		R: work, Ld: n, Gram: roundoff.Unit * roundoff.CholeskyFactor(g.Units, float64(n)), Lost: g.Lost,
	}}
}

// Reduce makes G = QTQᵀ, T tridiagonal, in a, of n² elements: for many γ. It is nil where T is beyond
// range.
func (g *Gram) Reduce(be engine.Backend, a []float64) *direct.Turned {
	size := vec.Norm(g.Norms)
	streamed := roundoff.Unit*g.Units*size*size + g.Lost
	return direct.NewTurned(be, engine.View(g.N, g.N, g.G), a, g.Norms, streamed*roundoff.Inflate)
}

// Columns are those of the Q of a reduction, one after the other (n×n).
func Columns(t *direct.Turned, n int) []float64 {
	q := make([]float64, n*n)
	for i := range n {
		q[i*n+i] = 1
	}
	t.Turn(false, q)
	return q
}

// InverseDiagonal is that of (G + γI)⁻¹, given the columns q of Q: with T + γI = LDLᵀ and
// y = L⁻¹Qᵀeᵢ its element i is Σ y²/D. nil where that is not positive definite.
func InverseDiagonal(t *direct.Turned, q []float64, gamma float64) []float64 {
	pivots, factors, ok := t.Factor(gamma)
	if !ok {
		return nil
	}
	n := len(pivots)
	y, out := make([]float64, n), make([]float64, n)
	for k, p := range pivots {
		column, l := q[k*n:(k+1)*n], factors[k]
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
