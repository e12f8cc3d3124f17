package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// LeaveOneOutOptions are the options of [LeaveOneOut]. All fields may be zero.
type LeaveOneOutOptions struct {
	Reducer  Reducer          // as for [SolvePath]; it gets 5kt + 2 numbers, for k values of γ and t targets
	Progress func(rows int64) // if not nil, called with the number of rows read so far
	// Left, if not nil, receives the leave-one-out predictions of the solution fits[fit] for each block b of rows.
	// Calls may run in parallel. With t targets, element i·t + j of brackets and estimates is for row i and target
	// j. For rows of weight 0, these elements are meaningless.
	//
	// If columns were projected out of the rows, b has the features after the projection, but the targets before
	// the projection. The predictions are for the targets before the projection.
	Left func(fit int, b dataset.Block, brackets []Interval, estimates []float64)

	diagnosed func(*RowDiagnostics) error // if not nil, receives the diagnostics of each row for fits[0], in order
}

// LeftOutScores holds leave-one-out errors, indexed by γ and target.
type LeftOutScores struct {
	Bounds    [][]Interval // brackets of the leave-one-out errors of the exact solutions
	Estimates [][]float64  // estimates inside the brackets; if nil, use the midpoints
}

// LeaveOneOut makes a pass over src, which has the n rows of sum. fits are solutions for these rows, from
// [Summary.Path] or any other method. For each fit and target, LeaveOneOut brackets the leave-one-out error of the
// exact solution x* at the γ of the fit. A fit may have a γ for each target ([Outcome.Gammas]). The leave-one-out
// error is the mean squared error if each row is predicted by the exact solution of all other rows. With sample
// weights w and H = AᵀA + γI it is
//
//	Σ w·(r/(1 − h))²/n,   h = w·aᵀH⁻¹a + w/Σw,   r = b − aᵀx*.
//
// The row a and its target b are centred if there is an intercept. Without an intercept, h has no term w/Σw.
// Scikit-learn's RidgeCV uses the same score, weights included.
//
// No system is solved for a subset of the rows. LeaveOneOut brackets aᵀH⁻¹a from the sketch, as a [Predictor]
// does. It bounds the error of r by the certificate of the fit x̂:
//
//	|r − (b − aᵀx̂)| ≤ √(aᵀH⁻¹a)·‖H^{½}(x̂ − x*)‖.
//
// With m rows in the sketch, d features and t targets, a row takes O(md) time, O(m) time for each γ of a fit, and
// O(td) time for each fit.
//
// If the certificate is tight and the sketch has lost little, the brackets are narrow.
//
// If sum is a summary of projected rows ([Summary.Projected]), src must be the result of
// columns.Projection.ApplyWithLeverages. The leave-one-out errors are then the errors of the rows before the
// projection.
//
// Errors are the errors of [SolvePath], and [ErrShape] if the numbers of targets or features of a fit are wrong.
func LeaveOneOut(
	ctx context.Context,
	src dataset.Source,
	sum *Summary,
	fits []*Solution,
	opts LeaveOneOutOptions,
) (*LeftOutScores, error) {
	if src == nil {
		return nil, errNoSource
	}
	if !sum.isValid() {
		return nil, errZeroValue
	}
	fits = slices.Clone(fits)
	for i, f := range fits {
		if f == nil || !f.hasShape(sum.cfg.Targets, sum.cfg.Dim) {
			return nil, unfit("fit %d does not have %d targets and %d features", i+1, sum.cfg.Targets, sum.cfg.Dim)
		}
		f, err := sum.inColumns(f)
		if err != nil {
			return nil, err
		}
		fits[i] = f
	}
	gammas, _ := groupByGamma(fits)
	k, err := sum.quantities("leave-one-out", 1, gammas...)
	if err != nil {
		return nil, err
	}
	return leaveOneOutOf(ctx, src, k, fits, opts)
}

// leaveOneOutOf does the work of [LeaveOneOut]. k holds the sketch and the bounds from the summary of the rows.
func leaveOneOutOf(
	ctx context.Context,
	src dataset.Source,
	k *certify.Known,
	fits []*Solution,
	opts LeaveOneOutOptions,
) (*LeftOutScores, error) {
	l, err := newLeaveOneOut(src, k, fits, opts)
	if err != nil {
		return nil, err
	}
	if err := l.read(ctx, src, opts.Progress); err != nil {
		return nil, err
	}
	found := l.sums()
	workers := 1
	if opts.Reducer != nil {
		if err := opts.Reducer.Allreduce(ctx, found); err != nil {
			return nil, err
		}
		workers = opts.Reducer.Size()
	}
	return l.scores(found, workers)
}

