package certify

// Inverses returns, for each penalty γ, the function of s2 with the values 1/(s2 + γ + shift). The caller applies
// this function to the eigenvalues s2 of BᵀB, for the sketch B.
func Inverses(gammas []float64, shift float64) []func(s2 float64) float64 {
	out := make([]func(float64) float64, len(gammas))
	for i, gamma := range gammas {
		out[i] = func(s2 float64) float64 { return 1 / (s2 + gamma + shift) }
	}
	return out
}
