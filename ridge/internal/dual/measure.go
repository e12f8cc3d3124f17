package dual

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Point is where a system, a target at a γ, is measured: at α = W^{½}θ, θ being the sum of two
// numbers for each row.
type Point struct {
	Gamma    float64
	Target   int
	Hi, Lo   []float64 // n
	residual []twofold.Number
}

// A Found is what was measured at a [Point] with twice the digits: of the rows X, targets y and
// weights w as they come, without a root taken or a mean subtracted. With x = Xᵀ(wθ), less its
// share of the means, and v = y − Xx less its mean,
//
//	r = b − Ax − γα = W^{½}(v − γθ).
type Found struct {
	X, Low   []float64      // their sum is x: X is what that rounds to
	Apart    float64        // bounds ‖x − Aᵀα‖
	Residual []float64      // r, rounded
	Norm     float64        // bounds ‖r‖
	RSS      twofold.Number // ‖b − Ax‖²
	Mean     twofold.Number // that of y − Xx; 0 without an intercept
}

// sums are what all points have in common.
type sums struct {
	weight twofold.Number   // Σw
	column []twofold.Number // Xᵀw, nil without an intercept
}

// Measure measures at all points.
func (r *Rows) Measure(be engine.Backend, points []Point) []*Found {
	r.addUp(be)
	found := make([]*Found, len(points))
	x := r.combine(be, points)
	for k := range points {
		found[k] = r.weights(&points[k], x[k*r.d:(k+1)*r.d])
	}
	r.residuals(be, points, found)
	for k := range points {
		r.finish(&points[k], found[k])
	}
	return found
}

// addUp adds up what all points have in common, once.
func (r *Rows) addUp(be engine.Backend) {
	if r.work.sums != nil {
		return
	}
	s := &sums{}
	for i := range r.n {
		s.weight = s.weight.Plus(twofold.Of(r.Weight(i)))
	}
	r.work.sums = s
	if r.intercept {
		ones := make([]float64, r.n)
		for i := range ones {
			ones[i] = 1
		}
		s.column = r.combine(be, []Point{{Hi: ones, Lo: make([]float64, r.n)}})
	}
}

// MeanNorm bounds the norm of the means of the columns; 0 without an intercept.
func (r *Rows) MeanNorm(be engine.Backend) float64 {
	r.addUp(be)
	s := r.work.sums
	mean := make([]float64, len(s.column))
	for j, a := range s.column {
		v, off := a.Over(s.weight).Round()
		mean[j] = math.Abs(v) + off
	}
	return vec.Norm(mean) * (1 + float64(r.d+8)*0x1p-52)
}

// Squares is ‖b‖² of a target: Σw(y − ȳ)², of centred targets where an intercept is fitted.
func (r *Rows) Squares(be engine.Backend, target int) twofold.Number {
	r.addUp(be)
	var sum, squares twofold.Number
	first := twofold.Of(0)
	if r.intercept { // squares of what targets have in common are not to cancel
		first = twofold.Of(r.Y(r.heaviest(), target))
	}
	for i := range r.n {
		y := twofold.Of(r.Y(i, target)).Minus(first)
		wy := y.Times(twofold.Of(r.Weight(i)))
		sum, squares = sum.Plus(wy), squares.Plus(wy.Times(y))
	}
	if r.intercept {
		squares = squares.Minus(sum.Times(sum.Over(r.work.sums.weight)))
	}
	return squares
}

// heaviest is the row of most weight.
func (r *Rows) heaviest() (most int) {
	for i := range r.n {
		if r.Weight(i) > r.Weight(most) {
			most = i
		}
	}
	return most
}

// weights makes x of Xᵀ(wθ).
func (r *Rows) weights(p *Point, sum []twofold.Number) *Found {
	if r.intercept {
		var all twofold.Number // Σwθ
		for i := range r.n {
			theta := twofold.Of(p.Hi[i]).Plus(twofold.Of(p.Lo[i]))
			all = all.Plus(theta.Times(twofold.Of(r.Weight(i))))
		}
		share := all.Over(r.work.sums.weight)
		for j, a := range r.work.sums.column {
			sum[j] = sum[j].Minus(a.Times(share))
		}
	}
	f := &Found{X: make([]float64, r.d), Low: make([]float64, r.d)}
	apart := make([]float64, r.d)
	for j, v := range sum {
		f.X[j], f.Low[j] = twofold.Sum(v.Hi, v.Lo)
		apart[j] = v.Err
	}
	f.Apart = vec.Norm(apart) * (1 + float64(r.d+8)*0x1p-52)
	return f
}

