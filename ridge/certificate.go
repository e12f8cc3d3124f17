package ridge

import "github.com/fdridge/fdridge/ridge/internal/certify"

// A Certificate bounds how far the solution for one target is from the exact one. All
// bounds hold for the x* of exact arithmetic on the data that were read.
//
// A bound of zero promises that there is no error at all. In a [Target] made by hand, what is
// not known is +Inf or the interval from -Inf to +Inf. Only what a [Predictor] does not look at
// may be left out: it looks at ErrorBound, EnergyBound, InterceptBound and Objective, and where
// TSS is zero takes the computed one for exact.
//
// Round-off is included. What it may do is proved, from the longest chain of additions
// that an entry goes through, for everything that is summed over rows: AᵀY, ‖Y‖²,
// gradients, residuals, means, what centring moves, Cholesky, QR, and for products over the
// features. Eigenproblems and reductions to tridiagonal form are measured when they are
// made, by products with proved bounds (docs/math.md §14).
type Certificate struct {
	ErrorBound         float64 `json:"error_bound" null:"+Inf"`          // on ‖x̂ − x*‖₂
	RelativeErrorBound float64 `json:"relative_error_bound" null:"+Inf"` // on ‖x̂ − x*‖₂/‖x*‖₂
	// EnergyBound is one on ‖H^{½}(x̂ − x*)‖₂, half of whose square f(x̂) is above f*, at
	// most. Predictions for a row a are off by no more than √(aᵀH⁻¹a) times it.
	EnergyBound float64 `json:"energy_bound" null:"+Inf"`
	// InterceptBound is one on how far the intercept is from that of the exact solution;
	// zero where none was fitted.
	InterceptBound float64 `json:"intercept_bound" null:"+Inf"`
	// Objective brackets f* = ½‖Ax* − b‖² + γ/2·‖x*‖².
	Objective Interval `json:"objective"`
	// TSS brackets ‖b‖²; of the centred target where an intercept was fitted.
	TSS Interval `json:"tss"`
	// RSS brackets ‖Ax̂ − b‖² of the x̂ at hand.
	RSS Interval `json:"rss"`
	// GCV brackets n·RSS(x*)/(n − df)² at the exact solution, df the effective
	// dimension, plus one where an intercept was fitted.
	GCV Interval `json:"gcv"`
}

func newCertificate(w certify.Weights) Certificate {
	return Certificate{
		ErrorBound: w.Error, RelativeErrorBound: w.Relative, EnergyBound: w.Energy, InterceptBound: w.Intercept.Error,
		Objective: Interval(w.Objective), TSS: Interval(w.TSS), RSS: Interval(w.RSS), GCV: Interval(w.GCV),
	}
}
