package ridge

// Fit returns the one-shot solution at γ by Robust Frequent Directions (RFDRR), for the rows so far:
//
//	x̂ = (BᵀB + (γ+ρ)I)⁻¹c,  ρ = η/2,  ‖x̂ − x*‖ ≤ ρ/(γ+ρ)·‖x*‖.
//
// Once the spectrum of the sketch is computed, Fit takes O(md) time per target. More rows may be appended afterwards.
// The error is a *[GammaError] if γ is not positive, and [ErrEmpty] if there are no rows.
func (s *Summary) Fit(gamma float64) (*Solution, error) { return s.fit(gamma, true) }

// FitFD is like [Summary.Fit] by plain Frequent Directions (FDRR of the paper): x̂ = (BᵀB + γI)⁻¹c, with ‖x̂
// − x*‖ ≤ η/γ·‖x*‖.
func (s *Summary) FitFD(gamma float64) (*Solution, error) { return s.fit(gamma, false) }

func (s *Summary) fit(gamma float64, robust bool) (*Solution, error) {
	fits, err := s.path([]float64{gamma}, robust)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}
