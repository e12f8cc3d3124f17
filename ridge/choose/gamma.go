package choose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/rows"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A GammaChoice is a choice of the penalty γ by the smallest upper bound on a score. The score is summed over all
// targets.
type GammaChoice struct {
	Choice           // Index is an index of Path
	By     Criterion `json:"by"` // the criterion of the scores
	// Path holds the solution at each γ that was tried, in the order of the candidates. If the fit uses AAᵀ (a dual
	// method), these solutions have scores but no coefficients, see [ridge.Factorization.Scores].
	Path []*ridge.Solution `json:"path"`
	// Scores[i][j] brackets the score of Path[i] for target j. If the score is an error rate, Scores[i] has one
	// element, for all targets.
	Scores [][]ridge.Interval `json:"scores"`
	// Estimates holds an estimate of each score in Scores. If it is nil, the estimates are the midpoints of the
	// brackets.
	Estimates [][]float64 `json:"estimates,omitempty"`
	CV        *CVResult   `json:"cv,omitempty"` // the cross-validation, if By is CV
	// Noise brackets the noise variance of each target at the chosen γ, if By is MarginalLikelihood.
	Noise  []ridge.Interval `json:"noise_variance,omitempty"`
	Passes int              `json:"passes"` // number of passes for the choice, besides the pass of the summary
	// Whole is true if AᵀA was computed or the solutions are exact. Only round-off then widens the brackets.
	Whole bool `json:"whole"`
	// Spent gives the reasons for the further passes, or the reason against a pass. It is empty if the summary was
	// enough for the choice.
	Spent []reason.Reason `json:"spent,omitempty"`
	// Unknown lists the values of γ that were left out, ascending. A γ is left out if its linear system is
	// singular. A γ of a default grid is also left out if its score is not known to one per cent. A γ in Unknown
	// may be better than the chosen γ, even if the choice is Certain.
	Unknown []float64 `json:"unknown,omitempty"`
}

// Gamma returns the chosen penalty γ, or NaN if none was chosen.
func (c *GammaChoice) Gamma() float64 {
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) {
		return math.NaN()
	}
	return c.Path[c.Index].Gamma
}

// RelativeExcess returns an upper bound on Excess divided by the smallest score. If the score is a logarithm,
// another γ may be up to e^Excess times as likely. In this case, the result is a bound on e^Excess − 1.
func (c *GammaChoice) RelativeExcess() float64 {
	return c.By.relativeExcess(&c.Choice)
}

// GCVExcess compares the chosen γ with the γ that generalised cross-validation (GCV) would choose from the same
// Path. It returns a lower bound on e/e₀ − 1. Here e₀ is the leave-one-out error at the chosen γ, and e is the
// leave-one-out error at the γ of GCV.
//
// GCVExcess returns 0 if the scores are not leave-one-out errors, or if e is not proved to be larger than e₀.
// Errors no larger than the round-off in the targets count as equal.
func (c *GammaChoice) GCVExcess() float64 {
	if c == nil ||
		c.By != LOO ||
		c.Index < 0 ||
		len(c.Estimates) != len(c.Path) {
		return 0
	}
	byGCV, err := LeastGCV(c.Path, -1)
	if err != nil || byGCV.Index == c.Index {
		return 0
	}
	base := math.Max(c.Score.Hi, fitted*c.variance())
	other := sumBrackets(c.Scores[byGCV.Index]).Lo
	if !(other > base) {
		return 0
	}
	return other/base - 1
}

// A solution fits a target up to round-off if its sum of squared residuals is small enough. The limit is fitted
// times the sum of squares of the target. A score counts as 0 if it is at most tiny times the mean square of the
// targets.
const fitted, tiny = 1e-12, 1e-9

