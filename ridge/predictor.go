package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Predictor computes brackets of the predictions aᵀx* of the exact ridge solution x* at one γ, from the sketch B
// alone. Here a is a row of features, minus their means if there is an intercept. With c = Aᵀb for the target b and
// the shrinkage η of the sketch,
//
//	Ĥ_F = BᵀB + γI,  Ĥ_u = Ĥ_F + ηI,  D = Ĥ_F⁻¹ − Ĥ_u⁻¹,  x_mid = ½(Ĥ_F⁻¹ + Ĥ_u⁻¹)c,
//	aᵀx* ∈ aᵀx_mid ± ½√(aᵀDa · cᵀDc),
//
// widened by round-off. This interval is proved to contain the prediction of the exact solution. It is not a
// prediction interval for a future observation, because it does not include noise.
//
// A Predictor holds workspace. Only one goroutine may use it at a time.
type Predictor struct {
	d, t    int
	sum     *Summary // nil for a Predictor of a Solution
	block   int      // number of rows processed at a time
	be      engine.Backend
	ats     []*certify.At         // bounds from the summary at each distinct γ; nil for a Predictor of a Solution
	forms   []*certify.Prediction // bounds on predictions at each distinct γ
	gammaOf []int                 // for each target, the index of its γ in ats
	basis   basis

	// anchors are coefficients near the exact solution: one set for each target from the summary. If there is a fit
	// of [Predictor.Narrow], the sets of the fit follow, one for each target.
	anchors []certify.Anchor
	weights []float64 // the coefficients in anchors, one per row

	work predictorWork
}

// A basis holds the vectors that are multiplied by rows. It is empty for a Predictor without a summary.
type basis struct {
	v         []float64 // V, the right singular vectors of the sketch, r×d
	mean      []float64 // of the features; nil without an intercept
	origin    []float64 // zeros
	meanAlong []float64 // V times mean
}

// predictorWork is the workspace for a group of rows.
type predictorWork struct {
	a []float64 // dense rows, centred
	// along and product hold products with each row: along with the singular vectors of the sketch, and product
	// with the coefficients.
	along, product []float64
	size           []float64       // for each row ‖a‖², and the norm of the row before centring
	forms          []certify.Forms // workspace for one row, at each distinct γ
	view           engine.CSR
	dense          dataset.Block // the block to centre
	centred        engine.Matrix // its rows, centred if there is a mean
	// loop centres the rows of dense and computes their norms. Copies of the Predictor share loop, so the copies
	// may process only sparse rows, which do not need loop.
	loop *parallel.Loop
}

// Predictor returns the [Predictor] of the summary. It takes O(md) time for a sketch of m rows and d features.
// gammas holds one penalty for all targets, or one for each target. Otherwise the error is [ErrShape]. The error is
// a *[GammaError] if a penalty is not positive, and [ErrEmpty] if there are no rows.
func (s *Summary) Predictor(gammas ...float64) (*Predictor, error) {
	k, err := s.quantities(OneShot.String(), 1, gammas...)
	if err != nil {
		return nil, err
	}
	p, err := projector(k)
	if err != nil {
		return nil, err
	}
	if len(gammas) != 1 && len(gammas) != p.t {
		return nil, unfit("%d gammas for %d targets", len(gammas), p.t)
	}
	p.sum = s
	for j := range p.t {
		gamma := gammas[j%len(gammas)]
		p.gammaOf[j] = slices.IndexFunc(p.ats, func(a *certify.At) bool {
			return a.Gamma == gamma
		})
		if p.gammaOf[j] < 0 {
			at := k.At(gamma)
			p.gammaOf[j] = len(p.ats)
			p.ats = append(p.ats, &at)
			p.forms = append(p.forms, at.Prediction())
		}
	}
	p.weights = k.Middle(p.ats, p.gammaOf)
	for j := range p.t {
		weights := p.weights[j*p.d : (j+1)*p.d]
		p.anchors = append(p.anchors, p.at(j).Near(j, weights))
	}
	return p, nil
}

// at returns the bounds for the penalty of target j.
func (p *Predictor) at(j int) *certify.At {
	return p.ats[p.gammaOf[j]]
}

// projector returns a Predictor that can only multiply rows by the singular vectors of the sketch in k.
func projector(k *certify.Known) (*Predictor, error) {
	p, err := newPredictor(k.Sketch.Dim, len(k.TSS), k.Backend)
	if err != nil {
		return nil, err
	}
	p.basis.v = k.Sketch.V
	if k.Intercept {
		p.basis.mean = k.Means[:p.d]
		p.basis.origin = make([]float64, p.d)
		p.basis.meanAlong = make([]float64, len(k.Sketch.Sigma2))
		k.Backend.Gemv(
			false,
			1,
			engine.View(len(p.basis.meanAlong), p.d, p.basis.v),
			p.basis.mean,
			0,
			p.basis.meanAlong,
		)
	}
	return p, nil
}

