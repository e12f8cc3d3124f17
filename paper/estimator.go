package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

const (
	eps       = 0x1p-52
	underflow = 0x1p-1074 // largest underflow of one product

	// roundFactor is the assumed number of rounding errors per term of a sum.
	roundFactor = 8
)

// An Estimator is one method applied to the targets b = Ax₀ + ε of a [LinearModel], where the noise ε has
// variance τ². It is a linear function of b, and can be evaluated at every γ:
//
//	x̂ = Ĥ⁻¹Fb,   Ĥ = BᵀB + (γ + shift)I,
//	E x̂ − x₀ = Ĥ⁻¹(FA − Ĥ)x₀,   Var x̂ = τ²·Ĥ⁻¹FFᵀĤ⁻¹.
//
// B is the sketch, and shift is ρ for RFD and 0 for other methods. F is Aᵀ, or AᵀSᵀS for the classical sketch
// SA with the random matrix S. With the eigendecomposition BᵀB = Vᵀdiag(σ²)V, bias and variance are sums of d
// terms. The rows vᵢ of V are eigenvectors.
type Estimator struct {
	Method string // "exact", "fd", "rfd", "classical" or "hessian"

	model  *LinearModel
	shift  float64   // ρ for RFD, else 0
	s2     []float64 // σ², d
	x0     []float64 // V·x₀
	excess []float64 // V·(FA − BᵀB)x₀
	noise2 []float64 // ‖Fᵀvᵢ‖²
	bound  *fd.Bound // on K − BᵀB; nil if there is none
}

// estimator returns an Estimator for the sketch b, an r×d matrix, and the eigenvectors of bᵀb as rows of v. The
// caller must set the fields excess and noise2.
func (m *LinearModel) estimator(
	method string,
	r int,
	b []float64,
) (e *Estimator, v []float64, err error) {
	d := m.d
	e = &Estimator{
		Method: method,
		model:  m,
		s2:     make([]float64, d),
		x0:     make([]float64, d),
		excess: make([]float64, d),
	}
	v = make([]float64, d*d)
	gram := make([]float64, d*d)
	m.be.Syrk(true, 1, engine.View(r, d, b), 0, engine.View(d, d, gram))
	work := make([]float64, m.be.SymEigWork(d, d))
	if !m.be.SymEig(engine.View(d, d, gram), e.s2, engine.View(d, d, v), work) {
		return nil, nil, fmt.Errorf("paper: %w", ridge.ErrNoConvergence)
	}
	for i, s2 := range e.s2 {
		e.s2[i] = math.Max(0, s2)
	}
	m.be.Gemv(false, 1, engine.View(d, d, v), m.x0, 0, e.x0)
	return e, v, nil
}

// oneShot returns the estimator x̂ = Ĥ⁻¹Aᵀy of the targets y, with Ĥ from the sketch b, an r×d matrix. It
// computes with the factor R of A = QR instead of K = AᵀA. The round-off of R·vᵢ, for an eigenvector vᵢ of
// bᵀb, is then relative to ‖A‖, and the round-off of the variance to ‖A‖/γ.
func (m *LinearModel) oneShot(method string, r int, b []float64) (*Estimator, error) {
	e, v, err := m.estimator(method, r, b)
	if err != nil {
		return nil, err
	}
	d := m.d
	w := make([]float64, d*d) // the rows are R·vᵢ
	m.be.Gemm(
		false,
		true,
		1,
		engine.View(d, d, v),
		engine.View(d, d, m.r),
		0,
		engine.View(d, d, w),
	)
	m.be.Gemv(false, 1, engine.View(d, d, w), m.rx0, 0, e.excess)
	for i, s2 := range e.s2 {
		e.excess[i] -= s2 * e.x0[i]
	}
	e.noise2 = rowDots(d, w, w)
	return e, nil
}

// rowDots returns the inner products of row i of a and row i of b, for each of n rows.
func rowDots(n int, a, b []float64) []float64 {
	c := len(a) / n
	out := make([]float64, n)
	for i := range out {
		from, to := i*c, (i+1)*c
		out[i] = vec.Dot(a[from:to], b[from:to])
	}
	return out
}

// Exact returns the estimator x* = H⁻¹Aᵀb of exact ridge regression, with H = K + γI and K = AᵀA. It has bias
// −γH⁻¹x₀ and variance τ²H⁻¹KH⁻¹ (lemma 1 of the paper).
func (m *LinearModel) Exact() *Estimator { return m.exact }

