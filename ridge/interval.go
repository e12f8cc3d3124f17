package ridge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// A Predictor brackets what the exact ridge solution at one γ predicts for rows,
// from the sketch alone. With a a row, less the mean of the features where an
// intercept is fitted, Ĥ_F = BᵀB + γI ⪯ H ⪯ Ĥ_u = Ĥ_F + ηI, D = Ĥ_F⁻¹ − Ĥ_u⁻¹ and
// x_mid = ½(Ĥ_F⁻¹ + Ĥ_u⁻¹)c,
//
//	aᵀx* ∈ aᵀx_mid ± ½√(aᵀDa · cᵀDc),
//
// widened by round-off: that of c, of the means and of the evaluation. The
// intervals hold the prediction that an exact fit would have made. They say nothing
// of the noise of a future observation.
//
// It keeps workspace: one goroutine at a time may use it.
type Predictor struct {
	k         *knowledge
	alone     bool // there is no summary: k is but dimensions
	env       envelope
	mean      []float64 // of the features, nil without intercept
	meanNorm  float64
	meanError float64   // how far that is off, in norm
	meanAlong []float64 // V times the mean

	targets      []float64 // means of the targets, zero without intercept
	targetsError []float64
	centres      []centre  // near x* of each target, and behind them those of a fit
	weights      []float64 // of the centres, each a row

	gap, inverse         []float64 // eigenvalues of D and of the bound on H⁻¹ along V
	gapRest, inverseRest float64   // and off V

	rows              int // taken at a time
	a, along, product []float64
	size              []float64
	view              engine.CSR
}

// A centre is weights x near x*, and what is known of the distance: for a row a
//
//	|aᵀ(x − x*)| ≤ min(√(aᵀDa)·gap + √(aᵀH⁻¹a)·energy, ‖a‖·distance) + ‖a‖·(round + chain·eps·size) + fixed,
//
// chain·eps‖a‖‖x‖ being the round-off of a product.
type centre struct {
	base     float64 // what the mean of the rows predicts
	mean     float64 // x times that mean
	gap      float64
	energy   float64
	distance float64
	size     float64 // ‖x‖
	round    float64 // of x
	fixed    float64 // of the means
}

