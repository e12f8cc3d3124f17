package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// ErrNoConvergence reports that an eigenvalue iteration failed, which finite data
// are not known to cause.
var ErrNoConvergence = errors.New("ridge: eigenvalue iteration did not converge")

// A LinearModel is the fixed design
//
//	b = A·x₀ + ε,   E ε = 0,   Var ε = τ²·I,   A n×d (each row is a sample),
//
// under which the weights x̂ that a method computes from A and b have a bias
// E x̂ − x₀, a variance and a mean squared error E‖x̂ − x₀‖² (section 3 of the
// paper). It holds the triangular factor of A and the eigenvalues of K: it is for
// experiments, with d up to a few thousand. Several goroutines may use it at once.
type LinearModel struct {
	be    engine.Backend
	d     int
	noise float64   // τ²
	x0    []float64 // x₀
	r     []float64 // R of A = QR, d×d, upper triangular with zeros below
	rx0   []float64 // R·x₀
	trace float64   // tr K
	exact *Estimator
}

// NewLinearModel makes the model of the features of src, whose targets are not
// looked at but must be there, with true weights x0 (d) and noise variance
// τ² = noise >= 0. It takes one pass, O(nd² + d³) time and O(d²) memory. be is
// engine.Default() where it is nil. The arguments are not kept.
//
// Errors: those of [Exact] on src; [ErrShape]; *[fd.NonFiniteError] and
// *[fd.RangeError] for x0, as row 0; [ErrNoConvergence].
func NewLinearModel(ctx context.Context, src dataset.Source, x0 []float64, noise float64, be engine.Backend) (*LinearModel, error) {
	if !(noise >= 0) || math.IsInf(noise, 0) {
		return nil, fmt.Errorf("ridge: noise variance %v, must be finite and not negative", noise)
	}
	e, err := newExact(src, ExactOptions{Factor: QR, Backend: be})
	if err != nil {
		return nil, err
	}
	if len(x0) != e.d {
		return nil, fmt.Errorf("%w: %d true weights for %d features", ErrShape, len(x0), e.d)
	}
	if err := checkRows(1, x0); err != nil {
		return nil, err
	}
	if err := e.read(ctx, src); err != nil {
		return nil, err
	}
	d, q, r := e.d, e.d+e.t, e.f.(*tsqr).r
	m := &LinearModel{be: e.be, d: d, noise: noise, x0: append([]float64(nil), x0...), r: make([]float64, d*d), rx0: make([]float64, d)}
	for i := range d {
		copy(m.r[i*d+i:(i+1)*d], r[i*q+i:i*q+d])
	}
	frob := triangleNorm(d, m.r, d)
	m.trace = frob * frob
	m.be.Gemv(false, 1, engine.View(d, d, m.r), x0, 0, m.rx0)
	if m.exact, err = m.oneShot("exact", d, m.r); err != nil {
		return nil, err
	}
	clear(m.exact.excess)
	m.exact.bound = &fd.Bound{}
	return m, nil
}

// checkRows holds n contiguous rows to finite entries and to the range of a
// sketch.
func checkRows(n int, x []float64) error {
	c, total := len(x)/n, 0.0
	for i := range n {
		q, err := fd.SquaredNorm(i, 0, nil, x[i*c:(i+1)*c])
		if err != nil {
			return err
		}
		if total += q; !(total <= maxSquares) {
			return &fd.RangeError{Row: i}
		}
	}
	return nil
}

// An Estimator is one method on a [LinearModel], for every γ: a linear function
// of b,
//
//	x̂ = Ĥ⁻¹Fb,   Ĥ = BᵀB + (γ + shift)I,
//	E x̂ − x₀ = Ĥ⁻¹(FA − Ĥ)x₀,   Var x̂ = τ²·Ĥ⁻¹FFᵀĤ⁻¹,
//
// with F = Aᵀ, or AᵀSᵀS for the classical sketch. In the basis V of eigenvectors
// of BᵀB = Vᵀdiag(σ²)V both become sums over d terms.
type Estimator struct {
	Method string // "exact", "fd", "rfd", "classical" or "hessian"

	model  *LinearModel
	shift  float64   // ρ for RFD, else 0
	s2     []float64 // σ², d
	x0     []float64 // V·x₀
	excess []float64 // V·(FA − BᵀB)x₀
	noise2 []float64 // ‖Fᵀvᵢ‖²
	bound  *fd.Bound // on K − BᵀB, nil where there is none
}

