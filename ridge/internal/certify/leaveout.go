package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A LeftOut computes brackets of leverages and leave-one-out errors of rows at several γ. Let a be a row of weight w,
// centred if there is an intercept. Let W be the total weight, H = AᵀA + γI, and r the residual of the row for the
// exact solution of all rows. The leverage h of the row, and the residual of the row for the exact solution of all
// other rows, are
//
//	h = w·aᵀH⁻¹a + w/W,   r/(1 − h).
//
// Functions of BᵀB, for the sketch B, bound H⁻¹ and so bracket aᵀH⁻¹a. For any sketch,
//
//	1 − h ≥ (1 − w/W)·γ/(γ + κ‖a‖²),   κ = wW/(W−w).
//
// Without an intercept, both terms w/W are 0 and κ = w (docs/math.md §10).
type LeftOut struct {
	*Known
	at []leftAt
	// skew bounds an error of a row a, in units of eps·‖a‖. The error comes from the computed singular vectors of
	// the sketch, which are not exactly orthonormal.
	skew float64
	// round bounds the relative error of the quadratic forms. They are sums of nonnegative numbers, one for each
	// eigenvalue of the sketch.
	round float64
	// lossy is true if the sketch lost more than round-off. Then the lower and the upper quadratic form differ.
	lossy bool
	lost  float64 // bounds the underflow error of the square root of a form
	// moved bounds the errors in the features if columns without penalty were projected out of them:
	//   - round bounds the norm of the rounding errors
	//   - left bounds the norm of the part of the features that remains in the span of the projected columns
	//   - lost bounds the underflow error of a row
	moved struct{ round, left, lost float64 }
	// meanSize bounds the norm of the vector of means of the features. It is set only if the features were rounded.
	meanSize float64
}

// leftAt holds the bounds at one penalty γ that are the same for all rows.
type leftAt struct {
	At
	// the values of the three functions of [LeftOut.Functions] for vectors orthogonal to the eigenvectors of the
	// sketch
	restBelow, restAbove, restEstimate float64
	rootAbove                          float64 // bounds √restAbove, or ‖H^{-½}‖ with a pencil
	moves                              moves   // the effect of a projection; unused if no columns were projected out

	pencil *pencilAt // if not nil, the bounds come from this pencil instead of the sketch
}

// LeftOut returns the LeftOut for the given γ.
func (k *Known) LeftOut(gammas []float64) *LeftOut {
	if k.pencils != nil {
		return k.leftOut(gammas)
	}
	r := len(k.eigen.Values)
	l := &LeftOut{
		Known: k,
		skew:  k.factor.skew + few,
		round: (roundoff.DenseDot(k.Backend.Accuracy().Dot(r)) +
			2*k.factor.skew +
			few) * eps,
		lossy: k.bound.Shrinkage > 0,
	}
	l.lost = math.Sqrt(float64(r+few)) * 0x1p-537
	if p := k.Projected; p != nil {
		d := k.eigen.Dim
		l.moved.round = vec.Norm(p.Round[:d])
		l.moved.left = vec.Norm(p.Left[:d])
		l.moved.lost = vec.Norm(p.columns.lost[:d])
	}
	l.meanSize = k.meanSize()
	for _, gamma := range gammas {
		a := k.At(gamma)
		above := a.above(k.eigen.Rest)
		at := leftAt{
			At:           a,
			restBelow:    a.below(k.eigen.Rest),
			restAbove:    above,
			restEstimate: a.estimate(k.eigen.Rest),
			rootAbove:    math.Sqrt(above) * upward,
		}
		if k.Projected != nil {
			at.moves = k.Projected.moves(gamma, k.eigen.Dim, a.EffectiveDimension())
		}
		l.at = append(l.at, at)
	}
	return l
}

// Forms returns the number of quadratic forms of a row a that are computed at each penalty γ. With H = AᵀA + γI,
// two of them bound aᵀH⁻¹a from below and above. The third is an estimate of aᵀH⁻¹a. It is needed only if the
// sketch lost more than round-off.
func (l *LeftOut) Forms() int {
	if l.lossy {
		return 3
	}
	return 2
}

