package dual

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A PseudoInverse is the pseudoinverse of G, up to round-off: G⁺ = VΛ⁻¹Vᵀ with the eigenvalues Λ of G that are larger
// than the bound on its rounding errors. Rank is the number of these eigenvalues.
//
// Source: G. Golub and C. Van Loan, Matrix Computations, 4th ed. (2013), section 5.5.
type PseudoInverse struct {
	Rank    int
	n       int
	values  []float64 // in ascending order
	vectors *mat.Dense
}

// PseudoInverse decomposes G. It returns nil if the decomposition fails.
//
// An eigenvalue counts as zero if it is at most Units·u·‖A‖²_F + Lost + 2·‖A‖_F·‖off‖ + ‖off‖², the bound on the error of
// G, plus n·eps·‖A‖²_F for the decomposition. The last term has no proof, so the rank is a decision and no bound.
func (g *Gram) PseudoInverse() *PseudoInverse {
	n := g.N
	full := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			full.SetSym(i, j, g.G[i*n+j])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(full, true) {
		return nil
	}
	p := &PseudoInverse{n: n, values: eigen.Values(nil), vectors: new(mat.Dense)}
	eigen.VectorsTo(p.vectors)
	size, off := math.Hypot(vec.Norm(g.Norms), math.Sqrt(g.Shift)), vec.Norm(g.Off)
	cutoff := (g.Units*roundoff.Unit+float64(n)*roundoff.Eps)*size*size + g.Lost + off*(2*size+off)
	for n > p.Rank && p.values[n-1-p.Rank] > cutoff {
		p.Rank++
	}
	return p
}

// Solve overwrites b with G⁺b. It returns the norm of the part of b along the eigenvectors in use.
func (p *PseudoInverse) Solve(b []float64) (along float64) {
	first := p.n - p.Rank
	parts := make([]float64, p.Rank)
	for i, v := range b {
		vec.Axpy(v, p.vectors.RawRowView(i)[first:], parts)
	}
	along = vec.Norm(parts)
	for k := range parts {
		parts[k] /= p.values[first+k]
	}
	for i := range b {
		b[i] = vec.Dot(p.vectors.RawRowView(i)[first:], parts)
	}
	return along
}
