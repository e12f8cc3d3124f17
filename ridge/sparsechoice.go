package ridge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/dual"
)

// Fewer sparse rows than features, of which neither d² nor n² numbers fit, are solved for by conjugate
// gradients on the rows in memory: in place of an iteration that begins with a sketch of d columns.

// bySparseRows says whether it has made such solutions. Rows that take too much memory, or at some γ
// more steps than are worth it, are left to the iteration.
func (r *Result) bySparseRows(ctx context.Context, src dataset.Source, opts *Options) (done bool, err error) {
	a, fixed := r.asked, *opts
	if opts.chooses() { // which takes no sketch here
		fixed.Gammas, fixed.Folds, fixed.Select = []float64{1}, 0, ByGCV
	}
	if !a.free || factors(r.Method) || opts.Once || opts.choosesBands() || fixed.needsSketch(a.n, a.d) != "" || exactFits(a.d) || a.n >= int64(a.d) || slices.Contains(opts.Gammas, 0) {
		return false, nil
	}
	rows, err := keepSparse(ctx, src, opts.progress(Reading), float64(opts.maxBytes())/4) // folds and solutions take as much
	if err != nil || rows == nil {
		return false, err
	}
	r.Passes++
	if opts.chooses() && exactFits(rows.x.Rows) {
		return false, nil // of n² numbers more follows
	}
	by := &sparseFit{rows: rows, opts: opts}
	gammas, fits := opts.Gammas, []*Solution(nil)
	var choice *GammaChoice
	if opts.chooses() {
		choice, err = by.choose(ctx)
	} else {
		fits, err = by.solve(ctx, rows, gammas, opts.Tol)
	}
	_, singular := errors.AsType[*SingularError](err)
	if _, large := errors.AsType[*SizeError](err); large || singular { // where too many steps were needed
		r.because(fmt.Sprintf("conjugate gradients on the sparse rows in memory were given up: %v", err))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.Method = DualCG.String()
	r.Reason = "rows are sparse, and conjugate gradients on them take no more memory than their entries, where neither n² nor d² numbers fit"
	if choice != nil {
		r.Choice, gammas, fits = choice, []float64{choice.Gamma()}, []*Solution{choice.Path[choice.Index]}
		r.because("without these little is known of degrees of freedom and leverages, so that gamma is chosen by cross-validation of exact solutions")
	}
	return true, r.take(ctx, src, opts, DualCG, gammas, fits)
}

// sparseRows are sparse rows in memory.
type sparseRows struct {
	x       engine.CSR
	y, w    []float64
	targets int
}

// keepSparse reads the rows: nil where one is dense, there are as many as features, or they take more
// than so many bytes.
func keepSparse(ctx context.Context, src dataset.Source, tell func(rows int64), most float64) (*sparseRows, error) {
	_, d, t := src.Dims()
	k := &sparseRows{x: engine.CSR{Cols: d, RowPtr: []int{0}}, targets: t}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse == nil && b.N > 0 {
			return nil, nil
		}
		for i := range b.N {
			k.add(b, i)
		}
		if tell != nil {
			tell(int64(k.x.Rows))
		}
		if k.x.Rows >= d || float64(k.bytes()) > most {
			return nil, nil
		}
	}
	return k, nil
}

// add adds row i of a sparse block.
func (k *sparseRows) add(b dataset.Block, i int) {
	idx, val := b.Sparse.Row(i)
	k.x.ColIdx, k.x.Val = append(k.x.ColIdx, idx...), append(k.x.Val, val...)
	k.x.RowPtr = append(k.x.RowPtr, len(k.x.Val))
	k.x.Rows++
	k.y, k.w = append(k.y, b.Y[i*k.targets:(i+1)*k.targets]...), append(k.w, b.Weight(i))
}

func (k *sparseRows) bytes() uint64 {
	return 12*uint64(len(k.x.Val)) + 8*uint64(k.x.Rows)*uint64(2+k.targets) + dual.SparseBytes(k.x.Rows, k.x.Cols, float64(len(k.x.Val)))
}

// source are the rows as a source.
func (k *sparseRows) source() (dataset.Source, error) {
	src, err := dataset.FromCSR(&k.x, k.targets, k.y)
	if err != nil || !slices.ContainsFunc(k.w, func(w float64) bool { return w != 1 }) {
		return src, err
	}
	weights, err := dataset.FromDense(k.x.Rows, 1, 0, k.w, nil)
	if err != nil {
		return nil, err
	}
	return dataset.Weigh(src, weights)
}

// split are the rows but for every so many-th, from row k on, and these.
func (k *sparseRows) split(first, every int) (rest, held *sparseRows) {
	rest = &sparseRows{x: engine.CSR{Cols: k.x.Cols, RowPtr: []int{0}}, targets: k.targets}
	held = &sparseRows{x: engine.CSR{Cols: k.x.Cols, RowPtr: []int{0}}, targets: k.targets}
	all := dataset.Block{N: k.x.Rows, Sparse: &k.x, Y: k.y, W: k.w}
	for i := range k.x.Rows {
		to := rest
		if i%every == first {
			to = held
		}
		to.add(all, i)
	}
	return rest, held
}

// A sparseFit makes solutions from sparse rows in memory.
type sparseFit struct {
	rows *sparseRows
	opts *Options
}

// solve solves for some γ, with no more memory for it than is for the rows.
func (s *sparseFit) solve(ctx context.Context, rows *sparseRows, gammas []float64, tol float64) ([]*Solution, error) {
	src, err := rows.source()
	if err != nil {
		return nil, err
	}
	opts := s.opts.exact(DualCG)
	opts.Tol, opts.Progress = tol, nil
	opts.MaxBytes = min(opts.MaxBytes, exactBudget)
	fits, err := Exact(ctx, src, gammas, opts)
	if errors.Is(err, ErrEmpty) {
		err = unfit("a fold without rows that count")
	}
	return fits, err
}
