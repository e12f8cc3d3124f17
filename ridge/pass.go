package ridge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// A pass reads the data once for any number of vectors at a time: for each row
// v of a q×d matrix, of target j,
//
//	Aᵀ(Av − b_j)  or  AᵀAv
//
// with A and b centred by the summary's means where an intercept is fitted.
// Dense rows are centred as they are read; sparse rows stay sparse and
//
//	(S − 1μᵀ)v = Sv − (μᵀv)1,   (S − 1μᵀ)ᵀr = Sᵀr − μ(1ᵀr).
//
// A row of weight w, its target and its 1 are multiplied by √w.
//
// Contributions are summed with compensation, so that the error of a gradient
// doesn't grow with n: plainly over some rows, which go through a q×d matrix that
// stays small beside them, then these sums by Neumaier's method.
type pass struct {
	src  dataset.Source
	be   engine.Backend
	d, t int
	tune engine.Tuning
	mean []float64 // d+t means, nil without intercept

	reducer Reducer // nil: src has all rows
	want    int64   // rows there are to be, of all workers
	weight  float64 // and their weight

	found     []float64 // all that a pass has found, see Reducer
	g         []float64 // plain sums q×d, where found will have the products
	x, b, r   []float64 // centred rows n×d, right-hand sides n×q, residuals n×q
	call      []float64 // those of one call
	plain     int       // calls in g, or sparse rows
	sum       []neumaier.Sum
	rss, ones []neumaier.Sum // ‖r‖² and 1ᵀr of each vector
	offset    []float64      // μᵀv of each vector
	view      engine.CSR     // the sparse rows at hand
	root      []float64      // √w of the rows at hand, empty where all count once
	own       engine.CSR     // sparse rows times √w

	// The run under way. visit is p.block, bound once: ranging over the source
	// would make a closure for every pass.
	visit    func(dataset.Block, error) bool
	ctx      context.Context
	qs       []query
	v        []float64
	n        int64
	w        neumaier.Sum
	err      error
	finite   bool // no residual was other than finite so far
	sparse   bool // some rows were sparse, in this run or one before, of any worker
	progress func(rows int64)

	// Where the run goes on from, see Journal.
	journal   Journal // nil: it is kept nowhere
	recalling bool    // it may have the run
	vote      []float64
	number    int // runs so far
	question  [sha256.Size]byte
	from      int64 // rows read before, 0 once the first block has come
}

// How rows are taken: dense ones as many at a time as engine.Tuning.GradientCall has it,
// so that an element of a call's sums is the end of no more additions than the backend's
// Accuracy promises. The sums of manyCalls are added up before they go to the compensated
// ones, which cost more. Sparse rows are taken passRows at a time at most; sparseChain of
// them, of which each is one more addition, are added up as plainly.
const (
	passRows    = engine.MaxGradientRows
	manyCalls   = 8
	sparseChain = 1024
)

func newPass(src dataset.Source, s *Summary, opts *SolveOptions) (*pass, error) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return nil, err
	}
	p := &pass{src: src, be: s.be, d: s.cfg.Dim, t: s.cfg.Targets, tune: tuning, want: s.stage.rows, weight: s.stage.weight.Value()}
	p.journal, p.reducer = opts.Journal, opts.Reducer
	p.recalling = p.journal != nil
	if s.cfg.Intercept {
		p.mean = s.stage.means()
	}
	p.visit = p.block
	return p, nil
}

// A query is one vector to multiply: with b_target subtracted when affine.
type query struct {
	target int
	affine bool
}

