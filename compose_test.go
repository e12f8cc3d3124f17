package fdridge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/columns"
)

// A composed problem is a random table and a random set of options.
type composed struct {
	x, y   [][]float64 // y has the targets of the fit: ±1 for classes
	w      []float64
	labels []float64 // the target of the rows, for classes
	src    dataset.Source
	opts   fdridge.Options
	drawn  []string // names of the options that were drawn
	ranks  int      // number of processes that share the rows; 0 without a Reducer
}

// newComposed draws a table and options. About every second option is left out, so that all pairs occur.
func newComposed(t *testing.T, rng *rand.Rand) *composed {
	t.Helper()
	n, d, k := 6+rng.IntN(20), 2+rng.IntN(5), 1+rng.IntN(3)
	if rng.IntN(5) == 0 {
		n, d = 5+rng.IntN(3), 6+rng.IntN(4) // fewer rows than features
	}
	p := &composed{}
	for i := range n {
		row, y := make([]float64, d), make([]float64, k)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for j := range y {
			y[j] = row[j%d] - 0.5*row[(j+1)%d] + rng.NormFloat64()
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
		p.labels = append(p.labels, float64(i%(2+k%2)))
	}
	if rng.IntN(4) == 0 {
		for range n {
			p.w = append(p.w, []float64{0.5, 1, 3}[rng.IntN(3)])
		}
	}
	p.drawOptions(rng, d, k)
	p.makeRows(t, d)
	return p
}

// drawOptions draws a set of options for d features and k targets.
func (p *composed) drawOptions(rng *rand.Rand, d, k int) {
	o := &p.opts
	draw := func(name string, one int) bool {
		if rng.IntN(one) != 0 {
			return false
		}
		p.drawn = append(p.drawn, name)
		return true
	}
	gamma := func() float64 { return math.Pow(10, 4*rng.Float64()-2) }
	o.Size, o.Tol, o.MaxPasses = 1+rng.IntN(8), 1e-7, 60
	if draw("Classes", 5) {
		k = 0
		for _, v := range p.labels {
			k = max(k, int(v)+1)
		}
		k = classes.Targets(k)
		o.Classes = &classes.Classes{}
	}
	o.PerTarget = draw("PerTarget", 3)
	if draw("Gammas", 2) {
		count := 1 + rng.IntN(2)
		if o.PerTarget {
			count = k
		}
		for range count {
			o.Gammas = append(o.Gammas, gamma())
		}
		if rng.IntN(5) == 0 {
			o.Gammas[0] = 0
			p.drawn = append(p.drawn, "zero")
		}
	}
	if draw("Candidates", 4) {
		o.Candidates = []float64{gamma(), gamma(), gamma()}
	}
	if draw("Select", 3) {
		all := choose.Criteria()
		o.Select = all[rng.IntN(len(all))]
		p.drawn[len(p.drawn)-1] = o.Select.String()
	}
	if draw("Folds", 5) {
		o.Folds = 2 + rng.IntN(2)
	}
	if draw("Method", 2) {
		methods := ridge.Methods()
		o.Method = methods[rng.IntN(len(methods))]
		p.drawn[len(p.drawn)-1] = o.Method.String()
	}
	if draw("Penalty", 4) {
		for range d {
			o.Penalty = append(o.Penalty, math.Pow(10, 2*rng.Float64()-1))
		}
	}
	if draw("Unpenalized", 4) {
		o.Unpenalized = []int{rng.IntN(d)}
	}
	if draw("Bands", 4) {
		var columns []int
		for j := range d {
			if !slices.Contains(o.Unpenalized, j) && j > 0 {
				columns = append(columns, j)
			}
		}
		o.Bands = []choose.Band{{Columns: columns}}
		if len(columns) == 0 {
			o.Bands = nil
		} else if rng.IntN(2) == 0 {
			o.Bands[0].Penalty = gamma()
			p.drawn[len(p.drawn)-1] = "given bands"
		}
	}
	o.NoIntercept = draw("NoIntercept", 3)
	o.KeepSummary = draw("KeepSummary", 4)
	if draw("Journal", 5) {
		o.Journal = &passes{}
	}
	if draw("GammaTol", 6) {
		o.GammaTol = math.Inf(1)
	}
	if draw("ranks", 5) {
		p.ranks = 2
	}
	if draw("Summarize", 5) {
		o.Summarize = ridge.Summarize
	}
}

// fit fits the rows, with several ranks if p.ranks is not 0. All ranks must have the same result.
func (p *composed) fit(t *testing.T) (*fdridge.Result, error) {
	if p.ranks == 0 {
		return fdridge.Fit(t.Context(), p.src, p.opts)
	}
	results, errs := make([]*fdridge.Result, p.ranks), make([]error, p.ranks)
	n := int64(len(p.x))
	var wait sync.WaitGroup
	for rank, link := range dist.Loopback(p.ranks) {
		opts := p.opts
		opts.Reducer = link
		opts.Merge = func(ctx context.Context, own *ridge.Summary) (*ridge.Summary, error) {
			return dist.Merge(ctx, link, own)
		}
		opts.Gather = func(ctx context.Context, own []byte) ([][]byte, error) { return dist.Gather(ctx, link, own) }
		if opts.Summarize != nil {
			opts.Merge = nil
			opts.Summarize = func(
				ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(rows int64),
			) (*ridge.Summary, error) {
				own, err := ridge.Summarize(ctx, src, cfg, tell)
				if err != nil {
					return nil, err
				}
				return dist.Merge(ctx, link, own)
			}
		}
		if opts.Journal != nil {
			opts.Journal = &passes{}
		}
		wait.Go(func() {
			at, count := int64(rank), int64(p.ranks)
			share, err := dataset.Rows(p.src, n*at/count, n*(at+1)/count)
			if err == nil {
				results[rank], err = fdridge.Fit(t.Context(), share, opts)
			}
			errs[rank] = err
			if _, missed := errors.AsType[*ridge.NotConvergedError](err); err != nil && !missed {
				link.Abort(err)
			}
		})
	}
	wait.Wait()
	for rank, r := range results {
		if r != nil && results[0] != nil &&
			!slices.Equal(r.Solutions[0].Targets[0].Coef, results[0].Solutions[0].Targets[0].Coef) {
			t.Errorf("rank %d has other coefficients than rank 0", rank)
		}
	}
	return results[0], errs[0]
}

// makeRows makes the source. With classes, it replaces the targets by ±1.
func (p *composed) makeRows(t *testing.T, d int) {
	t.Helper()
	k := len(p.y[0])
	if p.opts.Classes != nil {
		k = 1
	}
	given := k
	if p.w != nil {
		given++
	}
	var x, y []float64
	for i, row := range p.x {
		x = append(x, row...)
		if p.opts.Classes != nil {
			y = append(y, p.labels[i])
		} else {
			y = append(y, p.y[i]...)
		}
		if p.w != nil {
			y = append(y, p.w[i])
		}
	}
	var err error
	p.src, err = dataset.FromDense(len(p.x), d, given, x, y)
	if err == nil && p.w != nil {
		p.src, err = dataset.TargetAsWeight(p.src)
	}
	if err == nil && p.opts.Classes != nil {
		p.opts.Classes, err = classes.Learn(t.Context(), p.src, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.opts.Classes == nil {
		return
	}
	for i, label := range p.labels {
		p.y[i] = p.y[i][:0:0]
		for c := range p.opts.Classes.Targets() {
			sign := -1.0
			if p.opts.Classes.Targets() == 1 && label == 1 || p.opts.Classes.Targets() > 1 && int(label) == c {
				sign = 1
			}
			p.y[i] = append(p.y[i], sign)
		}
	}
}

// passes is a journal in memory.
type passes struct{ kept [][]byte }

func (p *passes) Due() bool { return true }

func (p *passes) Recorded(pass int) ([]byte, error) {
	if pass > len(p.kept) {
		return nil, nil
	}
	return p.kept[pass-1], nil
}

func (p *passes) Record(pass int, found []byte) error {
	p.kept = append(p.kept[:pass-1], slices.Clone(found))
	return nil
}

// whole returns the problem in 512 bits, with the penalties of the solution.
func (p *composed) whole(f *ridge.Solution) *refbig.Problem {
	out := refbig.New(p.x, p.y, p.w, !p.opts.NoIntercept)
	out.Penalty = f.Penalty
	return out
}

// check compares a result with the closed form in 512 bits.
func (p *composed) check(t *testing.T, what string, r *fdridge.Result) {
	t.Helper()
	for _, f := range r.Solutions {
		p.checkPenalty(t, what, r, f)
		whole := p.whole(f)
		for j := range f.Targets {
			p.checkTarget(t, fmt.Sprintf("%s: target %d at γ = %g", what, j, f.GammaOf(j)), whole, f, j)
		}
	}
	if r.Choice != nil {
		p.checkChoice(t, what, r.Choice)
	}
	if r.Each != nil {
		p.checkEach(t, what, r)
	}
}

// checkPenalty compares the penalties of a solution with the options.
func (p *composed) checkPenalty(t *testing.T, what string, r *fdridge.Result, f *ridge.Solution) {
	t.Helper()
	d := len(p.x[0])
	want := make([]float64, d)
	for j := range want {
		want[j] = 1
		if p.opts.Penalty != nil {
			want[j] = p.opts.Penalty[j]
		}
	}
	if r.Bands != nil {
		for _, trial := range r.Bands.Tried {
			if len(p.opts.Gammas) > 0 && !slices.Contains(p.opts.Gammas, trial.Gamma) {
				t.Errorf("%s: penalties were tried at γ = %g, which is not given", what, trial.Gamma)
			}
		}
		for _, b := range r.Bands.Bands {
			for _, j := range b.Columns {
				want[j] *= b.Penalty
			}
		}
	}
	for _, j := range p.opts.Unpenalized {
		want[j] = 0
	}
	got := f.Penalty
	if got == nil {
		got = slices.Repeat([]float64{1}, d)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the penalties are %v, want %v", what, got, want)
	}
}

func (p *composed) checkTarget(t *testing.T, what string, whole *refbig.Problem, f *ridge.Solution, j int) {
	t.Helper()
	o := &f.Targets[j]
	gamma := f.GammaOf(j)
	want, err := whole.Solve(gamma)
	if err != nil {
		if gamma > 0 || f.Status != ridge.MinimumNorm {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	if f.Status == ridge.MinimumNorm {
		return
	}
	bound, relative := f.CoefficientError(j)
	distance, norm := refbig.Distance(o.Coef, want.Coef[j]), refbig.Norm(want.Coef[j])
	if distance > bound*(1+1e-12) || distance > relative*norm*(1+1e-12) {
		t.Errorf("%s: the error is %g of %g, the bounds are %g and %g", what, distance, norm, bound, relative)
	}
	off := new(big.Float).Sub(refbig.Float(o.Intercept), want.Intercept[j])
	if bigger(off.Abs(off), o.InterceptBound) {
		t.Errorf("%s: the intercept is off by %g, the bound is %g", what, off, o.InterceptBound)
	}
	testkit.Inside(t, what+": objective", o.Objective, want.Objective[j], whole.YY[j])
	if want.GCV[j] != nil && gamma > 0 {
		testkit.Inside(t, what+": GCV", o.GCV, want.GCV[j], whole.YY[j])
	}
	// The intercept of the smallest RSS differs from the returned one by a rounding, which the bracket includes.
	value, _ := whole.RSS(j, o.Coef).Float64()
	size, _ := whole.YY[j].Float64()
	if slack := 1e-13 * size; !(o.RSS.Lo <= value+slack && o.RSS.Hi >= value-slack) {
		t.Errorf("%s: RSS %.17g is outside %v", what, value, o.RSS)
	}
}

// score returns the exact score of target j at γ, or nil if it is not defined.
func (p *composed) score(by choose.Criterion, penalty []float64, gamma float64, j int) *big.Float {
	whole := refbig.New(p.x, p.y, p.w, !p.opts.NoIntercept)
	whole.Penalty = penalty
	switch by {
	case choose.GCV:
		s, err := whole.Solve(gamma)
		if err != nil {
			return nil
		}
		return s.GCV[j]
	case choose.MarginalLikelihood:
		whole := refbig.New(p.x, p.y, p.w, !p.opts.NoIntercept)
		whole.Penalty = penalty
		_, loss, err := whole.Evidence(gamma, j)
		if err != nil {
			return nil
		}
		return loss
	case choose.LOO:
		return p.table(penalty).LeftOut(gamma, j)
	case choose.CV:
		if p.opts.Method == ridge.OneShot {
			return nil // the score is about fits from sketches
		}
		folds := p.opts.Folds
		if folds == 0 {
			folds = choose.DefaultFolds
		}
		sum := p.table(penalty).HeldOut(gamma, j, folds, func(i int) int { return p.foldOf(i, folds) })
		if sum == nil {
			return nil
		}
		return sum.Quo(sum, p.weight())
	}
	return nil
}

// table returns the rows for a reference.
func (p *composed) table(penalty []float64) *refbig.Table {
	return &refbig.Table{X: p.x, Y: p.y, W: p.w, Penalty: penalty, Intercept: !p.opts.NoIntercept}
}

// weight returns the weight of all rows.
func (p *composed) weight() *big.Float {
	if p.w == nil {
		return refbig.Float(float64(len(p.x)))
	}
	sum := refbig.Float(0)
	for _, w := range p.w {
		sum.Add(sum, refbig.Float(w))
	}
	return sum
}

// foldOf returns the fold of row i. Each rank deals its own rows to the folds in turn.
func (p *composed) foldOf(i, folds int) int {
	first := 0
	for rank := range p.ranks {
		if at := len(p.x) * rank / p.ranks; at <= i {
			first = at
		}
	}
	return (i - first) % folds
}

// checkChoice compares the bracket of the chosen γ, and of one other candidate, with the exact scores.
func (p *composed) checkChoice(t *testing.T, what string, c *choose.GammaChoice) {
	t.Helper()
	if c.By.IsErrorRate() {
		return
	}
	exact := func(i int) *big.Float {
		total := refbig.Float(0)
		for j := range p.y[0] {
			s := p.score(c.By, c.Path[i].Penalty, c.Path[i].Gamma, j)
			if s == nil {
				return nil
			}
			total.Add(total, s)
		}
		return total
	}
	best := exact(c.Index)
	if best == nil {
		return
	}
	scale := refbig.Float(1)
	testkit.Inside(t, what+": chosen score by "+c.By.String(), c.Score, best, scale)
	other := exact(0)
	if other == nil {
		return
	}
	if excess := new(big.Float).Sub(best, other); bigger(excess, c.Excess+1e-300) {
		t.Errorf(
			"%s: the score at γ = %g is %g less than at the choice, the excess is at most %g",
			what,
			c.Path[0].Gamma,
			excess,
			c.Excess,
		)
	}
}

// checkEach compares the brackets of the chosen γ of each target with the exact scores.
func (p *composed) checkEach(t *testing.T, what string, r *fdridge.Result) {
	t.Helper()
	penalty := r.Solutions[0].Penalty
	for j, g := range r.Each.Gammas {
		best := p.score(r.Each.By, penalty, g, j)
		if best == nil {
			continue
		}
		testkit.Inside(
			t,
			fmt.Sprintf("%s: score of target %d by %v", what, j, r.Each.By),
			r.Each.Scores[j],
			best,
			refbig.Float(1),
		)
		other := p.score(r.Each.By, penalty, r.Each.Candidates[0], j)
		if other == nil {
			continue
		}
		if excess := new(big.Float).Sub(best, other); bigger(excess, r.Each.Excess[j]+1e-300) {
			t.Errorf(
				"%s: target %d: the score at γ = %g is %g less than at the choice, the excess is at most %g",
				what,
				j,
				r.Each.Candidates[0],
				excess,
				r.Each.Excess[j],
			)
		}
	}
}

// TestCompose fits random tables with random sets of options, and compares the results with the closed form in 512
// bits. FDRIDGE_COMPOSE is the number of fits.
func TestCompose(t *testing.T) {
	fits := 300
	switch {
	case testing.Short():
		fits = 60
	case os.Getenv("FDRIDGE_THOROUGH") != "":
		fits = 2000
	}
	if text := os.Getenv("FDRIDGE_COMPOSE"); text != "" {
		var err error
		fits, err = strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	first := uint64(0)
	if text := os.Getenv("FDRIDGE_COMPOSE_SEED"); text != "" {
		var err error
		first, err = strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
	}
	done, refused := 0, map[string]int{}
	pairs := map[string]bool{}
	for seed := first; seed < first+uint64(fits); seed++ {
		p := newComposed(t, rand.New(rand.NewPCG(seed, 47)))
		what := fmt.Sprintf("fit %d (%s)", seed, strings.Join(p.drawn, ", "))
		r, err := p.fit(t)
		if why := reasonToRefuse(err); why != "" {
			refused[why]++
			continue
		}
		if _, missed := errors.AsType[*ridge.NotConvergedError](err); err != nil && !missed {
			t.Errorf("%s: %v", what, err)
			continue
		}
		done++
		for i, a := range p.drawn {
			for _, b := range p.drawn[i+1:] {
				pairs[a+" with "+b] = true
			}
		}
		p.check(t, what, r)
	}
	for why, count := range refused {
		t.Logf("%d refused: %s", count, why)
	}
	t.Logf("%d fits, %d pairs of options", done, len(pairs))
	if done < fits/4 {
		t.Errorf("only %d of %d sets of options were fitted", done, fits)
	}
}

// reasonToRefuse returns why a fit may be refused, or "".
func reasonToRefuse(err error) string {
	if e, ok := errors.AsType[*fdridge.OptionError](err); ok {
		return e.Error()
	}
	if _, ok := errors.AsType[*columns.DependentError](err); ok {
		return "dependent columns"
	}
	if _, ok := errors.AsType[*ridge.SingularError](err); ok {
		return "singular"
	}
	if e, ok := errors.AsType[*ridge.GammaError](err); ok {
		return e.Error()
	}
	if err != nil && strings.Contains(err.Error(), "has no rows") {
		return "a fold without rows"
	}
	return ""
}