// ByErrorRate replaces the choice by a choice among the error rates of the solutions in Path. rates[i] brackets the
// error rate of Path[i], and estimates[i] estimates it. ByErrorRate chooses the bracket with the smallest upper
// end. If several upper ends are equal, it chooses the largest γ among them. The choice is Certain if no other
// bracket begins below this upper end. The error is [ridge.ErrShape] if Path is empty, or if the numbers of rates,
// estimates and solutions differ.
func (c *GammaChoice) ByErrorRate(rates []ridge.Interval, estimates []float64) error {
	if c == nil ||
		len(c.Path) == 0 ||
		len(rates) != len(c.Path) ||
		len(estimates) != len(c.Path) {
		return rows.Unfit(
			"a choice with %d error rates and %d estimates, not one for each solution",
			len(rates),
			len(estimates),
		)
	}
	best := 0
	c.Scores, c.Estimates = nil, nil
	for i, v := range rates {
		c.Scores = append(c.Scores, rates[i:i+1])
		c.Estimates = append(c.Estimates, estimates[i:i+1])
		if v.Hi < rates[best].Hi ||
			v.Hi == rates[best].Hi && c.Path[i].Gamma > c.Path[best].Gamma {
			best = i
		}
	}
	c.Choice = Choice{Index: best, Score: rates[best], Estimate: estimates[best]}
	for i, v := range rates {
		if i == best || v.Lo < rates[best].Hi {
			c.Possible = append(c.Possible, i)
		}
		if i != best {
			c.Excess = math.Max(c.Excess, roundedDifference(rates[best].Hi, v.Lo))
		}
	}
	c.Certain = len(c.Possible) == 1
	return nil
}

// AddUnknown adds some of the given values of γ to Unknown: the values below all γ in Path.
func (c *GammaChoice) AddUnknown(gammas []float64) {
	for _, g := range gammas {
		if len(c.Path) > 0 && g < c.Path[0].Gamma {
			c.Unknown = append(c.Unknown, g)
		}
	}
	slices.Sort(c.Unknown)
	c.Unknown = slices.Compact(c.Unknown)
}

// LittleKnown reports whether the choice is little more than a guess. This is so if [GammaChoice.ProvesNothing]
// returns true, or if another γ may have less than half the score of the chosen γ. LittleKnown returns false if the
// score counts as 0, for example because the solution fits all targets up to round-off.
func (c *GammaChoice) LittleKnown() bool {
	const worse = 1
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) {
		return false
	}
	return c.ProvesNothing() || !(c.RelativeExcess() <= worse) && !c.isTiny()
}

// ProvesNothing reports whether the score of the chosen γ is not even known within a factor of two. It returns
// false if the score counts as 0, for example because the solution fits all targets up to round-off.
func (c *GammaChoice) ProvesNothing() bool {
	const wide = 2
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) {
		return false
	}
	known := c.By.asRatio(c.Score)
	return !(known.Hi <= wide*known.Lo) && !c.isTiny()
}

// isTiny reports whether the score counts as 0. This is so for a solution that fits up to round-off. An exception
// is a score whose upper bound exceeds the variance of targets that certainly vary, because such a bound proves
// nothing.
func (c *GammaChoice) isTiny() bool {
	if c.By.IsLogarithm() {
		return c.IsFitted()
	}
	variance := c.variance()
	varies := slices.ContainsFunc(c.Path[c.Index].Targets, func(o ridge.Target) bool {
		return o.TSS.Lo > 0
	})
	return c.Score.Hi <= tiny*variance ||
		c.IsFitted() && (c.Score.Hi <= variance || !varies)
}

// variance returns an upper bound on the sum of squares of all targets, divided by the number of rows.
func (c *GammaChoice) variance() float64 {
	squares := 0.0
	for _, o := range c.Path[c.Index].Targets {
		squares += o.TSS.Hi
	}
	return squares / math.Max(1, float64(c.Path[c.Index].Rows))
}

// IsFitted reports whether the chosen solution fits each target up to round-off. A target that may be constant
// counts as fitted. The scores of a fitted solution are themselves no more than round-off.
func (c *GammaChoice) IsFitted() bool {
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) {
		return false
	}
	targets := c.Path[c.Index].Targets
	for _, o := range targets {
		if !(o.RSS.Hi <= fitted*o.TSS.Hi) && o.TSS.Lo > 0 {
			return false
		}
	}
	return len(targets) > 0
}

