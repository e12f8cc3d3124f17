package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A HeldOut bounds the squared residuals of held-out rows, for fits to the other rows. It uses the error bounds of
// two summaries: for the held-out rows and for the other rows. ridge.CrossValidate documents the formulas.
type HeldOut struct {
	held, rest *Known // summaries of the rows held out and of the other rows
	apart      meanGap
	gain       heldOutGain
}

// NewHeldOut prepares the bounds.
func NewHeldOut(held, rest *Known) *HeldOut {
	h := &HeldOut{held: held, rest: rest, apart: newMeanGap(held, rest)}
	h.gain = newHeldOutGain(held, rest, &h.apart)
	return h
}

// Missed returns a bracket of the sum of squared residuals of the held-out rows. The argument x holds the
// coefficients of target j, and xn is their norm. The argument bx is ‖Bx‖², where B is the sketch of the
// held-out rows.
func (h *HeldOut) Missed(j int, x []float64, xn, bx float64) interval.Interval {
	return interval.Total([]interval.Interval{
		h.held.RSS(j, x, xn, bx),
		h.apart.missed(j, x, xn),
	})
}

// RoundOff returns a bound on the norm of the round-off in the residuals of the held-out rows for target j. The
// residuals are computed row by row in a pass. xn is the norm of the coefficients, and intercept is their
// intercept.
func (h *HeldOut) RoundOff(j int, xn, intercept float64) float64 {
	g := &h.apart
	own := g.errorY[j] +
		g.errorX*xn +
		few*eps*(g.meanX*xn+math.Abs(intercept))
	dot := h.held.factor.dot + h.held.entry()
	return eps*(dot*g.rawX*xn+few*g.rawY[j]) + g.root*own
}

// Energy returns a bound on ‖(AᵀA + γI)^{½}(x̂ − x*)‖, where A holds the rows that were not held out. x̂
// are coefficients from the sketch B of these rows, and x* is the exact solution for them. The argument xn is
// ‖x̂‖, and bx is ‖Bx̂‖². Energy returns the smaller of the two bounds of docs/math.md §10, "K-fold
// cross-validation in one pass".
func (h *HeldOut) Energy(o OneShot, j int, x []float64, xn, bx float64) float64 {
	rss := h.rest.RSS(j, x, xn, bx)
	excess := o.excess(xn, rss, o.Objective(j))
	return math.Min(2*o.ResidualShift(j, xn), excess)
}

// A meanGap holds the means of the held-out rows minus the means of the other rows. A fit to the other rows is
// centred by the means of the other rows. So the gap is a part of the held-out residuals. Without an intercept the
// gap is zero.
type meanGap struct {
	intercept     bool
	root          float64   // √n of the rows held out
	x, y          []float64 // x̄ − μ and ȳ − ν
	xError        float64   // bounds the norm of the round-off of x
	yError        []float64 // bounds the round-off of y
	rawX          float64   // Frobenius norm of the rows held out, before centring
	rawY          []float64 // norms of their targets, before centring
	meanX, errorX float64   // ‖μ‖, and a bound on its round-off
	errorY        []float64 // bounds on the round-off of ν
}

func newMeanGap(held, rest *Known) meanGap {
	d := held.eigen.Dim
	t := len(held.targets)
	g := meanGap{
		intercept: held.Intercept,
		root:      held.norm.root,
		x:         make([]float64, d),
		y:         make([]float64, t),
		yError:    make([]float64, t),
		rawX:      math.Sqrt(held.bound.Frobenius2),
		rawY:      make([]float64, t),
		errorY:    make([]float64, t),
	}
	for j := range t {
		g.rawY[j] = math.Sqrt(held.TSS[j])
	}
	if !held.Intercept {
		return g
	}
	near, far := held.Means, rest.Means
	g.meanX = vec.Norm(far[:d])
	g.errorX = rest.norm.meanOff
	g.xError = g.errorX +
		held.norm.meanOff +
		2*eps*(g.meanX+vec.Norm(near[:d]))
	g.rawX = math.Hypot(g.rawX, g.root*vec.Norm(near[:d]))
	for j := range d {
		g.x[j] = near[j] - far[j]
	}
	for j := range t {
		a, b := near[d+j], far[d+j]
		g.y[j] = a - b
		g.errorY[j] = rest.targets[j].meanOff + 2*eps*math.Abs(b)
		g.yError[j] = g.errorY[j] +
			held.targets[j].meanOff +
			2*eps*math.Abs(a)
		g.rawY[j] = math.Hypot(g.rawY[j], g.root*a)
	}
	return g
}

