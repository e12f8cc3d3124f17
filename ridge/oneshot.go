package ridge

// Fit returns the solution x̂ at γ for the rows appended so far, from the sketch B alone, by Robust Frequent
// Directions (RFDRR). With c = AᵀY, the shrinkage η of the sketch and the exact solution x*,
//
//	x̂ = (BᵀB + (γ+ρ)I)⁻¹c,  ρ = η/2,  ‖x̂ − x*‖ ≤ ρ/(γ+ρ)·‖x*‖.
//
// The first call computes the spectrum of the sketch. Afterwards Fit takes O(md) time per target, for a sketch of m
// rows and d features. More rows may be appended later. The error is a *[GammaError] if γ is not positive, and
// [ErrEmpty] if there are no rows.
func (s *Summary) Fit(gamma float64) (*Solution, error) {
	return s.fit(gamma, true)
}

// FitFD returns the solution at γ by plain Frequent Directions (FDRR), see [Summary.Fit]. For the sketch B with the
// shrinkage η, the solution is x̂ = (BᵀB + γI)⁻¹AᵀY, with an error ‖x̂ − x*‖ ≤ η/γ·‖x*‖.
func (s *Summary) FitFD(gamma float64) (*Solution, error) {
	return s.fit(gamma, false)
}

func (s *Summary) fit(gamma float64, robust bool) (*Solution, error) {
	fits, err := s.path([]float64{gamma}, robust)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}
