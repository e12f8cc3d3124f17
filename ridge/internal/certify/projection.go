package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Projection holds bounds on the errors of rows from which q unpenalised columns Z were projected out. Each
// row [a y] of [A Y] was replaced by the rounded value of
//
//	[a y] − μ − (z − ν)·B,   B ≈ (ZᵀZ)⁻¹Zᵀ[A Y]   (q×(d+t)),
//
// where z is the row of Z. With an intercept, μ and ν are the means of the columns of [A Y] and of Z, and the
// columns in the formula for B are centred. Otherwise μ and ν are 0. Columns of A are divided by the square
// roots of their penalties. docs/math.md §17 derives the bounds.
type Projection struct {
	Rows  int64
	Fixed int       // number of coefficients without penalty: q, plus 1 if there is an intercept
	Root  float64   // √Σw, with the weights w of the rows
	B     []float64 // the transpose of B, (d+t)×q
	// Left[j] bounds the norm of the component in the span of Z that the projection leaves in column j. Round[j]
	// bounds the norm of the rounding errors in this column. Both have length d+t.
	Left, Round []float64
	Inverse     []float64 // bounds on the square roots of the diagonal of (ZᵀZ)⁻¹, q
	// Mean holds the means of the columns of Z, then of [A Y]. MeanError bounds their errors. Both have length
	// q+d+t. They are nil without an intercept.
	Mean, MeanError []float64
	leverageError   float64   // bounds the relative error of the leverage of a row of Z, apart from the error of ν
	meanEffect      float64   // bounds the norm of the error of R⁻ᵀν, where R is the triangular factor of Z
	size            []float64 // bounds the norms of the projected columns
	// division is a bound on the relative error of the fields B and Mean from their division by the square
	// roots of the penalties.
	division float64
}

// NewProjection returns the Projection for f, a factorisation of Z with solutions B. The arguments are
//   - columns: bounds on the norms of the columns of [Z A Y]
//   - weight: the total weight of the rows
//   - precise: whether rows are projected in double-double arithmetic
//
// The result tss brackets the squared norm of each column of [A Y]. If the columns of Z are too close to linear
// dependence for a bound, ok is false.
func NewProjection(e *Streamed, f *Factored, columns []float64, weight float64, precise bool) (p *Projection, tss []interval.Interval, ok bool) {
	off, s := e.columnErrors(f)
	q, t := e.Dim, len(e.TSS)
	p = &Projection{
		Rows: e.Rows, Fixed: q, Root: math.Sqrt(weight) * (1 + few*eps), B: f.X, Left: make([]float64, t), Round: make([]float64, t), size: make([]float64, t),
		Inverse: s.inverse, Mean: e.Means, MeanError: e.MeanErrors,
	}
	if e.Intercept {
		p.Fixed++
	}
	norm := make([]float64, q+t) // of the centred columns
	for j, v := range columns {
		norm[j] = (v + off[j]) * inflate
		if e.Intercept {
			norm[j] += p.Root * e.MeanErrors[j] * inflate
		}
	}
	n := &s.factor
	kappa := vec.AbsDot(s.inverse, n.columns) // ‖R⁻ᵀδz‖ ≤ u·kappa·‖R⁻ᵀz‖ for |δz| ≤ u|z|
	p.leverageError = (math.Max(1/n.lower/n.lower-1, 1-1/n.upper/n.upper) + 4*n.transposed + 4*eps*kappa + float64(q+few)*eps) * inflate
	if e.Intercept {
		p.meanEffect = vec.AbsDot(s.inverse, e.MeanErrors[:q]) * inflate
	}
	lost := e.lost()
	for j := range t {
		b := f.X[j*q : (j+1)*q]
		w := e.weights(f, s, off, lost, j)
		p.Left[j] = w.Energy
		p.size[j] = norm[q+j] + p.Left[j]
		if e.Intercept { // the mean of a projected column
			p.size[j] += p.Root * vec.AbsDot(e.MeanErrors[:q], b)
		}
		units, terms := float64(4*q+16), norm[q+j]+vec.AbsDot(norm[:q], b)
		round := units / 4 * roundoff.Unit * terms
		if precise {
			round = roundoff.Unit*p.size[j] + units*roundoff.Unit*roundoff.Unit*terms
		}
		p.Round[j] = (round + units*roundoff.Underflow*(1+p.Root)) * inflate
		tss = append(tss, w.TSS)
		ok = w.Energy <= math.MaxFloat64 && (ok || j == 0)
	}
	return p, tss, ok
}

