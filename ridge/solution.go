package ridge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// An Outcome is what ran for one γ, and what is known of that γ. [Target] has what is known of a target.
type Outcome struct {
	Gamma      float64 `json:"gamma"`
	Method     Method  `json:"method"`  // what ran: "one-shot", "cg", "galerkin", "chebyshev", "newton", "cholesky", "qr", "tridiagonal", "dual", "dual-cg"
	Status     Status  `json:"status"`  // why it stopped: for the last target that was not certified to the tolerance, if any
	Backend    string  `json:"backend"` // what it ran on
	Rows       int64   `json:"n"`       // n; 0 unknown
	Passes     int     `json:"passes"`  // reads of the data it rests on
	Iterations int     `json:"iterations"`

	// Shrinkage is η, the bound on ‖AᵀA − BᵀB‖₂ of the sketch used, round-off
	// included; 0 for an exact method.
	Shrinkage float64 `json:"shrinkage" null:"+Inf"`
	// Contraction is q with ‖x̂ − x*‖ ≤ q‖x*‖ for the one-shot solution, but for the
	// rounding of x̂, which RelativeErrorBound includes: η/γ for FD, ρ/(γ+ρ) for RFD. It is
	// also the factor by which each Newton refinement shrinks the error. With a Hessian of
	// another kind it is max(1 − lo, hi − 1) of its Range. 0 for an exact method.
	Contraction float64 `json:"contraction" null:"+Inf"`
	// EffectiveDimension brackets tr(H⁻¹K). Of [DualCG] it is hardly known: no more than the rank, and
	// than ‖A‖²_F/γ. [Dual] has it.
	EffectiveDimension Interval `json:"effective_dimension"`
}

// A Solution is the ridge solution for one γ.
type Solution struct {
	Outcome
	// Penalty is what the columns were penalised by, beyond γ; nil where all by 1.
	Penalty []float64 `json:"penalty,omitempty"`
	Targets []Target  `json:"targets"` // in the order of the source's, one at least
}

// A Target is the solution for one target.
type Target struct {
	Coef []float64 `json:"coef"` // x̂, length d
	// Intercept is ȳ − x̂ᵀx̄, of the weights before their last rounding where a gradient was
	// measured with twice the digits; zero where none was fitted, NaN where it is unknown.
	Intercept float64 `json:"intercept" null:"NaN"`
	// Scaled is ẑ, the weights of columns that are divided by √pⱼ, where the solution has a
	// Penalty p, else nil. It is what the Certificate is about, as are GradientNorm and all
	// norms in it, ‖ẑ‖² being Σ pⱼx̂ⱼ²; Coef is x̂ⱼ = ẑⱼ/√pⱼ, rounded once more.
	Scaled []float64 `json:"scaled_coef,omitempty"`
	// ComputedTSS is ‖b‖² as computed, of the centred target where an intercept was
	// fitted; NaN where it is unknown.
	ComputedTSS float64 `json:"computed_tss" null:"NaN"`
	// GradientNorm is ‖Aᵀ(Ax̂ − b) + γx̂‖₂ as computed in the last pass, before the last
	// rounding of x̂ where it was refined beyond that of plain gradients; NaN for a method that
	// made no pass at x̂.
	GradientNorm float64 `json:"gradient_norm" null:"NaN"`

	Certificate `json:"certificate"`
}

// newSolution is one at γ, without its targets.
func (s *Summary) newSolution(gamma float64, method Method, k *certify.Known) *Solution {
	return &Solution{Targets: make([]Target, 0, s.cfg.Targets), Outcome: Outcome{
		Gamma: gamma, Shrinkage: k.Bound().FD(), EffectiveDimension: Interval(k.At(gamma).EffectiveDimension()),
		Method: method, Backend: s.cfg.Backend.Name(), Rows: s.Rows(),
	}}
}

// newTarget is the solution x of one target, which it keeps, with its bounds.
func newTarget(x []float64, tss float64, w certify.Weights) Target {
	return Target{Coef: x, Intercept: w.Intercept.Value, ComputedTSS: tss, GradientNorm: math.NaN(), Certificate: newCertificate(w)}
}

// R2 brackets the coefficient of determination 1 − RSS/TSS on the data of the fit; NaN
// where the target is constant, or the certificate says nothing of its squares.
func (t *Target) R2() Interval {
	if !(t.ComputedTSS > 0) || !(t.TSS.Hi > 0) {
		return Interval{math.NaN(), math.NaN()}
	}
	const round = 4 * roundoff.Eps
	return Interval{1 - t.RSS.Hi/t.TSS.Lo*(1+round) - round, math.Min(1, 1-t.RSS.Lo/t.TSS.Hi*(1-round)+round)}
}

// Proves reports whether anything is proved of the weights: that they are nearer to the exact ones
// than zeros are, a relative error below 1. Weights of zeros need no proof.
func (t *Target) Proves() bool {
	return t.RelativeErrorBound < 1 || !slices.ContainsFunc(t.Coef, func(v float64) bool { return v != 0 })
}

// Dims returns the number of targets and that of features: the shape of [Solution.Coef].
func (s *Solution) Dims() (t, d int) {
	if len(s.Targets) == 0 {
		return 0, 0
	}
	return len(s.Targets), len(s.Targets[0].Coef)
}

// hasShape says that s is of t targets, each with d weights.
func (s *Solution) hasShape(t, d int) bool {
	return len(s.Targets) == t && !slices.ContainsFunc(s.Targets, func(o Target) bool { return len(o.Coef) != d })
}

// isCertified reports whether every target has a certificate. An objective that is zero belongs to a target
// of zeros, whose exact weights are zero: if those at hand are not, the bounds on their error are positive.
func (s *Solution) isCertified() bool {
	return !slices.ContainsFunc(s.Targets, func(o Target) bool {
		return o.Objective == Interval{} && !(o.ErrorBound > 0 && o.EnergyBound > 0) &&
			slices.ContainsFunc(o.Coef, func(v float64) bool { return v != 0 })
	})
}

// Coef returns the weights of all targets as a matrix, t×d: each row is the weights of one
// target. It is a copy. A solution of no targets, or of no features, has an empty one.
func (s *Solution) Coef() *mat.Dense {
	t, d := s.Dims()
	if t == 0 || d == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(t, d, nil)
	for j := range s.Targets {
		copy(out.RawRowView(j), s.Targets[j].Coef)
	}
	return out
}

// Proves reports whether something is proved of the weights of every target, see [Target.Proves].
func (s *Solution) Proves() bool {
	for j := range s.Targets {
		if !s.Targets[j].Proves() {
			return false
		}
	}
	return true
}

// WorstError returns the largest relative error bound of the targets.
func (s *Solution) WorstError() float64 {
	worst := 0.0
	for j := range s.Targets {
		worst = math.Max(worst, s.Targets[j].RelativeErrorBound)
	}
	return worst
}