// run overwrites row i of out (q×d) with the product for row i of v (q×d) and
// rss[i] with ‖Av − b‖² (or ‖Av‖²).
func (p *pass) run(ctx context.Context, qs []query, v, out, rss []float64, progress func(rows int64)) error {
	q := len(qs)
	p.reset(qs, v)
	p.ctx, p.qs, p.v, p.n, p.w, p.err, p.finite, p.progress = ctx, qs, v, 0, neumaier.Sum{}, nil, true, progress
	p.number++
	p.from = 0
	finished, err := p.recall(out, rss)
	if err == nil {
		finished, err = p.unanimous(ctx, finished)
	}
	if finished || err != nil {
		return err
	}
	dataset.From(ctx, p.src, p.n)(p.visit)
	if p.err != nil && ctx.Err() != nil {
		if err := p.record(false, nil, nil); err != nil {
			return err
		}
	}
	if p.err != nil {
		return p.err
	}
	p.fold()
	if err := p.total(ctx); err != nil {
		return err
	}
	d, found := p.d, p.found[q*p.d:]
	switch n, w := int64(found[2*q]), found[2*q+1]; {
	case n != p.want:
		return fmt.Errorf("%w: this pass read %d rows, the summary %d", ErrShape, n, p.want)
	case !(math.Abs(w-p.weight) <= 1e-9*p.weight):
		return fmt.Errorf("%w: the rows of this pass weigh %g, those of the summary %g", ErrShape, w, p.weight)
	}
	p.sparse = p.sparse || found[2*q+2] > 0
	copy(out, p.found[:q*d])
	for i := range q {
		rss[i] = math.Max(0, found[i])
		if p.mean != nil {
			axpy(-found[q+i], p.mean[:d], out[i*d:(i+1)*d])
		}
	}
	return p.record(true, out, rss)
}

// block takes one block of the run under way; false ends it.
func (p *pass) block(b dataset.Block, err error) bool {
	if err != nil {
		p.err = err
		return false
	}
	if p.err = p.check(b); p.err != nil {
		return false
	}
	p.sparse = p.sparse || b.Sparse != nil
	b = since(p.from, b, p.d, p.t)
	p.from = 0
	for lo := 0; lo < b.N; {
		hi := lo + p.stride(b.N-lo, b.Sparse != nil)
		if p.err = p.add(b.Cut(lo, hi, p.d, p.t, &p.view), p.qs, p.v, int(p.n)+lo); p.err != nil {
			return false
		}
		lo = hi
	}
	p.n += int64(b.N)
	if p.progress != nil {
		p.progress(p.n)
	}
	if p.journal != nil && p.journal.Due() {
		p.err = p.record(false, nil, nil)
	}
	return p.err == nil
}

// check refuses a block as a summary does, but for its entries, at which add looks where
// they do harm; and the end of the context, which a source need not notice.
func (p *pass) check(b dataset.Block) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	first := int(b.First)
	if err := checkShape(b, p.d, p.t, first); err != nil {
		return err
	}
	if b.W == nil && b.Sparse == nil {
		return nil
	}
	for i := range b.N {
		if err := checkWeight(b, i, first+i, p.d+p.t); err != nil {
			return err
		}
		if b.Sparse != nil {
			if _, _, err := features(b, i, p.d); err != nil {
				return err
			}
		}
	}
	return nil
}

// stride is how many of n rows are taken at a time.
func (p *pass) stride(n int, sparse bool) int {
	if !sparse {
		return p.tune.GradientCall(n, p.d, len(p.qs))
	}
	if p.tune.Gradient.Value > 0 {
		n = min(n, p.tune.Gradient.Value)
	}
	return min(n, passRows)
}

func (p *pass) reset(qs []query, v []float64) {
	q := len(qs)
	if cap(p.sum) < q*p.d {
		p.sum = make([]neumaier.Sum, q*p.d)
		p.rss, p.ones = make([]neumaier.Sum, q), make([]neumaier.Sum, q)
	}
	p.sum, p.rss, p.ones = p.sum[:q*p.d], p.rss[:q], p.ones[:q]
	clear(p.sum)
	clear(p.rss)
	clear(p.ones)
	p.room(q)
	p.offset = grow(p.offset, q)
	p.plain = 0
	p.b, p.r = grow(p.b, q*passRows), grow(p.r, q*passRows)
	for i := range q {
		p.offset[i] = 0
		if p.mean != nil {
			p.offset[i] = dot(p.mean[:p.d], v[i*p.d:(i+1)*p.d])
		}
	}
}

