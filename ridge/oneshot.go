package ridge

// Fit returns the solution x̂ with the penalty γ for the rows appended so far, by Robust Frequent Directions
// (RFDRR). It reads only the sketch B, not the rows. Let c = AᵀY for features A and targets Y. Let η be the bound
// ‖AᵀA − BᵀB‖ ≤ η that the sketch computes, its shrinkage. The solution, and its distance from the exact
// solution x*, are
//
//	x̂ = (BᵀB + (γ+ρ)I)⁻¹c,  ρ = η/2,  ‖x̂ − x*‖ ≤ ρ/(γ+ρ)·‖x*‖.
//
// The first call computes the spectrum of the sketch. Each call then takes O(md) time per target, for a sketch of m
// rows and d features. More rows may be appended later. The error is a *[GammaError] if γ is not positive, and
// [ErrEmpty] if there are no rows.
func (s *Summary) Fit(gamma float64) (*Solution, error) {
	return s.fit(gamma, true)
}

// FitFD returns the solution x̂ with the penalty γ by plain Frequent Directions (FDRR). For features A, targets Y
// and the sketch B with the shrinkage η, which [Summary.Fit] explains, x̂ = (BᵀB + γI)⁻¹AᵀY. Its distance
// from the exact solution x* is ‖x̂ − x*‖ ≤ η/γ·‖x*‖. Time and errors are as for Fit.
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
