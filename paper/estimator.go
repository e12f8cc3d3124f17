package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/ridge"
)

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
		return nil, nil, fmt.Errorf("paper: %w", ridge.ErrNoConvergence)
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

// FD is the estimator x̂ = (BᵀB + γI)⁻¹Aᵀb of FDRR, [ridge.Summary.FitFD], for a sketch
// of A: bias (Ĥ⁻¹K − I)x₀ and variance τ²Ĥ⁻¹KĤ⁻¹ (lemma 2 of the paper). O(d³).
// A sketch of other dimensions is [ridge.ErrShape]; [ridge.ErrNoConvergence].
func (m *LinearModel) FD(sketch *fd.Spectrum) (*Estimator, error) {
	return m.frequentDirections("fd", sketch)
}

// RFD is [LinearModel.FD] for RFDRR, [ridge.Summary.Fit]: Ĥ = BᵀB + (γ + ρ)I, ρ = η/2.
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
		return nil, fmt.Errorf("paper: %w: a sketch of %d features, the model has %d", ridge.ErrShape, sketch.Dim, m.d)
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
// all that is random. O(d³). Errors: [ridge.ErrShape], *[fd.NonFiniteError],
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

// Classical is the estimator x^C = (AᵀSᵀSA + γI)⁻¹AᵀSᵀSb of the classical sketch,
// given SA (m×d) and SSᵀ (m×m, positive semidefinite), with
//
//	bias −γĤ⁻¹x₀,   variance τ²·Ĥ⁻¹(SA)ᵀSSᵀ(SA)Ĥ⁻¹
//
// for this one S: ε is all that is random. O(d³ + m²d). Errors: [ridge.ErrShape],
// *[fd.NonFiniteError], *[fd.RangeError], [ridge.ErrNoConvergence].
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
	m.be.Gemm(false, true, 1, engine.View(d, d, v), engine.View(r, d, b), 0, engine.View(d, r, w))
	m.be.Gemm(false, false, 1, engine.View(d, r, w), engine.View(r, r, ss), 0, engine.View(d, r, wss))
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

// dot is xᵀy, off by a few roundings however long they are.
func dot(x, y []float64) float64 {
	const block = 32
	var total neumaier.Sum
	for len(x) >= block {
		var s0, s1, s2, s3 float64
		for i := 0; i < block; i += 4 {
			a, b := x[i:i+4:i+4], y[i:i+4:i+4]
			s0 += a[0] * b[0]
			s1 += a[1] * b[1]
			s2 += a[2] * b[2]
			s3 += a[3] * b[3]
		}
		total.Add((s0 + s1) + (s2 + s3))
		x, y = x[block:], y[block:]
	}
	return total.Value() + floats.Dot(x, y)
}