// Functions returns a matrix with a column for each eigenvalue of BᵀB, where B is the sketch of the rows A. Let a
// be a row in the span of the eigenvectors, and H = AᵀA + γI. The products of the matrix with the squared
// components of a are, in this order,
//   - a lower bound on aᵀH⁻¹a for each γ
//   - an upper bound on aᵀH⁻¹a for each γ
//   - an estimate of aᵀH⁻¹a for each γ, if [LeftOut.Forms] is 3
func (l *LeftOut) Functions() []float64 {
	if l.pencils != nil {
		return l.functions()
	}
	var out []float64
	for _, function := range []func(At, float64) float64{At.below, At.above, At.estimate}[:l.Forms()] {
		for _, a := range l.at {
			for _, s2 := range l.eigen.Values {
				out = append(out, function(a.At, s2))
			}
		}
	}
	return out
}

// A LeftRow describes one row a.
type LeftRow struct {
	weight, root float64 // w and √w
	size         float64 // ‖a‖, or the norm of the row before centring
	// chain bounds the round-off of a product of the row with coefficients x, in units of eps·size·‖x‖.
	chain    float64
	rounding float64 // (chain + few)·size
	far      float64 // bounds ‖a‖
	// moved bounds the norm of the error of the row a. It includes the error of the computed projection of a onto
	// the singular vectors V of the sketch.
	moved float64
	off   interval.Interval // ‖a − VᵀVa‖²

	// These numbers are for a row of weight w, where Σw is the weight of all rows:
	//   - share: w/Σw, or 0 without an intercept; [LeftOut.Lift] increases it
	//   - round: a bound on the error of share
	//   - kappa, most: a lower and an upper bound on w/(1 − share)
	//   - others: a lower bound on 1 − share
	kappa, most, others, share, round float64

	projected rowMoves
}

// A rowMoves bounds the error in a row that comes from projecting columns without penalty out. It is zero if no
// columns were projected out.
type rowMoves struct {
	share float64 // the rounding error is at most share·Round[j] in column j, apart from underflow
	// within bounds the norm of a row of Q, where the columns of Q are an orthonormal basis of the projected
	// columns. It is the row of Q that belongs to this row of the data.
	within float64
}

// Row returns the LeftRow of a centred row with the given weight and the squared norm norm2. The projection of the
// row onto the right singular vectors of the sketch has the squared norm inV. size is the norm of the row before
// centring. A sparse row has nnz entries. For a dense row, nnz is negative.
func (l *LeftOut) Row(weight, norm2, inV, size float64, nnz int) LeftRow {
	r := float64(len(l.eigen.Values))
	d := float64(l.eigen.Dim)
	o := LeftRow{
		weight: weight,
		root:   math.Sqrt(weight),
		size:   size,
		chain:  l.factor.dense,
	}
	if nnz >= 0 {
		o.chain += float64(nnz) / 2
	}
	o.rounding = (o.chain + few) * size
	lost := math.Sqrt(d+16) * 0x1p-535 // underflow error of squares and products
	o.moved = (math.Sqrt(r)*o.chain+l.skew)*eps*size*inflate +
		l.norm.meanOff +
		lost
	o.far = (math.Sqrt(norm2+(2*o.chain+4*few)*eps*size*size) +
		l.norm.meanOff +
		lost) * upward
	if l.Units != nil { // the entries were rounded before the means were subtracted
		own := l.entry() * (size + l.meanSize)
		o.rounding += own
		o.moved += own * eps * inflate
		o.far += own * eps * inflate
	}
	if int(r) < l.eigen.Dim {
		pad := (4*math.Sqrt(r)*o.chain +
			2*l.skew +
			4*o.chain +
			4*few) * eps * size * size * inflate
		off := math.Max(0, norm2-inV)
		o.off = interval.Interval{Lo: math.Max(0, off-pad), Hi: off + pad}
	}
	o.kappa = weight
	o.most = weight
	o.others = 1
	o.round = few * eps
	if l.Intercept {
		o.round += float64(l.Rows) * float64(l.Rows) * roundoff.Unit * eps // round-off of the weight of all rows
		o.share = weight / l.Weight
		o.others = math.Max(0, 1-o.share-o.round)
		o.kappa = weight / (1 - o.share + o.round)
		o.most = weight / o.others
	}
	return o
}

