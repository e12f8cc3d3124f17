package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// dualTol is the default relative error of solutions by AAᵀ. It is small, because correcting such solutions costs
// little.
const dualTol = 1e-12

// A dualExact is the state of a direct fit by AAᵀ.
type dualExact struct {
	d, t   int
	opts   ExactOptions
	method Method // the method that runs: Dual or DualCG
	plan   dualPlan
	data   dual.Operator
	known  certify.Dual
	start  [][]float64 // one slice of n numbers for each target: the target, centred and rounded to float64

	gramFactors
	trials     *dual.Leverages               // brackets leverages for DualCG; nil until needed
	rowNorms   []float64                     // bounds on the norms of the rows of A, for brackets by trials
	dimensions map[float64]certify.Dimension // effective dimensions that trials found

	rowBytes     uint64 // memory of the stored rows
	measuresRead bool   // each measurement of a residual makes a pass over the source
	passes       int
}

// gramFactors holds G = AAᵀ and its factors. Each field is nil until it is computed.
type gramFactors struct {
	gram      *dual.Gram
	work      []float64               // room for a factor, n²
	reduction *direct.TridiagonalForm // G in tridiagonal form
	// columns holds the orthogonal factor of reduction, by columns. It is kept only if the diagonal of (G + γI)⁻¹
	// is needed.
	columns []float64
}

// A dualPlan describes what a fit by AAᵀ will be used for.
type dualPlan struct {
	gammas       int  // number of γ to solve together
	leverage     bool // the diagonal of (G + γI)⁻¹ is needed
	preferFaster bool // use conjugate gradients only where they take less time than a factorisation
	minimum      bool // γ = 0 is among the γ, which needs the eigenvectors of G
}

// shouldReduce reports whether to reduce G = AAᵀ to tridiagonal form.
func (p dualPlan) shouldReduce() bool {
	return p.leverage || shouldReduce(p.gammas)
}

// newDual returns a dualExact without rows. The error is a *[SizeError] if src needs too much memory. A source of
// unknown length is checked later.
func newDual(src dataset.Source, opts ExactOptions, plan dualPlan) (*dualExact, error) {
	n, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	if opts.Rounding != nil && len(opts.Rounding) != d {
		return nil, fmt.Errorf("%w: the rounding of %d features, the rows have %d", errShape, len(opts.Rounding), d)
	}
	e := &dualExact{
		d:          d,
		t:          t,
		opts:       opts,
		method:     opts.Method,
		plan:       plan,
		dimensions: map[float64]certify.Dimension{},
	}
	if plan.preferFaster {
		e.method = DualCG
	}
	return e, e.checkMemory(max(n, 0))
}

// checkMemory returns a *[SizeError] if a fit to n rows needs more memory than the options allow.
func (e *dualExact) checkMemory(n int64) error {
	need := dualBytes(n, e.d, e.t, e.method, e.plan) + float64(e.rowBytes)
	if need > float64(e.opts.MaxBytes) {
		return &SizeError{
			Dim:   e.d,
			Rows:  n,
			Bytes: uint64(math.Min(need, math.MaxInt64)),
			Limit: e.opts.MaxBytes,
		}
	}
	return nil
}

// dualBytes returns the memory in bytes that a dual method needs for n rows, without the rows themselves.
func dualBytes(n int64, d, t int, method Method, plan dualPlan) float64 {
	squares := 2
	if plan.shouldReduce() {
		squares++
	}
	if plan.leverage {
		squares++
	}
	if plan.minimum {
		squares += 2
	}
	if method == DualCG {
		squares = 0
	}
	bytes := dual.Bytes(n, d, t, squares)
	if method == DualCG && plan.leverage {
		bytes += dual.LeverageBytes(n, d, deepTrials)
	}
	return bytes
}

// read makes the pass over src. It computes AAᵀ, unless the method is DualCG.
func (e *dualExact) read(ctx context.Context, src dataset.Source) error {
	e.passes = 1
	if features, ok := dataset.ByColumns(src); ok {
		y, w, err := dataset.Samples(ctx, src)
		if err != nil {
			return err
		}
		return e.readColumns(ctx, features, y, w)
	}
	kept, err := e.storeRows(ctx, src)
	if err != nil {
		return err
	}
	if kept == nil {
		return e.readAgain(ctx, src)
	}
	if e.method == DualCG &&
		(!kept.Sparse() || e.plan.preferFaster && kept.Steps() < FewSteps) {
		e.method = Dual
		if err := e.checkMemory(int64(kept.N())); err != nil {
			return err
		}
	}
	return e.learn(ctx, kept)
}

// readColumns computes AAᵀ column by column.
func (e *dualExact) readColumns(ctx context.Context, features dataset.Source, y, w []float64) error {
	e.method = Dual
	_, n, _ := features.Dims()
	if err := e.checkMemory(int64(n)); err != nil {
		return err
	}
	if len(y) != n*e.t {
		return fmt.Errorf("%w: %d targets for %d rows", errShape, len(y), n)
	}
	for i, v := range w {
		if !(v >= 0) || v > rows.MaxWeight {
			return &fd.RangeError{Row: i}
		}
	}
	data := dual.NewFeatures(features, e.t, y, w, e.opts.Intercept)
	if err := checkRows(int64(n), data.Total()); err != nil {
		return err
	}
	e.measuresRead = true
	if err := e.learn(ctx, data); err != nil {
		return err
	}
	if e.opts.Progress != nil {
		e.opts.Progress(int64(n)) // progress is reported once, at the end
	}
	return nil
}

