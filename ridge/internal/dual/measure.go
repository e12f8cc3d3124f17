package dual

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Point is an approximate solution α of the equation (AAᵀ + γI)α = b for a target b. It is stored as
// θ = Hi + Lo, where α = W^{½}θ for the diagonal matrix W of the sample weights.
type Point struct {
	Gamma    float64
	Target   int
	Hi, Lo   []float64        // n
	residual []twofold.Number // y − Xx
	// drift is the weighted mean of θ if there is an intercept. It is zero up to rounding.
	drift twofold.Number
}

// theta returns element i of θ.
func (p *Point) theta(i int) twofold.Number {
	return twofold.Of(p.Hi[i]).Plus(twofold.Of(p.Lo[i]))
}

// Add adds step to the dual vector α of the point. To this end it adds step[i]/√wᵢ to element i of θ. root(i) is
// √wᵢ for the weight wᵢ of row i.
func (p *Point) Add(step []float64, root func(i int) float64) {
	for i, v := range step {
		if root := root(i); root > 0 {
			hi, lo := twofold.Sum(p.Hi[i], v/root)
			p.Hi[i], p.Lo[i] = twofold.Sum(hi, lo+p.Lo[i])
		}
	}
}

// A Found holds the coefficients x for a [Point] α, and the residual r of its equation (AAᵀ + γI)α = b. Both are
// computed with twice the digits of float64. X (n×d), y and w are the rows, a target and the weights as read. They
// are not centred or weighted before, because this would round them. Let W be the diagonal matrix of the weights,
// α = W^{½}θ, and v the vector y − Xx minus its weighted mean. Then
//
//	x = Xᵀ(wθ) − (Σwθ/Σw)·Xᵀw,   r = b − Ax − γα = W^{½}(v − γθ).
//
// The residual uses θ minus its weighted mean. The subtraction does not change Aᵀα.
type Found struct {
	X, Low   []float64      // x = X + Low up to Slack; X is x rounded to float64
	Apart    float64        // bounds ‖x − Aᵀα‖
	Slack    float64        // bounds the norm of x − (X + Low)
	Residual []float64      // r, rounded to float64
	Missed   []float64      // b − Ax, rounded to float64
	Off      float64        // bounds the error of each element of Missed
	Alpha    float64        // bounds ‖α‖, after the mean of θ was subtracted from θ
	Norm     float64        // bounds ‖r‖
	RSS      twofold.Number // ‖b − Ax‖²
	Mean     twofold.Number // the mean of y − Xx; 0 without an intercept
	MeanNorm float64        // bounds the norm of the means of the columns; 0 without an intercept
}