// leftTasks is the number of parallel tasks among which the rows of a block are divided. It is a constant, because
// the sums must not depend on the number of cores.
const leftTasks = 8

// leaveOneOut is the state of the pass of [LeaveOneOut].
type leaveOneOut struct {
	d, t int
	// width is the number of targets of the source. It is t for an ordinary source, and 2t+2 for the result of
	// columns.Projection.ApplyWithLeverages.
	width int
	opts  LeaveOneOutOptions
	known *certify.LeftOut
	// functions is a matrix with Forms() rows for each γ, and one column for each singular vector of the sketch.
	// For a row a, it is multiplied by the squares of Va, where V holds the singular vectors. The products bracket
	// aᵀH⁻¹a for H = AᵀA + γI.
	functions []float64
	groups    []leftGroup       // one for each γ
	fits      []certify.LeftFit // for each fit and target
	rss       []Interval        // certified RSS of each fit
	rows      int64
	tasks     [leftTasks]leftTask
	now       dataset.Block // the current block, shared by the tasks
	whole     *Predictor    // projects all rows of a dense block at once, so that V is packed only once
	loop      *parallel.Loop
	diagnosis *diagnosis // nil: none
}

// A leftGroup lists the targets of a fit that have the same γ.
type leftGroup struct {
	fit     int
	targets []int
	isLast  bool // the next group belongs to another fit
}

// groupByGamma returns the different γ of each fit, one fit after the other, and the targets that have them.
func groupByGamma(fits []*Solution) (gammas []float64, groups []leftGroup) {
	for i, f := range fits {
		start := len(gammas)
		for j := range f.Targets {
			g := f.GammaOf(j)
			at := start + slices.Index(gammas[start:], g)
			if at < start {
				at = len(gammas)
				gammas = append(gammas, g)
				groups = append(groups, leftGroup{fit: i})
			}
			groups[at].targets = append(groups[at].targets, j)
		}
		groups[len(groups)-1].isLast = true
	}
	return gammas, groups
}

// A leftTask sums a fixed part of every block.
type leftTask struct {
	*Predictor // projects rows onto the singular vectors V; its anchors are the coefficients of all fits
	weight     twofold.Total
	errors     []leftSum // one for each fit
	forms      []float64 // functions times the squares of Va for n rows a, Forms()·k×n
	inBasis    []float64 // ‖Va‖² of each row a
	rows       []certify.LeftRow
	levers     []certify.Leverage
	brackets   []interval.Interval // of the leave-one-out predictions
	estimates  []float64           // of the leave-one-out predictions
}

// A leftSum holds the sums for one fit.
type leftSum struct {
	lo, hi, estimate twofold.Total // bounds and estimate of Σw(r/(1 − h))²
	rss              twofold.Total // Σwr² of the fit itself
	off              twofold.Total // Σw·off², where off bounds the error of the residual r
}

func newLeaveOneOut(
	src dataset.Source,
	k *certify.Known,
	fits []*Solution,
	opts LeaveOneOutOptions,
) (*leaveOneOut, error) {
	l := &leaveOneOut{
		d:     k.Sketch.Dim,
		t:     len(k.TSS),
		width: len(k.TSS),
		opts:  opts,
	}
	if k.Projected != nil {
		l.width += 2 + l.t
	}
	if _, d, t := src.Dims(); d != l.d || t != l.width {
		return nil, fmt.Errorf(
			"%w: the source has %d features and %d targets, must have %d and %d",
			errShape,
			d,
			t,
			l.d,
			l.width,
		)
	}
	var gammas []float64
	gammas, l.groups = groupByGamma(fits)
	if opts.diagnosed != nil {
		l.diagnosis = newDiagnosis(opts.diagnosed, l.t, gammas, l.groups)
	}
	l.known = k.LeftOut(gammas)
	l.functions = l.known.Functions()
	p, err := projector(k)
	if err != nil {
		return nil, err
	}
	l.whole = p
	l.fits = make([]certify.LeftFit, len(fits)*l.t)
	for g, group := range l.groups {
		for _, j := range group.targets {
			o := &fits[group.fit].Targets[j]
			l.fits[group.fit*l.t+j] = l.known.Fit(g, o.Coef, j, o.bounds())
		}
	}
	for _, f := range fits {
		for _, o := range f.Targets {
			mean := 0.0
			if p.basis.mean != nil {
				mean = vec.Dot(p.basis.mean, o.Coef)
			}
			p.weights = append(p.weights, o.Coef...)
			p.anchors = append(p.anchors, certify.Anchor{Mean: mean})
			l.rss = append(l.rss, o.RSS)
		}
	}
	for i := range l.tasks {
		own := *p // with its own workspace
		l.tasks[i] = leftTask{Predictor: &own, errors: make([]leftSum, len(l.fits))}
	}
	l.loop = parallel.New(l.whole.be, leftTasks, func(i int) error {
		l.runTask(i)
		return nil
	})
	return l, nil
}