func newPredictor(d, t int, be engine.Backend, forms ...*certify.Prediction) (*Predictor, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	p := &Predictor{
		d:       d,
		t:       t,
		be:      be,
		forms:   forms,
		gammaOf: make([]int, t),
		block:   min(tuning.GradientRows(d), roundoff.StageRows),
	}
	p.work.loop = parallel.New(be, 8, func(part int) error {
		b := p.work.dense
		w := &p.work
		for i := b.N * part / 8; i < b.N*(part+1)/8; i++ {
			a := w.centred.Row(i)
			if p.basis.mean != nil {
				engine.Centre(b.X[i*d:(i+1)*d], p.basis.origin, p.basis.mean, a)
			}
			n := vec.Norm(a)
			w.size[2*i], w.size[2*i+1] = n*n, n
		}
		return nil
	})
	return p, nil
}

// Narrow makes p also use f, a fit x̂ of the same rows at the same γ by any method. Let a be a row and x* the exact
// solution. The certificate of f bounds ‖x̂ − x*‖ and ‖H^{½}(x̂ − x*)‖ for H = AᵀA + γI in
//
//	|aᵀ(x̂ − x*)| ≤ min(‖a‖·‖x̂ − x*‖, √(aᵀĤ_F⁻¹a)·‖H^{½}(x̂ − x*)‖),
//
// with the matrix Ĥ_F of [Predictor]. Predict then returns the intersection of this interval around aᵀx̂ and the
// interval from the sketch. A second call of Narrow replaces the first fit.
//
// The error is [ErrShape] if f has another γ, dimensions or penalty than p, or if p comes from [Solution.Predictor].
// It is [ErrOtherRows] if f differs in the number of rows, ‖b‖², the intercept or bᵀAx̂. A fit of other rows
// that agrees in all of these is not recognised; the intervals may then be wrong.
func (p *Predictor) Narrow(f *Solution) error {
	if p.ats == nil {
		return fmt.Errorf("%w: a predictor without a summary cannot be narrowed", errShape)
	}
	if f == nil {
		return fmt.Errorf("%w: no fit to narrow by", errShape)
	}
	f, err := p.sum.inColumns(f)
	if err != nil {
		return err
	}
	t, d := f.Dims()
	switch {
	case !f.hasShape(p.t, p.d):
		return fmt.Errorf(
			"%w: a fit of %d targets and %d features cannot narrow predictions of %d and %d",
			errShape,
			t,
			d,
			p.t,
			p.d,
		)
	case !f.isCertified():
		return fmt.Errorf("%w: a fit without a certificate for each target cannot narrow predictions", errShape)
	}
	for j := range t {
		if g, own := f.GammaOf(j), p.at(j).Gamma; g != own {
			return fmt.Errorf("%w: a fit at γ = %g cannot narrow predictions at γ = %g", errShape, g, own)
		}
		if err := p.checkSameRows(f, j); err != nil {
			return err
		}
	}
	p.anchors = p.anchors[:t]
	p.weights = p.weights[:t*d]
	for j, o := range f.Targets {
		errorBound := boundOrInf(o.ErrorBound)
		energyBound := boundOrInf(o.EnergyBound)
		p.anchors = append(p.anchors, p.at(j).Measured(j, o.Coef, errorBound, energyBound))
		p.weights = append(p.weights, o.Coef...)
	}
	return nil
}

// boundOrInf returns v, or +Inf if v is negative or NaN.
func boundOrInf(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}

