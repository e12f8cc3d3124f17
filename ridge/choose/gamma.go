package choose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A GammaChoice is how γ was chosen of several: by the least score, summed over all targets.
type GammaChoice struct {
	Choice                    // of which Index is that in Path
	By     Criterion          `json:"by"`              // what the scores are of
	Path   []*ridge.Solution  `json:"path"`            // the one-shot solutions, or the direct ones, of all γ that were tried, in the order of the candidates
	Scores [][]ridge.Interval `json:"scores"`          // of each of them for each target
	CV     *CVResult          `json:"cv,omitempty"`    // the cross-validation that these scores are of, if they are
	Passes int                `json:"passes"`          // that a fit has made for it, after the summary's
	Whole  bool               `json:"whole"`           // these have computed AᵀA itself, or solutions are exact: what the scores leave open is round-off
	Spent  []ridge.Reason     `json:"spent,omitempty"` // what the passes were spent on, or why there was none; empty if the sketch's pass was enough
	// Unknown lists the γ that were left out, ascending. Of a grid they lie below those of Path, and
	// their scores are not known to one per cent, or the system is singular there to working
	// precision. Of given candidates they are those at which the system is singular. Nothing is said
	// of them, though the choice be Certain among those of Path.
	Unknown []float64 `json:"unknown,omitempty"`
}

// Gamma is the γ that was chosen, NaN where none was.
func (c *GammaChoice) Gamma() float64 {
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) {
		return math.NaN()
	}
	return c.Path[c.Index].Gamma
}

// LittleKnown says that the choice is little more than a guess: another γ may have less than half of
// the score, and not of squares that are all fitted, to round-off.
func (c *GammaChoice) LittleKnown() bool {
	const worse, fitted = 1, 1e-12
	if c == nil || c.Index < 0 || c.Index >= len(c.Path) || c.RelativeExcess() <= worse {
		return false
	}
	for _, o := range c.Path[c.Index].Targets {
		if !(o.RSS.Hi <= fitted*o.TSS.Hi) {
			return true
		}
	}
	return false
}

// GridSize is the number of γ in the default grid, over six powers of ten. Cross-validation has gridCV.
const (
	GridSize = 50
	gridCV   = 25
)

// A grid goes on beyond its end by half as many γ as it had, over three powers of ten, as long as
// the score that is proved gets less by so much of it each time: a curve that has become flat is
// not followed. Columns of very different size take many steps: monomials of degree three in
// columns of up to 10⁵ have a mean eigenvalue 10³⁰ times what is best for the others.
const (
	mostMore  = 20
	worthMore = 1e-3
)

// goesOn says that a grid is to go on yet further, after a step from one choice to the next.
func goesOn(from, to Choice) bool { return to.Score.Hi < from.Score.Hi*(1-worthMore) }

// Gamma chooses γ by GCV over all targets, from the one-shot solutions of a summary, see [LeastGCV]. candidates are the γ to
// choose from. If they are nil, they are Grid(50), extended downwards to the least sum of squares of a column as far
// as scores are known to one per cent. The grid is extended by three powers of ten at a time, as long as the best γ
// is at its end and the least proved score falls by a thousandth. The smaller γ of which less is known are
// [GammaChoice.Unknown]. Errors are those of [ridge.Summary.Path].
func Gamma(sum *ridge.Summary, candidates []float64) (*GammaChoice, error) {
	grid, err := GridOf(sum)
	if err != nil {
		return nil, err
	}
	return Among(candidates, grid, func(gammas []float64) ([]Candidate, error) {
		path, err := sum.Path(gammas)
		return ByGCV(path), err
	})
}

// A Candidate is a γ that may be chosen: its solution, and its score for each target.
type Candidate struct {
	Fit    *ridge.Solution
	Scores []ridge.Interval
}

// ByScore returns the candidates with these solutions and scores.
func ByScore(fits []*ridge.Solution, scores [][]ridge.Interval) []Candidate {
	out := make([]Candidate, len(fits))
	for i, f := range fits {
		out[i] = Candidate{f, scores[i]}
	}
	return out
}

// ByGCV returns the candidates with these solutions, scored by GCV.
func ByGCV(fits []*ridge.Solution) []Candidate { return ByScore(fits, gcvOf(fits)) }