// GridSize is the number of values of γ in the default grid, which spans six powers of ten. gridCV is the number
// for cross-validation.
const (
	GridSize = 50
	gridCV   = 25
)

// maxExtensions limits how often a grid of values of γ is extended. A grid is extended again only if the last
// extension lowered the score by more than the fraction minGain. The limit is large, because the best γ can be far
// below the mean eigenvalue of AᵀA. For monomials of degree three in columns with values up to 10⁵, it can be
// smaller by a factor of 10³⁰.
const (
	maxExtensions = 20
	minGain       = 1e-3
)

// shouldExtendGrid reports whether the last extension of the grid lowered the upper bound on the score enough. It
// must fall by more than the fraction minGain, or by more than minGain itself if the score is a logarithm.
func shouldExtendGrid(by Criterion, before, after Choice) bool {
	if by.IsLogarithm() {
		return after.Score.Hi < before.Score.Hi-minGain
	}
	return after.Score.Hi < before.Score.Hi*(1-minGain)
}

// Gamma chooses the penalty γ from the solutions of [ridge.Summary.Path]. The score is generalised cross-validation
// (GCV), summed over all targets, see [LeastGCV].
//
// candidates are the values of γ to choose from. If candidates is nil, Gamma uses Grid(sum, 50), extended in two
// ways:
//
//   - Downwards to the smallest sum of squares of a column, as far as scores are known to one per cent. The smaller
//     γ are left out and listed in [GammaChoice.Unknown].
//   - By three powers of ten beyond an end of the grid if the best γ is at this end. This is repeated as long as an
//     extension lowers the smallest upper bound on GCV by more than 0.1 %.
//
// Errors are the errors of [ridge.Summary.Path].
func Gamma(sum *ridge.Summary, candidates []float64) (*GammaChoice, error) {
	grid, err := gridOf(sum, GridSize)
	if err != nil {
		return nil, err
	}
	return among(GCV, candidates, grid, func(gammas []float64) ([]Candidate, error) {
		path, err := sum.Path(gammas)
		out := make([]Candidate, len(path))
		for i, f := range path {
			out[i] = candidate(GCV, &Evidence{Fit: f})
		}
		return out, err
	})
}

// A Candidate is a value of γ that may be chosen. It holds the solution at this γ in Fit. For each target, it also
// holds the bracket and the estimate of the score.
type Candidate struct {
	Fit       *ridge.Solution
	Scores    []ridge.Interval
	Estimates []float64
}

// among chooses γ by the criterion by. The function find returns the candidates at given γ. If gammas is not nil,
// among compares only these γ. Otherwise it compares the γ of grid, and extends the grid as [Gamma] does. If the
// criterion asks for it, among then adds γ near the best γ. It leaves out small γ whose scores are not known well,
// see [GammaGrid]. Candidates with a singular linear system are always left out.
func among(
	by Criterion,
	gammas []float64,
	grid GammaGrid,
	find func(gammas []float64) ([]Candidate, error),
) (*GammaChoice, error) {
	extend := gammas == nil
	if extend {
		gammas = grid.Gammas
	}
	all, unsolved, err := findSolvable(gammas, find)
	if err != nil {
		return nil, err
	}
	best, err := chooseCandidate(by, all)
	for more := 0; err == nil && extend && more < maxExtensions; more++ {
		outside := gammasBeyond(
			gammasOf(best.Path),
			best.Index,
			min(len(grid.Gammas), GridSize)/2,
		)
		if len(outside) == 0 {
			break
		}
		found, _, err := findSolvable(outside, find)
		if _, singular := errors.AsType[*ridge.SingularError](err); err != nil && !singular {
			return nil, err
		}
		all = slices.Concat(all, found)
		slices.SortFunc(all, func(a, b Candidate) int {
			return cmp.Compare(a.Fit.Gamma, b.Fit.Gamma)
		})
		next, err := chooseCandidate(by, all)
		if err != nil {
			return nil, err
		}
		if !(next.Score.Hi < best.Score.Hi) {
			break
		}
		on := shouldExtendGrid(by, best.Choice, next.Choice)
		best = next
		if !on {
			break
		}
	}
	if err == nil && extend && by.of().refines {
		best, err = refine(best, find)
	}
	if err != nil {
		return nil, err
	}
	best.Unknown = unsolved
	if !extend {
		return best, nil
	}
	best.Unknown = grid.Gammas
	return best.leaveOut(grid)
}