// checkSameRows returns an error if target j of the fit f contradicts the bounds from the summary. The rows of f
// are then not the rows of the summary.
func (p *Predictor) checkSameRows(f *Solution, j int) error {
	o := &f.Targets[j]
	at := p.at(j)
	c := certify.Claim{
		X:              o.Coef,
		Objective:      interval.Interval(o.Objective),
		Error:          boundOrInf(o.ErrorBound),
		TSSWidth:       o.TSS.Hi - o.TSS.Lo,
		InterceptError: o.InterceptBound,
	}
	if f.Rows != 0 && f.Rows != at.Rows {
		return fmt.Errorf("%w: it has %d rows, the summary %d", ErrOtherRows, f.Rows, at.Rows)
	}
	if tss := o.ComputedTSS; !math.IsNaN(tss) {
		if want, ok := at.SameSquares(&c, tss, j); !ok {
			return fmt.Errorf(
				"%w: target %d has ‖b‖² = %.9g in the fit and %.9g in the summary",
				ErrOtherRows,
				j,
				tss,
				want,
			)
		}
	}
	if b := o.Intercept; !math.IsNaN(b) {
		if want, ok := at.SameIntercept(&c, b, j); !ok {
			return fmt.Errorf(
				"%w: target %d has the intercept %.9g, but the summary's means give %.9g",
				ErrOtherRows,
				j,
				b,
				want,
			)
		}
	}
	if got, want, ok := at.SameProducts(&c, j); !ok {
		return fmt.Errorf(
			"%w: target %d has cᵀx̂ = %.9g in the summary, but its certificate gives %.9g to %.9g",
			ErrOtherRows,
			j,
			got,
			want.Lo,
			want.Hi,
		)
	}
	return nil
}

// Predictor returns a [Predictor] that needs no summary. It uses only the ErrorBound and InterceptBound of each
// target. Let a be a row of features, not centred. Let x̂ be the coefficients and b̂ the intercept. Let x* and b*
// be the coefficients and the intercept of the exact solution. Then
//
//	aᵀx* + b* ∈ aᵀx̂ + b̂ ± (‖a‖·‖x̂ − x*‖ + |b̂ − b*|).
//
// The interval also includes round-off. Unlike for [Summary.Predictor], the penalty γ may be 0. The error is
// [ErrShape] if a target has no certificate.
func (f *Solution) Predictor() (*Predictor, error) {
	t, d := f.Dims()
	if d == 0 || !f.hasShape(t, d) || !f.isCertified() {
		return nil, unfit("to predict from a fit alone, each target needs coefficients and a certificate")
	}
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	p, err := newPredictor(d, t, be, certify.Plain(be.Accuracy(), d))
	if err != nil {
		return nil, err
	}
	for _, o := range f.Targets {
		p.anchors = append(
			p.anchors,
			certify.Alone(o.Coef, f.unscaledError(&o), o.Intercept, boundOrInf(o.InterceptBound)),
		)
		p.weights = append(p.weights, o.Coef...)
	}
	return p, nil
}

// Predict writes the interval for row i and target j to dst[i·t + j], for t targets. The argument b is a block of N
// dense or sparse rows; its targets are ignored. With a sketch of m rows and d features, a dense row takes O((m +
// t)d) time. A sparse row with nnz entries takes O((m + t)·nnz) time.
//
// After an error, only a part of dst is written. Errors:
//
//   - [ErrShape] for a block of other dimensions, or if the length of dst is not N·t.
//   - *[fd.NonFiniteError] for entries that are not finite.
//   - *[fd.RangeError] for rows whose squares sum to more than 2⁹⁹⁸.
//   - [ErrOtherRows] if the intervals from the summary and from the fit of [Predictor.Narrow] are disjoint.
func (p *Predictor) Predict(dst []Interval, b dataset.Block) error {
	s := b.Sparse
	if b.N < 0 ||
		!vec.IsProduct(len(dst), b.N, p.t) ||
		(s == nil && !vec.IsProduct(len(b.X), b.N, p.d)) ||
		(s != nil && (s.Rows != b.N || s.Cols != p.d || len(s.RowPtr) != b.N+1)) {
		given := fmt.Sprintf("%d numbers", len(b.X))
		if s != nil {
			given = fmt.Sprintf("a sparse matrix of %d×%d", s.Rows, s.Cols)
		}
		return fmt.Errorf(
			"%w: %s and %d intervals for a block of %d rows, but the summary has %d features and %d targets",
			errShape,
			given,
			len(dst),
			b.N,
			p.d,
			p.t,
		)
	}
	for lo := 0; lo < b.N; lo += p.block {
		hi := min(lo+p.block, b.N)
		part := b.Cut(lo, hi, p.d, 0, &p.work.view)
		err := p.predict(dst[lo*p.t:hi*p.t], part, lo)
		if err != nil {
			return err
		}
	}
	return nil
}

// PredictInterval computes the intervals of [Predictor.Predict] for the penalty gamma and a single row x with one
// element for each feature. It returns one interval for each target. Several rows are faster with one [Predictor].
func (s *Summary) PredictInterval(gamma float64, x []float64) ([]Interval, error) {
	p, err := s.Predictor(gamma)
	if err != nil {
		return nil, err
	}
	if len(x) != s.cfg.Dim {
		return nil, fmt.Errorf(
			"%w: the row has %d entries, but the summary has %d features",
			errShape,
			len(x),
			s.cfg.Dim,
		)
	}
	dst := make([]Interval, s.cfg.Targets)
	if err := p.Predict(dst, dataset.Block{N: 1, X: x}); err != nil {
		return nil, err
	}
	return dst, nil
}

