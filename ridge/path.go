package ridge

import (
	"math"
)

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
	k, err := s.known(oneShot, 1, gammas...)
	if err != nil {
		return nil, err
	}
	d, t := s.cfg.Dim, s.cfg.Targets
	shift := 0.0
	if robust {
		shift = k.Bound().Shift()
	}
	x := k.Apply(inverses(gammas, shift)...)
	bx := k.SketchNorms(len(gammas)*t, x)
	fits := make([]*Solution, len(gammas))
	for i, gamma := range gammas {
		o := k.OneShot(gamma, shift)
		f := s.newSolution(gamma, oneShot, k)
		f.Passes, f.Status = 1, OnePass
		f.Contraction = o.Contraction()
		for j := range t {
			coef := x[(i*t+j)*d:][:d:d]
			f.Targets = append(f.Targets, newTarget(coef, s.interceptOf(coef, j), k.TSS[j], o.Weights(j, coef, bx[i*t+j])))
		}
		fits[i] = f
	}
	return fits, nil
}

// inverses are the Ĥ⁻¹ of the γ given, as functions of the eigenvalues of BᵀB.
func inverses(gammas []float64, shift float64) []func(s2 float64) float64 {
	out := make([]func(float64) float64, len(gammas))
	for i, gamma := range gammas {
		out[i] = func(s2 float64) float64 { return 1 / (s2 + gamma + shift) }
	}
	return out
}

// Grid returns k γ, ascending and evenly spaced in log γ over [10⁻³, 10³]·‖A‖²_F/d.
//
// ‖A‖²_F/d is the mean eigenvalue of K, so that the grid needs no unit of the data:
// at its upper end the effective dimension Σλ/(λ+γ) is at most d/1000, next to
// nothing is fitted; at its lower end an average direction is shrunk by no more than
// one part in a thousand. A single γ is the mean eigenvalue. Where all rows are zero
// it is taken to be 1, and so it is for the zero Summary.
func (s *Summary) Grid(k int) []float64 {
	mean := 1.0
	if s != nil && s.sketch != nil {
		mean = s.sketch.Bound().Frobenius2 / float64(s.cfg.Dim)
	}
	if !(mean > 0x1p-1000) { // 10⁻³ of it would be no normal number
		mean = 1
	}
	out := make([]float64, max(k, 0))
	for i := range out {
		at := 0.0
		if k > 1 {
			at = 6*float64(i)/float64(k-1) - 3
		}
		out[i] = mean * math.Pow(10, at)
	}
	return out
}
