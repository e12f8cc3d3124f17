package ridge

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
)

// Method is an iteration that refines the one-shot solution.
type Method int

const (
	// CG is preconditioned conjugate gradients, which never diverge: a product a pass
	// for each γ and target, and a few vectors of length d each. The default.
	CG Method = iota
	// Chebyshev needs no inner products, only the bounds on the spectrum of
	// Ĥ⁻¹H that the sketch proves.
	Chebyshev
	// Newton is the paper's Algorithm 1 (iFDRR, iRFDRR), x ← x − Ĥ⁻¹g.
	Newton
	// Galerkin solves for all γ and targets in one subspace, which grows with every
	// pass by up to 32 vectors: fewer passes than CG's, a half to a tenth of them where
	// the spectrum falls, and for many γ fewer products. It keeps up to 12 vectors of
	// length d for each one of the sketch and each γ and target, and goes on as CG when
	// that is not enough.
	Galerkin
)

var methodNames = [...]string{"cg", "chebyshev", "newton", "galerkin"}

func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// SolveOptions says how to refine; its zero value is the documented default.
type SolveOptions struct {
	Method Method
	// Tol is the relative error ‖x̂ − x*‖/‖x*‖ to be certified for every γ and
	// target. Default 1e-8.
	Tol float64
	// MaxPasses bounds the reads of the data after the summary's. Default 500.
	MaxPasses int
	// PlainFD takes Ĥ = BᵀB + γI (FD) for the Hessian in place of
	// BᵀB + (γ+η/2)I (RFD). Newton then diverges when η > 2γ.
	PlainFD bool
	// Hessian, if not nil, is the Ĥ to iterate with in place of the sketch's: a
	// randomised sketch, a Nyström approximation, [Identity]. Certificates stay
	// those that the summary proves.
	Hessian Hessian
	// Start, if not nil, is where every γ starts from (t×d, in the order of the
	// targets), in place of the one-shot solution Ĥ⁻¹c.
	Start *mat.Dense
	// Observe, if not nil, is shown every iterate, after the pass that reached it.
	Observe func(Iterate)
	// Progress, if not nil, is called after every block that was read.
	Progress func(Progress)
	// Journal, if not nil, keeps what the passes find, for this solve to go on when it
	// is interrupted.
	Journal Journal
	// Reducer, if not nil, adds up what several workers find: src is then this one's
	// share of the rows, and the summary that of all.
	Reducer Reducer
}

// Progress tells how far a solve has come.
type Progress struct {
	Pass          int     // the pass under way, from 1
	Rows          int64   // rows read in it
	RelativeError float64 // the worst bound after the pass before
	Active        int     // systems (γ and target) still iterating
}

// An Iterate is where one system stands: the first is the start, as measured by the
// first pass.
type Iterate struct {
	Gamma  float64
	Target int
	Pass   int       // reads of the data after the summary's
	Coef   []float64 // length d, valid during the call
	// RelativeError bounds ‖x − x*‖/‖x*‖. It is proved where Measured is set; else
	// it is of a gradient that CG carried along.
	RelativeError float64
	Measured      bool
}

// Why an iteration stopped.
const (
	stopTol       = "certified to the tolerance"
	stopZero      = "the solution is zero, to round-off"
	stopRoundOff  = "round-off: float64 certifies no smaller error for these data; standardise the features or raise gamma"
	stopMaxPasses = "the limit on passes"
	stopStalled   = "the Hessian gives nothing new to search"
	stopDiverged  = "the iteration diverged: gamma is too small for this sketch; enlarge the sketch or use cg"
)