// LeverageError returns a bound on the error of v, the computed leverage of a row of Z. w is the weight of the
// row.
func (p *Projection) LeverageError(v, w float64) float64 {
	root := math.Sqrt(w) * p.meanEffect // v is ‖√w·R⁻ᵀ(z − ν)‖² for the row z
	return (p.leverageError*v + root*(2*math.Sqrt(v)+root)) * inflate
}

// Penalized returns the Projection for features that are divided by scale.
func (p *Projection) Penalized(scale []float64) *Projection {
	out, q := *p, len(p.Inverse)
	out.division = 2 * eps
	out.B, out.Left, out.Round = append([]float64(nil), p.B...), append([]float64(nil), p.Left...), append([]float64(nil), p.Round...)
	out.Mean, out.MeanError = append([]float64(nil), p.Mean...), append([]float64(nil), p.MeanError...)
	for j, s := range scale {
		vec.Scale(1/s, out.B[j*q:(j+1)*q])
		out.Left[j] *= (1 + few*eps) / s
		out.Round[j] = (out.Round[j] + 4*roundoff.Unit*p.size[j]*inflate) * (1 + few*eps) / s
		if p.Mean != nil {
			out.Mean[q+j] /= s
			out.MeanError[q+j] *= (1 + few*eps) / s
		}
	}
	return &out
}

// A Moved holds bounds on the change of the solution by the rounding errors of a projection. x* is the exact
// solution for exact rows, and x̂* for the computed rows.
type Moved struct {
	near        float64 // bounds ‖x̂* − x*‖
	coordinates float64 // bounds ‖Zu − Zu*‖ for the coefficients u of the unpenalised columns Z
	residual    float64 // bounds ‖f − Fx*‖ for the rounding errors F of A and f of b
}

// Weights turns bounds w for the rows as computed into bounds for exact rows. Both are for the coefficients x
// of target j. df brackets the effective dimension for the rows as computed, and the second result brackets it
// for exact rows.
//
// Let F and f be the rounding errors of A and b. Let E and e be the parts of A and b left in the span of Z, and
// r the residual at x̂*. P projects onto the complement of this span, and Q has an orthonormal basis of the
// span. Then
//
//	H(x̂* − x*) = AᵀP(f − Fx̂*) − Fᵀr − EᵀQᵀr,   ‖Qᵀr‖ ≤ ‖Ex̂* − e‖ + ‖f − Fx̂*‖.
func (p *Projection) Weights(gamma float64, x []float64, j int, w Weights, df interval.Interval) (Weights, interval.Interval, Moved) {
	d, root := len(x), math.Sqrt(gamma)
	round, left := p.Round[:d], p.Left[:d]
	f, l, xn := vec.Norm(round)*inflate, vec.Norm(left)*inflate, vec.Norm(x)
	moved := (p.Round[d+j] + vec.AbsDot(round, x) + f*w.Error) * inflate
	inside := moved + (p.Left[d+j]+vec.AbsDot(left, x)+l*w.Error)*inflate // bounds ‖Qᵀr‖, the residual in the span of Z
	sigma := root
	if free := (float64(d) - df.Lo) * (1 + few*eps); free < 1 { // 1/λ_min(H) ≤ tr H⁻¹ = (d − df)/γ
		sigma = math.Max(root, root/math.Sqrt(free)*(1-few*eps)-f-l)
	}
	gradient := f*(math.Sqrt(w.RSS.Hi)+w.Energy) + l*inside
	m := Moved{near: (moved*math.Min(0.5/root, 1/sigma) + gradient/sigma/sigma) * inflate}
	out := w
	out.Error = (w.Error + m.near) * (1 + few*eps)
	out.Relative = Relative(out.Error, xn*(1-float64(d+few)*eps))
	out.Energy = (w.Energy + f*w.Error + moved + gradient/sigma) * inflate
	m.coordinates = (p.Left[d+j] + vec.AbsDot(left, x) + l*out.Error) * inflate
	far := (p.Round[d+j] + vec.AbsDot(round, x) + f*out.Error) * inflate
	m.residual = far

	out.RSS = interval.Squared((math.Sqrt(math.Max(0, w.RSS.Lo-inside*inside))-moved)*(1-few*eps), (math.Sqrt(w.RSS.Hi)+moved)*(1+few*eps))
	out.Objective.Hi = (w.Objective.Hi + moved*math.Sqrt(2*w.Objective.Hi) + moved*moved) * (1 + few*eps)
	out.Objective.Lo = math.Max(0, (w.Objective.Lo-(far*math.Sqrt(2*out.Objective.Hi)+far*far+(m.coordinates+far)*(m.coordinates+far))*(1+few*eps))*(1-few*eps))
	// A changes by F and E, with norms of at most f and l. So each of its singular values σ changes by at most
	// f+l. The derivative of σ²/(σ²+γ) is at most 0.65/√γ.
	shift := float64(d) * 0.65 * (f + l) / root * inflate
	df = interval.Interval{Lo: math.Max(0, df.Lo-shift), Hi: math.Min(float64(d), df.Hi+shift)}
	out.GCV = gcv(p.Rows, p.Fixed, df, rssNear(gamma, out.Energy, out.RSS))
	return out, df, m
}

