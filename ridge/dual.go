package ridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/dual"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// dualTol is the relative error that a dual solution is certified to, where that is possible and
// no other was asked for: what it takes is a few products with rows that are in memory.
const dualTol = 1e-12

// mostMeasured is how often a dual solution is measured at most. Each time leaves of an error what
// the factor is off by.
const mostMeasured = 6

// dual says that a factor is one of G = AAᵀ.
func (f Factor) dual() bool { return f == Dual || f == DualCG }

// exactByRows is Exact through G = AAᵀ.
func exactByRows(ctx context.Context, src dataset.Source, gammas []float64, opts ExactOptions) ([]*Solution, error) {
	e, err := newDual(src, opts)
	if err != nil {
		return nil, err
	}
	if err := e.read(ctx, src); err != nil {
		return nil, err
	}
	fits, err := e.solve(ctx, gammas)
	if err != nil {
		return nil, err
	}
	if opts.Tol > 0 {
		for _, f := range fits {
			f.Status = f.directStatus(opts.Tol)
		}
	}
	return fits, nil
}

// dualExact is a direct fit through G = AAᵀ under way.
type dualExact struct {
	d, t  int
	opts  ExactOptions
	rows  *dual.Rows
	known certify.Dual
	start [][]float64 // b of each target, about, n
	work  []float64   // n², of a factor; nil where none was made
	gram  *dual.Gram  // nil until it is wanted
}

// newDual begins a dual fit. The memory of n² numbers, where n is known, is told before any
// is taken.
func newDual(src dataset.Source, opts ExactOptions) (*dualExact, error) {
	n, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("%w: %d features and %d targets", errShape, d, t)
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	e := &dualExact{d: d, t: t, opts: opts, rows: dual.NewRows(d, t, opts.Intercept)}
	return e, e.fits(max(n, 0))
}

// fits refuses n rows that with G, its factor and what is kept of them take too much memory.
func (e *dualExact) fits(n int64) error {
	if need := dualBytes(n, e.d, e.t, e.opts.Factor) + float64(e.rows.Bytes()); need > float64(e.opts.MaxBytes) {
		return &SizeError{Dim: e.d, Rows: n, Bytes: uint64(math.Min(need, math.MaxInt64)), Limit: e.opts.MaxBytes}
	}
	return nil
}

// dualBytes is the memory of a dual solution of n rows, but for the rows.
func dualBytes(n int64, d, t int, factor Factor) float64 {
	rows, features := float64(n), float64(d)
	vectors := 8 * float64(t) * (8*features + 16*rows)
	if factor == DualCG {
		return vectors + 8*(4*features+10*rows)
	}
	panel := rows * float64(dual.PanelColumns(int(min(n, math.MaxInt32)), d))
	return vectors + 8*(2*rows*rows+panel)
}

// read keeps the rows.
func (e *dualExact) read(ctx context.Context, src dataset.Source) error {
	n, _, _ := src.Dims()
	raw := 0.0
	whole, inMemory := dataset.InMemory(src)
	blocks := src.Blocks(ctx)
	if inMemory {
		blocks = func(yield func(dataset.Block, error) bool) { yield(whole, ctx.Err()) }
	}
	for b, err := range blocks {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if raw, err = rows.CheckBlock(b, e.d, e.t, e.rows.N(), raw); err != nil {
			return err
		}
		e.rows.Add(b, !inMemory)
		if err := e.fits(int64(e.rows.N())); err != nil {
			return err
		}
		if e.opts.Progress != nil {
			e.opts.Progress(int64(e.rows.N()))
		}
	}
	if err := checkCount(n, int64(e.rows.N())); err != nil {
		return err
	}
	e.rows.Close(raw)
	if !e.rows.Sparse() {
		e.opts.Factor = Dual
		if err := e.fits(int64(e.rows.N())); err != nil {
			return err
		}
	}
	if err := checkRows(int64(e.rows.N()), e.rows.Total()); err != nil {
		return err
	}
	if e.opts.Intercept && !rows.Spreads(raw, e.rows.Total()) {
		return &fd.RangeError{Row: e.rows.N() - 1}
	}
	return e.learn(ctx)
}

