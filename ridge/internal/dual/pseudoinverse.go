package dual

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A PseudoInverse is the pseudoinverse of a matrix G = AAᵀ, up to round-off. It is VᵀΛ⁻¹V, where the rows of
// V are the eigenvectors of G whose eigenvalues exceed the bound on the errors of G. The diagonal matrix Λ holds
// these eigenvalues, and Rank is their number.
//
// Source: G. Golub and C. Van Loan, Matrix Computations, 4th ed. (2013), section 5.5.
type PseudoInverse struct {
	Rank    int
	values  []float64     // in descending order
	vectors engine.Matrix // n×n
}

// PseudoInverse computes the pseudoinverse of G = AAᵀ by an eigendecomposition. It returns nil if this fails.
//
// An eigenvalue counts as zero if it is at most
//
//	Units·u·‖A‖²_F + Lost + 2·‖A‖_F·‖Off‖ + ‖Off‖² + n·eps·‖A‖²_F.
//
// Units, Lost and Off are fields of [Gram], u is roundoff.Unit, and eps is 2u. The first four terms bound the error
// of G. The last term stands for the error of the decomposition. It is not proved, and hence the rank is not proved
// either.
func (g *Gram) PseudoInverse(be engine.Backend) *PseudoInverse {
	n := g.N
	p := &PseudoInverse{values: make([]float64, n), vectors: newMatrix(n, n)}
	full := newMatrix(n, n)
	copy(full.Data, g.G)
	work := make([]float64, be.SymEigWork(n, n))
	if !be.SymEig(full, p.values, p.vectors, work) {
		return nil
	}
	size := math.Hypot(vec.Norm(g.Norms), math.Sqrt(g.Shift))
	off := vec.Norm(g.Off)
	round := g.Units*roundoff.Unit + float64(n)*roundoff.Eps
	cutoff := round*size*size + g.Lost + off*(2*size+off)
	for p.Rank < n && p.values[p.Rank] > cutoff {
		p.Rank++
	}
	return p
}

// Solve overwrites b with the product of the pseudoinverse and b. It returns the norm of the projection of b onto
// the eigenvectors with nonzero eigenvalues.
func (p *PseudoInverse) Solve(b []float64) (along float64) {
	parts := make([]float64, p.Rank)
	for k := range parts {
		parts[k] = vec.Dot(p.vectors.Row(k), b)
	}
	along = vec.Norm(parts)
	clear(b)
	for k, v := range parts {
		vec.Axpy(v/p.values[k], p.vectors.Row(k), b)
	}
	return along
}
