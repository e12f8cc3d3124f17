package ridge

import "github.com/fdridge/fdridge/ridge/internal/roundoff"

// Attainable returns the relative error down to which further passes can certify the solution at
// γ for all that the rounding of weights to float64 does,
//
//	2⁻⁵³·(1 + ρ/γ)(1 + ρ/(γ+ρ)),    ρ = η/2,
//
// the second and third factor being what a certificate may overestimate an error by. A tolerance
// below it may be certified all the same, where weights happen to be rounded well. Errors are those
// of [Summary.Fit].
func (s *Summary) Attainable(gamma float64) (float64, error) {
	k, err := s.known("attainable", 1, gamma)
	if err != nil {
		return 0, err
	}
	return k.At(gamma).Attainable(), nil
}

// foresee notes what is attainable, at the worst of the γ, and tells where Tol is below that.
func (r *Result) foresee(gammas []float64, opts *Options) error {
	r.Attainable = roundoff.Unit
	if r.Summary != nil {
		k, err := r.Summary.known(r.Method, 1, gammas...)
		if err != nil {
			return err
		}
		for _, g := range gammas {
			r.Attainable = max(r.Attainable, k.At(g).Attainable())
		}
	}
	if opts.Doubt != nil && opts.Tol > 0 && opts.Tol < r.Attainable {
		opts.Doubt(r.Attainable)
	}
	return nil
}
