package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// WholeSpectrum returns the spectrum of K = AᵀA, for rows A of d columns. The argument a must hold the computed
// lower triangle of K, and is overwritten. The Shrinkage in the result is 0, because K itself is known.
//
// known.RoundOff must bound ‖a − K‖₂. The Bound of the result gets Frobenius2 and Rows from known. Its
// RoundOff is known.RoundOff plus the measured errors of the computed eigenvalues and eigenvectors. These errors
// are ‖a − VᵀΛV‖ and ‖VVᵀ − I‖, for the diagonal matrix Λ of the eigenvalues and the eigenvectors
// V.
//
// The error is [engine.ErrNoConvergence] if the eigenvalue iteration failed.
func WholeSpectrum(a engine.Matrix, known Bound, be engine.Backend) (*Spectrum, error) {
	d := a.Rows
	p := &Spectrum{Dim: d, V: make([]float64, d*d)}
	w := make([]float64, d)
	first := engine.View(d, d, make([]float64, d*d))
	copyLower(first, a)
	work := make([]float64, be.SymEigWork(d, d))
	if !be.SymEig(a, w, engine.View(d, d, p.V), work) {
		return nil, errNoConvergence
	}
	pad, err := p.fromMatrix(w, first, a, be)
	if err != nil {
		return nil, err
	}
	norm2 := twofold.TotalOf(p.Sigma2)
	known.RoundOff += pad
	known.Shrinkage = 0
	known.Tail = math.Max(0, known.Frobenius2-norm2.Value())
	p.Bound = known
	return p, nil
}

// fromMatrix sets p to the spectrum of a symmetric d×d matrix whose lower triangle is a. w must hold its computed
// eigenvalues, and p.V its computed eigenvectors V. The result pad bounds ‖a − VᵀΛV‖ for the diagonal matrix
// Λ of the eigenvalues. a is overwritten, and part is a d×d workspace.
func (p *Spectrum) fromMatrix(
	w []float64,
	a, part engine.Matrix,
	be engine.Backend,
) (pad float64, err error) {
	d := p.Dim
	before := frobenius(a)
	for _, v := range w {
		if v > 0 {
			p.Sigma2 = append(p.Sigma2, v)
		}
	}
	p.V = p.V[:len(p.Sigma2)*d]
	p.sort()
	p.orthonormalise(be) // residual includes this change
	pad, err = p.measureSkew(be)
	if err != nil {
		return 0, err
	}
	for _, s2 := range p.Sigma2 {
		pad += 4 * eps * s2 // round-off of the entries of rows
	}
	pad += residual(be, a, engine.View(len(p.Sigma2), d, p.rows()), part, before)
	if math.IsNaN(pad) || math.IsInf(pad, 0) {
		return 0, errNoConvergence
	}
	return pad, nil
}