// FD returns the estimator x̂ = Ĥ⁻¹Aᵀb with Ĥ = BᵀB + γI for a sketch B of A. The paper calls it FDRR, and
// [ridge.Summary.FitFD] computes it. With K = AᵀA, it has bias (Ĥ⁻¹K − I)x₀ and variance
// τ²Ĥ⁻¹KĤ⁻¹ (lemma 2 of the paper). The cost is O(d³). Errors: [ridge.ErrShape] for other dimensions,
// [ridge.ErrNoConvergence].
func (m *LinearModel) FD(sketch *fd.Spectrum) (*Estimator, error) {
	r := len(sketch.Sigma2)
	if sketch.Dim != m.d || len(sketch.V) != r*m.d {
		return nil, fmt.Errorf("paper: %w: the sketch has %d features, the model %d", ridge.ErrShape, sketch.Dim, m.d)
	}
	var b []float64
	if matrix := sketch.Matrix(); matrix != nil {
		b = matrix.RawMatrix().Data
	}
	e, err := m.oneShot("fd", r, b)
	if err != nil {
		return nil, err
	}
	bound := sketch.Bound
	e.bound = &bound
	return e, nil
}

// RFD returns the estimator of [LinearModel.FD] with Ĥ = BᵀB + (γ + ρ)I. Here ρ = η/2, and η is the error
// bound of the sketch. The paper calls this estimator RFDRR, and [ridge.Summary.Fit] computes it.
func (m *LinearModel) RFD(sketch *fd.Spectrum) (*Estimator, error) {
	e, err := m.FD(sketch)
	if err != nil {
		return nil, err
	}
	e.Method = "rfd"
	e.shift = e.bound.Shift()
	return e, nil
}

// Hessian returns the estimator x^H = Ĥ⁻¹Aᵀb with Ĥ = AᵀSᵀSA + γI, given the Hessian sketch SA (m×d)
// with the random matrix S. For this one S, it has bias (Ĥ⁻¹K − I)x₀ and variance τ²Ĥ⁻¹KĤ⁻¹ with K
// = AᵀA. Only the noise of b is random. The cost is O(d³). Errors: [ridge.ErrShape], *[fd.NonFiniteError],
// *[fd.RangeError], [ridge.ErrNoConvergence].
//
// M. Pilanci, M. Wainwright, "Iterative Hessian Sketch" (2016).
func (m *LinearModel) Hessian(sa mat.Matrix) (*Estimator, error) {
	r, b, err := m.sketched(sa)
	if err != nil {
		return nil, err
	}
	return m.oneShot("hessian", r, b)
}

// Classical returns the estimator x^C = Ĥ⁻¹AᵀSᵀSb with Ĥ = AᵀSᵀSA + γI, given the classical sketch SA
// (m×d) and SSᵀ (m×m, positive semidefinite). It has
//
//	bias −γĤ⁻¹x₀,   variance τ²·Ĥ⁻¹(SA)ᵀSSᵀ(SA)Ĥ⁻¹
//
// for this one S; only the noise ε is random. The cost is O(d³ + m²d). Errors: [ridge.ErrShape],
// *[fd.NonFiniteError], *[fd.RangeError], [ridge.ErrNoConvergence].
//
// H. Avron, K. Clarkson, D. Woodruff, "Sharper Bounds for Regularized Data Fitting" (2017); S. Wang, A. Gittens, M.
// Mahoney, "Sketched Ridge Regression: Optimization Perspective, Statistical Perspective, and Model Averaging"
// (2018).
func (m *LinearModel) Classical(sa mat.Matrix, sst mat.Symmetric) (*Estimator, error) {
	r, b, err := m.sketched(sa)
	if err != nil {
		return nil, err
	}
	if n := sst.SymmetricDim(); n != r {
		return nil, fmt.Errorf("paper: %w: SA has %d rows, SSᵀ %d", ridge.ErrShape, r, n)
	}
	ss := mat.DenseCopyOf(sst).RawMatrix().Data
	if err := checkRows(r, ss); err != nil {
		return nil, err
	}
	e, v, err := m.estimator("classical", r, b)
	if err != nil {
		return nil, err
	}
	d := m.d
	w, wss := make([]float64, d*r), make([]float64, d*r) // the rows of w are SA·vᵢ
	m.be.Gemm(
		false,
		true,
		1,
		engine.View(d, d, v),
		engine.View(r, d, b),
		0,
		engine.View(d, r, w),
	)
	m.be.Gemm(
		false,
		false,
		1,
		engine.View(d, r, w),
		engine.View(r, r, ss),
		0,
		engine.View(d, r, wss),
	)
	e.noise2 = rowDots(d, wss, w)
	return e, nil
}