// Measure measures at all points.
func (r *Rows) Measure(
	ctx context.Context,
	be engine.Backend,
	points []Point,
) ([]*Found, error) {
	if r.intercept && r.means == nil {
		r.means = r.columnSums(be)
		r.meanNorm = r.normOfMeans(r.means)
	}
	found := make([]*Found, len(points))
	x := r.combine(be, points)
	for k := range points {
		sum := x[k*r.d : (k+1)*r.d]
		found[k] = r.newFound(&points[k], sum, r.means)
		found[k].MeanNorm = r.meanNorm
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.residuals(be, points, found)
	for k := range points {
		r.finish(&points[k], found[k])
	}
	return found, ctx.Err()
}

// drift returns the weighted mean of the vector θ of the point p, or 0 without an intercept.
func (s *Samples) drift(p *Point) (all twofold.Number) {
	if !s.intercept {
		return all
	}
	for i := range s.n {
		all = all.Plus(p.theta(i).Times(twofold.Of(s.Weight(i))))
	}
	return all.Over(s.weight())
}

// newFound computes the coefficients x for the point p by the formula of [Found]. In this formula, columns is Xᵀw,
// and sum is Xᵀ(wθ). newFound overwrites sum.
func (s *Samples) newFound(p *Point, sum, columns []twofold.Number) *Found {
	f := &Found{
		X:   make([]float64, s.d),
		Low: make([]float64, s.d),
	}
	apart := make([]float64, s.d)
	if s.intercept {
		p.drift = s.drift(p)
		for j, a := range columns {
			if a != (twofold.Number{}) {
				sum[j] = sum[j].Minus(a.Times(p.drift))
			}
		}
	}
	for j, v := range sum {
		f.X[j], f.Low[j] = twofold.Sum(v.Hi, v.Lo)
		apart[j] = v.Err
	}
	f.Apart = vec.Norm(apart) * growth(s.d+8)
	return f
}

// growth returns 1 + n·eps, a factor that covers the rounding errors of n operations.
func growth(n int) float64 {
	return 1 + float64(n)*0x1p-52
}

// columnSums returns Xᵀw for the rows X and their weights w. For sparse rows it uses plain sums. They are accurate
// enough, because [Found] multiplies them by the weighted mean of θ, a scaled form of the dual coefficients. This
// mean is almost zero.
func (r *Rows) columnSums(be engine.Backend) []twofold.Number {
	if r.Sparse() {
		return r.plainSums()
	}
	ones := make([]float64, r.n)
	for i := range ones {
		ones[i] = 1
	}
	return r.combine(be, []Point{{Hi: ones, Lo: make([]float64, r.n)}})
}

// normOfMeans returns a bound on the norm of the vector of column means. columns holds the weighted sum of each
// column.
func (s *Samples) normOfMeans(columns []twofold.Number) float64 {
	means := make([]float64, s.d)
	total := s.weight()
	least := total.Hi - math.Abs(total.Lo) - total.Err
	for j, a := range columns {
		means[j] = (math.Abs(a.Hi) + math.Abs(a.Lo) + a.Err) / least
	}
	return vec.Norm(means) * growth(s.d+16)
}

// finish computes the residual of the point's equation and its norms, see [Found]. p.residual holds y − Xx.
func (s *Samples) finish(p *Point, f *Found) {
	var sum, squares twofold.Number
	for i, v := range p.residual {
		sum = sum.Plus(v.Times(twofold.Of(s.Weight(i))))
	}
	if s.intercept {
		f.Mean = sum.Over(s.weight())
	}

	f.Alpha = 0
	f.Residual = make([]float64, s.n)
	f.Missed = make([]float64, s.n)
	off := make([]float64, s.n)
	for i, v := range p.residual {
		v = v.Minus(f.Mean)
		squares = squares.Plus(v.Times(v).Times(twofold.Of(s.Weight(i))))

		root := s.Root(i)
		missed, rest := v.Round()
		f.Missed[i] = root * missed
		lost := 0.0
		if missed != 0 || rest != 0 {
			lost = underflown // underflow of the products with √w
		}
		missedError := root*rest*(1+0x1p-50) +
			4*math.Abs(f.Missed[i])*0x1p-53 +
			lost
		f.Off = math.Max(f.Off, missedError)

		theta := p.theta(i).Minus(p.drift)
		size := math.Abs(theta.Hi) + math.Abs(theta.Lo) + theta.Err
		f.Alpha = math.Hypot(f.Alpha, root*size)
		left, lost := v.Minus(theta.Times(twofold.Of(p.Gamma))).Round()
		f.Residual[i] = root * left
		off[i] = root * lost
	}

	f.RSS = squares
	round := growth(s.n + 16)
	f.Alpha *= round * roundoff.Inflate
	f.Norm = vec.Norm(f.Residual)*round +
		vec.Norm(off)*round +
		float64(s.n)*0x1p-1060
	p.residual = nil
}

// combine returns Xᵀ(wθ) for each point, which are d numbers. θ is the vector of the point, X holds the rows, and w
// the weights.
func (r *Rows) combine(be engine.Backend, points []Point) []twofold.Number {
	if r.Sparse() {
		return r.combineSparse(points)
	}
	var theta [][]float64 // the vectors Hi of all points, then the vectors Lo that are not zero
	for _, p := range points {
		theta = append(theta, p.Hi)
	}
	low := make([]int, len(points)) // index in theta, or 0
	for k, p := range points {
		if slices.ContainsFunc(p.Lo, func(v float64) bool { return v != 0 }) {
			low[k] = len(theta)
			theta = append(theta, p.Lo)
		}
	}

	q := len(theta)
	b := make([]float64, engine.MaxGradientRows*q)
	g := engine.NewTwofold(q, r.d)
	res := engine.NewTwofold(engine.MaxGradientRows, q)
	exact := true
	r.blocks(func(p *part, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k, v := range theta {
				b[(i-lo)*q+k] = -v[p.first+i]
			}
		}
		noX := engine.Matrix{Rows: q}
		r.gradient(be, p, lo, hi, noX, engine.View(hi-lo, q, b), g, res)
		for i := range hi - lo {
			for k := range q {
				exact = exact &&
					res.Hi.Row(i)[k] == -b[i*q+k] &&
					res.Lo.Row(i)[k] == 0
			}
		}
	})

	out := make([]twofold.Number, len(points)*r.d)
	for k := range points {
		for j := range r.d {
			v := number(g, k, j)
			if low[k] > 0 {
				v = v.Plus(number(g, low[k], j))
			}
			if !exact { // rounding changed some θ
				v.Err = math.Inf(1)
			}
			out[k*r.d+j] = v
		}
	}
	return out
}