// Solve refines the solution at γ until its certificate holds to opts.Tol, by
// passes over src, which must yield the very rows that sum has seen. It is
// [SolvePath] for one γ.
func Solve(ctx context.Context, src dataset.Source, sum *Summary, gamma float64, opts SolveOptions) (*Fit, error) {
	fits, err := SolvePath(ctx, src, sum, []float64{gamma}, opts)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// SolvePath solves for several γ together: all γ and all targets advance in the
// same passes, one read of the data for each iteration, and each drops out when
// it is certified.
//
// After a pass g = Aᵀ(Ax − b) + γx is known at x and the error certified, see
// [Certificate]. Where AᵀY is zero to round-off so is x*, of which no relative
// error can be certified: that is no failure. Not reaching the tolerance, within
// MaxPasses or at all, is a *[NotConvergedError] with the best fits inside. γ must be
// positive (*[GammaError]); a source whose dimensions or rows are not the summary's,
// by their number, weight, ‖Y‖² and AᵀY, is [ErrShape]; their order doesn't matter.
// Rows, targets or a γ whose squares leave the range of float64 are a *[ScaleError]. A
// cancelled ctx ends the pass and returns its error. With a [Reducer] all this holds of
// the rows of all workers together.
func SolvePath(ctx context.Context, src dataset.Source, sum *Summary, gammas []float64, opts SolveOptions) ([]*Fit, error) {
	if opts.Tol == 0 {
		opts.Tol = 1e-8
	}
	if opts.MaxPasses == 0 {
		opts.MaxPasses = 500
	}
	if err := checkSolve(src, sum, gammas, opts); err != nil {
		return nil, err
	}
	spec, err := sum.spectrum()
	if err != nil {
		return nil, err
	}
	r, err := newRefinement(src, sum, spec, gammas, opts)
	if err != nil {
		return nil, err
	}
	solve := r.run
	if opts.Method == Galerkin {
		solve = newGalerkin(r).run
	}
	if err := solve(ctx); err != nil {
		return nil, err
	}
	return r.fits(gammas)
}

func checkSolve(src dataset.Source, sum *Summary, gammas []float64, opts SolveOptions) error {
	switch {
	case !(opts.Tol > 0) || opts.MaxPasses < 0:
		return fmt.Errorf("ridge: Tol is %v and MaxPasses %d, both must be positive", opts.Tol, opts.MaxPasses)
	case opts.Method < CG || opts.Method > Galerkin:
		return fmt.Errorf("ridge: unknown method %v", opts.Method)
	case opts.Hessian != nil && opts.PlainFD:
		return fmt.Errorf("ridge: PlainFD chooses between the sketch's own Hessians, but another one is given")
	case sum.Rows() == 0:
		return ErrEmpty
	}
	_, fresh := opts.Hessian.(Refresher)
	switch {
	case fresh && opts.Reducer != nil:
		return fmt.Errorf("ridge: a Hessian that is made anew from the data in every step would be made of one worker's share; give Newton another one, or no Reducer")
	case fresh && opts.Method != Newton:
		return fmt.Errorf("ridge: %v needs the same Hessian in every step, this one is made anew; use Newton", opts.Method)
	}
	if opts.Start != nil {
		if t, d := opts.Start.Dims(); t != sum.cfg.Targets || d != sum.cfg.Dim {
			return fmt.Errorf("%w: Start is %d×%d, the summary has %d targets and %d features", ErrShape, t, d, sum.cfg.Targets, sum.cfg.Dim)
		}
	}
	for _, g := range gammas {
		if err := checkGamma(g, opts.Method.String()); err != nil {
			return err
		}
	}
	n, d, t := src.Dims()
	if d != sum.cfg.Dim || t != sum.cfg.Targets || n > sum.Rows() || (n >= 0 && n != sum.Rows() && opts.Reducer == nil) {
		return fmt.Errorf("%w: the source has %d rows, %d features and %d targets, the summary %d, %d and %d",
			ErrShape, n, d, t, sum.Rows(), sum.cfg.Dim, sum.cfg.Targets)
	}
	return nil
}

func checkGamma(g float64, method string) error {
	if !(g > 0) || math.IsInf(g, 0) {
		return &GammaError{Gamma: g, Method: method}
	}
	return nil
}

// An iteration is one solver on one system (a γ and a target). It owns the
// iterate x and the gradient g there.
type iteration interface {
	// query writes to v the vector whose product with H the next pass is to
	// compute, and reports whether c is to be subtracted, which makes it the
	// gradient at v.
	query(v []float64) (affine bool)
	// absorb takes that product, moves to the next iterate and its gradient, and
	// reports whether the gradient is the one just measured.
	absorb(hv []float64) (measured bool)
	// step takes z = Ĥ⁻¹g and prepares the next query.
	step(z []float64)
	// verify asks that the next query be the gradient at x.
	verify()
}

// A system is one γ and target on its way.
type system struct {
	iteration
	gamma    float64
	target   int
	x, g     []float64 // iterate and its gradient, owned with the iteration
	residual float64   // ‖Ax − b‖ when last measured
	measured bool      // g was measured at x by the last pass, not carried along
	checking bool      // verify was asked for: no step before the next query

	best      []float64 // the x with the least certified error
	recorded  bool      // there is one
	bestFound measured
	first     float64 // bound of the first measurement
	relative  float64 // bound at best
	bound     float64 // and where it is
	passes    int
	stop      string // empty while iterating
}

// refinement is the loop that every iteration shares.
type refinement struct {
	opts    SolveOptions
	sum     *Summary
	hessian Hessian
	sketch  *sketched // for projections
	know    *knowledge
	pass    *pass
	systems []*system

	active     []*system
	v, hv      []float64 // q×d
	rest       []float64 // q×d, of the projections, then Ĥ⁻¹g
	gammas     []float64
	rss        []float64
	queries    []query
	projection []projection
}

func newRefinement(src dataset.Source, sum *Summary, spec *fd.Spectrum, gammas []float64, opts SolveOptions) (*refinement, error) {
	p, err := newPass(src, sum, &opts)
	if err != nil {
		return nil, err
	}
	r := &refinement{
		opts: opts, sum: sum, hessian: opts.Hessian, pass: p,
		sketch: newSketched(spec, false, sum.be),
		know:   newKnowledge(sum, newSketched(spec, false, sum.be), sum.c()),
	}
	if opts.Reducer != nil {
		r.know.addedUp(opts.Reducer.Workers())
	}
	if err := r.know.inRange(gammas...); err != nil {
		return nil, err
	}
	if r.hessian == nil {
		r.hessian = newSketched(spec, !opts.PlainFD, sum.be)
	}
	d := sum.cfg.Dim
	for _, gamma := range gammas {
		for j := range sum.cfg.Targets {
			s := &system{gamma: gamma, target: j, relative: math.Inf(1)}
			s.x, s.g, s.best = make([]float64, d), make([]float64, d), make([]float64, d)
			if s.iteration, err = newIteration(opts.Method, s, r.hessian); err != nil {
				return nil, err
			}
			r.systems = append(r.systems, s)
		}
	}
	q := len(r.systems)
	more := q + sum.cfg.Targets // the first pass asks for AᵀY too
	r.active = append(r.active, r.systems...)
	r.v, r.hv, r.rest = make([]float64, more*d), make([]float64, more*d), make([]float64, q*d)
	r.gammas, r.rss = make([]float64, q), make([]float64, more)
	r.queries, r.projection = make([]query, more), make([]projection, q)
	return r, nil
}

// start sets every x to opts.Start, or to Ĥ⁻¹c.
func (r *refinement) start(ctx context.Context) error {
	d := r.sum.cfg.Dim
	if r.opts.Start != nil {
		for _, s := range r.systems {
			mat.Row(s.x, s.target, r.opts.Start)
		}
		return nil
	}
	for i, s := range r.systems {
		copy(r.v[i*d:(i+1)*d], r.know.cross[s.target*d:(s.target+1)*d])
		r.gammas[i] = s.gamma
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	r.hessian.Solve(len(r.systems), r.gammas, r.v[:len(r.systems)*d], r.rest)
	for i, s := range r.systems {
		copy(s.x, r.rest[i*d:(i+1)*d])
	}
	return nil
}

func (r *refinement) refresh(ctx context.Context) error {
	if h, ok := r.hessian.(Refresher); ok {
		return h.Refresh(ctx)
	}
	return nil
}

// solve overwrites the first q rows of rest with Ĥ⁻¹g, the g being in v and, for the
// sketch's own Ĥ, already projected.
func (r *refinement) solve(ctx context.Context, q int) error {
	if q == 0 {
		return nil
	}
	if own, ok := r.hessian.(*sketched); ok {
		for i := range q { // step sets them anew
			r.gammas[i] += own.shift
		}
		r.sketch.invert(q, r.gammas[:q], r.rest)
		return nil
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	d := r.sum.cfg.Dim
	r.hessian.Solve(q, r.gammas[:q], r.v[:q*d], r.rest[:q*d])
	return nil
}

func newIteration(m Method, s *system, h Hessian) (iteration, error) {
	switch m {
	case Chebyshev:
		return newChebyshev(s, h)
	case Newton:
		return &newton{x: s.x, g: s.g}, nil
	case Galerkin:
		return newBased(s.x, s.g), nil
	default:
		return newCG(s.x, s.g), nil
	}
}

// run starts, and iterates until every system has stopped.
func (r *refinement) run(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	return r.iterate(ctx, 1)
}

// iterate is run from a pass on.
func (r *refinement) iterate(ctx context.Context, pass int) error {
	d := r.sum.cfg.Dim
	for ; len(r.active) > 0; pass++ {
		last := pass == r.opts.MaxPasses
		q := len(r.active)
		for i, s := range r.active {
			if last {
				s.verify()
			}
			r.queries[i] = query{s.target, s.query(r.v[i*d : (i+1)*d])}
		}
		if err := r.read(ctx, pass, q, r.v, r.hv); err != nil {
			return err
		}
		r.absorb()
		if err := r.judgeAll(pass, last); err != nil {
			return err
		}
		if _, err := r.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read makes a pass for q queries on the rows of v, and sees to it that the rows read
// are those of the summary. The first one asks for AᵀY too.
func (r *refinement) read(ctx context.Context, pass, q int, v, hv []float64) error {
	asked := q
	if pass == 1 {
		asked += r.askForWitness(q, v)
	}
	if err := r.pass.run(ctx, r.queries[:asked], v, hv, r.rss, r.progress(pass)); err != nil {
		return err
	}
	if r.pass.sparse && !r.know.sparse {
		r.know.reads(r.sum, true)
	}
	return r.checkWitness(q, asked, v, hv)
}

// askForWitness adds, behind q queries, those for the gradients at zero, −AᵀY, and
// returns how many.
func (r *refinement) askForWitness(q int, v []float64) int {
	d, t := r.sum.cfg.Dim, r.sum.cfg.Targets
	clear(v[q*d : (q+t)*d])
	for j := range t {
		r.queries[q+j] = query{target: j, affine: true}
	}
	return t
}

// checkWitness refuses rows that are not those of the summary: nothing certified by
// both would be true of either.
func (r *refinement) checkWitness(q, asked int, v, hv []float64) error {
	d, k := r.sum.cfg.Dim, r.know
	if err := k.agree(r.queries[:asked], v, hv); err != nil {
		return err
	}
	if err := k.agreeSquares(r.queries[:asked], v, hv, r.rss); err != nil {
		return err
	}
	for i := q; i < asked; i++ {
		j := r.queries[i].target
		b := k.target(j)
		got := hv[i*d : (i+1)*d]
		vec.Axpy(1, k.cross[j*d:(j+1)*d], got)
		squares := sameRows*b*b + k.squaresError(j) + math.Pow(k.root*k.means[j], 2)
		if off := vec.Norm(got); !(off <= k.crossSlack(j)) || !(math.Abs(r.rss[i]-k.tss[j]) <= squares) {
			return fmt.Errorf("%w: the rows of this pass are not those of the summary: of target %d ‖Y‖² is %.6g where it was %.6g, and AᵀY is %.3g away", ErrShape, j, r.rss[i], k.tss[j], off)
		}
	}
	return nil
}

// absorb hands each system its product.
func (r *refinement) absorb() {
	d := r.sum.cfg.Dim
	for i, s := range r.active {
		r.hand(s, r.v[i*d:(i+1)*d], r.hv[i*d:(i+1)*d], r.rss[i])
	}
}

// hand gives a system the product of K with v.
func (r *refinement) hand(s *system, v, kv []float64, rss float64) {
	vec.Axpy(s.gamma, v, kv)
	if s.measured = s.absorb(kv); s.measured {
		s.residual = math.Sqrt(rss)
	}
}

// judgeAll judges where each system stands after a pass.
func (r *refinement) judgeAll(pass int, last bool) error {
	d := r.sum.cfg.Dim
	for i, s := range r.active {
		copy(r.v[i*d:(i+1)*d], s.g)
	}
	r.sketch.projections(len(r.active), r.v, r.rest, r.projection)
	for i, s := range r.active {
		if err := r.judge(s, &r.projection[i], pass, last); err != nil {
			return err
		}
	}
	return nil
}

// judge bounds the error of a system whose gradient is g and decides what it does next.
func (r *refinement) judge(s *system, g *projection, pass int, last bool) error {
	s.passes = pass
	r.bound(s, g)
	if last && s.stop == "" {
		s.stop = stopMaxPasses
	}
	if s.measured && !s.recorded {
		return fmt.Errorf("ridge: at the start for gamma = %g the gradient of target %d is not finite; the Hessian, or Start, is no good", s.gamma, s.target)
	}
	return nil
}

// bound bounds the error at the iterate of s, keeps it when it is the best, and says
// whether that is the end of it.
func (r *refinement) bound(s *system, g *projection) {
	x := vec.Norm(s.x)
	round, _ := r.know.roundOff(s.gamma, s.target, s.x, s.residual)
	bound := r.know.errorFromGradient(s.gamma, g, round)
	rel := relative(bound, x)
	s.bound = bound
	reached, exhausted := rel <= r.opts.Tol, round > bound/2
	s.checking = false
	if r.opts.Observe != nil {
		r.opts.Observe(Iterate{Gamma: s.gamma, Target: s.target, Pass: s.passes, Coef: s.x, RelativeError: rel, Measured: s.measured})
	}
	if !(bound <= math.MaxFloat64) && s.recorded { // not finite: it was better before
		s.stop = stopDiverged
		return
	}
	if !s.measured {
		if reached || exhausted {
			s.verify()
			s.checking = true
		}
		return
	}
	if s.first == 0 {
		s.first = bound
	}
	if bound <= math.MaxFloat64 && (!s.recorded || rel < s.relative || (rel == s.relative && bound < s.bestFound.bound)) {
		s.record(g, bound, rel)
	}
	switch {
	case reached:
		s.stop = stopTol
	case exhausted && r.know.c[s.target].norm <= r.know.crossError(s.target):
		s.stop = stopZero
	case exhausted:
		s.stop = stopRoundOff
	case !(bound <= 1e6*s.first):
		s.stop = stopDiverged
	}
}

// record keeps the iterate as the best so far.
func (s *system) record(g *projection, bound, rel float64) {
	copy(s.best, s.x)
	along := append(s.bestFound.gradient.along[:0], g.along...)
	s.bestFound = measured{
		gradient: projection{along: along, rest2: g.rest2, norm: g.norm},
		rss:      s.residual * s.residual,
		bound:    bound,
	}
	s.relative, s.recorded = rel, true
}

// step drops the systems that have stopped and moves the others on, but those that
// are to be checked first. It returns how many it moved, and leaves their Ĥ⁻¹g in rest.
func (r *refinement) step(ctx context.Context) (moved int, err error) {
	d := r.sum.cfg.Dim
	active, q := r.active[:0], 0
	for i, s := range r.active {
		if s.stop != "" {
			continue
		}
		active = append(active, s)
		if !s.checking {
			r.move(i, q)
			r.gammas[q] = s.gamma
			q++
		}
	}
	r.active = active
	if err := r.solve(ctx, q); err != nil {
		return 0, err
	}
	for _, s := range r.active {
		if !s.checking {
			s.step(r.rest[moved*d : (moved+1)*d])
			moved++
		}
	}
	return moved, nil
}

// move puts gradient i, with its projection, where gradient q ≤ i was.
func (r *refinement) move(i, q int) {
	if i == q {
		return
	}
	d := r.sum.cfg.Dim
	copy(r.v[q*d:(q+1)*d], r.v[i*d:(i+1)*d])
	copy(r.rest[q*d:(q+1)*d], r.rest[i*d:(i+1)*d])
	copy(r.projection[q].along, r.projection[i].along)
}

func (r *refinement) progress(pass int) func(int64) {
	if r.opts.Progress == nil {
		return nil
	}
	worst := 0.0
	for _, s := range r.systems {
		worst = math.Max(worst, s.relative)
	}
	return func(rows int64) {
		r.opts.Progress(Progress{Pass: pass, Rows: rows, RelativeError: worst, Active: len(r.active)})
	}
}

// fits assembles what was found, one Fit for each γ.
func (r *refinement) fits(gammas []float64) ([]*Fit, error) {
	d, t := r.sum.cfg.Dim, r.sum.cfg.Targets
	out := make([]*Fit, len(gammas))
	var failed string
	for i, gamma := range gammas {
		x, found := make([]float64, 0, t*d), make([]measured, 0, t)
		f := r.sum.newFit(gamma, r.opts.Method.String())
		f.Stop = stopTol
		for _, s := range r.systems[i*t : (i+1)*t] {
			x = append(x, s.best...)
			found = append(found, s.bestFound)
			f.GradientNorm = append(f.GradientNorm, s.bestFound.gradient.norm)
			f.Passes = max(f.Passes, 1+s.passes)
			switch s.stop {
			case stopTol:
			case stopZero:
				f.Stop = s.stop
			default:
				f.Stop, failed = s.stop, s.stop
			}
		}
		f.Iterations = f.Passes - 1
		if own, ok := r.hessian.(*sketched); ok {
			r.sum.finish(f, x, r.know, own.shift, found)
		} else {
			r.sum.finish(f, x, r.know, 0, found)
			f.Certificate.Contraction = contraction(r.hessian, gamma)
		}
		out[i] = f
	}
	if failed != "" {
		return nil, &NotConvergedError{Fits: out, Reason: failed}
	}
	return out, nil
}

// PredictedPasses returns how many reads of the data after the summary's a
// method needs at most, in exact arithmetic, until the error in the norm of H
// has shrunk by tol: from the proved bounds on Ĥ⁻¹H alone, before the first one.
// 0 says that the method need not converge. Of Galerkin it is told what holds for CG,
// whose directions its subspace has, but for those too close to others, while there is
// room.
func (s *Summary) PredictedPasses(gamma, tol float64, m Method) (int, error) {
	if err := checkGamma(gamma, m.String()); err != nil {
		return 0, err
	}
	spec, err := s.spectrum()
	if err != nil {
		return 0, err
	}
	lo, hi := newSketched(spec, true, s.be).Range(gamma)
	return passesWithin(lo, hi, tol, m == Newton), nil
}