// missed returns a bracket of n·u² for target j, where n is the number of held-out rows. u is the gap g.y[j] of the
// target minus the product of g.x, the gap of the features, with the coefficients x. The gap adds n·u² to the sum
// of squared residuals of the held-out rows.
func (g *meanGap) missed(j int, x []float64, xn float64) interval.Interval {
	if !g.intercept {
		return interval.Interval{}
	}
	u := math.Abs(g.y[j] - vec.Dot(g.x, x))
	pad := g.yError[j] +
		g.xError*xn +
		few*eps*(math.Abs(g.y[j])+vec.Norm(g.x)*xn) +
		float64(len(x)+few)*roundoff.Underflow
	square := g.root * u * g.root * u
	computed := interval.Interval{Lo: square, Hi: square}
	return interval.WidenRoot(computed, g.root*pad*(1+16*eps))
}

// A heldOutGain holds matrices for [HeldOut.Gain]. B_h is the sketch of the held-out rows, with r_h rows. The r
// rows of V are the right singular vectors of the sketch of the other rows.
type heldOutGain struct {
	along []float64           // B_hVᵀ, r_h×r
	gram  []float64           // Gram matrix of the parts of the rows of B_h orthogonal to V, r_h×r_h
	shift spectral.Projection // projection of x̄ − μ
	rank  int                 // r_h, the number of rows of B_h
}

func newHeldOutGain(held, rest *Known, gap *meanGap) heldOutGain {
	d := rest.eigen.Dim
	r := len(rest.eigen.Values)
	rh := len(held.eigen.Values)
	u := heldOutGain{gram: make([]float64, rh*rh), rank: rh}
	m := spectral.NewResolvent(&rest.eigen, rest.Backend)
	if b := held.Sketch.Matrix(); b != nil {
		off := make([]float64, rh*d)
		u.along = make([]float64, rh*r)
		m.Project(rh, b.RawMatrix().Data, u.along, off)
		rows := engine.View(rh, d, off)
		rest.Backend.Syrk(false, 1, rows, 0, engine.View(rh, rh, u.gram))
	}
	g := spectral.Gradients{
		G:     gap.x,
		Along: make([]float64, r),
		Off:   make([]float64, d),
	}
	m.ProjectAll(1, &g)
	u.shift = g.Of(0, &rest.eigen)
	return u
}

// Gain returns a bound on √‖AH⁻¹Aᵀ‖ at the penalty γ. The matrix A holds the held-out rows, centred by
// the means of the other rows. H is CᵀC + γI, where the matrix C holds the other rows, centred by the same means.
// If the computation of eigenvalues failed, ok is false. The proof is in docs/math.md §10, "K-fold cross-validation
// in one pass".
func (h *HeldOut) Gain(gamma float64) (gain float64, ok bool) {
	u := &h.gain
	a := h.rest.At(gamma)
	be, s2 := a.Backend, a.eigen.Values
	r := len(s2)
	rh := u.rank
	scaled := make([]float64, rh*r)
	m := make([]float64, rh*rh)
	w := make([]float64, rh)
	for i := range rh {
		for l := range r {
			root := math.Sqrt(a.above(s2[l]))
			scaled[i*r+l] = u.along[i*r+l] * root
		}
	}
	copy(m, u.gram)
	form := engine.View(rh, rh, m)
	be.Syrk(false, 1, engine.View(rh, r, scaled), a.above(a.eigen.Rest), form)

	var most float64
	if rh > 0 {
		work := make([]float64, be.SymEigWork(rh, 0))
		if !be.SymEig(form, w, engine.Matrix{}, work) {
			return 0, false
		}
		most = math.Max(0, w[0])
	}
	lost := h.held.bound.FD() + 4*a.factor.onto*eps*h.held.norm.largest2
	most += lost * a.inverse()
	shift := a.normAbove(&u.shift, a.rootAbove) +
		h.apart.xError*math.Sqrt(a.inverse())
	centre := h.apart.root * shift
	gain = math.Hypot(math.Sqrt(most), centre)*(1+16*eps) + 2*roundoff.Underflow
	return gain, true
}
