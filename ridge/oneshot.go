package ridge

import "gonum.org/v1/gonum/mat"

// Fit returns the one-shot solution at γ by Robust Frequent Directions (RFDRR),
//
//	x̂ = (BᵀB + (γ+ρ)I)⁻¹c,  ρ = η/2,  ‖x̂ − x*‖ ≤ ρ/(γ+ρ)·‖x*‖,
//
// from what was seen so far, in O(md) for each target once the sketch has been
// decomposed; the stream may go on afterwards. γ must be positive
// (*[GammaError]); a summary of no rows is [ErrEmpty].
func (s *Summary) Fit(gamma float64) (*Fit, error) { return s.fit(gamma, true) }

// FitFD is [Summary.Fit] by plain Frequent Directions (FDRR of the paper):
// x̂ = (BᵀB + γI)⁻¹c, with ‖x̂ − x*‖ ≤ η/γ·‖x*‖.
func (s *Summary) FitFD(gamma float64) (*Fit, error) { return s.fit(gamma, false) }

func (s *Summary) fit(gamma float64, robust bool) (*Fit, error) {
	if err := checkGamma(gamma, "one-shot"); err != nil {
		return nil, err
	}
	if s.Rows() == 0 {
		return nil, ErrEmpty
	}
	spec, err := s.spectrum()
	if err != nil {
		return nil, err
	}
	t, c := s.cfg.Targets, s.c()
	h := newSketched(spec, robust, s.be)
	x, gammas := make([]float64, len(c)), make([]float64, t)
	for j := range gammas {
		gammas[j] = gamma
	}
	h.Solve(t, gammas, c, x)
	f := s.newFit(gamma, "one-shot")
	f.Passes, f.Stop = 1, "one pass"
	s.finish(f, x, newKnowledge(s, newSketched(spec, false, s.be), c), h.shift, nil)
	return f, nil
}

func (s *Summary) newFit(gamma float64, method string) *Fit {
	return &Fit{Gamma: gamma, Method: method, Backend: s.be.Name(), Rows: s.stage.rows}
}

// finish fills in what follows from the weights x (t×d) and what a pass has
// measured at them, if there was one.
func (s *Summary) finish(f *Fit, x []float64, k *knowledge, shift float64, m []measured) {
	d, t := s.cfg.Dim, s.cfg.Targets
	targets := make([]int, t)
	for j := range targets {
		targets[j] = j
	}
	f.Coef = mat.NewDense(t, d, x)
	f.Intercept = s.intercepts(x, targets)
	f.TSS = append([]float64(nil), k.tss...)
	f.Certificate = k.certificate(f.Gamma, shift, x, m)
}