// Projects reports whether columns without penalty were projected out of the rows. In this case, [LeftOut.Lift]
// must be called for each row.
func (l *LeftOut) Projects() bool { return l.Projected != nil }

// Lift adds to the row o the effect of projecting out the columns without penalty. The argument v is the leverage
// of the row among these columns. The argument share is the result of [Projection.Share] for the row. docs/math.md
// §17 derives the bounds.
func (l *LeftOut) Lift(o *LeftRow, v, share float64) {
	p := l.Projected
	vError := p.LeverageError(v, o.weight)
	o.share += v
	o.round = (o.round+vError)*inflate + few*eps*v
	o.others = math.Max(0, 1-o.share-o.round)
	o.most = o.weight / o.others
	if most := 1 - o.share + o.round; most > 0 {
		o.kappa = o.weight / most * downward
	}
	if o.weight == 0 {
		return // a row without weight has no leave-one-out error
	}
	if l.Intercept { // the mean of the rounding errors is subtracted, too
		share += 1 / p.Root * upward
	}
	o.projected = rowMoves{
		share:  share,
		within: math.Sqrt((v+vError)/o.weight) * upward,
	}
	moved := (share*l.moved.round +
		o.projected.within*l.moved.left +
		l.moved.lost) * inflate
	o.moved += moved
	o.far = (o.far + moved) * upward
}

// A Leverage holds bounds on the leverage h of a row at one penalty γ.
type Leverage struct {
	Free     interval.Interval // 1 − h
	Estimate float64           // estimate of 1 − h, inside Free
	root     float64           // bounds √(aᵀH⁻¹a)
}

// Leverage returns the leverage of the row o at penalty number i, which is γ. Let a be the row, and H = AᵀA + γI.
// below and above are bounds on aᵀH⁻¹a, and estimate is an estimate of it. They are products with the matrix of
// [LeftOut.Functions]. If [LeftOut.Forms] is 2, there is no estimate, and the argument is ignored.
func (l *LeftOut) Leverage(i int, o *LeftRow, below, above, estimate float64) Leverage {
	a := &l.at[i]
	w := o.weight
	slack := o.moved*a.rootAbove*upward + l.lost
	far := math.Sqrt(above+o.off.Hi*a.restAbove)*(1+l.round) + slack
	near2 := (below+o.off.Lo*a.restBelow)*(1-2*l.round) - 2*slack*far // at most (√form·(1−round) − slack)²
	if l.Projected != nil {                                           // the forms are for the matrix of the computed rows
		near2 *= downward / a.moves.upper / a.moves.upper
		far = far / a.moves.lower * upward
	}
	// The square of o.far may underflow.
	most := o.far / math.Sqrt(a.Gamma+o.kappa*o.far*o.far*downward) * (1 + 2*few*eps)
	if far > most {
		far = most
	}
	if !(near2 > 0) {
		near2 = 0
	}
	free := interval.Interval{
		Lo: 1 - w*far*far*upward - o.share - o.round,
		Hi: 1 - w*near2*downward - o.share + o.round,
	}
	if free.Hi > 1 {
		free.Hi = 1
	}
	if !(free.Lo > 0.5) { // otherwise the other bound is hardly better
		v := o.others * (a.Gamma / (a.Gamma + o.most*o.far*o.far)) * downward
		if v > free.Lo { // false if v is NaN
			free.Lo = v
		}
	}
	if free.Lo > free.Hi {
		free.Lo = free.Hi
	}
	at := free.Lo + (free.Hi-free.Lo)/2
	if l.lossy {
		form := estimate + (o.off.Lo+o.off.Hi)/2*a.restEstimate
		at = min(max(1-w*form-o.share, free.Lo), free.Hi)
	}
	return Leverage{free, at, far}
}

// A LeftFit describes computed coefficients x of one target, for the rows A and the penalty γ. In the comments on
// its fields, x* is the exact ridge solution, and H is AᵀA + γI.
type LeftFit struct {
	norm   float64 // ‖x‖
	energy float64 // bounds ‖H^{½}(x − x*)‖
	target int

	// Columns without penalty are projected out of the rows before a fit. This projection has three errors, which
	// change the residuals. The following numbers bound these changes. Each number is the bound for the target plus
	// Σ|xⱼ|·boundⱼ, where boundⱼ is the bound for column j. Projection has these bounds: Round for rounding, Left
	// for span, and columns.lost for lost.
	rounding, span, lost float64
}