// finish makes r of y − Xx.
func (r *Rows) finish(p *Point, f *Found) {
	s := r.work.sums
	var sum, squares twofold.Number
	for i, v := range p.residual {
		sum = sum.Plus(v.Times(twofold.Of(r.Weight(i))))
	}
	if r.intercept {
		f.Mean = sum.Over(s.weight)
	}
	f.Residual = make([]float64, r.n)
	off := make([]float64, r.n)
	for i, v := range p.residual {
		v = v.Minus(f.Mean)
		squares = squares.Plus(v.Times(v).Times(twofold.Of(r.Weight(i))))
		theta := twofold.Of(p.Hi[i]).Plus(twofold.Of(p.Lo[i]))
		left, lost := v.Minus(theta.Times(twofold.Of(p.Gamma))).Round()
		f.Residual[i], off[i] = r.Root(i)*left, r.Root(i)*lost
	}
	f.RSS = squares
	f.Norm = (vec.Norm(f.Residual)*(1+float64(r.n+16)*0x1p-52) + vec.Norm(off)*(1+float64(r.n+16)*0x1p-52) + float64(r.n)*0x1p-1060)
	p.residual = nil
}

// combine is Xᵀ(wθ) for the θ of each point, of d numbers each.
func (r *Rows) combine(be engine.Backend, points []Point) []twofold.Number {
	if r.Sparse() {
		return r.combineSparse(points)
	}
	q := len(points)
	x, b := make([]float64, 2*q*r.d), make([]float64, engine.MaxGradientRows*2*q)
	g, res := newTwofold(2*q, r.d), newTwofold(engine.MaxGradientRows, 2*q)
	exact := true
	r.blocks(func(p *part, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k := range points {
				at := (i-lo)*2*q + 2*k
				b[at], b[at+1] = -points[k].Hi[p.first+i], -points[k].Lo[p.first+i]
			}
		}
		r.gradient(be, p, lo, hi, engine.View(2*q, r.d, x), engine.View(hi-lo, 2*q, b), g, res)
		for i := range hi - lo {
			for k := range 2 * q {
				exact = exact && res.Hi.Row(i)[k] == -b[i*2*q+k] && res.Lo.Row(i)[k] == 0
			}
		}
	})
	out := make([]twofold.Number, q*r.d)
	for k := range q {
		for j := range r.d {
			v := number(g, 2*k, j).Plus(number(g, 2*k+1, j))
			if !exact { // a θ that is not what was asked for
				v.Err = math.Inf(1)
			}
			out[k*r.d+j] = v
		}
	}
	return out
}

// residuals sets y − Xx of each point.
func (r *Rows) residuals(be engine.Backend, points []Point, found []*Found) {
	for k := range points {
		points[k].residual = make([]twofold.Number, r.n)
	}
	if r.Sparse() {
		r.residualsSparse(points, found)
		return
	}
	q := len(points)
	x, b := make([]float64, 2*q*r.d), make([]float64, engine.MaxGradientRows*2*q)
	for k, f := range found {
		copy(x[2*k*r.d:], f.X)
		copy(x[(2*k+1)*r.d:], f.Low)
	}
	g, res := newTwofold(2*q, r.d), newTwofold(engine.MaxGradientRows, 2*q)
	r.blocks(func(p *part, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k := range points {
				b[(i-lo)*2*q+2*k] = r.Y(p.first+i, points[k].Target)
			}
		}
		r.gradient(be, p, lo, hi, engine.View(2*q, r.d, x), engine.View(hi-lo, 2*q, b), g, res)
		for i := range hi - lo {
			for k := range points {
				v := twofold.Number{}.Minus(number(res, i, 2*k)).Minus(number(res, i, 2*k+1))
				points[k].residual[p.first+lo+i] = v
			}
		}
	})
}

// blocks calls do for rows lo to hi, counted in their part, as many as a backend takes at a time.
func (r *Rows) blocks(do func(p *part, lo, hi int)) {
	for k := range r.parts {
		p := &r.parts[k]
		for lo := 0; lo < p.n; lo += engine.MaxGradientRows {
			do(p, lo, min(lo+engine.MaxGradientRows, p.n))
		}
	}
}

// gradient is the backend's GradientTwofold of some rows.
func (r *Rows) gradient(be engine.Backend, p *part, lo, hi int, x, b engine.Matrix, g, res engine.Twofold) {
	var w []float64
	if r.w != nil {
		w = r.w[p.first+lo : p.first+hi]
	}
	cut := func(m engine.Matrix) engine.Matrix { return m.Slice(0, hi-lo, 0, m.Cols) }
	res = engine.Twofold{Hi: cut(res.Hi), Lo: cut(res.Lo), Err: cut(res.Err)}
	if p.sparse != nil {
		rows := p.sparse.Slice(lo, hi)
		rows.GradientTwofold(x, b, nil, w, g, res)
		return
	}
	be.GradientTwofold(engine.View(hi-lo, r.d, p.x[lo*r.d:hi*r.d]), x, b, nil, w, g, res)
}

func newTwofold(rows, cols int) engine.Twofold {
	zeros := func() engine.Matrix { return engine.View(rows, cols, make([]float64, rows*cols)) }
	return engine.Twofold{Hi: zeros(), Lo: zeros(), Err: zeros()}
}

func number(m engine.Twofold, i, j int) twofold.Number {
	return twofold.Number{Hi: m.Hi.Row(i)[j], Lo: m.Lo.Row(i)[j], Err: m.Err.Row(i)[j]}
}
