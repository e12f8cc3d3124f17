package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Corrected is what was found at weights x of a target, with twice the digits, and what a
// factor of H makes of it.
type Corrected struct {
	X      []float64
	Bounds []float64         // of the error of each component of the gradient g
	RSS    interval.Interval // ‖Ax − b‖²
	Half   []float64         // R⁻ᵀg as computed
	Step   []float64         // R⁻¹R⁻ᵀg as computed: about x − x*
}

// Refined are the bounds for corrected weights of target j. With lower²·RᵀR ⪯ H ⪯ upper²·RᵀR,
// ω = max(1 − lower², upper² − 1), and |δᵢ| bounds on the error of gᵢ,
//
//	‖x − x*‖ ≤ ‖(RᵀR)⁻¹g‖ + ω/(1−ω)·‖R⁻¹‖·‖R⁻ᵀg‖ + min(‖δ‖/σ², Σδᵢ√(H⁻¹)ᵢᵢ/σ),
//	‖H^{½}(x − x*)‖ ≤ ‖R⁻ᵀg‖/lower + min(‖δ‖/σ, Σδᵢ√(H⁻¹)ᵢᵢ),
//
// from H⁻¹ = R⁻¹(I + E)⁻¹R⁻ᵀ with ‖E‖ ≤ ω. known is false where the factor says too little of H,
// or squares have left the range of float64. off is a lower bound on
// ‖H^{½}(x − x*)‖.
func Refined(e *Streamed, f *Factored, j int, c *Corrected) (w Weights, off float64, known bool) {
	_, s := e.moved(f)
	n := s.factor
	omega := math.Max(1-n.lower*n.lower, n.upper*n.upper-1)
	xn := vec.Norm(c.X)
	if !(n.lower > 0) || !(omega < 0.5) || !(n.solved < 0.1) || !(xn <= math.MaxFloat64) || math.IsInf(c.RSS.Hi, 1) {
		return w, 0, false
	}
	d := float64(e.Dim)
	round := 1 + (d+8)*eps
	half, step := vec.Norm(c.Half)*round, vec.Norm(c.Step)*round
	lost := math.Min(vec.Norm(c.Bounds)/s.sigma, vec.AbsDot(s.inverse, c.Bounds)) * round
	exact := half * (1 + n.transposed)
	tiny := (d + 8) * roundoff.Underflow
	energy := (exact/n.lower+lost)*round + tiny
	bound := (step*(1+n.solved)+n.inverse*half*n.transposed+omega/(1-omega)*n.inverse*exact+lost/s.sigma)*round + tiny
	return Weights{
		Error: bound, Relative: Relative(bound, xn*(1-(d+2)*eps)), Energy: energy,
		Intercept: e.interceptError(j, xn, bound),
		TSS:       e.totalSquares(j, e.lost()), RSS: c.RSS,
		Objective: objectiveNear(f.Gamma, xn, energy, d, c.RSS),
		GCV:       gcv(e.Rows, e.Intercept, s.df, rssNear(f.Gamma, energy, c.RSS)),
	}, math.Max(0, half*(1-n.transposed)/n.upper/round/round-lost), true
}
