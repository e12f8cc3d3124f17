package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// WholeSpectrum returns the spectrum of K = AᵀA itself: that of a sketch that has lost nothing. a
// (d×d, of which the lower triangle is read) is what was computed of K; it is overwritten. known
// holds what is known of A: its RoundOff bounds ‖a − K‖₂, and Frobenius2 and Rows are kept. RoundOff
// of the result adds what the eigenproblem did, as measured: ‖a − VᵀΛV‖ and ‖VVᵀ − I‖.
//
// The error is [engine.ErrNoConvergence] if the eigenvalue iteration failed.
func WholeSpectrum(a engine.Matrix, known Bound, be engine.Backend) (*Spectrum, error) {
	d := a.Rows
	p, w := &Spectrum{Dim: d, V: make([]float64, d*d)}, make([]float64, d)
	first := engine.View(d, d, make([]float64, d*d))
	copyLower(first, a)
	if !be.SymEig(a, w, engine.View(d, d, p.V), make([]float64, be.SymEigWork(d, d))) {
		return nil, errNoConvergence
	}
	pad, err := p.ofMatrix(w, first, a, be)
	if err != nil {
		return nil, err
	}
	var norm2 neumaier.Sum
	for _, v := range p.Sigma2 {
		norm2.Add(v)
	}
	known.RoundOff += pad
	known.Shrinkage, known.Tail = 0, math.Max(0, known.Frobenius2-norm2.Value())
	p.Bound = known
	return p, nil
}

// ofMatrix makes p the spectrum of a (d×d, lower triangle), given its eigenvalues w and, in p.V, its
// eigenvectors. It returns a bound on the norm of a − VᵀΛV, and overwrites a and part (d×d).
func (p *Spectrum) ofMatrix(w []float64, a, part engine.Matrix, be engine.Backend) (pad float64, err error) {
	d := p.Dim
	before := frobenius(a)
	for _, v := range w {
		if v > 0 {
			p.Sigma2 = append(p.Sigma2, v)
		}
	}
	p.V = p.V[:len(p.Sigma2)*d]
	p.sort()
	p.orthonormalise(be) // residual measures what this moves
	if pad, err = p.measureSkew(be); err != nil {
		return 0, err
	}
	rows := engine.View(len(p.Sigma2), d, make([]float64, len(p.Sigma2)*d))
	for i, s2 := range p.Sigma2 {
		sigma, row := math.Sqrt(s2), rows.Row(i)
		for j, v := range p.V[i*d : (i+1)*d] {
			row[j] = sigma * v
		}
		pad += 4 * eps * s2 // of these entries
	}
	pad += residual(be, a, rows, part, before)
	if math.IsNaN(pad) || math.IsInf(pad, 0) {
		return 0, errNoConvergence
	}
	return pad, nil
}
