package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A result is a finished fit, for the report and the model.
type result struct {
	o       *solveFlags
	backend engine.Backend
	source  dataset.Source // nil where there is but a sketch
	prep    model.Preparation

	intercept      bool
	data           string // the files, or the sketch
	format, target string
	targetNames    []string // where there are any
	columns        []string // of a csv header
	nnz            int64
	scans, reads   int // reads before the method itself, and in all

	method   string
	reason   string  // why auto chose it
	size     int     // m, 0 without a sketch
	sizedFor float64 // the error that a pilot chose it for
	fits     []*ridge.Solution
	sum      *ridge.Summary  // nil without a sketch
	traces   []*trace        // of every γ and target that was refined
	cv       *ridge.CVResult // nil: γ is given or chosen by GCV
	path     *path           // what γ was chosen from
	failure  *ridge.NotConvergedError
	sketched time.Duration
	keep     *keeper // nil: the state is kept nowhere
	team     *team   // nil: this process alone
	ranks    []rankRecord
	total    time.Duration
}

// A path is what γ was chosen from: by GCV, or by the cross-validation cv.
type path struct {
	fits   []*ridge.Solution
	cv     *ridge.CVResult
	scores [][]ridge.Interval // of cv, that choice is from
	choice ridge.Choice
}

// gridPoints is how many γ --gamma auto tries.
const gridPoints = 50

// chooseMethod settles the method. Exact costs d² flops a row, d³/3 for each γ and
// 8d² bytes; cg costs 7md a row for the sketch and 4d for each pass, γ and target,
// about a dozen passes; galerkin, 4md more for the sketch's vectors and at most two
// thirds of the passes, of up to 32 vectors whatever γ there are. To read a number, out
// of a binary file in cache or of a text, takes as long as some hundreds to thousands of
// flops. Passes may turn out to be more than that, where γ is small, and what exact takes
// is sure: it may take twice as much. While n is unknown the rows are taken to outweigh d³.
func (o *fitOptions) chooseMethod(d *data) (method, reason string) {
	n, dim, t := d.source.Dims()
	if o.mpi {
		method, _ = chooseMethod(o.method, n, dim, t, o.size, o.solved(), "they merge sketches")
		if o.method == "auto" {
			reason = "several ranks share the rows"
		}
		return method, reason
	}
	return chooseMethod(o.method, n, dim, t, o.size, o.solved(), o.needsSketch())
}

// needsSketch is why a sketch is needed, if it is.
func (o *fitOptions) needsSketch() string {
	switch {
	case o.auto:
		return "gamma is chosen from a sketch"
	case o.save != "":
		return "the sketch is to be kept"
	case o.kept.name != "":
		return "a checkpoint is to be kept"
	}
	return ""
}

func chooseMethod(asked string, n int64, d, t, m, k int, sketch string) (method, reason string) {
	if asked != "auto" {
		return asked, ""
	}
	method, least := iterative(d, min(m, d), k*t)
	if sketch != "" {
		return method, sketch
	}
	const (
		budget = 1 << 30
		sure   = 2
	)
	exact := readFlops + float64(d)
	if n > 0 {
		exact += float64(k) * float64(d) * float64(d) / 3 / float64(n)
	}
	switch {
	case d > 11585: // 8d² > budget
		return method, fmt.Sprintf("d² for d = %d takes more than %d MiB", d, budget>>20)
	case exact <= sure*least:
		return "exact", fmt.Sprintf("d² fits, and %.0f·d flops a row, reading included, are no more than twice the %.0f·d of %s, if that makes about a dozen passes", exact, least, method)
	}
	return method, fmt.Sprintf("%.0f·d flops a row, reading included, are less than half of exact's %.0f·d, if it makes about a dozen passes", least, exact)
}

// readFlops is how many flops take as long as to read a number.
const readFlops = 500

// iterative is which of cg and galerkin costs less for so many systems (a γ and a target
// each), and how many flops/d a row. For one alone galerkin's vectors, of which it keeps
// half of what it may as a rule, aren't worth more than some memory.
func iterative(d, m, systems int) (method string, flops float64) {
	const passes, block, most = 12, 32, 200 << 20
	cg := float64(readFlops + 7*m + passes*(readFlops+4*systems))
	galerkin := float64(readFlops + 11*m + passes*2/3*(readFlops+4*block))
	if galerkin <= cg && (systems > 1 || 6*8*float64(m+1)*float64(d) <= most) {
		return "galerkin", galerkin
	}
	return "cg", cg
}