// estimator decomposes BᵀB for B r×d and returns V with it. excess is zero and
// noise2 left to be filled in.
func (m *LinearModel) estimator(method string, r int, b []float64) (e *Estimator, v []float64, err error) {
	d := m.d
	e = &Estimator{Method: method, model: m, s2: make([]float64, d), x0: make([]float64, d), excess: make([]float64, d)}
	v = make([]float64, d*d)
	gram := make([]float64, d*d)
	m.be.Syrk(true, 1, engine.View(r, d, b), 0, engine.View(d, d, gram))
	if !m.be.SymEig(engine.View(d, d, gram), e.s2, engine.View(d, d, v), make([]float64, m.be.SymEigWork(d, d))) {
		return nil, nil, ErrNoConvergence
	}
	for i, s2 := range e.s2 {
		e.s2[i] = math.Max(0, s2)
	}
	m.be.Gemv(false, 1, engine.View(d, d, v), m.x0, 0, e.x0)
	return e, v, nil
}

// oneShot is the estimator x̂ = Ĥ⁻¹Aᵀb for B r×d: F = Aᵀ, ‖Fᵀvᵢ‖ = ‖Rvᵢ‖. Going
// through R and not K keeps the round-off of what A does to a direction relative
// to ‖A‖, and its share of the variance relative to ‖A‖/γ.
func (m *LinearModel) oneShot(method string, r int, b []float64) (*Estimator, error) {
	e, v, err := m.estimator(method, r, b)
	if err != nil {
		return nil, err
	}
	d := m.d
	w := make([]float64, d*d) // the rows are R·vᵢ
	m.be.Gemm(false, true, 1, engine.View(d, d, v), engine.View(d, d, m.r), 0, engine.View(d, d, w))
	m.be.Gemv(false, 1, engine.View(d, d, w), m.rx0, 0, e.excess)
	for i, s2 := range e.s2 {
		e.excess[i] -= s2 * e.x0[i]
	}
	e.noise2 = rowDots(d, w, w)
	return e, nil
}

// rowDots returns the inner products of the n rows of a with those of b.
func rowDots(n int, a, b []float64) []float64 {
	c, out := len(a)/n, make([]float64, n)
	for i := range out {
		out[i] = dot(a[i*c:(i+1)*c], b[i*c:(i+1)*c])
	}
	return out
}

// Exact is the estimator x* = H⁻¹Aᵀb, H = K + γI, with bias −γH⁻¹x₀ and variance
// τ²H⁻¹KH⁻¹ (lemma 1 of the paper).
func (m *LinearModel) Exact() *Estimator { return m.exact }

// FD is the estimator x̂ = (BᵀB + γI)⁻¹Aᵀb of FDRR, [Summary.FitFD], for a sketch
// of A: bias (Ĥ⁻¹K − I)x₀ and variance τ²Ĥ⁻¹KĤ⁻¹ (lemma 2 of the paper). O(d³).
// A sketch of other dimensions is [ErrShape]; [ErrNoConvergence].
func (m *LinearModel) FD(sketch *fd.Spectrum) (*Estimator, error) {
	return m.frequentDirections("fd", sketch)
}

// RFD is [LinearModel.FD] for RFDRR, [Summary.Fit]: Ĥ = BᵀB + (γ + ρ)I, ρ = η/2.
func (m *LinearModel) RFD(sketch *fd.Spectrum) (*Estimator, error) {
	e, err := m.frequentDirections("rfd", sketch)
	if err != nil {
		return nil, err
	}
	e.shift = e.bound.Shift()
	return e, nil
}

func (m *LinearModel) frequentDirections(method string, sketch *fd.Spectrum) (*Estimator, error) {
	if r := len(sketch.Sigma2); sketch.Dim != m.d || len(sketch.V) != r*m.d {
		return nil, fmt.Errorf("%w: a sketch of %d features, the model has %d", ErrShape, sketch.Dim, m.d)
	}
	var b []float64
	if matrix := sketch.Matrix(); matrix != nil {
		b = matrix.RawMatrix().Data
	}
	e, err := m.oneShot(method, len(sketch.Sigma2), b)
	if err != nil {
		return nil, err
	}
	bound := sketch.Bound
	e.bound = &bound
	return e, nil
}