// readAgain computes AAᵀ for rows that do not fit in memory. It makes one pass for each group of columns.
func (e *dualExact) readAgain(ctx context.Context, src dataset.Source) error {
	src = dual.Counted{Source: src, Passes: &e.passes}
	n, _, _ := src.Dims()
	need := dualBytes(n, e.d, e.t, Dual, e.plan)
	room := min((float64(e.opts.MaxBytes)-need)/2, 8*float64(n)*float64(e.d))
	features, err := dataset.Transpose(
		ctx,
		dataset.WithoutTargets(src),
		int(math.Max(room, 1)),
	)
	if err != nil {
		return err
	}
	y, w, err := dual.Targets(ctx, src)
	if err != nil {
		return err
	}
	err = e.readColumns(ctx, features, y, w)
	e.measuresRead = false // src counts the passes
	return err
}

// FewSteps is the number of conjugate gradient steps that a dual solution usually needs at least. If a
// factorisation costs less than this number of steps, it is used instead of conjugate gradients.
const FewSteps = 60

// storeRows reads the rows of src into memory. It returns nil if the rows are dense and need too much memory.
func (e *dualExact) storeRows(ctx context.Context, src dataset.Source) (*dual.Rows, error) {
	n, _, _ := src.Dims()
	raw := 0.0
	kept := dual.NewRows(e.d, e.t, e.opts.Intercept)
	whole, inMemory := dataset.InMemory(src)
	blocks := src.Blocks(ctx)
	if inMemory {
		blocks = func(yield func(dataset.Block, error) bool) { yield(whole, nil) }
	}
	for b, err := range blocks {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		raw, err = rows.CheckBlock(b, e.d, e.t, kept.N(), raw)
		if err != nil {
			return nil, err
		}
		if b.Sparse == nil && b.N > 0 && e.method == DualCG {
			e.method = Dual
			if err := e.checkMemory(max(n, 0)); err != nil {
				return nil, err
			}
		}
		need := dualBytes(n, e.d, e.t, Dual, e.plan)
		if !inMemory &&
			b.Sparse == nil &&
			n > 0 &&
			need+8*float64(n)*float64(e.d) > float64(e.opts.MaxBytes) &&
			need <= float64(e.opts.MaxBytes) {
			return nil, nil
		}
		kept.Add(b, !inMemory)
		e.rowBytes = kept.Bytes()
		if err := e.checkMemory(int64(kept.N())); err != nil {
			return nil, err
		}
		if e.opts.Progress != nil {
			e.opts.Progress(int64(kept.N()))
		}
	}
	if err := rows.CheckCount(n, int64(kept.N())); err != nil {
		return nil, err
	}
	kept.Close(raw)
	if err := checkRows(int64(kept.N()), kept.Total()); err != nil {
		return nil, err
	}
	if e.opts.Intercept && !rows.Spreads(raw, kept.Total()) {
		return nil, &fd.RangeError{Row: kept.N() - 1}
	}
	return kept, nil
}

// learn stores data and computes the quantities that do not depend on γ.
func (e *dualExact) learn(ctx context.Context, data dual.Operator) error {
	e.data = data
	e.known = certify.Dual{
		Backend:   e.opts.Backend,
		Rows:      int64(data.N()),
		Dim:       e.d,
		Intercept: e.opts.Intercept,
		Projected: e.opts.projection(),
		Size:      data.Size(),
	}
	for j := range e.t {
		e.known.TSS = append(e.known.TSS, data.Squares(j))
		e.start = append(e.start, data.Centred(j))
	}
	if e.method == DualCG {
		e.unround()
		return nil
	}
	return e.multiply(ctx)
}

// unround adds the rounding errors of scaled features to the bounds on the errors of the rows.
func (e *dualExact) unround() {
	units := e.opts.Rounding
	if units == nil {
		return
	}
	reach := e.data.Reach()
	most := 0.0
	root := math.Sqrt(e.data.Total()) * (1 - roundoff.Few*roundoff.Eps)
	e.known.Root, e.known.Scaled = root, make([]float64, e.d)
	for j, v := range units {
		if v > 0 {
			e.known.Scaled[j] = (v*roundoff.Unit*reach[j] + root*roundoff.Underflow) * roundoff.Inflate
			most = math.Max(most, v)
		}
	}
	size := vec.Norm(e.known.Scaled) * roundoff.Inflate
	e.known.Size += size
	if e.gram == nil {
		return
	}
	// The error of row i has two parts. The rounding of its own entries is at most most·2⁻⁵³ relatively. The error
	// of the subtracted mean of all rows is at most size/root, where root is the square root of the sum of weights.
	far := vec.Norm(reach) * roundoff.Inflate / root // bounds the norm of the means
	for i, norm := range e.gram.Norms {
		w := e.data.Root(i)
		e.gram.Off[i] += (most*roundoff.Unit*(norm*roundoff.Inflate+w*far) + w*size/root) * roundoff.Inflate
	}
}

// multiply computes G = AAᵀ.
func (e *dualExact) multiply(ctx context.Context) (err error) {
	n := e.data.N()
	e.work = make([]float64, n*n)
	e.gram, err = e.data.Gram(ctx, e.opts.Backend, make([]float64, n*n), e.work)
	if err != nil {
		return err
	}
	e.known.Off, e.known.Shift = e.gram.Off, e.gram.Shift
	e.known.Size = math.Min(e.data.Size(), e.gram.Size())
	e.unround()
	return nil
}

// meanEigenvalue returns the mean eigenvalue of AᵀA, ‖A‖²_F/d. If AAᵀ has not been computed, it returns an
// upper bound.
func (e *dualExact) meanEigenvalue() float64 {
	size := e.known.Size
	if e.gram != nil {
		size = e.gram.Norm()
	}
	return size * size / float64(e.d)
}
