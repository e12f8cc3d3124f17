package paper

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/ridge"
)

const (
	eps       = 0x1p-52
	underflow = 0x1p-1074 // what one product may lose to it

	// roundFactor is how many roundings for each term of a sum are allowed for.
	roundFactor = 8
)

// A Risk is how far the weights of an estimator are from the true ones, in closed
// form.
type Risk struct {
	Gamma    float64
	Bias2    float64 // ‖E x̂ − x₀‖²
	Variance float64 // tr Var x̂ = E‖x̂ − E x̂‖²
	MSE      float64 // E‖x̂ − x₀‖², their sum
}

// Risk evaluates, with s = γ + shift,
//
//	‖bias‖² = Σᵢ ((zᵢ − s·hᵢ)/(σᵢ² + s))²,   tr var = τ²·Σᵢ ‖Fᵀvᵢ‖²/(σᵢ² + s)²,
//
// h = Vx₀ and z = V(FA − BᵀB)x₀, in O(d), with a round-off relative to
// tr(K)/γ. A γ that is not positive and finite is a *[ridge.GammaError].
func (e *Estimator) Risk(gamma float64) (Risk, error) {
	if err := e.check(gamma); err != nil {
		return Risk{}, err
	}
	s := gamma + e.shift
	r := Risk{Gamma: gamma}
	for i, s2 := range e.s2 {
		h := s2 + s
		bias := (e.excess[i] - s*e.x0[i]) / h
		r.Bias2 += bias * bias
		r.Variance += e.model.noise * (e.noise2[i] / h / h)
	}
	r.MSE = r.Bias2 + r.Variance
	return r, nil
}

// RiskBounds hold the [Risk] of an estimator.
type RiskBounds struct{ Bias2, Variance, MSE ridge.Interval }

// Bounds returns what the guarantee of a Frequent Directions sketch,
// −pad ⪯ K − BᵀB ⪯ η + pad, proves of FDRR (shift 0) and RFDRR (shift ρ), given
// the risk of x*: with q = (max(shift, η − shift) + pad)/(γ + shift),
//
//	‖bias(x̂) − bias(x*)‖ ≤ q·‖E x*‖,
//	γ/(γ + shift + pad) ≤ √(tr var(x̂)/tr var(x*)) ≤ 1 + q,
//
// widened by the round-off of evaluating both sides. So tr var(x̂) >= tr var(x*)
// for FD, and (1 − ρ/(γ+ρ))² of it at least for RFD. For the exact estimator q and
// pad are zero. Nothing is known of the classical and Hessian sketch without a
// bound on the distortion of S: their bounds are [0, ∞).
//
// These replace theorems 1 to 3 of the paper. There the bias is bounded by
// multiples 1 − θ and 1/(1 − θ) of its own, which is false: M = (Ĥ⁻¹K − I)H is
// not symmetric, and its eigenvalues say nothing of ‖Mu‖. And var(x*) ⪯ var(x̂) is
// false too, only the traces are so ordered: with P = KH⁻¹ ⪰ 0 and
// Ĥ ⪯ H + aI ⪯ (1 + a/γ)H,
//
//	‖K^½Ĥ⁻¹‖_F·‖K^½H⁻¹‖_F ≥ tr(PĤ⁻¹) ≥ γ/(γ+a)·tr(PH⁻¹) = γ/(γ+a)·‖K^½H⁻¹‖_F².
//
// The upper bounds follow from ‖(H − Ĥ)Ĥ⁻¹‖ ≤ q.
func (e *Estimator) Bounds(gamma float64) (RiskBounds, error) {
	if err := e.check(gamma); err != nil {
		return RiskBounds{}, err
	}
	if e.bound == nil {
		unknown := ridge.Interval{Lo: 0, Hi: math.Inf(1)}
		return RiskBounds{unknown, unknown, unknown}, nil
	}
	m := e.model
	optimal, err := m.exact.Risk(gamma)
	if err != nil {
		return RiskBounds{}, err
	}
	b := *e.bound
	s := gamma + e.shift
	q := (math.Max(e.shift, b.Shrinkage-e.shift) + b.RoundOff) / s

	// Evaluation perturbs K and BᵀB by a multiple of eps·tr K, each ‖Rvᵢ‖ by one of
	// eps·‖A‖_F, and sums of d terms.
	root := math.Sqrt(float64(m.d))
	round := roundFactor * eps * (root + m.trace/gamma)
	bias := math.Sqrt(optimal.Bias2)
	far := q*m.exact.mean(gamma) + (1+q)*round*floats.Norm(m.x0, 2)
	sd := math.Sqrt(optimal.Variance)
	slack := (1 + q) * (round*sd + roundFactor*eps*math.Sqrt(m.noise*m.trace)*root/gamma)
	r := RiskBounds{
		Bias2:    squared(bias-far, bias+far),
		Variance: squared(gamma/(s+b.RoundOff)*sd-slack, (1+q)*sd+slack),
	}
	r.MSE = ridge.Interval{Lo: r.Bias2.Lo + r.Variance.Lo, Hi: r.Bias2.Hi + r.Variance.Hi}
	return r, nil
}

// squared brackets x² for lo <= x <= hi and x >= 0, underflow included.
func squared(lo, hi float64) ridge.Interval {
	lo = math.Max(0, lo)
	out := ridge.Interval{Lo: math.Max(0, lo*lo-underflow), Hi: hi * hi}
	if hi > 0 {
		out.Hi += underflow
	}
	return out
}

// check refuses a γ that is not positive and finite.
func (e *Estimator) check(gamma float64) error {
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		return &ridge.GammaError{Gamma: gamma, Method: e.Method}
	}
	return nil
}

// mean is ‖E x*‖ = ‖H⁻¹Kx₀‖ of the exact estimator.
func (e *Estimator) mean(gamma float64) float64 {
	var q float64
	for i, s2 := range e.s2 {
		v := s2 / (s2 + gamma) * e.x0[i]
		q += v * v
	}
	return math.Sqrt(q)
}
