package ridge

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/shape"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
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
	d, t  int
	sum   *Summary // nil for a fit alone
	block int      // rows taken at a time
	be    engine.Backend
	at    *certify.At // what the summary proves, nil for a fit alone
	form  *certify.Prediction
	basis basis

	anchors []certify.Anchor // weights near x* of each target, and behind them those of a fit
	weights []float64        // of the anchors, each a row

	work predictorWork
}

// A basis is what rows are projected onto: of a summary, its sketch's; else empty.
type basis struct {
	v         []float64 // the sketch's singular vectors, r×d
	mean      []float64 // of the features, nil without intercept
	meanAlong []float64 // V times the mean
}

// predictorWork is for some rows.
type predictorWork struct {
	a              []float64 // dense rows, centred
	along, product []float64 // Va of each row, and its products with the weights
	size           []float64 // ‖a‖², and the norm of what a was computed from, of each
	view           engine.CSR
}

// Predictor returns the [Predictor] at γ, in O(md). γ must be positive
// (*[GammaError]); a summary of no rows is [ErrEmpty].
func (s *Summary) Predictor(gamma float64) (*Predictor, error) {
	k, err := s.Known(OneShot.String(), 1, gamma)
	if err != nil {
		return nil, err
	}
	p, err := s.projector(k)
	if err != nil {
		return nil, err
	}
	at := k.At(gamma)
	p.at, p.form, p.weights = &at, at.Prediction(), at.Middle()
	for j := range p.t {
		p.anchors = append(p.anchors, at.Near(j, p.weights[j*p.d:(j+1)*p.d]))
	}
	return p, nil
}

// projector is a Predictor without weights: it projects rows onto what k has of the sketch.
func (s *Summary) projector(k *certify.Known) (*Predictor, error) {
	p, err := newPredictor(s.cfg.Dim, s.cfg.Targets, s.cfg.Backend, nil)
	if err != nil {
		return nil, err
	}
	p.sum, p.basis.v = s, k.Sketch.V
	if s.cfg.Intercept {
		p.basis.mean = k.Means[:p.d]
		p.basis.meanAlong = make([]float64, len(k.Sketch.Sigma2))
		s.cfg.Backend.Gemv(false, 1, engine.View(len(p.basis.meanAlong), p.d, p.basis.v), p.basis.mean, 0, p.basis.meanAlong)
	}
	return p, nil
}

func newPredictor(d, t int, be engine.Backend, form *certify.Prediction) (*Predictor, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	return &Predictor{d: d, t: t, be: be, form: form, block: min(tuning.GradientRows(d), roundoff.StageRows)}, nil
}

