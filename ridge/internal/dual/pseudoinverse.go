package dual

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A PseudoInverse is the pseudoinverse of G, up to round-off: G⁺ = VᵀΛ⁻¹V. The diagonal matrix Λ holds the
// eigenvalues of G that are larger than the bound on the rounding errors of G, and V their eigenvectors as rows. Rank
// is the number of these eigenvalues.
//
// Source: G. Golub and C. Van Loan, Matrix Computations, 4th ed. (2013), section 5.5.
type PseudoInverse struct {
	Rank    int
	values  []float64     // in descending order
	vectors engine.Matrix // n×n
}

// PseudoInverse computes the eigendecomposition of G. It returns nil if this fails.
//
// An eigenvalue counts as zero if it is at most Units·u·‖A‖²_F + Lost + 2·‖A‖_F·‖off‖ + ‖off‖²,
// the bound on the error of G, plus n·eps·‖A‖²_F for the decomposition. The last term is not proved, so the
// rank is not proved either. Units, Lost and off = Off are fields of [Gram].
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

// Solve overwrites b with G⁺b. It returns the norm of the projection of b onto the eigenvectors of the nonzero
// eigenvalues.
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
