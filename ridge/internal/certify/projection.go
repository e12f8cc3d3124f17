package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Projection holds error bounds for rows from which columns without penalty were projected out. There are three
// groups of columns: q columns Z without penalty, d other features A, and t targets Y. The columns of A and Y are
// replaced by their residuals from a least-squares fit to Z. A row z of Z, a of A and y of Y gives the new row
//
//	[a y] − μ − (z − ν)·B,   B ≈ (ZᵀZ)⁻¹Zᵀ[A Y]   (q×(d+t)),
//
// which is rounded. With an intercept, μ and ν are the means of the columns of [A Y] and of Z, and the formula for
// B uses centred columns. Without an intercept, μ and ν are 0. Afterwards, each column of A is divided by the
// square root of its penalty. docs/math.md §17 derives the bounds.
type Projection struct {
	Rows  int64
	Fixed int       // number of coefficients without penalty: q, plus 1 if there is an intercept
	Root  float64   // √Σw, with the weights w of the rows
	B     []float64 // the transpose of B, (d+t)×q
	// Left[j] and Round[j] are bounds for column j of [A Y] after the projection. This column should be orthogonal
	// to Z. Left bounds the norm of its component in the span of Z. Round bounds the norm of its rounding errors.
	// Both slices have length d+t, for d features A and t targets Y.
	Left, Round []float64
	columns     columnBounds
	shares      rowShares
	Inverse     []float64 // bounds on the square roots of the diagonal of (ZᵀZ)⁻¹, q
	// Mean holds the means of the columns of [Z A Y], and MeanError bounds their errors. Both have length q+d+t. They
	// are nil without an intercept.
	Mean, MeanError []float64
	// leverageError bounds the relative error of the leverage of a row of Z, without the error of the means of Z.
	leverageError float64
	meanEffect    float64 // bounds the norm of the error of R⁻ᵀν, where R is the triangular factor of Z
	// division bounds the relative error of B and Mean from the division by the square roots of the penalties.
	division float64
}

// A columnBounds holds bounds on single columns.
type columnBounds struct {
	before []float64 // the norms of the columns of [Z A Y] before the projection, q+d+t
	after  []float64 // the norms of the columns of [A Y] after the projection, d+t
	lost   []float64 // bounds on the underflow error of one element of each column of [A Y], d+t
	scaled []float64 // norms of the rounding errors of scaled columns of [Z A], q+d; nil if they are exact
}

// A rowShares holds the data for [Projection.Share].
type rowShares struct {
	// The error of a projected element is at most terms·s + rounded·m. Here s is the sum of the magnitudes of the terms
	// that were added, and m is the magnitude of the element.
	terms, rounded float64
	inverse        []float64 // 1/Round[j], before the division by penalties, d+t
	along          []float64 // for each column k of Z, a bound on |B_kj|/Round[j] over all j; q
	// fixed is a part of the share that all rows have in common. It is 0 unless scaling rounded the features before
	// they were centred. It is large if the means of the scaled features are far from zero.
	fixed float64
}