// read makes the pass over src.
func (l *leaveOneOut) read(ctx context.Context, src dataset.Source, progress func(int64)) error {
	n, _, _ := src.Dims()
	raw := 0.0
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		raw, err = rows.CheckBlock(b, l.d, l.width, int(l.rows), raw)
		if err != nil {
			return err
		}
		l.now = b
		if b.Sparse == nil {
			l.whole.project(b)
		}
		if l.diagnosis != nil {
			l.diagnosis.grow(b.N)
		}
		l.loop.Run()
		if l.diagnosis != nil {
			if err := l.diagnosis.flush(b); err != nil {
				return err
			}
		}
		l.rows += int64(b.N)
		if progress != nil {
			progress(l.rows)
		}
	}
	return rows.CheckCount(n, l.rows)
}

// runTask processes those rows of the current block that belong to task i.
func (l *leaveOneOut) runTask(i int) {
	task := &l.tasks[i]
	for lo := i * l.whole.block; lo < l.now.N; lo += leftTasks * l.whole.block {
		l.add(
			task,
			l.now.Cut(lo, min(lo+l.whole.block, l.now.N), l.d, l.width, &task.work.view),
			lo,
		)
	}
}

// add adds the rows of b to the sums of s. Row 0 of b is row first of the current block. b has at most
// l.whole.block rows.
func (l *leaveOneOut) add(s *leftTask, b dataset.Block, first int) {
	r := len(s.basis.v) / l.d
	n := b.N
	all := l.now.N
	w := &l.whole.work
	start := first
	k := len(l.groups)
	if b.Sparse != nil {
		w = &s.work
		first = 0
		all = n
		s.project(b)
	}
	along := w.along[first*r : (first+n)*r]
	size := w.size[2*first:]
	product := func(at int) []float64 {
		return w.product[at*all+first : at*all+first+n]
	}
	s.forms = vec.Grow(s.forms, l.known.Forms()*k*n)
	s.inBasis = vec.Grow(s.inBasis, n)
	for i := range n {
		sum := 0.0
		for at, v := range along[i*r : (i+1)*r] {
			along[i*r+at] = v * v
			sum += v * v
		}
		s.inBasis[i] = sum
	}
	l.whole.be.Gemm(
		false,
		true,
		1,
		engine.View(l.known.Forms()*k, r, l.functions),
		engine.View(n, r, along),
		0,
		engine.View(l.known.Forms()*k, n, s.forms),
	)
	s.rows = s.rows[:0]
	s.levers = slices.Grow(s.levers[:0], n)[:n]
	for i := range n {
		nnz := -1
		if b.Sparse != nil {
			idx, _ := b.Sparse.Row(i)
			nnz = len(idx)
		}
		row := l.known.Row(b.Weight(i), size[2*i], s.inBasis[i], size[2*i+1], nnz)
		if l.known.Projects() {
			leverage := b.Y[i*l.width+l.t]
			share := b.Y[i*l.width+l.t+1]
			l.known.Lift(&row, leverage, share)
		}
		s.rows = append(s.rows, row)
		s.weight.Add(b.Weight(i))
	}
	for g, group := range l.groups {
		below := s.forms[g*n:]
		above := s.forms[(k+g)*n:]
		estimate := s.forms[:n]
		if l.known.Forms() == 3 {
			estimate = s.forms[(2*k+g)*n:]
		}
		for i := range s.rows {
			s.levers[i] = l.known.Leverage(g, &s.rows[i], below[i], above[i], estimate[i])
		}
		for _, j := range group.targets {
			at := group.fit*l.t + j
			v := l.known.Sum(s.rows, s.levers, &l.fits[at], b.Y, l.width, product(at))
			e := &s.errors[at]
			e.lo.Add(v.Lo)
			e.hi.Add(v.Hi)
			e.estimate.Add(v.Estimate)
			e.rss.Add(v.RSS)
			e.off.Add(v.Off)
		}
		if l.opts.Left != nil {
			l.predict(s, b, group, product)
		}
		if l.diagnosis != nil && group.fit == 0 {
			l.diagnosis.add(l, s, b, start, g, product)
		}
	}
}