// Unpenalized returns the coefficients u of the unpenalised columns for target j, with bounds on their errors.
// w and m are the results of Weights for the coefficients x. The argument intercept is for the projected rows,
// and the result out is for the original rows.
func (p *Projection) Unpenalized(x []float64, j int, w Weights, m Moved, intercept Intercept) (u, bounds []float64, out Intercept) {
	d, q := len(x), len(p.Inverse)
	u, bounds = make([]float64, q), make([]float64, q)
	ownError := make([]float64, q) // bounds the rounding errors of u
	for k := range u {             // u is column d+j of B, minus Σ xᵢ·(column i of B)
		sum, row, size := twofold.Of(p.B[(d+j)*q+k]), 0.0, 0.0
		for i, v := range x {
			b := p.B[i*q+k]
			sum = sum.Minus(twofold.Times(v, b))
			row, size = math.Hypot(row, b), size+math.Abs(v*b)
		}
		u[k], ownError[k] = sum.Round()
		ownError[k] += p.division * size
		bounds[k] = (ownError[k] + p.Inverse[k]*m.coordinates + row*(1+float64(d)*eps)*w.Error) * inflate
	}
	if p.Mean == nil {
		return u, bounds, Intercept{}
	}
	mean, meanError := p.Mean[q:], p.MeanError[q:]
	sum := twofold.Of(mean[d+j]).Plus(twofold.Of(intercept.Value))
	away, drift, along := 0.0, 0.0, 0.0
	for i, v := range x {
		sum = sum.Minus(twofold.Times(v, mean[i]))
		a, size, off := mean[i], math.Abs(mean[i]), meanError[i]+p.Round[i]/p.Root
		for k := range q {
			b := p.B[i*q+k]
			a -= b * p.Mean[k]
			size += math.Abs(b * p.Mean[k])
			off += math.Abs(b) * p.MeanError[k]
		}
		along += p.division * math.Abs(v*mean[i])
		away = math.Hypot(away, math.Abs(a)+(float64(q+few)*eps+p.division)*size)
		drift = math.Hypot(drift, off)
	}
	for k, v := range u {
		sum = sum.Minus(twofold.Times(v, p.Mean[k]))
		along += math.Abs(p.Mean[k])*ownError[k] + (math.Abs(p.Mean[k])+p.MeanError[k])*p.Inverse[k]*m.coordinates
	}
	value, off := sum.Round()
	out = Intercept{value, (intercept.Error + off + drift*m.near + away*w.Error + along + m.residual/p.Root) * inflate}
	return u, bounds, out
}