// add accumulates a block of at most passRows rows, the first of which is row first. A
// residual that is not finite is that of an entry that isn't, or of an iteration that
// has diverged.
func (p *pass) add(b dataset.Block, qs []query, v []float64, first int) error {
	read := b
	q, d := len(qs), p.d
	longer, longest := 1, manyCalls
	if b.Sparse != nil {
		longer, longest = b.N, sparseChain
	}
	if p.plain > 0 && p.plain+longer > longest {
		p.fold()
	}
	p.plain += longer
	p.weigh(&b)
	rhs := p.rightHandSides(b, qs)
	if b.Sparse != nil {
		b.Sparse.Gradient(engine.Strided(q, b.Sparse.Cols, v, d), engine.View(b.Sparse.Rows, q, rhs), engine.Strided(q, b.Sparse.Cols, p.g, d), engine.View(b.Sparse.Rows, q, p.r))
	} else {
		p.call = grow(p.call, q*d)
		clear(p.call)
		p.be.Gradient(engine.View(b.N, d, p.centred(b)), engine.View(q, d, v), engine.View(b.N, q, rhs), engine.View(q, d, p.call), engine.View(b.N, q, p.r))
		axpy(1, p.call, p.g)
	}
	for i, x := range p.r[:b.N*q] {
		if p.finite && !(math.Abs(x) <= math.MaxFloat64) {
			if err := checkFinite(read, i/q, d, p.t, first+i/q); err != nil {
				return err
			}
			p.finite = false
		}
		p.rss[i%q].Add(x * x)
		if b.Sparse != nil && p.mean != nil {
			p.ones[i%q].Add(p.scaled(i/q, x))
		}
	}
	return nil
}

// fold adds the plain sums to the compensated ones.
func (p *pass) fold() {
	for i, x := range p.g {
		p.sum[i].Add(x)
	}
	clear(p.g)
	p.plain = 0
}

// rightHandSides returns what Gradient has to subtract (n×q), nil for nothing.
func (p *pass) rightHandSides(b dataset.Block, qs []query) []float64 {
	q, need := len(qs), b.Sparse != nil && p.mean != nil
	for _, s := range qs {
		need = need || s.affine
	}
	if !need {
		return nil
	}
	for i, s := range qs {
		var shift, mean float64
		if b.Sparse != nil {
			shift = p.offset[i]
		}
		if p.mean != nil {
			mean = p.mean[p.d+s.target]
		}
		for row := range b.N {
			if s.affine {
				p.b[row*q+i] = p.scaled(row, b.Y[row*p.t+s.target]-mean+shift)
			} else {
				p.b[row*q+i] = p.scaled(row, shift)
			}
		}
	}
	return p.b
}

// weigh takes note of the weights of a block and scales its sparse rows, in a copy
// of their entries, by the roots.
func (p *pass) weigh(b *dataset.Block) {
	p.root = p.root[:0]
	if b.W == nil {
		p.w.Add(float64(b.N))
		return
	}
	for _, w := range b.W[:b.N] {
		p.w.Add(w)
		p.root = append(p.root, math.Sqrt(w))
	}
	if b.Sparse != nil {
		scaleRows(&p.own, b.Sparse, p.root)
		b.Sparse = &p.own
	}
}

// scaled is x times the root of the weight of row i of the block at hand.
func (p *pass) scaled(i int, x float64) float64 {
	if len(p.root) == 0 {
		return x
	}
	return p.root[i] * x
}

// centred returns the block's dense rows less their mean, times the roots of their
// weights, or as they are where nothing is to be done.
func (p *pass) centred(b dataset.Block) []float64 {
	if p.mean == nil && len(p.root) == 0 {
		return b.X
	}
	d := p.d
	p.x = grow(p.x, b.N*d)
	for i := range b.N {
		src, dst := b.X[i*d:(i+1)*d], p.x[i*d:(i+1)*d]
		copy(dst, src)
		if p.mean != nil {
			axpy(-1, p.mean[:d], dst)
		}
		if len(p.root) > 0 {
			scale(p.root[i], dst)
		}
	}
	return p.x
}
