package ridge

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge/internal/certify"
)

// Fit returns the one-shot solution at γ by Robust Frequent Directions (RFDRR),
//
//	x̂ = (BᵀB + (γ+ρ)I)⁻¹c,  ρ = η/2,  ‖x̂ − x*‖ ≤ ρ/(γ+ρ)·‖x*‖,
//
// from what was seen so far, in O(md) for each target once the sketch has been
// decomposed; the stream may go on afterwards. γ must be positive
// (*[GammaError]); a summary of no rows is [ErrEmpty].
func (s *Summary) Fit(gamma float64) (*Solution, error) { return s.fit(gamma, true) }

// FitFD is [Summary.Fit] by plain Frequent Directions (FDRR of the paper):
// x̂ = (BᵀB + γI)⁻¹c, with ‖x̂ − x*‖ ≤ η/γ·‖x*‖.
func (s *Summary) FitFD(gamma float64) (*Solution, error) { return s.fit(gamma, false) }

func (s *Summary) fit(gamma float64, robust bool) (*Solution, error) {
	fits, err := s.path([]float64{gamma}, robust)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// newFit begins the fit of weights x (t×d), which it keeps.
func (s *Summary) newFit(gamma float64, method string, k *certify.Known, x []float64) *Solution {
	d, t := s.cfg.Dim, s.cfg.Targets
	f := &Solution{
		Gamma: gamma, Method: method, Backend: s.be.Name(), Rows: s.Rows(),
		Coef: mat.NewDense(t, d, x), Intercept: make([]float64, t), TSS: slices.Clone(k.TSS),
	}
	for j := range t {
		f.Intercept[j] = s.interceptOf(x[j*d:(j+1)*d], j)
	}
	f.Certificate.Shrinkage = k.Bound().FD()
	f.Certificate.EffectiveDimension = Interval(k.At(gamma).EffectiveDimension())
	return f
}
