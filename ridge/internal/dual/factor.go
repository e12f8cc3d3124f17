package dual

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/certify"
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
