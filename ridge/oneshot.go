package ridge

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