// leaveOut moves the small γ whose scores are not known well from c.Path to Unknown, by the rule of [GammaGrid]. It
// returns the choice among the remaining γ.
func (c *GammaChoice) leaveOut(grid GammaGrid) (*GammaChoice, error) {
	from := grid.startAt(
		gammasOf(c.Path),
		c.Index,
		func(i int) ridge.Interval {
			return c.By.asRatio(ridge.Interval(sumBrackets(c.Scores[i])))
		},
	)
	next, err := c.Again(candidatesOf(c)[from:])
	if err != nil {
		return nil, err
	}
	all := Ascending(slices.Concat(c.Unknown, gammasOf(c.Path)))
	next.Unknown = gammasBelow(all, next.Path[0].Gamma)
	return next, nil
}

// Merge returns the choice among all γ in c.Path and o.Path. Both choices have the same criterion. A γ of c.Unknown
// that is in o.Path is no longer unknown. given is true if the user listed the γ to compare. All these γ then stay
// in the choice. If given is false, Merge leaves out small γ whose scores are not known well, as in [Gamma].
func (c *GammaChoice) Merge(o *GammaChoice, given bool) (*GammaChoice, error) {
	if c == nil || o == nil {
		return nil, rows.Unfit("a choice of nothing")
	}
	all := slices.Concat(candidatesOf(c), candidatesOf(o))
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Compare(a.Fit.Gamma, b.Fit.Gamma)
	})
	next, err := c.Again(all)
	if err != nil {
		return nil, err
	}
	isTried := func(g float64) bool { return slices.Contains(gammasOf(o.Path), g) }
	next.Unknown = slices.DeleteFunc(slices.Clone(c.Unknown), isTried)
	if given {
		return next, nil
	}
	return next.leaveOut(GammaGrid{})
}

// BelowChoice returns values of γ that can be tried instead of the γ in c.Unknown: at most 41, in ascending order.
// They run from the smallest γ of Unknown to the chosen γ in steps of √10. They are at least 10⁻²⁰ times the
// chosen γ.
func (c *GammaChoice) BelowChoice() []float64 {
	if c == nil || len(c.Unknown) == 0 || !(c.Gamma() > 0) {
		return nil
	}
	const steps, most = 2, 20 // number of steps per power of ten, and number of powers of ten
	var out []float64
	for i := most * steps; i >= 0; i-- {
		g := c.Gamma() * math.Pow(10, -float64(i)/steps)
		if g*math.Sqrt(math.Sqrt(10)) >= c.Unknown[0] {
			out = append(out, g)
		}
	}
	return out
}

// candidatesOf returns the candidates of a choice.
func candidatesOf(c *GammaChoice) []Candidate {
	out := make([]Candidate, len(c.Path))
	for i, f := range c.Path {
		out[i] = Candidate{f, c.Scores[i], c.Estimates[i]}
	}
	return out
}

// gammasBelow returns the values of the ascending grid that are less than least.
func gammasBelow(grid []float64, least float64) []float64 {
	n, _ := slices.BinarySearch(grid, least)
	return slices.Clone(grid[:n])
}