// sketched checks SA and returns its rows.
func (m *LinearModel) sketched(sa mat.Matrix) (rows int, b []float64, err error) {
	r, d := sa.Dims()
	if r < 1 || d != m.d {
		return 0, nil, fmt.Errorf("paper: %w: SA is %d×%d, the model has %d features", ridge.ErrShape, r, d, m.d)
	}
	b = mat.DenseCopyOf(sa).RawMatrix().Data
	return r, b, checkRows(r, b)
}

// A Risk is the error of the coefficients of an estimator in closed form.
type Risk struct {
	Gamma    float64
	Bias2    float64 // ‖E x̂ − x₀‖²
	Variance float64 // tr Var x̂ = E‖x̂ − E x̂‖²
	MSE      float64 // E‖x̂ − x₀‖², their sum
}

// Risk computes the bias and the variance as sums over the eigenvectors vᵢ of BᵀB. With s = γ + shift and the
// notation of [Estimator],
//
//	‖bias‖² = Σᵢ (vᵢᵀ((FA − BᵀB)x₀ − s·x₀)/(σᵢ² + s))²
//	tr var  = τ²·Σᵢ ‖Fᵀvᵢ‖²/(σᵢ² + s)².
//
// The cost is O(d), and the round-off is relative to tr(K)/γ. If γ is not positive and finite, the error is a
// *[ridge.GammaError].
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

// RiskBounds contains the [Risk] of an estimator.
type RiskBounds struct{ Bias2, Variance, MSE ridge.Interval }

// Bounds returns bounds on the risk of FDRR (shift 0) and RFDRR (shift ρ), relative to the risk of x*. They follow
// from the guarantee −pad ⪯ K − BᵀB ⪯ η + pad of a Frequent Directions sketch, where pad bounds the
// round-off. With q = (max(shift, η − shift) + pad)/(γ + shift),
//
//	‖bias(x̂) − bias(x*)‖ ≤ q·‖E x*‖,
//	γ/(γ + shift + pad) ≤ √(tr var(x̂)/tr var(x*)) ≤ 1 + q,
//
// widened by the round-off of both sides. So tr var(x̂) >= tr var(x*) for FD, and tr var(x̂) >= (1 −
// ρ/(γ+ρ))²·tr var(x*) for RFD. For the exact estimator q and pad are zero. The bounds of the classical and
// Hessian sketches are [0, ∞), because nothing is known without a bound on the distortion of S.
//
// These bounds replace theorems 1 to 3 of the paper. The paper bounds the bias by multiples 1 − θ and 1/(1 − θ)
// of the bias of x*. This is false: M = (Ĥ⁻¹K − I)H is not symmetric, and its eigenvalues do not bound
// ‖Mu‖. The paper's var(x*) ⪯ var(x̂) is false too. Only the traces are ordered in this way: with P = KH⁻¹
// ⪰ 0 and Ĥ ⪯ H + aI ⪯ (1 + a/γ)H,
//
//	‖K^½Ĥ⁻¹‖_F·‖K^½H⁻¹‖_F ≥ tr(PĤ⁻¹) ≥ γ/(γ+a)·tr(PH⁻¹)
//	                       = γ/(γ+a)·‖K^½H⁻¹‖_F².
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

	// round bounds the relative round-off in sums of d terms, in K and in BᵀB. slack adds the round-off of each R·vᵢ
	// for A = QR, a multiple of eps·‖A‖_F.
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
	r.MSE = ridge.Interval{
		Lo: r.Bias2.Lo + r.Variance.Lo,
		Hi: r.Bias2.Hi + r.Variance.Hi,
	}
	return r, nil
}

// squared returns an interval that contains x² for lo <= x <= hi and x >= 0, also after underflow.
func squared(lo, hi float64) ridge.Interval {
	lo = math.Max(0, lo)
	out := ridge.Interval{Lo: math.Max(0, lo*lo-underflow), Hi: hi * hi}
	if hi > 0 {
		out.Hi += underflow
	}
	return out
}

// check returns an error unless γ is positive and finite.
func (e *Estimator) check(gamma float64) error {
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		return &ridge.GammaError{Gamma: gamma, Method: e.Method}
	}
	return nil
}

// mean returns ‖E x*‖ = ‖H⁻¹Kx₀‖ of the exact estimator.
func (e *Estimator) mean(gamma float64) float64 {
	var q float64
	for i, s2 := range e.s2 {
		v := s2 / (s2 + gamma) * e.x0[i]
		q += v * v
	}
	return math.Sqrt(q)
}
