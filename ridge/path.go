package ridge

import (
	"math"

	"gonum.org/v1/gonum/mat"
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
func (s *Summary) Path(gammas []float64) ([]*Fit, error) { return s.path(gammas, true) }

// path is Path, or with FD in place of RFD.
func (s *Summary) path(gammas []float64, robust bool) ([]*Fit, error) {
	k, err := s.know(gammas...)
	if err != nil {
		return nil, err
	}
	d, t := k.d, k.t
	shift := 0.0
	if robust {
		shift = k.spec.Bound.Shift()
	}
	x := k.apply(inverses(gammas, shift)...)
	bx := k.sketchNorms(len(gammas)*t, x)
	targets := make([]int, t)
	for j := range targets {
		targets[j] = j
	}
	fits := make([]*Fit, len(gammas))
	for i, gamma := range gammas {
		coef := x[i*t*d : (i+1)*t*d]
		f := s.newFit(gamma, "one-shot")
		f.Passes, f.Stop = 1, "one pass"
		f.Coef = mat.NewDense(t, d, coef)
		f.Intercept = s.intercepts(coef, targets)
		f.TSS = append([]float64(nil), k.tss...)
		f.Certificate = k.certify(gamma, shift, coef, bx[i*t:(i+1)*t], nil)
		fits[i] = f
	}
	return fits, nil
}

// know is the knowledge of s, for the γ given, which are checked.
func (s *Summary) know(gammas ...float64) (*knowledge, error) {
	for _, g := range gammas {
		if err := checkGamma(g, "one-shot"); err != nil {
			return nil, err
		}
	}
	if s.Rows() == 0 {
		return nil, ErrEmpty
	}
	spec, err := s.spectrum()
	if err != nil {
		return nil, err
	}
	k := newKnowledge(s, newSketched(spec, false, s.be), s.c())
	if err := k.inRange(gammas...); err != nil {
		return nil, err
	}
	return k, nil
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
// it is taken to be 1.
func (s *Summary) Grid(k int) []float64 {
	mean := s.sketch.Bound().Frobenius2 / float64(s.cfg.Dim)
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