// predict does the work of Predict for at most p.block rows. Error messages number the rows from firstRow.
func (p *Predictor) predict(dst []Interval, b dataset.Block, firstRow int) error {
	if err := p.check(b, firstRow); err != nil {
		return err
	}
	t := p.t
	r := len(p.basis.v) / p.d
	q := len(p.anchors)
	w := &p.work
	p.project(b)
	for i := range b.N {
		nnz := -1
		if b.Sparse != nil {
			idx, _ := b.Sparse.Row(i)
			nnz = len(idx)
		}
		along := w.along[i*r : (i+1)*r]
		norm2, size := w.size[2*i], w.size[2*i+1]
		w.forms = w.forms[:0]
		for _, form := range p.forms {
			w.forms = append(w.forms, form.Forms(along, norm2, size, nnz))
		}

		for j := range t {
			f := w.forms[p.gammaOf[j]]
			v := p.anchors[j].Interval(w.product[j*b.N+i], f)
			if q > t {
				fitted := p.anchors[t+j].Interval(w.product[(t+j)*b.N+i], f)
				if interval.Apart(v, fitted) {
					return fmt.Errorf(
						"%w: for row %d the fit proves %v and the summary %v",
						ErrOtherRows,
						firstRow+i+1,
						fitted,
						v,
					)
				}
				v = interval.Intersect(v, fitted)
			}
			dst[i*t+j] = Interval(v)
		}
	}
	return nil
}

// check returns an error if a row of b is invalid. Error messages number the rows from firstRow.
func (p *Predictor) check(b dataset.Block, firstRow int) error {
	for i := range b.N {
		idx, row, err := rows.Features(b, i, p.d)
		if err != nil {
			return err
		}
		norm2, err := fd.SquaredNorm(firstRow+i, 0, idx, row)
		if err != nil {
			return err
		}
		if !(norm2 <= rows.MaxSquares) {
			return &fd.RangeError{Row: firstRow + i}
		}
	}
	return nil
}

// project computes three things for each row of b: its products with the singular vectors of the sketch, the norm
// of the centred row, and its products with the coefficients.
func (p *Predictor) project(b dataset.Block) {
	d := p.d
	r := len(p.basis.v) / p.d
	w := &p.work
	w.along = vec.Grow(w.along, b.N*r)
	w.product = vec.Grow(w.product, b.N*len(p.anchors))
	w.size = vec.Grow(w.size, 2*b.N)
	if b.Sparse == nil {
		p.projectDense(b)
		return
	}
	var meanNorm float64
	if p.basis.mean != nil {
		meanNorm = vec.Norm(p.basis.mean)
	}
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for l := range r {
			v := p.basis.v[l*d : (l+1)*d]
			w.along[i*r+l] = vec.SparseDot(idx, val, v)
			if p.basis.mean != nil {
				w.along[i*r+l] -= p.basis.meanAlong[l]
			}
		}

		n := vec.Norm(val)
		n2 := n * n
		if p.basis.mean != nil {
			n2 = math.Max(0, n2-2*vec.SparseDot(idx, val, p.basis.mean)+meanNorm*meanNorm)
		}
		w.size[2*i] = n2
		w.size[2*i+1] = n + meanNorm

		for l := range p.anchors {
			weights := p.weights[l*d : (l+1)*d]
			w.product[l*b.N+i] = vec.SparseDot(idx, val, weights) - p.anchors[l].Mean
		}
	}
}

// projectDense is project for dense rows.
func (p *Predictor) projectDense(b dataset.Block) {
	d := p.d
	q := len(p.anchors)
	r := len(p.basis.v) / p.d
	w := &p.work
	a := engine.View(b.N, d, b.X)
	if p.basis.mean != nil {
		w.a = vec.Grow(w.a, b.N*d)
		a.Data = w.a
	}
	w.dense = b
	w.centred = a
	w.loop.RunFor(b.N * d)
	v := engine.View(r, d, p.basis.v)
	weights := engine.View(q, d, p.weights)
	p.be.Gemm(false, true, 1, a, v, 0, engine.View(b.N, r, w.along))
	p.be.Gemm(false, true, 1, weights, a, 0, engine.View(q, b.N, w.product))
}