// NewProjection returns the Projection for a factorisation f of the columns Z without penalty. The solutions in f
// are the least-squares coefficients of the other columns [A Y] on Z. The arguments are
//   - columns: bounds on the norms of the columns of [Z A Y]
//   - weight: the total weight of the rows
//   - precise: whether rows are projected in double-double arithmetic
//   - units: the rounding of the columns of A, see [Columns.Rounded]; nil if these columns are exact
//
// The result tss brackets the squared norm of each column of [A Y] before the projection. With an intercept, the
// columns are centred. ok is false if the columns of Z are too close to linear dependence for a bound.
func NewProjection(
	e *Streamed,
	f *Factored,
	columns []float64,
	weight float64,
	precise bool,
	units []float64,
) (p *Projection, tss []interval.Interval, ok bool) {
	q := e.Dim
	t := len(e.TSS)
	root := math.Sqrt(weight)
	rounded := *e
	rounded.Columns = e.Columns.roundedFrom(q, units, columns, root*downward)
	e = &rounded
	off, s := e.columnErrors(f)
	p = &Projection{
		Rows:  e.Rows,
		Fixed: q,
		Root:  root * upward,
		B:     f.X,
		Left:  make([]float64, t),
		Round: make([]float64, t),
		columns: columnBounds{
			after: make([]float64, t),
			lost:  make([]float64, t),
		},
		Inverse:   s.inverse,
		Mean:      e.Means,
		MeanError: e.MeanErrors,
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
	p.columns.before = norm
	if e.Scaled != nil {
		p.columns.scaled = slices.Clone(e.Scaled[:q+len(units)])
	}
	n := &s.factor
	kappa := vec.AbsDot(s.inverse, n.columns) // ‖R⁻ᵀδz‖ ≤ u·kappa·‖R⁻ᵀz‖ for |δz| ≤ u|z|
	skewed := math.Max(1/n.lower/n.lower-1, 1-1/n.upper/n.upper)
	p.leverageError = (skewed +
		4*n.transposed +
		4*eps*kappa +
		float64(q+few)*eps) * inflate
	if e.Intercept {
		p.meanEffect = vec.AbsDot(s.inverse, e.MeanErrors[:q]) * inflate
	}
	lost := e.lost()
	operations := float64(4*q + 16)
	p.shares = rowShares{
		terms:   operations / 4 * roundoff.Unit,
		rounded: 4 * roundoff.Unit,
		along:   make([]float64, q),
	}
	if precise {
		p.shares.terms = operations * roundoff.Unit * roundoff.Unit
		p.shares.rounded = 5 * roundoff.Unit
	}
	most := e.entry() * 2 * roundoff.Unit // bounds the relative rounding of an entry
	p.shares.terms += most
	p.leverageError += 2 * most * kappa * inflate
	if e.Intercept && most > 0 {
		p.meanEffect += most * vec.AbsDot(s.inverse, e.Means[:q]) * inflate
	}

	for j := range t {
		b := f.X[j*q : (j+1)*q]
		w := e.weights(f, s, off, lost, j)
		p.Left[j] = w.Energy
		p.columns.after[j] = norm[q+j] + p.Left[j]
		if e.Intercept { // the mean of a projected column
			p.columns.after[j] += p.Root * vec.AbsDot(e.MeanErrors[:q], b)
		}
		round := p.shares.terms * (norm[q+j] + vec.AbsDot(norm[:q], b))
		if precise {
			round += roundoff.Unit * p.columns.after[j]
		}
		p.columns.lost[j] = operations * roundoff.Underflow
		round += e.rounding(q+j) + e.roundingOf(b)
		p.Round[j] = (round + p.columns.lost[j]*(1+p.Root)) * inflate
		p.shares.inverse = append(p.shares.inverse, 1/p.Round[j])
		if e.Intercept && most > 0 { // the means were part of the entries when these were rounded
			means := math.Abs(e.Means[q+j]) + vec.AbsDot(b, e.Means[:q])
			p.shares.fixed = math.Max(p.shares.fixed, most*means/p.Round[j]*inflate)
		}
		for k, v := range b {
			share := math.Abs(v) / p.Round[j] * upward
			p.shares.along[k] = math.Max(p.shares.along[k], share)
		}
		tss = append(tss, w.TSS)
		ok = w.Energy <= math.MaxFloat64 && (ok || j == 0)
	}
	return p, tss, ok
}

// LeverageError returns a bound on the error of v, the computed leverage of a row among the columns Z. w is the
// weight of the row.
func (p *Projection) LeverageError(v, w float64) float64 {
	root := math.Sqrt(w) * p.meanEffect // v is ‖√w·R⁻ᵀ(z − ν)‖² for the row z
	return (p.leverageError*v + root*(2*math.Sqrt(v)+root)) * inflate
}

// Share returns a factor for one row: the rounding error of the projected row in each column j is at most the
// factor times Round[j], apart from underflow. The argument before holds the row of [Z A Y] minus the means of the
// columns. The argument after holds the projected row of [A Y]. The factor includes the rounding of the division by
// penalties.
func (p *Projection) Share(before, after []float64) float64 {
	q := len(p.Inverse)
	most, rounded := 0.0, 0.0
	for j, v := range p.shares.inverse {
		most = math.Max(most, math.Abs(before[q+j])*v)
		rounded = math.Max(rounded, math.Abs(after[j])*v)
	}
	most += vec.AbsDot(before[:q], p.shares.along)
	return (p.shares.terms*most +
		p.shares.rounded*rounded +
		p.shares.fixed) * inflate
}

// Penalized returns the Projection after the division of each feature j by scale[j]. If p or scale is nil, it
// returns p unchanged.
func (p *Projection) Penalized(scale []float64) *Projection {
	if p == nil || scale == nil {
		return p
	}
	out := *p
	q := len(p.Inverse)
	out.division += 2 * eps
	out.B = slices.Clone(p.B)
	out.Left = slices.Clone(p.Left)
	out.Round = slices.Clone(p.Round)
	out.Mean = slices.Clone(p.Mean)
	out.MeanError = slices.Clone(p.MeanError)
	out.columns = columnBounds{
		before: slices.Clone(p.columns.before),
		after:  slices.Clone(p.columns.after),
		lost:   slices.Clone(p.columns.lost),
		scaled: slices.Clone(p.columns.scaled),
	}
	for j, s := range scale {
		vec.Scale(1/s, out.B[j*q:(j+1)*q])
		out.Left[j] *= upward / s
		divided := 4 * roundoff.Unit * p.columns.after[j] * inflate
		out.Round[j] = (out.Round[j] + divided) * upward / s
		out.columns.after[j] *= upward / s
		out.columns.before[q+j] *= upward / s
		if out.columns.scaled != nil {
			out.columns.scaled[q+j] *= upward / s
		}
		out.columns.lost[j] = out.columns.lost[j]*upward/s + roundoff.Underflow
		if p.Mean != nil {
			out.Mean[q+j] /= s
			out.MeanError[q+j] *= upward / s
		}
	}
	return &out
}

// moves bounds how much the errors of a projection change a ridge system. F denotes the rounding errors of the
// projected features, and E their remaining components in the span of the columns without penalty. Ĥ is AᵀA + γI
// for the computed projected rows, and H is this matrix for exactly projected rows.
type moves struct {
	round, left  float64           // bounds ‖F‖_F and ‖E‖_F
	sigma        float64           // √γ ≤ sigma, and sigma² ≤ λ_min(H)
	lower, upper float64           // lower²·Ĥ ⪯ H ⪯ upper²·Ĥ; lower is 0 if no bound is known
	df           interval.Interval // brackets the effective dimension for exact rows
}

// moves returns the bounds at the penalty gamma for d features. df brackets the effective dimension of the computed
// projected rows.
func (p *Projection) moves(gamma float64, d int, df interval.Interval) moves {
	root, dim := math.Sqrt(gamma), float64(d)
	m := moves{
		round: vec.Norm(p.Round[:d]) * inflate,
		left:  vec.Norm(p.Left[:d]) * inflate,
		sigma: root * downward,
	}
	least := m.sigma                                          // least² ≤ λ_min(Ĥ)
	if free := (dim - df.Lo) * upward; 0 < free && free < 1 { // 1/λ_min(Ĥ) ≤ tr Ĥ⁻¹ = (d − df)/γ
		least = math.Max(least, root/math.Sqrt(free)*downward)
	}
	// Let P be the projection onto the complement of the span of Z, and Â the computed projected rows. Then Ĥ is
	// (PÂ)ᵀPÂ + γI + GᵀG. Here G is the part of Â in the span, and ‖G‖ ≤ ‖E‖ + ‖F‖.
	inside := (m.left + m.round) / least * inflate
	across := 0.0 // across²·Ĥ ⪯ (PÂ)ᵀPÂ + γI
	if inside < 1 {
		across = math.Sqrt((1-inside)*(1+inside)) * downward
	}
	off := m.round / math.Max(m.sigma, least*across) * inflate
	m.lower = math.Max(0, 1-off) * across * downward
	m.upper = (1 + off) * upward
	m.sigma = math.Max(m.sigma, least*m.lower)

	// lower and upper bound γ·tr H⁻¹ = d − df. A second bound follows from the singular values σ of A. The vector
	// of their changes has a norm of at most ‖E‖_F + ‖F‖_F, and the slope of σ²/(σ²+γ) is at most 0.65/√γ.
	shift := 0.65 * math.Sqrt(dim) * (m.left + m.round) / root * inflate
	round := dim * few * eps
	m.df = interval.Interval{
		Lo: df.Lo - shift,
		Hi: math.Min(df.Hi+shift, dim-(dim-df.Hi)/m.upper/m.upper+round),
	}
	if m.lower > 0 {
		m.df.Lo = math.Max(m.df.Lo, dim-(dim-df.Lo)/m.lower/m.lower-round)
	}
	m.df = interval.Interval{
		Lo: math.Max(0, m.df.Lo),
		Hi: math.Min(dim, m.df.Hi),
	}
	return m
}

// original turns brackets for the computed projected rows into brackets for exactly projected rows. The brackets
// are of the effective dimension and of the RSS of the ridge solution. Let r be the residual of the computed rows
// at their exact solution x̂*. Let r* be the residual of the exact rows at their own solution. P, Q, and the errors
// F, E and f are as in [Projection.Weights], and σ² is a lower bound on the eigenvalues of AᵀA + γI. docs/math.md
// §17 proves
//
//	|‖r*‖ − ‖Pr‖| ≤ ‖f − Fx̂*‖ + min(1/(2√γ), 1/σ)·(‖F‖‖r‖ + ‖E‖‖Qᵀr‖),
//	‖Pr‖² = ‖r‖² − ‖Qᵀr‖².
func (p *Projection) original(o *optimum) (df, rss interval.Interval) {
	j := o.target
	root := math.Sqrt(o.gamma)
	d := o.dim
	m := p.moves(o.gamma, d, o.df.Interval)
	size := math.Sqrt(o.tss.Hi) / root * upward // bounds ‖x̂*‖, as γ‖x̂*‖² ≤ ‖b‖²
	round, left := m.round*size, m.left*size    // bounds ‖Fx̂*‖ and ‖Ex̂*‖
	if o.x != nil {
		round = math.Min(round, vec.AbsDot(p.Round[:d], o.x)+m.round*o.xError)
		left = math.Min(left, vec.AbsDot(p.Left[:d], o.x)+m.left*o.xError)
	}
	moved := (p.Round[d+j] + round) * inflate
	inside := moved + (p.Left[d+j]+left)*inflate
	most := math.Sqrt(o.rss.Hi) // bounds ‖r‖
	gradient := m.round*most + m.left*inside
	shift := (moved + math.Min(0.5/root, 1/m.sigma)*gradient) * inflate
	within := math.Max(0, o.rss.Lo-inside*inside*upward)
	lo := math.Sqrt(within) - shift
	hi := most + shift
	return m.df, interval.Squared(lo*downward, hi*upward)
}

// A Moved bounds how much the rounding errors of a projection change the solution. x* is the exact solution for
// exactly projected rows, and x̂* is the exact solution for the computed projected rows.
type Moved struct {
	near        float64 // bounds ‖x̂* − x*‖
	coordinates float64 // bounds ‖Zu − Zu*‖ for the coefficients u of the unpenalised columns Z
	residual    float64 // bounds ‖f − Fx*‖ for the rounding errors F of the features A and f of the target b
	rounding    float64 // bounds ‖f − Fx‖ for the given coefficients x
	span        float64 // bounds ‖e − Ex‖ for the components E of A and e of b in the span of Z
}

// Weights turns the bounds w for the computed projected rows into bounds for exactly projected rows. Both are for the
// coefficients x of target j. df brackets the effective dimension of the computed rows, and the second result brackets
// it for the exact rows.
//
// Let F and f be the rounding errors of A and b. Let E and e be the parts of A and b left in the span of Z. Let x* be
// the solution for the exact rows, x̂* the solution for the computed rows, and r the residual of the computed rows at
// x̂*. P projects onto the complement of the span of Z, and the columns of Q are an orthonormal basis of this span.
// Then
//
//	H(x̂* − x*) = AᵀP(f − Fx̂*) − Fᵀr − EᵀQᵀr,   ‖Qᵀr‖ ≤ ‖Ex̂* − e‖ + ‖f − Fx̂*‖.
//
// The RSS of the result is the smallest one for these x, with the best coefficients of Z. [Projection.Unpenalized]
// adds the rounding of the returned coefficients of Z.
func (p *Projection) Weights(
	gamma float64,
	x []float64,
	j int,
	w Weights,
	df interval.Interval,
) (Weights, interval.Interval, Moved) {
	d, root := len(x), math.Sqrt(gamma)
	m := p.moves(gamma, d, df)
	xn := vec.Norm(x)
	f, l := m.round, m.left
	out := w
	at := p.near(x, j)
	moved := (at.rounding + f*w.Error) * inflate
	// bounds ‖Qᵀr‖, the norm of the part of the residual in the span of Z
	inside := (moved + at.span + l*w.Error) * inflate
	gradient := f*(math.Sqrt(w.RSS.Hi)+w.Energy) + l*inside
	byRounding := moved * math.Min(0.5/root, 1/m.sigma)
	at.near = (byRounding + gradient/m.sigma/m.sigma) * inflate
	out.Error = (w.Error + at.near) * upward
	out.Relative = Relative(out.Error, xn*(1-float64(d+few)*eps))
	out.Energy = (w.Energy + f*w.Error + moved + gradient/m.sigma) * inflate
	at.coordinates = (at.span + l*out.Error) * inflate
	far := (at.rounding + f*out.Error) * inflate
	at.residual = far

	within := at.rounding + at.span // bounds ‖Qᵀ(Ax − b)‖ for the computed rows
	outside := math.Max(0, w.RSS.Lo-within*within*upward)
	out.RSS = interval.Squared(
		(math.Sqrt(outside)-at.rounding)*downward,
		(math.Sqrt(w.RSS.Hi)+at.rounding)*upward,
	)
	out.Objective.Hi = (w.Objective.Hi +
		moved*math.Sqrt(2*w.Objective.Hi) +
		moved*moved) * upward
	whole := at.coordinates + far
	lost := far*math.Sqrt(2*out.Objective.Hi) + far*far + whole*whole
	out.Objective.Lo = math.Max(0, (w.Objective.Lo-lost*upward)*downward)
	out.GCV = gcv(p.Rows, p.Fixed, m.df, rssNear(gamma, out.Energy, out.RSS))
	return out, m.df, at
}

// near sets the fields rounding and span for the coefficients x of target j. The other fields depend on the exact
// solution.
func (p *Projection) near(x []float64, j int) Moved {
	d := len(x)
	return Moved{
		rounding: (p.Round[d+j] + vec.AbsDot(p.Round[:d], x)) * inflate,
		span:     (p.Left[d+j] + vec.AbsDot(p.Left[:d], x)) * inflate,
	}
}

// A Restored holds the coefficients of the columns without penalty. It also has the RSS of all returned
// coefficients.
type Restored struct {
	Coef, Bounds []float64 // the coefficients of the columns without penalty, and bounds on their errors
	Intercept    Intercept
	// RSS brackets ‖Ax + Zu + βv − b‖² for the exact columns of A and Z and the given coefficients x. The vector
	// v holds the square roots of the weights. The bracket holds for the returned u and intercept β and for the best u
	// and β for this x. It also holds for all u and β between these.
	RSS interval.Interval
}

// Relative returns a bound on the relative error ‖(x, u) − (x*, u*)‖/‖(x*, u*)‖ of all coefficients of a
// target. The argument x has the coefficients with a penalty, u the coefficients without, and * marks the exact
// solution. The argument xError bounds ‖x − x*‖.
func (r *Restored) Relative(xError float64, x []float64) float64 {
	terms := float64(len(x) + len(r.Coef) + few)
	size := math.Hypot(vec.Norm(x), vec.Norm(r.Coef)) * (1 - terms*eps)
	off := math.Hypot(xError, vec.Norm(r.Bounds)) * (1 + terms*eps)
	return Relative(off, size)
}

// Unpenalized returns the coefficients of the columns without penalty for target j, with bounds on their errors.
// The results are for the rows before the projection. w and m are the results of [Projection.Weights] for the
// coefficients x. The argument intercept is the intercept for the projected rows. intercept.Error must also bound
// the distance of intercept.Value from the best intercept for x.
func (p *Projection) Unpenalized(
	x []float64,
	j int,
	w Weights,
	m Moved,
	intercept Intercept,
) Restored {
	d, q := len(x), len(p.Inverse)
	u := make([]float64, q)
	bounds := make([]float64, q)
	ownError := make([]float64, q) // bounds the rounding errors of u
	for k := range u {             // u is column d+j of B, minus Σ xᵢ·(column i of B)
		sum := twofold.Of(p.B[(d+j)*q+k])
		row := 0.0
		size := 0.0
		for i, v := range x {
			b := p.B[i*q+k]
			sum = sum.Minus(twofold.Times(v, b))
			row = math.Hypot(row, b)
			size += math.Abs(v * b)
		}
		u[k], ownError[k] = sum.Round()
		ownError[k] += p.division * size
		bounds[k] = (ownError[k] +
			p.Inverse[k]*m.coordinates +
			row*(1+float64(d)*eps)*w.Error) * inflate
	}
	// x is later divided by the square roots of the penalties. The rounding of this division changes Ax by at most
	// divided.
	divided := p.division * vec.AbsDot(p.columns.before[q:q+d], x) * inflate
	if s := p.columns.scaled; s != nil { // x and u are also divided by standard deviations, which rounds them, too
		scaled := vec.AbsDot(s[:q], u) + vec.AbsDot(s[q:], x)
		divided += 2 * scaled * inflate
	}

	// bounds ‖Zu − Zv‖ for the best coefficients v
	rounded := vec.AbsDot(p.columns.before[:q], ownError)
	within := (m.span + rounded + divided) * inflate
	out := Restored{
		Coef:   u,
		Bounds: bounds,
		RSS:    interval.Interval{Lo: w.RSS.Lo, Hi: w.RSS.Hi},
	}
	if divided > 0 {
		out.RSS = interval.WidenRoot(out.RSS, divided)
	}
	if p.Mean == nil {
		out.RSS.Hi = (out.RSS.Hi + within*within) * upward
		return out
	}

	mean := p.Mean[q:]
	meanError := p.MeanError[q:]
	sum := twofold.Of(mean[d+j]).Plus(twofold.Of(intercept.Value))
	away, drift, along, own := 0.0, 0.0, 0.0, 0.0
	for i, v := range x {
		sum = sum.Minus(twofold.Times(v, mean[i]))
		a := mean[i]
		size := math.Abs(mean[i])
		off := meanError[i] + p.Round[i]/p.Root
		for k := range q {
			b := p.B[i*q+k]
			a -= b * p.Mean[k]
			size += math.Abs(b * p.Mean[k])
			off += math.Abs(b) * p.MeanError[k]
		}
		along += p.division * math.Abs(v*mean[i])
		own += p.division * math.Abs(v) * (2*math.Abs(mean[i]) + meanError[i])
		round := float64(q+few)*eps + p.division
		away = math.Hypot(away, math.Abs(a)+round*size)
		drift = math.Hypot(drift, off)
	}
	for k, v := range u {
		sum = sum.Minus(twofold.Times(v, p.Mean[k]))
		size := math.Abs(p.Mean[k])
		along += size*ownError[k] +
			(size+p.MeanError[k])*p.Inverse[k]*m.coordinates
		own += p.MeanError[k] * ownError[k]
	}

	value, off := sum.Round()
	out.Intercept = Intercept{
		Value: value,
		Error: (intercept.Error +
			off +
			drift*m.near +
			away*w.Error +
			along +
			m.residual/p.Root) * inflate,
	}
	// ‖v‖ times the distance from the best intercept
	own = p.Root * (own + intercept.Error + off + (m.rounding+divided)/p.Root) * inflate
	out.Intercept.Own = own / p.Root * inflate
	out.RSS.Hi = (out.RSS.Hi + within*within + own*own) * upward
	return out
}