// Fit returns the LeftFit for the coefficients x of a target at penalty number i. w holds the error bounds of x for
// the rows as they were computed. Fit adds the errors that come from projecting columns without penalty out.
func (l *LeftOut) Fit(i int, x []float64, target int, w Weights) LeftFit {
	f := LeftFit{norm: vec.Norm(x), energy: w.Energy, target: target}
	if p := l.Projected; p != nil {
		d := len(x)
		at := &l.at[i]
		moved, _, m := p.Weights(at.Gamma, x, target, w, at.EffectiveDimension())
		f.energy = moved.Energy
		f.rounding = m.rounding
		f.span = m.span
		inFeatures := vec.AbsDot(p.columns.lost[:d], x)
		f.lost = (p.columns.lost[d+target] + inFeatures) * inflate
	}
	return f
}

// Residual returns the residual r of a row with target value y for the fit f, and a bound rError on its round-off.
// The argument product is the product of the row with the coefficients of f. With an intercept, the prediction is
// product plus the mean of the target.
func (l *LeftOut) Residual(
	o *LeftRow,
	f *LeftFit,
	y, product float64,
) (r, rError float64) {
	base, fixed := l.baseOf(f)
	return o.residual(f, base, fixed, y, product)
}

// baseOf returns the mean of the target of f. The result fixed is the part of the error bound of a residual that is
// the same for all rows.
func (l *LeftOut) baseOf(f *LeftFit) (base, fixed float64) {
	if l.Intercept {
		base = l.Means[l.eigen.Dim+f.target]
		fixed = l.targets[f.target].meanOff + l.norm.meanOff*f.norm
	}
	return base, fixed*inflate + lostProduct(l.eigen.Dim) + f.lost
}

// residual returns the results of [LeftOut.Residual]. base and fixed are the results of [LeftOut.baseOf], which are
// the same for all rows.
func (o *LeftRow) residual(f *LeftFit, base, fixed, y, product float64) (r, rError float64) {
	own := eps * (o.rounding*f.norm +
		few*(math.Abs(y)+math.Abs(base)+math.Abs(product)))
	moved := own + o.projected.share*f.rounding + o.projected.within*f.span
	return y - (base + product), moved*inflate + fixed
}

// Squared returns a bracket and an estimate of the squared leave-one-out error w·(r*/(1 − h))² of a row of weight
// w. h is its leverage, and r* is its residual for the exact solution. The computed residual for the fit f is r,
// and rError bounds the round-off in r.
func (o *LeftRow) Squared(
	v *Leverage,
	f *LeftFit,
	r, rError float64,
) (bracket interval.Interval, estimate float64) {
	if o.weight == 0 {
		return interval.Interval{}, 0
	}
	rError += v.root * f.energy * upward
	size := math.Abs(r)
	least := size - rError
	if !(least > 0) {
		least = 0
	}
	// Multiplying by √w before squaring avoids underflow.
	inverse := 1 / v.Estimate
	up := (v.Free.Hi - v.Estimate) * inverse
	down := (v.Estimate - v.Free.Lo) * inverse
	var lo, at, hi float64
	// If the relative errors up and down are tiny, one division gives all three numbers. This uses
	// 1/(1 + up) ≥ 1 − up and 1/(1 − down) ≤ 1 + down·(1 + 2⁻¹⁹).
	if up+down <= 0x1p-20 {
		inverse *= o.root
		lo = least * inverse * (1 - up)
		at = size * inverse
		hi = (size + rError) * inverse * (1 + down*(1+0x1p-19))
	} else {
		lo = least / v.Free.Hi * o.root
		at = size / v.Estimate * o.root
		hi = (size + rError) / v.Free.Lo * o.root
	}
	lo = lo*lo*(1-3*few*eps) - 8*roundoff.Underflow
	hi = hi*hi*(1+3*few*eps) + 8*roundoff.Underflow
	if !(lo > 0) { // or lo is NaN
		lo = 0
	} else if lo > math.MaxFloat64 {
		lo = math.MaxFloat64 * (1 - 3*few*eps)
	}
	if !(v.Free.Lo > 0) || hi != hi {
		return interval.Nonnegative(), at * at
	}
	return interval.Interval{Lo: lo, Hi: hi}, at * at
}

