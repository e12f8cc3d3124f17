package ridge

import (
	"fmt"
	"math"

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
//	|aᵀ(x − x*)| ≤ min(√(aᵀDa)·gap + √(aᵀH⁻¹a)·energy, ‖a‖·distance) + ‖a‖·round + fixed.
type centre struct {
	base     float64 // what the mean of the rows predicts
	mean     float64 // x times that mean
	gap      float64
	energy   float64
	distance float64
	round    float64 // of the evaluation
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
		round := roundFactor * eps * g.norm
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
	k.be.Gemv(false, len(p.meanAlong), k.d, 1, k.spec.V, k.d, p.mean, 0, p.meanAlong)
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
		base: p.targets[j], mean: mean, distance: radius,
		round: roundFactor * eps * xn,
		fixed: p.targetsError[j] + p.meanError*(xn+radius) + roundFactor*eps*math.Abs(p.targets[j]),
	}
}

// Narrow makes p use what is known of f too, a fit of the same rows at the same γ
// by [Solve], [Exact] or any other means, whose intervals are narrow where its error
// was measured:
//
//	|aᵀ(x̂ − x*)| ≤ min(‖a‖·‖x̂ − x*‖, √(aᵀĤ_F⁻¹a)·‖H^{½}(x̂ − x*)‖),
//
// where the last norm is at most ‖g‖/√γ and, squared, at most 2(f(x̂) − f*), all from
// its certificate. An interval is then what both allow. A fit at another γ or of other
// dimensions is [ErrShape].
func (p *Predictor) Narrow(f *Fit) error {
	k := p.k
	t, d := f.Coef.Dims()
	c := f.Certificate
	if t != k.t || d != k.d || f.Gamma != p.env.gamma || len(c.ErrorBound) != t || len(c.RSS) != t || len(c.Objective) != t ||
		(f.GradientNorm != nil && len(f.GradientNorm) != t) {
		return fmt.Errorf("%w: a %d×%d fit at γ = %g and its certificate cannot narrow %d×%d predictions at γ = %g", ErrShape, t, d, f.Gamma, k.t, k.d, p.env.gamma)
	}
	p.centres, p.weights = p.centres[:k.t], p.weights[:k.t*k.d]
	for j := range k.t {
		x := f.Coef.RawRowView(j)
		c := p.newCentre(j, x, f.Certificate.ErrorBound[j])
		c.energy = k.energy(f, j, x)
		p.centres, p.weights = append(p.centres, c), append(p.weights, x...)
	}
	return nil
}

// energy bounds ‖H^{½}(x̂ − x*)‖ for target j of a fit.
func (k *knowledge) energy(f *Fit, j int, x []float64) float64 {
	gamma, c, xn := f.Gamma, f.Certificate, norm(x)
	fx := gamma * xn * xn
	e := math.Sqrt(math.Max(0, c.RSS[j].Hi+fx*(1+roundFactor*eps)-2*c.Objective[j].Lo))
	if f.GradientNorm != nil {
		_, round := k.roundOff(gamma, j, x, math.Sqrt(c.RSS[j].Hi))
		e = math.Min(e, f.GradientNorm[j]*math.Sqrt(k.inverse(gamma))*(1+16*eps)+round)
	}
	return e
}

// Predict overwrites dst[i·t + j] with the interval of row i for target j, for the
// rows of a block, dense or sparse, whose targets are not looked at. A row costs one
// product with V and one with the weights of each target, O(md); rows are taken
// together in matrix products. Sparse rows cost O(m·nnz).
//
// A block of other dimensions, or a dst that is not N·t long, is [ErrShape]; entries
// that are not finite are *[fd.NonFiniteError], and rows whose squares sum to more
// than 2⁹⁹⁸ *[fd.RangeError]; dst is then partly written.
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
		f := p.forms(p.along[i*r:(i+1)*r], p.size[2*i], p.size[2*i+1])
		for j := range t {
			v := p.centres[j].interval(p.product[i*q+j], f)
			if q > t {
				v = intersect(v, p.centres[t+j].interval(p.product[i*q+t+j], f))
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
	k.be.Gemm(false, true, b.N, r, d, 1, a, d, k.spec.V, d, 0, p.along, max(r, 1))
	k.be.Gemm(false, true, b.N, q, d, 1, a, d, p.weights, d, 0, p.product, q)
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
}

// forms evaluates the quadratic forms of a row from Va and ‖a‖². size is the norm of
// what a was computed from: to eps times its square, the forms are uncertain by
// round-off.
func (p *Predictor) forms(along []float64, norm2, size float64) forms {
	var gap, inverse, inV float64
	for l, v := range along {
		v *= v
		inV += v
		gap += v * p.gap[l]
		inverse += v * p.inverse[l]
	}
	rest := math.Max(0, norm2-inV) + 8*roundFactor*eps*size*size
	gap += rest * p.gapRest
	inverse += rest * p.inverseRest
	return forms{math.Sqrt(gap) * (1 + 16*eps), math.Sqrt(inverse) * (1 + 16*eps), size * (1 + 16*eps)}
}

// interval brackets the prediction for a row of the given forms whose product with
// the weights is known.
func (c *centre) interval(product float64, f forms) Interval {
	y := c.base + product
	radius := math.Min(f.gap*c.gap+f.inverse*c.energy, f.norm*c.distance)
	radius += f.norm*c.round + c.fixed + 4*eps*math.Abs(y)
	return Interval{y - radius, y + radius}
}