// Narrow makes p use a fit f too, of the same rows at the same γ, by [Solve], [SolveExact] or any
// other means. Where the error of f was measured its intervals are narrow:
//
//	|aᵀ(x̂ − x*)| ≤ min(‖a‖·‖x̂ − x*‖, √(aᵀĤ_F⁻¹a)·‖H^{½}(x̂ − x*)‖),
//
// both from its certificate. An interval is then what both allow. Bounds that are not finite
// narrow nothing. f takes the place of a fit given before.
//
// A fit at another γ, of other dimensions or with another penalty than that of the summary is [ErrShape]; one that cannot be of the
// summary's rows, by their number, ‖b‖², its intercept or cᵀx̂, is [ErrOtherRows]. What
// is proved of other rows that agree in all these would be combined in error. The
// predictor of a fit alone ([Solution.Predictor]) takes no other, [ErrShape].
func (p *Predictor) Narrow(f *Solution) error {
	if p.at == nil {
		return fmt.Errorf("%w: there is no summary, the predictions are those of a fit alone", errShape)
	}
	if f == nil {
		return fmt.Errorf("%w: no fit to narrow by", errShape)
	}
	f, err := p.sum.fitted(f)
	if err != nil {
		return err
	}
	t, d := f.Dims()
	switch {
	case !f.hasShape(p.t, p.d):
		return fmt.Errorf("%w: a fit of %d targets and %d features cannot narrow predictions of %d and %d", errShape, t, d, p.t, p.d)
	case f.Gamma != p.at.Gamma:
		return fmt.Errorf("%w: a fit at γ = %g cannot narrow predictions at γ = %g", errShape, f.Gamma, p.at.Gamma)
	case !f.isCertified():
		return fmt.Errorf("%w: a fit without a certificate for each target cannot narrow predictions", errShape)
	}
	for j := range t {
		if err := p.sameRows(f, j); err != nil {
			return err
		}
	}
	p.anchors, p.weights = p.anchors[:t], p.weights[:t*d]
	for j, o := range f.Targets {
		p.anchors = append(p.anchors, p.at.Measured(j, o.Coef, bounded(o.ErrorBound), bounded(o.EnergyBound)))
		p.weights = append(p.weights, o.Coef...)
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

// sameRows refuses a fit whose target j shows that it is of other rows.
func (p *Predictor) sameRows(f *Solution, j int) error {
	o := &f.Targets[j]
	c := certify.Claim{
		X: o.Coef, Objective: interval.Interval(o.Objective), Error: bounded(o.ErrorBound),
		TSSWidth: o.TSS.Hi - o.TSS.Lo, InterceptError: o.InterceptBound,
	}
	if f.Rows != 0 && f.Rows != p.at.Rows {
		return fmt.Errorf("%w: it is of %d, they are %d", ErrOtherRows, f.Rows, p.at.Rows)
	}
	if tss := o.ComputedTSS; !math.IsNaN(tss) {
		if want, ok := p.at.SameSquares(&c, tss, j); !ok {
			return fmt.Errorf("%w: of target %d its ‖b‖² is %.9g, theirs is %.9g", ErrOtherRows, j, tss, want)
		}
	}
	if b := o.Intercept; !math.IsNaN(b) {
		if want, ok := p.at.SameIntercept(&c, b, j); !ok {
			return fmt.Errorf("%w: of target %d its intercept is %.9g, and their means make %.9g of its weights", ErrOtherRows, j, b, want)
		}
	}
	if got, want, ok := p.at.SameProducts(&c, j); !ok {
		return fmt.Errorf("%w: of target %d their cᵀx̂ is %.9g, where its certificate has %.9g to %.9g", ErrOtherRows, j, got, want.Lo, want.Hi)
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
// whose intercepts, or the bounds of these, aren't zero, or without a certificate for each target, is
// [ErrShape].
func (f *Solution) Predictor() (*Predictor, error) {
	t, d := f.Dims()
	switch {
	case d == 0 || !f.hasShape(t, d) || !f.isCertified():
		return nil, unfit("a fit that is to predict alone must have weights and a certificate for each target")
	case slices.ContainsFunc(f.Targets, func(o Target) bool { return o.Intercept != 0 || o.InterceptBound != 0 }): // which may come to 0
		return nil, unfit("a fit that is to predict alone must have no intercept: it does not know the means of the rows, which a summary does")
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
		p.anchors = append(p.anchors, certify.Alone(o.Coef, f.unscaledError(&o)))
		p.weights = append(p.weights, o.Coef...)
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
	if s := b.Sparse; b.N < 0 || !shape.IsProduct(len(dst), b.N, p.t) || (s == nil && !shape.IsProduct(len(b.X), b.N, p.d)) || (s != nil && (s.Rows != b.N || s.Cols != p.d || len(s.RowPtr) != b.N+1)) {
		given := fmt.Sprintf("%d numbers", len(b.X))
		if s != nil {
			given = fmt.Sprintf("a sparse matrix of %d×%d", s.Rows, s.Cols)
		}
		return fmt.Errorf("%w: %s and %d intervals for a block of %d rows; the summary has %d features and %d targets", errShape, given, len(dst), b.N, p.d, p.t)
	}
	for lo := 0; lo < b.N; lo += p.block {
		hi := min(lo+p.block, b.N)
		if err := p.predict(dst[lo*p.t:hi*p.t], b.Cut(lo, hi, p.d, 0, &p.work.view), lo); err != nil {
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
		return nil, fmt.Errorf("%w: a row of %d entries, the summary has %d features", errShape, len(x), s.cfg.Dim)
	}
	dst := make([]Interval, s.cfg.Targets)
	if err := p.Predict(dst, dataset.Block{N: 1, X: x}); err != nil {
		return nil, err
	}
	return dst, nil
}

// predict is Predict for at most p.block rows, of which the first is row first of
// those given.
func (p *Predictor) predict(dst []Interval, b dataset.Block, first int) error {
	if err := p.check(b, first); err != nil {
		return err
	}
	t, r, q, w := p.t, len(p.basis.v)/p.d, len(p.anchors), &p.work
	w.along, w.product, w.size = vec.Grow(w.along, b.N*r), vec.Grow(w.product, b.N*q), vec.Grow(w.size, 2*b.N)
	if b.Sparse == nil {
		p.dense(b)
	} else {
		p.sparse(b)
	}
	for i := range b.N {
		nnz := -1
		if b.Sparse != nil {
			idx, _ := b.Sparse.Row(i)
			nnz = len(idx)
		}
		f := p.form.Forms(w.along[i*r:(i+1)*r], w.size[2*i], w.size[2*i+1], nnz)
		for j := range t {
			v := p.anchors[j].Interval(w.product[i*q+j], f)
			if q > t {
				fitted := p.anchors[t+j].Interval(w.product[i*q+t+j], f)
				if interval.Apart(v, fitted) {
					return fmt.Errorf("%w: for row %d of those predicted together it proves %v, and they prove %v", ErrOtherRows, first+i+1, fitted, v)
				}
				v = interval.Intersect(v, fitted)
			}
			dst[i*t+j] = Interval(v)
		}
	}
	return nil
}

func (p *Predictor) check(b dataset.Block, first int) error {
	for i := range b.N {
		idx, row, err := rows.Features(b, i, p.d)
		if err != nil {
			return err
		}
		norm2, err := fd.SquaredNorm(first+i, 0, idx, row)
		if err != nil {
			return err
		}
		if !(norm2 <= rows.MaxSquares) {
			return &fd.RangeError{Row: first + i}
		}
	}
	return nil
}

// dense fills along, product and size for dense rows, which are centred first.
func (p *Predictor) dense(b dataset.Block) {
	d, r, q, w := p.d, len(p.basis.v)/p.d, len(p.anchors), &p.work
	a := b.X
	if p.basis.mean != nil {
		w.a = vec.Grow(w.a, b.N*d)
		a = w.a
		for i := range b.N {
			for j, v := range b.X[i*d : (i+1)*d] {
				a[i*d+j] = v - p.basis.mean[j]
			}
		}
	}
	p.be.Gemm(false, true, 1, engine.View(b.N, d, a), engine.View(r, d, p.basis.v), 0, engine.View(b.N, r, w.along))
	p.be.Gemm(false, true, 1, engine.View(b.N, d, a), engine.View(q, d, p.weights), 0, engine.View(b.N, q, w.product))
	for i := range b.N {
		n := vec.Norm(a[i*d : (i+1)*d])
		w.size[2*i], w.size[2*i+1] = n*n, n
	}
}

// sparse is dense for sparse rows s, of which a = s − μ is never formed.
func (p *Predictor) sparse(b dataset.Block) {
	d, r, q, w := p.d, len(p.basis.v)/p.d, len(p.anchors), &p.work
	var meanNorm float64
	if p.basis.mean != nil {
		meanNorm = vec.Norm(p.basis.mean)
	}
	for i := range b.N {
		idx, val := b.Sparse.Row(i)
		for l := range r {
			w.along[i*r+l] = vec.SparseDot(idx, val, p.basis.v[l*d:(l+1)*d])
			if p.basis.mean != nil {
				w.along[i*r+l] -= p.basis.meanAlong[l]
			}
		}
		for l := range q {
			w.product[i*q+l] = vec.SparseDot(idx, val, p.weights[l*d:(l+1)*d]) - p.anchors[l].Mean
		}
		n := vec.Norm(val)
		n2 := n * n
		if p.basis.mean != nil {
			n2 = math.Max(0, n2-2*vec.SparseDot(idx, val, p.basis.mean)+meanNorm*meanNorm)
		}
		w.size[2*i], w.size[2*i+1] = n2, n+meanNorm
	}
}