// Among chooses among the candidates that find returns for gammas. If gammas is nil, they are those of an ascending grid, which is
// extended if the best is at its end. Candidates at which the system is singular to working precision are left out.
func Among(gammas, grid []float64, find func(gammas []float64) ([]Candidate, error)) (*GammaChoice, error) {
	goOn := gammas == nil
	if goOn {
		gammas = grid
	}
	all, left, err := solvable(gammas, find)
	if err != nil {
		return nil, err
	}
	if goOn {
		all = all[known(len(all), GridSize, func(i int) ridge.Interval { return ridge.Interval(total(all[i].Scores)) }):]
	}
	best, err := chooseCandidate(all)
	for more := 0; err == nil && goOn && more < mostMore; more++ {
		beyond := beyond(gammasOf(best.Path), best.Index, GridSize/2)
		if len(beyond) == 0 {
			break
		}
		found, _, err := solvable(beyond, find)
		if _, singular := errors.AsType[*ridge.SingularError](err); err != nil && !singular {
			return nil, err
		}
		all = slices.Concat(all, found)
		slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Fit.Gamma, b.Fit.Gamma) })
		next, err := chooseCandidate(all)
		if err != nil {
			return nil, err
		}
		certain := next.Score.Hi < best.Score.Lo
		if !(next.Score.Hi < best.Score.Hi) || !certain && !all[next.Index].Fit.Proves() {
			break
		}
		on := goesOn(best.Choice, next.Choice)
		if best = next; !on {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	best.Unknown = left
	if goOn {
		best.Unknown = below(grid, best.Path[0].Gamma)
	}
	return best, nil
}

// below are those of an ascending grid that are less than the least γ that was tried.
func below(grid []float64, least float64) []float64 {
	n, _ := slices.BinarySearch(grid, least)
	return slices.Clone(grid[:n])
}

// solvable finds the candidates at those of some γ at which the system is not singular to working
// precision, in the order of gammas, and returns the other γ, ascending. At a γ below a singular one the
// system is taken to be singular, too. If it is at all of them, the error is that of the largest.
func solvable(gammas []float64, find func(gammas []float64) ([]Candidate, error)) (all []Candidate, left []float64, err error) {
	if all, err = find(gammas); err == nil {
		return all, nil, nil
	}
	order := make([]int, len(gammas)) // descending, so that the largest singular one is met first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gammas[b], gammas[a]) })
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
		left, rest = append(left, rest[n:]...), rest[:n]
		all, err = find(rest)
	}
	at := make(map[*ridge.Solution]int, len(all))
	for i, one := range all {
		at[one.Fit] = order[i]
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(at[a.Fit], at[b.Fit]) })
	slices.Sort(left)
	return all, left, nil
}

func gammasOf(path []*ridge.Solution) []float64 {
	out := make([]float64, len(path))
	for i, f := range path {
		out[i] = f.Gamma
	}
	return out
}

func chooseCandidate(all []Candidate) (*GammaChoice, error) {
	c := &GammaChoice{}
	for _, one := range all {
		c.Path, c.Scores = append(c.Path, one.Fit), append(c.Scores, one.Scores)
	}
	var err error
	c.Choice, err = chooseTarget(c.Scores, -1)
	return c, err
}

// Again chooses among the same γ, of which more is known.
func (c *GammaChoice) Again(all []Candidate) (*GammaChoice, error) {
	next, err := chooseCandidate(all)
	next.Unknown = c.Unknown
	return next, err
}

// ChooseGamma chooses γ by the errors of the cross-validation, over all targets: by those
// of one-shot fits where these are what is to be made, else by those of exact solutions.
func (r *CVResult) ChooseGamma(oneShot bool) (*GammaChoice, error) {
	if r == nil || r.Summary == nil {
		return nil, rows.Unfit("a cross-validation without a summary")
	}
	path, err := r.Summary.Path(r.Gammas)
	if err != nil {
		return nil, err
	}
	c := &GammaChoice{By: CV, Path: path, Scores: r.Ridge, CV: r, Unknown: r.Unknown}
	if oneShot {
		c.Scores = r.Fitted
	}
	c.Choice, err = chooseTarget(c.Scores, -1)
	return c, err
}

// beyond are so many γ, over three powers of ten, beyond that end of an ascending grid at which
// its best is, as far as there are such numbers; none where the best is inside.
func beyond(grid []float64, best, points int) []float64 {
	end, step := grid[0], -1.0
	switch best {
	case len(grid) - 1:
		end, step = grid[best], 1
	case 0:
	default:
		return nil
	}
	out := make([]float64, 0, points)
	for i := range points {
		if g := end * math.Pow(10, 3*step*float64(i+1)/float64(points)); g > 0 && !math.IsInf(g, 0) {
			out = append(out, g)
		}
	}
	return out
}
