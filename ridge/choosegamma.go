package ridge

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A GammaChoice is how γ was chosen of several: by the least score, summed over all targets.
type GammaChoice struct {
	Choice              // of which Index is that in Path
	By     Criterion    // what the scores are of
	Path   []*Solution  // the one-shot solutions, or the direct ones, of all γ that were tried, in the order of the candidates
	Scores [][]Interval // of each of them for each target
	CV     *CVResult    // the cross-validation that these scores are of, if they are
	Passes int          // that [Fit] has made for it, after the summary's
	Whole  bool         // these have computed AᵀA itself, or solutions are exact: what the scores leave open is round-off
	Spent  string       // what on and why, or why there was none, in words; "" where the sketch's pass was enough
	// Unknown lists the γ that were left out, ascending. Of a grid they lie below those of Path, and
	// their scores are not known to one per cent, or the system is singular there to working
	// precision. Of given candidates they are those at which the system is singular. Nothing is said
	// of them, though the choice be Certain among those of Path.
	Unknown []float64
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

// How many γ there are to choose from where none are given, over six powers of ten: by GCV
// and by cross-validation.
const (
	gridGCV = 50
	gridCV  = 25
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

// ChooseGamma chooses γ by GCV over all targets, see [ChooseGCV], of the candidates. Where
// none are given they are those of Grid(50), continued down to the least sum of squares of
// a column where that is less, as far as scores are known to one per cent, which goes on by three powers of ten at a time,
// where the best γ is at its end, as long as the least score that is proved falls by a thousandth
// each time, and something is proved of the weights at hand or the score is less for certain. Those
// below, of which less is known, are [GammaChoice.Unknown]. Errors are those of [Summary.Path].
func (s *Summary) ChooseGamma(candidates []float64) (*GammaChoice, error) {
	if !s.made() {
		return nil, errUnmade
	}
	grid, err := s.grid(gridGCV)
	if err != nil {
		return nil, err
	}
	return chooseOf(candidates, grid, func(gammas []float64) ([]candidate, error) {
		path, err := s.Path(gammas)
		return byGCV(path), err
	})
}

// A candidate is a γ that may be chosen: its solution, and its score for each target.
type candidate struct {
	fit    *Solution
	scores []Interval
}

// byGCV are the candidates of a path.
func byGCV(path []*Solution) []candidate {
	out := make([]candidate, len(path))
	for i, gcv := range gcvOf(path) {
		out[i] = candidate{path[i], gcv}
	}
	return out
}

// chooseOf chooses of the candidates at the γ given or, where these are nil, at those of a
// grid, which goes on where the best is at its end. find finds the candidates at some γ; those at which
// the system is singular are left out.
func chooseOf(gammas, grid []float64, find func(gammas []float64) ([]candidate, error)) (*GammaChoice, error) {
	goOn := gammas == nil
	if goOn {
		gammas = grid
	}
	all, left, err := solvable(gammas, find)
	if err != nil {
		return nil, err
	}
	if goOn {
		all = all[known(len(all), gridGCV, func(i int) Interval { return Interval(total(all[i].scores)) }):]
	}
	best, err := chooseCandidate(all)
	for more := 0; err == nil && goOn && more < mostMore; more++ {
		beyond := beyond(gammasOf(best.Path), best.Index, gridGCV/2)
		if len(beyond) == 0 {
			break
		}
		found, _, err := solvable(beyond, find)
		if _, singular := errors.AsType[*SingularError](err); err != nil && !singular {
			return nil, err
		}
		all = slices.Concat(all, found)
		slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.fit.Gamma, b.fit.Gamma) })
		next, err := chooseCandidate(all)
		if err != nil {
			return nil, err
		}
		certain := next.Score.Hi < best.Score.Lo
		if !(next.Score.Hi < best.Score.Hi) || !certain && !all[next.Index].fit.proves() {
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

// proves says that something is proved of the weights for every target.
func (s *Solution) proves() bool {
	for j := range s.Targets {
		if !s.Targets[j].Proves() {
			return false
		}
	}
	return true
}

// solvable finds the candidates at those of some γ at which the system is not singular to working
// precision, in the order of gammas, and returns the other γ, ascending. At a γ below a singular one the
// system is taken to be singular, too. If it is at all of them, the error is that of the largest.
func solvable(gammas []float64, find func(gammas []float64) ([]candidate, error)) (all []candidate, left []float64, err error) {
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
		singular, ok := errors.AsType[*SingularError](err)
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
	at := make(map[*Solution]int, len(all))
	for i, one := range all {
		at[one.fit] = order[i]
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(at[a.fit], at[b.fit]) })
	slices.Sort(left)
	return all, left, nil
}

func gammasOf(path []*Solution) []float64 {
	out := make([]float64, len(path))
	for i, f := range path {
		out[i] = f.Gamma
	}
	return out
}

func chooseCandidate(all []candidate) (*GammaChoice, error) {
	c := &GammaChoice{}
	for _, one := range all {
		c.Path, c.Scores = append(c.Path, one.fit), append(c.Scores, one.scores)
	}
	var err error
	c.Choice, err = chooseTarget(c.Scores, -1)
	return c, err
}

// again chooses of the same γ, of which more is known.
func (c *GammaChoice) again(all []candidate) (*GammaChoice, error) {
	next, err := chooseCandidate(all)
	next.Unknown = c.Unknown
	return next, err
}

// ChooseGamma chooses γ by the errors of the cross-validation, over all targets: by those
// of one-shot fits where these are what is to be made, else by those of exact solutions.
func (r *CVResult) ChooseGamma(oneShot bool) (*GammaChoice, error) {
	if r == nil || r.Summary == nil {
		return nil, errUnmade
	}
	path, err := r.Summary.Path(r.Gammas)
	if err != nil {
		return nil, err
	}
	c := &GammaChoice{By: ByCV, Path: path, Scores: r.Ridge, CV: r, Unknown: r.Unknown}
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