// residuals sets the field residual of each point to y − Xx. y is the target of the point, X holds the rows, and x
// are the point's coefficients in found.
func (r *Rows) residuals(be engine.Backend, points []Point, found []*Found) {
	for k := range points {
		points[k].residual = make([]twofold.Number, r.n)
	}
	if r.Sparse() {
		r.residualsSparse(points, found)
		return
	}
	q := len(points)
	x := make([]float64, 2*q*r.d)
	b := make([]float64, engine.MaxGradientRows*2*q)
	for k, f := range found {
		copy(x[2*k*r.d:], f.X)
		copy(x[(2*k+1)*r.d:], f.Low)
	}
	res := engine.NewTwofold(engine.MaxGradientRows, 2*q)
	r.blocks(func(p *part, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k := range points {
				b[(i-lo)*2*q+2*k] = r.Y(p.first+i, points[k].Target)
			}
		}
		r.gradient(
			be,
			p,
			lo,
			hi,
			engine.View(2*q, r.d, x),
			engine.View(hi-lo, 2*q, b),
			engine.Twofold{},
			res,
		)
		for i := range hi - lo {
			for k := range points {
				high := number(res, i, 2*k)
				low := number(res, i, 2*k+1)
				points[k].residual[p.first+lo+i] = twofold.Number{}.Minus(high).Minus(low)
			}
		}
	})
}

// blocks calls visit for consecutive ranges of rows of each part, at most engine.MaxGradientRows rows at a time.
func (r *Rows) blocks(visit func(p *part, lo, hi int)) {
	for k := range r.parts {
		p := &r.parts[k]
		for lo := 0; lo < p.n; lo += engine.MaxGradientRows {
			visit(p, lo, min(lo+engine.MaxGradientRows, p.n))
		}
	}
}

// gradient calls the backend's GradientTwofold for rows lo to hi−1 of the part p.
func (r *Rows) gradient(
	be engine.Backend,
	p *part,
	lo, hi int,
	x, b engine.Matrix,
	g, res engine.Twofold,
) {
	var w []float64
	if r.w != nil {
		w = r.w[p.first+lo : p.first+hi]
	}
	cut := func(m engine.Matrix) engine.Matrix {
		return m.Slice(0, hi-lo, 0, m.Cols)
	}
	res = engine.Twofold{
		Hi:  cut(res.Hi),
		Lo:  cut(res.Lo),
		Err: cut(res.Err),
	}
	if p.sparse != nil {
		rows := p.sparse.Slice(lo, hi)
		rows.GradientTwofold(x, b, nil, w, g, res)
		return
	}
	dense := engine.View(hi-lo, r.d, p.x[lo*r.d:hi*r.d])
	be.GradientTwofold(dense, x, b, nil, w, g, res)
}

func number(m engine.Twofold, i, j int) twofold.Number {
	return twofold.Number{
		Hi:  m.Hi.Row(i)[j],
		Lo:  m.Lo.Row(i)[j],
		Err: m.Err.Row(i)[j],
	}
}

// An Operator computes the matrix AAᵀ and measurements for samples. The samples are in memory or are read from a
// source.
type Operator interface {
	N() int
	Total() float64
	Size() float64
	Root(i int) float64
	Weight(i int) float64
	Y(i, j int) float64
	Squares(target int) twofold.Number
	Centred(target int) []float64
	Share() []float64
	Reach() []float64
	// Gram computes AAᵀ in g for n samples. g and work have n² elements. work is a workspace.
	Gram(ctx context.Context, be engine.Backend, g, work []float64) (*Gram, error)
	// Measure returns the coefficients and residuals at all points.
	Measure(ctx context.Context, be engine.Backend, points []Point) ([]*Found, error)
}
