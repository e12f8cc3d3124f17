package ridge

import "github.com/fdridge/fdridge/ridge/internal/certify"

// Path returns the solution from the sketch by Robust Frequent Directions for every γ of gammas. Up to round-off,
// [Summary.Fit] returns the same solution and certificate for each γ.
//
// All γ share the singular values σ and right singular vectors V (as rows) of the sketch, and the projection h = Vc
// of c = AᵀY. Let ρ be half the shrinkage of the sketch. With divisions element by element,
//
//	x̂(γ) = Vᵀ(h/(σ² + γ+ρ)) + (c − Vᵀh)/(γ+ρ).
//
// For a sketch of m rows, d features and t targets, each γ takes O(md) time per target for the coefficients and O(m)
// time for the brackets. The coefficients for k values of γ take k·t·d numbers.
//
// Errors: *[GammaError] if a γ is not positive; [ErrEmpty] if there are no rows; *[ScaleError] if a γ or the
// squares of rows or targets are out of range.
func (s *Summary) Path(gammas []float64) ([]*Solution, error) {
	return s.path(gammas, true)
}

// path returns the solution for each penalty in gammas, computed from the sketch. If robust is true, the method is
// Robust Frequent Directions, otherwise plain Frequent Directions.
func (s *Summary) path(gammas []float64, robust bool) ([]*Solution, error) {
	k, err := s.quantities(OneShot.String(), 1, gammas...)
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
			bounds := o.Weights(j, coef, bx[i*t+j])
			f.Targets = append(f.Targets, newTarget(coef, k.TSS[j], k.Weight, bounds))
		}
		fits[i] = f
	}
	return fits, nil
}