// learn finds what all γ have in common.
func (e *dualExact) learn(ctx context.Context) error {
	be, n := e.opts.Backend, e.rows.N()
	e.known = certify.Dual{
		Backend: be, Rows: int64(n), Dim: e.d, Intercept: e.opts.Intercept,
		MeanNorm: e.rows.MeanNorm(be), Size: e.rows.Size(),
	}
	for j := range e.t {
		e.known.TSS = append(e.known.TSS, e.rows.Squares(be, j))
		e.start = append(e.start, e.rows.Centred(j))
	}
	if e.opts.Factor == DualCG {
		return nil
	}
	return e.multiply(ctx)
}

// multiply makes G.
func (e *dualExact) multiply(ctx context.Context) (err error) {
	n := e.rows.N()
	e.work = make([]float64, n*n)
	if e.gram, err = e.rows.Gram(ctx, e.opts.Backend, make([]float64, n*n), e.work); err != nil {
		return err
	}
	e.known.Off = e.gram.Off
	e.known.Size = math.Min(e.known.Size, e.gram.Size())
	return nil
}

// solve solves for all γ.
func (e *dualExact) solve(ctx context.Context, gammas []float64) ([]*Solution, error) {
	fits := make([]*Solution, 0, len(gammas))
	for _, g := range gammas {
		f, err := e.fit(ctx, g)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// A dualSystem is a target at a γ on its way: where it is measured next, what is left there of
// b − (G + γI)α, and the best that was found.
type dualSystem struct {
	dual.Point
	left   []float64
	norm   float64 // bounds that of left; +Inf before it was measured
	found  *dual.Found
	bounds certify.Weights
	ended  bool
}

// fit solves for one γ.
func (e *dualExact) fit(ctx context.Context, gamma float64) (*Solution, error) {
	systems := e.systems(gamma)
	if e.opts.Factor == DualCG {
		f, converged, err := e.byCG(ctx, gamma, systems)
		if err != nil || converged {
			return f, err
		}
		if err := e.fallBack(ctx); err != nil {
			return nil, err
		}
		systems = e.systems(gamma)
	}
	factored := e.gram.Cholesky(e.opts.Backend, gamma, e.work)
	if factored == nil {
		return nil, &SingularError{gamma, Dual.String(), -1}
	}
	df := e.known.Dimension(factored)
	n := e.rows.N()
	err := e.refine(ctx, systems, df, func(open []*dualSystem) error {
		all := make([]float64, 0, len(open)*n)
		for _, s := range open {
			all = append(all, s.left...)
		}
		e.opts.Backend.CholeskySolve(engine.View(n, n, factored.R), engine.View(len(open), n, all))
		for i, s := range open {
			copy(s.left, all[i*n:(i+1)*n])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.solution(systems, df, Dual), nil
}

// systems are those of all targets at γ, at α = 0.
func (e *dualExact) systems(gamma float64) []*dualSystem {
	out := make([]*dualSystem, e.t)
	for j := range out {
		n := e.rows.N()
		out[j] = &dualSystem{
			Point: dual.Point{Gamma: gamma, Target: j, Hi: make([]float64, n), Lo: make([]float64, n)},
			left:  append([]float64(nil), e.start[j]...), norm: math.Inf(1),
		}
	}
	return out
}

// tol is the relative error to be certified.
func (e *dualExact) tol() float64 {
	if e.opts.Tol > 0 {
		return e.opts.Tol
	}
	return dualTol
}

// refine moves each α by what solve makes of what is left there, measures anew, and goes on as
// long as that is not certified to the tolerance and comes nearer.
func (e *dualExact) refine(ctx context.Context, systems []*dualSystem, df interval.Interval, solve func(open []*dualSystem) error) error {
	for range mostMeasured {
		var open []*dualSystem
		for _, s := range systems {
			if !s.ended {
				open = append(open, s)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := solve(open); err != nil {
			return err
		}
		points := make([]dual.Point, len(open))
		for i, s := range open {
			e.move(s)
			points[i] = s.Point
		}
		for i, found := range e.rows.Measure(e.opts.Backend, points) {
			e.take(open[i], found, df)
		}
	}
	return nil
}

// move adds what a solve has left in s.left, which is of α, to θ.
func (e *dualExact) move(s *dualSystem) {
	for i, v := range s.left {
		if root := e.rows.Root(i); root > 0 {
			hi, lo := twofold.Sum(s.Hi[i], v/root)
			s.Hi[i], s.Lo[i] = twofold.Sum(hi, lo+s.Lo[i])
		}
	}
}

// take takes in what was measured.
func (e *dualExact) take(s *dualSystem, found *dual.Found, df interval.Interval) {
	bounds := e.known.Weights(s.Target, &certify.DualPoint{
		Gamma: s.Gamma, X: found.X, Low: found.Low, Apart: found.Apart, Norm: found.Norm, RSS: found.RSS, Mean: found.Mean,
	}, df)
	if s.found == nil || bounds.Error < s.bounds.Error {
		s.found, s.bounds = found, bounds
	}
	s.ended = bounds.Relative <= e.tol() || !(found.Norm < s.norm/2)
	s.norm = found.Norm
	copy(s.left, found.Residual)
}

// solution is what was found for all targets at a γ.
func (e *dualExact) solution(systems []*dualSystem, df interval.Interval, factor Factor) *Solution {
	f := &Solution{
		Gamma: systems[0].Gamma, EffectiveDimension: Interval(df),
		Method: factor.String(), Backend: e.opts.Backend.Name(), Rows: int64(e.rows.N()), Passes: 1,
		Status: Factorized,
	}
	for j, s := range systems {
		total, _ := e.known.TSS[j].Round()
		f.Targets = append(f.Targets, newTarget(s.found.X, math.Max(0, total), s.bounds))
	}
	return f
}

// byCG solves by conjugate gradients on sparse rows, without G. converged is false where that takes
// longer than a factor of G would.
func (e *dualExact) byCG(ctx context.Context, gamma float64, systems []*dualSystem) (f *Solution, converged bool, err error) {
	df := e.known.Rank(gamma)
	cg := e.rows.NewCG(gamma)
	most, converged := e.mostSteps(), true
	// ‖x − x*‖ is at most so many times ‖r‖, see certify.Dual.
	far := math.Min(1/(2*math.Sqrt(gamma)), e.known.Size/gamma)
	err = e.refine(ctx, systems, df, func(open []*dualSystem) error {
		for _, s := range open {
			size := 0.0
			if s.found != nil {
				size = vec.Norm(s.found.X)
			}
			solved := cg.Solve(s.left, most, func(residual, weights float64) bool {
				return far*residual <= e.tol()/4*math.Max(size, weights) || ctx.Err() != nil
			})
			converged = converged && solved
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, false, err
	}
	f = e.solution(systems, df, DualCG)
	return f, converged && f.certifiedTo(e.tol()), nil
}

// mostSteps is how many steps of CG, of 4 flops an entry, take as long as G and its factor:
// scattered entries are taken to cost ten times as much as those of a matrix product.
func (e *dualExact) mostSteps() int {
	const scattered = 10
	n, entries := float64(e.rows.N()), math.Max(e.rows.NNZ(), 1)
	return int(math.Min(50+2*n*n*n/3/(4*entries*scattered), 100000))
}

// fallBack makes G after all.
func (e *dualExact) fallBack(ctx context.Context) error {
	if e.gram != nil {
		return nil
	}
	cg := e.opts.Factor
	e.opts.Factor = Dual
	err := e.fits(int64(e.rows.N()))
	if err == nil {
		err = e.multiply(ctx)
	}
	e.opts.Factor = cg
	return err
}
