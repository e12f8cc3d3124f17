// Package ridge solves ridge regression,
//
//	x*(γ) = argmin_x ½‖Ax − b‖² + γ/2·‖x‖²,   A n×d (each row is a sample), γ > 0,
//
// from one pass over the rows ([Summary]), to any accuracy with further passes
// ([Solve]), or exactly where d² numbers fit in memory ([Exact]). Every answer
// carries a [Certificate] that bounds its distance from x*, round-off included.
//
// γ multiplies ‖x‖² against the sum, not the mean, of squares: it is
// scikit-learn's alpha and n times glmnet's lambda. Intercepts are never
// penalised.
//
// Notation in the code follows C. Dickens, "Ridge Regression with Frequent
// Directions" (2020), with its errors corrected: K = AᵀA, H = K + γI, c = AᵀY,
// B the sketch with singular values σ and right singular vectors V,
// η = Σδ its shrinkage, ρ = η/2.
package ridge

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Certificate bounds how far a fit is from the exact solution. All bounds
// hold for the x* of exact arithmetic on the data that were read.
//
// Round-off is included. What it may do is proved, from the longest chain of additions
// that an entry goes through, for everything that is summed over rows: AᵀY, ‖Y‖²,
// gradients, residuals, means, what centring moves, Cholesky, and for products over the
// features. Two figures rest on calibration instead, for what is proved of them is many
// times what is ever seen: the arithmetic of shrinks and how orthogonal the sketch's
// singular vectors are ([fd.Bound].RoundOff), and the backward error of the streamed QR.
// Each is held, by tests, to streams made to exceed it.
type Certificate struct {
	// Shrinkage is η, the bound on ‖AᵀA − BᵀB‖₂ of the sketch used, round-off
	// included; 0 for an exact method.
	Shrinkage float64
	// Contraction is q with ‖x̂ − x*‖ ≤ q‖x*‖ for the one-shot fit, but for the
	// rounding of x̂, which RelativeErrorBound includes: η/γ for FD, ρ/(γ+ρ) for RFD. It is also the factor by which each Newton refinement
	// shrinks the error. With a Hessian of another kind it is max(1 − lo, hi − 1)
	// of its Range. 0 for an exact method.
	Contraction float64
	// ErrorBound is, for each target, a bound on ‖x̂ − x*‖₂.
	ErrorBound []float64
	// RelativeErrorBound is, for each target, a bound on ‖x̂ − x*‖₂/‖x*‖₂.
	RelativeErrorBound []float64
	// EnergyBound is, for each target, a bound on ‖H^{½}(x̂ − x*)‖₂, half of whose square
	// f(x̂) is above f*, at most. Predictions for a row a are off by no more than
	// √(aᵀH⁻¹a) times it.
	EnergyBound []float64
	// InterceptBound is, for each target, a bound on how far the intercept is from that of
	// the exact solution; zero where none was fitted.
	InterceptBound []float64
	// EffectiveDimension brackets tr(H⁻¹K).
	EffectiveDimension Interval
	// Objective brackets, for each target, f* = ½‖Ax* − b‖² + γ/2·‖x*‖².
	Objective []Interval
	// TSS brackets, for each target, ‖b‖²; of the centred target where an intercept was
	// fitted.
	TSS []Interval
	// RSS brackets, for each target, ‖Ax̂ − b‖² of the fit x̂ at hand.
	RSS []Interval
	// GCV brackets, for each target, n·RSS(x*)/(n − df)² at the exact solution,
	// df the effective dimension, plus one where an intercept was fitted.
	GCV []Interval
}

// A Solution is the ridge solution for one γ and what is known about it.
type Solution struct {
	Gamma     float64
	Coef      *mat.Dense // t×d: each row is the weights of one target
	Intercept []float64  // length t; zero where none was fitted

	Certificate Certificate

	// TSS is, for each target, ‖b‖² as computed; of the centred target where an
	// intercept was fitted.
	TSS []float64
	// GradientNorm is, for each target, ‖Aᵀ(Ax̂ − b) + γx̂‖₂ as computed in the
	// last pass; nil for a method that made none at x̂.
	GradientNorm []float64

	Method     string // what ran: "one-shot", "cg", "galerkin", "chebyshev", "newton", "cholesky", "qr"
	Backend    string // what it ran on
	Rows       int64  // n
	Passes     int    // reads of the data this fit rests on
	Iterations int
	Stop       string // why it stopped
}

// R2 brackets the coefficient of determination 1 − RSS/TSS of target j on the
// data of the fit; NaN where the target is constant, or the certificate says nothing
// of its squares.
func (f *Solution) R2(j int) Interval {
	c := f.Certificate
	if !(f.TSS[j] > 0) || j >= len(c.TSS) {
		return Interval{math.NaN(), math.NaN()}
	}
	rss, tss := c.RSS[j], c.TSS[j]
	const round = 4 * roundoff.Eps
	return Interval{1 - rss.Hi/tss.Lo*(1+round) - round, 1 - rss.Lo/tss.Hi*(1-round) + round}
}

// Predict overwrites yhat (length t) with Coef·x + Intercept for one sample x
// (length d).
func (f *Solution) Predict(yhat, x []float64) error {
	t, d := f.Coef.Dims()
	if len(x) != d || len(yhat) != t {
		return ErrShape
	}
	for j := range yhat {
		s := f.Intercept[j]
		for k, w := range f.Coef.RawRowView(j) {
			s += w * x[k]
		}
		yhat[j] = s
	}
	return nil
}