// Predictor returns the [Predictor] at γ, in O(md). γ must be positive
// (*[GammaError]); a summary of no rows is [ErrEmpty].
func (s *Summary) Predictor(gamma float64) (*Predictor, error) {
	k, err := s.know(gamma)
	if err != nil {
		return nil, err
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	p := &Predictor{
		k: k, env: k.envelope(gamma), rows: min(tuning.GradientRows(k.d), stageRows),
		targets: make([]float64, k.t), targetsError: make([]float64, k.t), meanAlong: make([]float64, len(k.spec.Sigma2)),
	}
	if k.intercept {
		p.centreBy(s.stage)
	}
	p.gapRest, p.inverseRest = p.env.gap(floor(k.spec)), p.env.above(floor(k.spec))
	for _, s2 := range k.spec.Sigma2 {
		p.gap, p.inverse = append(p.gap, p.env.gap(s2)), append(p.inverse, p.env.above(s2))
	}
	p.weights = k.apply(p.env.middle)
	for j := range k.t {
		g := &k.c[j]
		// What evaluating Mc adds: the complement of V carries 1/γ.
		round := k.onto * eps * g.norm
		c := p.newCentre(j, p.weights[j*k.d:(j+1)*k.d], k.ball(p.env, j)+(round+k.crossError(j))*k.inverse(gamma))
		c.gap = math.Sqrt(g.weighted(k.spec.Sigma2, p.env.gap))/2*(1+16*eps) + round*math.Sqrt(math.Max(p.gapRest, p.env.gap(first(k.spec.Sigma2))))
		c.energy = k.crossError(j) * math.Sqrt(k.inverse(gamma))
		c.round += round * k.inverse(gamma)
		p.centres = append(p.centres, c)
	}
	return p, nil
}

// centreBy takes the means of the rows that st has seen.
func (p *Predictor) centreBy(st *stage) {
	k, mean := p.k, st.means()
	p.mean = mean[:k.d]
	p.meanNorm = norm(p.mean)
	p.meanError = k.mean
	k.be.Gemv(false, 1, engine.View(len(p.meanAlong), k.d, k.spec.V), p.mean, 0, p.meanAlong)
	copy(p.targets, mean[k.d:])
	copy(p.targetsError, k.means)
}

// newCentre prepares weights of which it is known that ‖x − x*‖ ≤ radius.
func (p *Predictor) newCentre(j int, x []float64, radius float64) centre {
	xn := norm(x)
	var mean float64
	if p.mean != nil {
		mean = dot(p.mean, x)
	}
	return centre{
		base: p.targets[j], mean: mean, distance: radius, size: xn,
		fixed: p.targetsError[j] + p.meanError*(xn+radius) + roundFactor*eps*math.Abs(p.targets[j]),
	}
}

// Narrow makes p use what is known of f too, a fit of the same rows at the same γ
// by [Solve], [Exact] or any other means, whose intervals are narrow where its error
// was measured:
//
//	|aᵀ(x̂ − x*)| ≤ min(‖a‖·‖x̂ − x*‖, √(aᵀĤ_F⁻¹a)·‖H^{½}(x̂ − x*)‖),
//
// both from its certificate. An interval is then what both allow. Bounds that are not finite
// narrow nothing. f takes the place of a fit given before.
//
// A fit at another γ or of other dimensions is [ErrShape]; one that cannot be of the
// summary's rows, by their number, ‖b‖², its intercept or cᵀx̂, is [ErrOtherRows]. What
// is proved of other rows that agree in all these would be combined in error. The
// predictor of a fit alone ([Fit.Predictor]) takes no other, [ErrShape].
func (p *Predictor) Narrow(f *Fit) error {
	k := p.k
	if p.alone {
		return fmt.Errorf("%w: there is no summary, the predictions are those of a fit alone", ErrShape)
	}
	t, d := f.Coef.Dims()
	c := f.Certificate
	if t != k.t || d != k.d || f.Gamma != p.env.gamma || len(c.ErrorBound) != t || len(c.EnergyBound) != t || len(c.Objective) != t {
		return fmt.Errorf("%w: a %d×%d fit at γ = %g and its certificate cannot narrow %d×%d predictions at γ = %g", ErrShape, t, d, f.Gamma, k.t, k.d, p.env.gamma)
	}
	for j := range k.t {
		if err := p.agree(f, j); err != nil {
			return err
		}
	}
	p.centres, p.weights = p.centres[:k.t], p.weights[:k.t*k.d]
	for j := range k.t {
		x := f.Coef.RawRowView(j)
		distance, energy := bounded(c.ErrorBound[j]), bounded(c.EnergyBound[j])
		c := p.newCentre(j, x, math.Min(distance, energy*math.Sqrt(k.inverse(f.Gamma))*(1+16*eps)))
		c.energy = energy
		p.centres, p.weights = append(p.centres, c), append(p.weights, x...)
	}
	return nil
}

// bounded is a bound on a norm, +Inf for what is none.
func bounded(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}

// ErrOtherRows reports a fit that cannot be of the rows of the summary that it is to
// be used with.
var ErrOtherRows = errors.New("ridge: the fit is not of the rows of the summary")

// agree refuses a fit whose target j shows that it is of other rows. Of the summary's
// own rows its numbers agree to round-off, for which sameRows leaves much room, and to
// what centring has moved here and there, and with
// Hx* = c, so that ‖b‖² − 2f* = cᵀx*, its certificate says what cᵀx̂ is:
//
//	|cᵀx̂ − (‖b‖² − 2f*)| ≤ ‖c‖·‖x̂ − x*‖.
func (p *Predictor) agree(f *Fit, j int) error {
	k, x := p.k, f.Coef.RawRowView(j)
	xn := norm(x)
	if f.Rows != 0 && f.Rows != k.rows {
		return fmt.Errorf("%w: it is of %d, they are %d", ErrOtherRows, f.Rows, k.rows)
	}
	squares, wrong := k.target(j)*k.target(j), 2*k.squaresError(j)
	if len(f.Certificate.TSS) == k.t {
		wrong += f.Certificate.TSS[j].Hi - f.Certificate.TSS[j].Lo
	}
	if len(f.TSS) == k.t && !(math.Abs(f.TSS[j]-k.tss[j]) <= sameRows*squares+wrong) {
		return fmt.Errorf("%w: of target %d its ‖b‖² is %.9g, theirs is %.9g", ErrOtherRows, j, f.TSS[j], k.tss[j])
	}
	if len(f.Intercept) == k.t {
		var want, size float64
		if p.mean != nil {
			want = p.targets[j] - dot(p.mean, x)
			size = k.root*(math.Abs(p.targets[j])+p.meanNorm*xn) + math.Sqrt(k.tss[j]) + math.Sqrt(k.bound.Frobenius2)*xn
		}
		off := 4 * k.meanShift(j, xn)
		if bounds := f.Certificate.InterceptBound; len(bounds) == k.t {
			off += k.root * bounds[j]
		}
		if !(k.root*math.Abs(f.Intercept[j]-want) <= sameRows*size+off) {
			return fmt.Errorf("%w: of target %d its intercept is %.9g, and their means make %.9g of its weights", ErrOtherRows, j, f.Intercept[j], want)
		}
	}
	v, bound := f.Certificate.Objective[j], bounded(f.Certificate.ErrorBound[j])
	cx := dot(k.cross[j*k.d:(j+1)*k.d], x)
	slack := k.c[j].norm*bound + sameRows*(squares+k.c[j].norm*xn) + wrong + 4*k.crossError(j)*xn
	if cx < k.tss[j]-2*v.Hi-slack || cx > k.tss[j]-2*v.Lo+slack {
		return fmt.Errorf("%w: of target %d their cᵀx̂ is %.9g, where its certificate has %.9g to %.9g", ErrOtherRows, j, cx, k.tss[j]-2*v.Hi-slack, k.tss[j]-2*v.Lo+slack)
	}
	return nil
}

// Predictor returns intervals for the same predictions as [Summary.Predictor] from f
// alone, without a sketch: in place of quadratic forms there is its ErrorBound,
//
//	aᵀx* ∈ aᵀx̂ ± ‖a‖·‖x̂ − x*‖,
//
// and round-off. γ may be 0. f must have been fitted without an intercept: with one, a is
// the row less the mean of the features, which a summary knows and f doesn't. A fit
// whose Intercept isn't zero, or without a bound for each target, is [ErrShape].
func (f *Fit) Predictor() (*Predictor, error) {
	t, d := f.Coef.Dims()
	if len(f.Certificate.ErrorBound) != t || slices.ContainsFunc(f.Intercept, func(b float64) bool { return b != 0 }) {
		return nil, fmt.Errorf("%w: a fit that is to predict alone must have %d bounds and no intercept, it has %d and %v", ErrShape, t, len(f.Certificate.ErrorBound), f.Intercept)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	p := &Predictor{
		k: &knowledge{spec: &fd.Spectrum{Dim: d}, be: be, d: d, t: t}, alone: true, rows: min(tuning.GradientRows(d), stageRows),
		targets: make([]float64, t), targetsError: make([]float64, t),
		inverseRest: 1, // so that the form is ‖a‖, and the energy the distance
	}
	for j := range t {
		x := f.Coef.RawRowView(j)
		c := p.newCentre(j, x, bounded(f.Certificate.ErrorBound[j]))
		c.energy = c.distance
		p.centres, p.weights = append(p.centres, c), append(p.weights, x...)
	}
	return p, nil
}

// Predict overwrites dst[i·t + j] with the interval of row i for target j, for the
// rows of a block, dense or sparse, whose targets are not looked at. A row costs one
// product with V and one with the weights of each target, O(md); rows are taken
// together in matrix products. Sparse rows cost O(m·nnz).
//
// A block of other dimensions, or a dst that is not N·t long, is [ErrShape]; entries
// that are not finite are *[fd.NonFiniteError], and rows whose squares sum to more
// than 2⁹⁹⁸ *[fd.RangeError]; a row for which the summary and a fit that narrows prove
// what cannot both be is [ErrOtherRows]. dst is then partly written.
func (p *Predictor) Predict(dst []Interval, b dataset.Block) error {
	k := p.k
	if s := b.Sparse; b.N < 0 || !isProduct(len(dst), b.N, k.t) || (s == nil && !isProduct(len(b.X), b.N, k.d)) || (s != nil && (s.Rows != b.N || s.Cols != k.d || len(s.RowPtr) != b.N+1)) {
		return fmt.Errorf("%w: %d intervals for a block of %d rows, %d features and %d targets", ErrShape, len(dst), b.N, k.d, k.t)
	}
	for lo := 0; lo < b.N; lo += p.rows {
		hi := min(lo+p.rows, b.N)
		if err := p.block(dst[lo*k.t:hi*k.t], b.Cut(lo, hi, k.d, 0, &p.view), lo); err != nil {
			return err
		}
	}
	return nil
}

// PredictInterval is [Predictor.Predict] for a single row x (length d): one interval
// for each target. Several rows are better given to one [Predictor].
func (s *Summary) PredictInterval(gamma float64, x []float64) ([]Interval, error) {
	p, err := s.Predictor(gamma)
	if err != nil {
		return nil, err
	}
	if len(x) != s.cfg.Dim {
		return nil, fmt.Errorf("%w: a row of %d entries, the summary has %d features", ErrShape, len(x), s.cfg.Dim)
	}
	dst := make([]Interval, s.cfg.Targets)
	if err := p.Predict(dst, dataset.Block{N: 1, X: x}); err != nil {
		return nil, err
	}
	return dst, nil
}

// block is Predict for at most p.rows rows, of which the first is row first of
// those given.
func (p *Predictor) block(dst []Interval, b dataset.Block, first int) error {
	if err := p.check(b, first); err != nil {
		return err
	}
	t, r, q := p.k.t, len(p.k.spec.Sigma2), len(p.centres)
	p.along, p.product, p.size = grow(p.along, b.N*r), grow(p.product, b.N*q), grow(p.size, 2*b.N)
	if b.Sparse == nil {
		p.dense(b)
	} else {
		p.sparse(b)
	}
	for i := range b.N {
		chain := dotFactor(p.k.be, p.k.d)
		if b.Sparse != nil { // one sum over the entries, and the mean's product
			idx, _ := b.Sparse.Row(i)
			chain += float64(len(idx)) / 2
		}
		f := p.forms(p.along[i*r:(i+1)*r], p.size[2*i], p.size[2*i+1], chain)
		for j := range t {
			v := p.centres[j].interval(p.product[i*q+j], f)
			if q > t {
				w := p.centres[t+j].interval(p.product[i*q+t+j], f)
				if w.Lo > v.Hi || w.Hi < v.Lo {
					return fmt.Errorf("%w: for row %d (0-based, of those predicted together) it proves %v, and they prove %v", ErrOtherRows, first+i, w, v)
				}
				v = intersect(v, w)
			}
			dst[i*t+j] = v
		}
	}
	return nil
}

func (p *Predictor) check(b dataset.Block, first int) error {
	for i := range b.N {
		var idx []int32
		var row []float64
		if b.Sparse == nil {
			row = b.X[i*p.k.d : (i+1)*p.k.d]
		} else {
			var err error
			if idx, row, err = fd.CheckRow(i, b.Sparse); err != nil {
				return fmt.Errorf("%w: %w", ErrShape, err)
			}
		}
		norm2, err := fd.SquaredNorm(first+i, 0, idx, row)
		if err != nil {
			return err
		}
		if !(norm2 <= maxSquares) {
			return &fd.RangeError{Row: first + i}
		}
	}
	return nil
}

// dense fills along, product and size for dense rows, which are centred first.
func (p *Predictor) dense(b dataset.Block) {
	k, d, r, q := p.k, p.k.d, len(p.k.spec.Sigma2), len(p.centres)
	a := b.X
	if p.mean != nil {
		p.a = grow(p.a, b.N*d)
		a = p.a
		for i := range b.N {
			for j, v := range b.X[i*d : (i+1)*d] {
				a[i*d+j] = v - p.mean[j]
			}
		}
	}
	k.be.Gemm(false, true, 1, engine.View(b.N, d, a), engine.View(r, d, k.spec.V), 0, engine.View(b.N, r, p.along))
	k.be.Gemm(false, true, 1, engine.View(b.N, d, a), engine.View(q, d, p.weights), 0, engine.View(b.N, q, p.product))
	for i := range b.N {
		n := norm(a[i*d : (i+1)*d])
		p.size[2*i], p.size[2*i+1] = n*n, n
	}
}

// sparse is dense for sparse rows s, of which a = s − μ is never formed.
func (p *Predictor) sparse(b dataset.Block) {
	d, r, q := p.k.d, len(p.k.spec.Sigma2), len(p.centres)
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for l := range r {
			p.along[i*r+l] = sparseDot(idx, val, p.k.spec.V[l*d:(l+1)*d]) - p.meanAlong[l]
		}
		for l := range q {
			p.product[i*q+l] = sparseDot(idx, val, p.weights[l*d:(l+1)*d]) - p.centres[l].mean
		}
		n := norm(val)
		n2 := n * n
		if p.mean != nil {
			n2 = math.Max(0, n2-2*sparseDot(idx, val, p.mean)+p.meanNorm*p.meanNorm)
		}
		p.size[2*i], p.size[2*i+1] = n2, n+p.meanNorm
	}
}

func sparseDot(idx []int32, val, x []float64) float64 {
	var s float64
	for k, j := range idx {
		s += val[k] * x[j]
	}
	return s
}

// A forms is what the bounds take of a row a.
type forms struct {
	gap, inverse float64 // √(aᵀDa) and √(aᵀH⁻¹a) at most
	norm         float64 // ‖a‖, or what it was the difference of
	chain        float64 // of a product with weights, in units of eps
}

// forms evaluates the quadratic forms of a row from Va and ‖a‖². size is the norm of
// what a was computed from: to eps times its square, the forms are uncertain by
// round-off.
func (p *Predictor) forms(along []float64, norm2, size, chain float64) forms {
	var gap, inverse, inV float64
	for l, v := range along {
		v *= v
		inV += v
		gap += v * p.gap[l]
		inverse += v * p.inverse[l]
	}
	rest := math.Max(0, norm2-inV) + (4*chain+2*skewV)*eps*size*size
	gap += rest * p.gapRest
	inverse += rest * p.inverseRest
	return forms{gap: math.Sqrt(gap) * (1 + 16*eps), inverse: math.Sqrt(inverse) * (1 + 16*eps), norm: size * (1 + 16*eps), chain: chain}
}

// interval brackets the prediction for a row of the given forms whose product with
// the weights is known.
func (c *centre) interval(product float64, f forms) Interval {
	y := c.base + product
	radius := math.Min(f.gap*c.gap+f.inverse*c.energy, f.norm*c.distance)
	radius += f.norm*(c.round+f.chain*eps*c.size) + c.fixed + 4*eps*math.Abs(y)
	if !(math.Abs(y)+radius <= math.MaxFloat64) { // of what isn't finite there may be 0·∞
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	return Interval{y - radius, y + radius}
}