// Hessian is the estimator x^H = (AᵀSᵀSA + γI)⁻¹Aᵀb of the Hessian sketch, given
// SA (m×d), with bias (Ĥ⁻¹K − I)x₀ and variance τ²Ĥ⁻¹KĤ⁻¹ for this one S: ε is
// all that is random. O(d³). Errors: [ErrShape], *[fd.NonFiniteError],
// *[fd.RangeError], [ErrNoConvergence].
//
// M. Pilanci, M. Wainwright, "Iterative Hessian Sketch" (2016).
func (m *LinearModel) Hessian(sa mat.Matrix) (*Estimator, error) {
	r, b, err := m.sketched(sa)
	if err != nil {
		return nil, err
	}
	return m.oneShot("hessian", r, b)
}

// Classical is the estimator x^C = (AᵀSᵀSA + γI)⁻¹AᵀSᵀSb of the classical sketch,
// given SA (m×d) and SSᵀ (m×m, positive semidefinite), with
//
//	bias −γĤ⁻¹x₀,   variance τ²·Ĥ⁻¹(SA)ᵀSSᵀ(SA)Ĥ⁻¹
//
// for this one S: ε is all that is random. O(d³ + m²d). Errors: [ErrShape],
// *[fd.NonFiniteError], *[fd.RangeError], [ErrNoConvergence].
//
// H. Avron, K. Clarkson, D. Woodruff, "Sharper Bounds for Regularized Data
// Fitting" (2017); S. Wang, A. Gittens, M. Mahoney, "Sketched Ridge Regression:
// Optimization Perspective, Statistical Perspective, and Model Averaging" (2018).
func (m *LinearModel) Classical(sa mat.Matrix, sst mat.Symmetric) (*Estimator, error) {
	r, b, err := m.sketched(sa)
	if err != nil {
		return nil, err
	}
	if n := sst.SymmetricDim(); n != r {
		return nil, fmt.Errorf("%w: SA has %d rows, SSᵀ %d", ErrShape, r, n)
	}
	ss := packed(sst)
	if err := checkRows(r, ss); err != nil {
		return nil, err
	}
	e, v, err := m.estimator("classical", r, b)
	if err != nil {
		return nil, err
	}
	d := m.d
	w, wss := make([]float64, d*r), make([]float64, d*r) // the rows of w are SA·vᵢ
	m.be.Gemm(false, true, 1, engine.View(d, d, v), engine.View(r, d, b), 0, engine.View(d, r, w))
	m.be.Gemm(false, false, 1, engine.View(d, r, w), engine.View(r, r, ss), 0, engine.View(d, r, wss))
	e.noise2 = rowDots(d, wss, w)
	return e, nil
}

// sketched checks SA and returns its rows.
func (m *LinearModel) sketched(sa mat.Matrix) (rows int, b []float64, err error) {
	r, d := sa.Dims()
	if r < 1 || d != m.d {
		return 0, nil, fmt.Errorf("%w: SA is %d×%d, the model has %d features", ErrShape, r, d, m.d)
	}
	b = packed(sa)
	return r, b, checkRows(r, b)
}

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
// tr(K)/γ. A γ that is not positive and finite is a *[GammaError].
func (e *Estimator) Risk(gamma float64) (Risk, error) {
	if err := checkGamma(gamma, e.Method); err != nil {
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
type RiskBounds struct{ Bias2, Variance, MSE Interval }

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
	if err := checkGamma(gamma, e.Method); err != nil {
		return RiskBounds{}, err
	}
	if e.bound == nil {
		unknown := Interval{0, math.Inf(1)}
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
	far := q*m.exact.mean(gamma) + (1+q)*round*norm(m.x0)
	sd := math.Sqrt(optimal.Variance)
	slack := (1 + q) * (round*sd + roundFactor*eps*math.Sqrt(m.noise*m.trace)*root/gamma)
	r := RiskBounds{
		Bias2:    squared(bias-far, bias+far),
		Variance: squared(gamma/(s+b.RoundOff)*sd-slack, (1+q)*sd+slack),
	}
	r.MSE = Interval{r.Bias2.Lo + r.Variance.Lo, r.Bias2.Hi + r.Variance.Hi}
	return r, nil
}

// squared brackets x² for lo <= x <= hi and x >= 0, underflow included.
func squared(lo, hi float64) Interval {
	lo = math.Max(0, lo)
	out := Interval{math.Max(0, lo*lo-underflow), hi * hi}
	if hi > 0 {
		out.Hi += underflow
	}
	return out
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
