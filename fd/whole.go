package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// WholeSpectrum is the spectrum of K = AᵀA itself, of which a is what was computed: that of a
// sketch that has lost nothing. known has what is known of A: its RoundOff bounds ‖a − K‖₂,
// and Frobenius2 and Rows are kept. To RoundOff comes what the eigenproblem may do, calibrated
// as a shrink and reading are (see [Bound]), and what is lost of eigenvalues that round-off has
// made negative. a is d×d, of which the lower triangle is read; it is overwritten.
//
// It returns [engine.ErrNoConvergence] where the eigenvalue iteration failed.
func WholeSpectrum(a engine.Matrix, known Bound, be engine.Backend) (*Spectrum, error) {
	d := a.Rows
	p, w := &Spectrum{Dim: d, V: make([]float64, d*d)}, make([]float64, d)
	if !be.SymEig(a, w, engine.View(d, d, p.V), make([]float64, be.SymEigWork(d, d))) {
		return nil, errNoConvergence
	}
	negative := 0.0
	for _, v := range w {
		if v > 0 {
			p.Sigma2 = append(p.Sigma2, v)
		} else {
			negative = math.Max(negative, -v)
		}
	}
	p.V = p.V[:len(p.Sigma2)*d]
	p.sort()
	p.orthonormalise(be)
	var norm2 neumaier.Sum
	for _, v := range p.Sigma2 {
		norm2.Add(v)
	}
	known.RoundOff += padOfShrink(min(d, largestOrder), w) + float64(min(d, longSum))*eps*known.Frobenius2 + negative
	known.Shrinkage, known.Tail = 0, math.Max(0, known.Frobenius2-norm2.Value())
	p.Bound = known
	return p, nil
}