// findSolvable returns the candidates at the γ whose linear systems are not singular. unsolved are the other γ, in
// ascending order. If the system of a γ is singular, all smaller γ count as singular, too.
func findSolvable(
	gammas []float64,
	find func(gammas []float64) ([]Candidate, error),
) (all []Candidate, unsolved []float64, err error) {
	all, err = find(gammas)
	if err == nil {
		return all, nil, nil
	}
	order := make([]int, len(gammas)) // in descending order of γ, to find the largest singular γ first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(gammas[b], gammas[a])
	})
	rest := make([]float64, len(gammas))
	for i, at := range order {
		rest[i] = gammas[at]
	}
	for err != nil {
		singular, ok := errors.AsType[*ridge.SingularError](err)
		n := 0
		for ok && n < len(rest) && rest[n] > singular.Gamma {
			n++
		}
		if n == 0 {
			return nil, nil, err
		}
		unsolved = append(unsolved, rest[n:]...)
		rest = rest[:n]
		all, err = find(rest)
	}
	at := make(map[*ridge.Solution]int, len(all))
	for i, one := range all {
		at[one.Fit] = order[i]
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		return cmp.Compare(at[a.Fit], at[b.Fit])
	})
	slices.Sort(unsolved)
	return all, unsolved, nil
}

func gammasOf(path []*ridge.Solution) []float64 {
	out := make([]float64, len(path))
	for i, f := range path {
		out[i] = f.Gamma
	}
	return out
}

func chooseCandidate(by Criterion, all []Candidate) (*GammaChoice, error) {
	c := &GammaChoice{By: by}
	for _, one := range all {
		c.Path = append(c.Path, one.Fit)
		c.Scores = append(c.Scores, one.Scores)
		c.Estimates = append(c.Estimates, one.Estimates)
	}
	var err error
	c.Choice, err = chooseTarget(c.Scores, c.Estimates, -1)
	return c, err
}

// Again returns the choice among the candidates in all, by the criterion of c. The candidates have new solutions or
// scores, at the γ that were tried for c. Unknown stays the same.
func (c *GammaChoice) Again(all []Candidate) (*GammaChoice, error) {
	next, err := chooseCandidate(c.By, all)
	next.Unknown = c.Unknown
	return next, err
}

// Errors returns the scores of the cross-validation at r.Gammas[i], one for each target. If oneShot is true, the
// brackets are r.Fitted[i], for fits from sketches. Otherwise they are r.Ridge[i], for exact solutions. The
// estimates are the midpoints of r.Fitted[i]. If i is out of range, Errors returns nil.
func (r *CVResult) Errors(i int, oneShot bool) []Score {
	if r == nil || i < 0 || i >= len(r.Ridge) || i >= len(r.Fitted) {
		return nil
	}
	brackets := r.Ridge
	if oneShot {
		brackets = r.Fitted
	}
	var out []Score
	for j, v := range brackets[i] {
		out = append(out, Score{v, interval.Interval(r.Fitted[i][j]).Mid()})
	}
	return out
}

// ChooseGamma chooses the penalty γ by scores summed over all targets. If oneShot is true, the scores are r.Fitted,
// for fits from sketches. Otherwise they are r.Ridge, for exact solutions.
func (r *CVResult) ChooseGamma(oneShot bool) (*GammaChoice, error) {
	if r == nil || r.Summary == nil {
		return nil, rows.Unfit("a cross-validation without a summary")
	}
	path, err := r.Summary.Path(r.Gammas)
	if err != nil {
		return nil, err
	}
	c := &GammaChoice{
		By:        CV,
		Path:      path,
		Scores:    r.Ridge,
		Estimates: midpoints(r.Fitted),
		CV:        r,
		Unknown:   r.Unknown,
	}
	if oneShot {
		c.Scores = r.Fitted
	}
	c.Choice, err = chooseTarget(c.Scores, c.Estimates, -1)
	return c, err
}

// gammasBeyond returns new values of γ beyond an end of the grid, over three powers of ten, if grid[best] is this
// end. If grid[best] is inside the grid, it returns nil.
func gammasBeyond(grid []float64, best, points int) []float64 {
	end := grid[0]
	step := -1.0
	switch best {
	case len(grid) - 1:
		end = grid[best]
		step = 1
	case 0:
	default:
		return nil
	}
	out := make([]float64, 0, points)
	for i := range points {
		g := end * math.Pow(10, 3*step*float64(i+1)/float64(points))
		if g > 0 && !math.IsInf(g, 0) {
			out = append(out, g)
		}
	}
	return out
}
