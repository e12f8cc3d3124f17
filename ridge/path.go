package ridge

import "github.com/fdridge/fdridge/ridge/internal/certify"

// Path returns the one-shot RFDRR solutions for every γ of gammas, each what
// [Summary.Fit] returns for it to round-off, certificate included.
//
// All share the sketch's spectrum and one projection of c along V: with h = Vc and
// the complement c − Vᵀh,
//
//	x̂(γ) = Vᵀ(h/(σ² + γ+ρ)) + (c − Vᵀh)/(γ+ρ),
//
// so that each γ costs O(md) for the weights, in one matrix product for all, and
// O(m) for the brackets. The weights of k γ take k·t·d numbers.
//
// Every γ must be positive (*[GammaError]); a summary of no rows is [ErrEmpty]; rows,
// targets or a γ whose squares leave the range of float64 are a *[ScaleError].
func (s *Summary) Path(gammas []float64) ([]*Solution, error) { return s.path(gammas, true) }

// path is Path, or with FD in place of RFD.
func (s *Summary) path(gammas []float64, robust bool) ([]*Solution, error) {
	k, err := s.Known(OneShot.String(), 1, gammas...)
	if err != nil {
		return nil, err
	}
	d, t := s.cfg.Dim, s.cfg.Targets
	shift := 0.0
	if robust {
		shift = k.Bound().Shift()
	}
	x := k.Apply(certify.Inverses(gammas, shift)...)
	bx := k.SketchNorms(len(gammas)*t, x)
	fits := make([]*Solution, len(gammas))
	for i, gamma := range gammas {
		o := k.OneShot(gamma, shift)
		f := s.newSolution(gamma, OneShot, k)
		f.Passes, f.Status = 1, OnePass
		f.Contraction = o.Contraction()
		for j := range t {
			coef := x[(i*t+j)*d:][:d:d]
			f.Targets = append(f.Targets, newTarget(coef, k.TSS[j], o.Weights(j, coef, bx[i*t+j])))
		}
		fits[i] = f
	}
	return fits, nil
}