// Prediction returns a bracket and an estimate of the prediction for a row by the exact solution of all other rows.
// Let h be the leverage of the row, y its target, and r* its residual for the exact solution of all rows. The
// prediction is y − r*/(1 − h). The argument r differs from r* by at most rError.
func (v *Leverage) Prediction(y, r, rError float64) (bracket interval.Interval, estimate float64) {
	lo := r - rError
	hi := r + rError
	if lo > 0 {
		lo /= v.Free.Hi
	} else {
		lo /= v.Free.Lo
	}
	if hi > 0 {
		hi /= v.Free.Lo
	} else {
		hi /= v.Free.Hi
	}
	size := math.Abs(y) + math.Abs(lo) + math.Abs(hi)
	round := few*eps*size + few*roundoff.Underflow
	bracket = interval.Interval{Lo: y - hi - round, Hi: y - lo + round}
	if !(v.Free.Lo > 0) || bracket.IsNaN() {
		bracket = interval.Unknown()
	}
	return bracket, y - r/v.Estimate
}

// Unweighted returns the results of [Leverage.Prediction] for a row whose residual is known only as a product with
// the square root of its weight. The argument root is this square root, and product is the residual times root. The
// argument productError bounds the error of product.
func (v *Leverage) Unweighted(y, root, product, productError float64) (bracket interval.Interval, estimate float64) {
	r := product / root
	return v.Prediction(y, r, productError/root*upward+few*eps*math.Abs(r))
}

// Predictions writes the results of [Leverage.Prediction] for the fit f to brackets and estimates. The result for
// row i has the index i·t + f.target. y holds width targets for each row. If columns were projected out, the last t
// targets of a row are the targets before the projection. The predictions are then for these last targets.
// [LeftOut.Sum] describes the other arguments.
func (l *LeftOut) Predictions(
	rows []LeftRow,
	levers []Leverage,
	f *LeftFit,
	y []float64,
	width int,
	products []float64,
	t int,
	brackets []interval.Interval,
	estimates []float64,
) {
	base, fixed := l.baseOf(f)
	for i := range rows {
		of := y[i*width+f.target]
		r, off := rows[i].residual(f, base, fixed, of, products[i])
		at := i*t + f.target
		if l.Projects() {
			of = y[(i+1)*width-t+f.target]
		}
		rError := off + levers[i].root*f.energy*upward
		brackets[at], estimates[at] = levers[i].Prediction(of, r, rError)
	}
}

// LeftSums holds sums over rows for one fit.
type LeftSums struct {
	Lo, Hi   float64 // bounds of Σ w·(r/(1 − h))² of the exact solution; Hi is at most MaxFloat64
	Estimate float64 // estimate of this sum
	RSS      float64 // Σ w·r² of the fit
	Off      float64 // Σ w·off², where off bounds the round-off of r
}

// Sum returns the sums of the leave-one-out errors of the fit f over at most [roundoff.StageRows] rows. The
// argument y holds t targets for each row. products[i] is the product of row i with the coefficients of f.
// levers[i] is the leverage of row i at the penalty of f.
func (l *LeftOut) Sum(
	rows []LeftRow,
	levers []Leverage,
	f *LeftFit,
	y []float64,
	t int,
	products []float64,
) LeftSums {
	var s LeftSums
	base, fixed := l.baseOf(f)
	for i := range rows {
		o := &rows[i]
		r, off := o.residual(
			f,
			base,
			fixed,
			y[i*t+f.target],
			products[i],
		)
		v, at := o.Squared(&levers[i], f, r, off)
		s.Lo += v.Lo
		s.Hi += v.Hi
		s.Estimate += at
		s.RSS += o.weight * r * r
		s.Off += o.weight * off * off
	}
	s.Lo = min(s.Lo, math.MaxFloat64)
	s.Hi = min(s.Hi, math.MaxFloat64)
	return s
}