// solve makes the fits of a summary, by further passes where the method makes any.
func (r *result) solve(ctx context.Context, sum *ridge.Summary, bar *progress) error {
	cfg := sum.Config()
	r.size, r.sum = min(cfg.Size, cfg.Dim), sum
	gammas := r.o.gammas
	if r.o.auto {
		if err := r.chooseGamma(sum); err != nil {
			return err
		}
		gammas = []float64{r.path.fits[r.path.choice.Index].Gamma}
	}
	if r.method == "one-shot" {
		return r.oneShot(sum, gammas)
	}
	iterations := map[string]ridge.Method{"cg": ridge.CG, "galerkin": ridge.Galerkin, "chebyshev": ridge.Chebyshev, "newton": ridge.Newton}
	var err error
	r.fits, err = ridge.SolvePath(ctx, r.source, sum, gammas, ridge.SolveOptions{
		Method: iterations[r.method], Tol: r.o.tol, MaxPasses: r.o.maxPasses, PlainFD: !r.o.robust,
		Observe: r.observe, Progress: r.keep.follow(bar.passes(r.rows(sum), cfg.Dim)), Journal: r.keep.journal(), Reducer: r.team.reducer(),
	})
	if errors.As(err, &r.failure) {
		r.fits, err = r.failure.Solutions, nil
	}
	if err != nil {
		return err
	}
	return r.predict(sum, iterations[r.method])
}

// rows is how many this process reads in a pass, -1 while unknown.
func (r *result) rows(sum *ridge.Summary) int64 {
	if r.team == nil || r.source == nil {
		return sum.Rows()
	}
	n, _, _ := r.source.Dims()
	return n
}

func (r *result) oneShot(sum *ridge.Summary, gammas []float64) error {
	if r.o.robust {
		var err error
		r.fits, err = sum.Path(gammas)
		return err
	}
	for _, g := range gammas {
		f, err := sum.FitFD(g)
		if err != nil {
			return err
		}
		r.fits = append(r.fits, f)
	}
	return nil
}

// chooseGamma picks the best γ of the grid over all targets: by cross-validation
// where there was one, of the fits that the method makes, otherwise by GCV. Where the
// grid is ours and the best γ is at its end it goes on, as long as a γ beyond is better
// for certain.
func (r *result) chooseGamma(sum *ridge.Summary) error {
	grid := r.o.gammas
	if grid == nil {
		grid = sum.Grid(gridPoints)
	}
	if r.cv != nil {
		grid = r.cv.Gammas
	}
	fits, err := sum.Path(grid)
	if err != nil {
		return err
	}
	if err := r.choose(fits); err != nil {
		return err
	}
	for range mostMore {
		more := r.path.more()
		if r.cv != nil || r.o.gammas != nil || len(more) == 0 {
			break
		}
		beyond, err := sum.Path(more)
		if err != nil {
			return err
		}
		before := r.path
		fits = append(slices.Clone(fits), beyond...)
		slices.SortFunc(fits, func(a, b *ridge.Solution) int { return cmp.Compare(a.Gamma, b.Gamma) })
		if err := r.choose(fits); err != nil {
			return err
		}
		if !(r.path.choice.Score.Hi < before.choice.Score.Lo) {
			r.path = before
			break
		}
	}
	return nil
}

// choose is chooseGamma for the fits of a grid.
func (r *result) choose(fits []*ridge.Solution) (err error) {
	p := &path{cv: r.cv, fits: fits}
	switch {
	case r.cv == nil:
		p.choice, err = ridge.ChooseGCV(p.fits, -1)
	case r.method == "one-shot":
		p.scores = r.cv.Fitted
		p.choice, err = r.cv.ChooseFitted(-1)
	default:
		p.scores = r.cv.Ridge
		p.choice, err = r.cv.ChooseRidge(-1)
	}
	r.path = p
	return err
}

// How much further a grid goes at a time, three powers of ten, and how often.
const (
	morePoints = gridPoints / 2
	mostMore   = 3
)

// more are γ beyond that end of the path at which the best one is.
func (p *path) more() []float64 {
	first, last := p.fits[0].Gamma, p.fits[len(p.fits)-1].Gamma
	end, step := first, -1.0
	switch at := p.choice.Index; {
	case at == len(p.fits)-1:
		end, step = last, 1
	case at != 0:
		return nil
	}
	out := make([]float64, morePoints)
	for i := range out {
		out[i] = end * math.Pow(10, 3*step*float64(i+1)/morePoints)
	}
	return out
}

func (r *result) solveExact(ctx context.Context, bar *progress) error {
	factor := ridge.Cholesky
	for _, g := range r.o.gammas {
		if g == 0 {
			factor = ridge.QR
		}
	}
	var err error
	r.fits, err = ridge.Exact(ctx, r.source, r.o.gammas, ridge.ExactOptions{
		Factor: factor, Intercept: r.intercept, Backend: r.backend, Progress: bar.rows("reading", r.source),
	})
	return err
}

// deliver prints the report and writes the model. A fit that didn't converge is
// reported, but doesn't replace a model.
func (r *result) deliver(stdout io.Writer) error {
	if r.o.out != "" && r.failure == nil {
		if err := r.writeModel(r.o.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if r.o.report != "" {
		if err := r.writePage(r.o.report); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if r.o.coef != "" && r.failure == nil {
		if err := r.writeCoef(r.o.coef); err != nil {
			return fmt.Errorf("--coef: %w", err)
		}
	}
	report := r.human
	if r.o.json {
		report = r.writeJSON
	}
	if err := report(stdout); err != nil {
		return err
	}
	switch {
	case r.failure == nil:
		return nil
	case r.o.out != "" || r.o.coef != "":
		return fmt.Errorf("%w; no model and no weights are written", r.failure)
	}
	return r.failure
}