// predict computes the leave-one-out predictions of group g. After the last group of a fit, it calls
// LeaveOneOutOptions.Left.
func (l *leaveOneOut) predict(s *leftTask, b dataset.Block, g leftGroup, product func(at int) []float64) {
	size := b.N * l.t
	s.brackets = slices.Grow(s.brackets[:0], size)[:size]
	s.estimates = vec.Grow(s.estimates, size)
	for _, j := range g.targets {
		at := g.fit*l.t + j
		l.known.Predictions(
			s.rows,
			s.levers,
			&l.fits[at],
			b.Y,
			l.width,
			product(at),
			l.t,
			s.brackets,
			s.estimates,
		)
	}
	if !g.isLast {
		return
	}
	brackets := make([]Interval, size)
	for i, v := range s.brackets {
		brackets[i] = Interval(v)
	}
	if l.known.Projects() {
		before := make([]float64, 0, size)
		for i := range b.N {
			end := (i + 1) * l.width
			before = append(before, b.Y[end-l.t:end]...)
		}
		b.Y = before
	}
	l.opts.Left(g.fit, b, brackets, s.estimates)
}

// leftNumbers is the number of sums for each fit.
const leftNumbers = 5

// sums returns the number of rows, their total weight, and the sums for each fit.
func (l *leaveOneOut) sums() []float64 {
	out := make([]float64, 2+leftNumbers*len(l.fits))
	out[0] = float64(l.rows)
	for i := range l.tasks {
		s := &l.tasks[i]
		out[1] += s.weight.Value()
		for at, e := range s.errors {
			sums := [leftNumbers]float64{e.lo.Value(), e.hi.Value(), e.estimate.Value(), e.rss.Value(), e.off.Value()}
			for k, v := range sums {
				out[2+leftNumbers*at+k] += v
			}
		}
	}
	return out
}

// scores computes the leave-one-out errors. found holds the numbers that the method sums returns, added up over all
// workers. workers is the number of workers.
func (l *leaveOneOut) scores(found []float64, workers int) (*LeftOutScores, error) {
	rows, weight := found[0], found[1]
	if rows != float64(l.known.Rows) ||
		!(math.Abs(weight-l.known.Weight) <= roundoff.SameRows*l.known.Weight) {
		return nil, unfit(
			"this pass read %g rows of weight %g, the summary has %d of %g",
			rows,
			weight,
			l.known.Rows,
			l.known.Weight,
		)
	}
	n := float64(l.known.Rows)
	// round bounds the relative round-off of the sums. It includes plain additions: of the sums of tasks and of
	// workers, and within a group of StageRows rows. All other additions are compensated.
	round := (8 + n*n*roundoff.Unit + roundoff.StageRows + leftTasks + float64(workers)) * roundoff.Eps
	// lost bounds how much the norm of the residuals changes because weighted squares underflow.
	lost := math.Sqrt(n) * 0x1p-536
	out := &LeftOutScores{}
	for at := range l.fits {
		sums := found[2+leftNumbers*at:]
		lo := sums[0]
		hi := sums[1]
		estimate := sums[2]
		rss := sums[3]
		off := sums[4]
		if at%l.t == 0 {
			out.Bounds = append(out.Bounds, nil)
			out.Estimates = append(out.Estimates, nil)
		}
		v := interval.PerWeight(interval.Interval{Lo: lo, Hi: hi}, n, round)
		if !(v.Hi <= math.MaxFloat64/2) || math.IsNaN(v.Lo) {
			v = interval.Nonnegative()
		}
		last := len(out.Bounds) - 1
		out.Bounds[last] = append(out.Bounds[last], Interval(v))
		out.Estimates[last] = append(out.Estimates[last], v.Estimate(estimate/n))
		seen := interval.WidenRoot(
			interval.Interval{Lo: rss * (1 - round), Hi: rss * (1 + round)},
			math.Sqrt(off)*(1+round)+lost,
		)
		if interval.Apart(seen, interval.Interval(l.rss[at])) {
			return nil, unfit(
				"the rows of this pass are not the rows of the fits: for target %d, ‖Ax − b‖² is between %g and "+
					"%g, but the fit proves %g to %g",
				at%l.t+1,
				seen.Lo,
				seen.Hi,
				l.rss[at].Lo,
				l.rss[at].Hi,
			)
		}
	}
	return out, nil
}
