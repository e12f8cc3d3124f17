package choose

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Source computes the evidence from which the penalty γ is chosen. It computes this from a sketch of the rows, or
// from the matrix factors of a direct method.
type Source interface {
	// Grid returns the values of γ to compare by default, for a criterion with the given needs.
	Grid(needs Needs) (GammaGrid, error)
	// Evidence returns the evidence at each of gammas, in order. If needs is not zero, a call may make a pass over
	// the rows. If a linear system is singular, the error is a *[ridge.SingularError].
	Evidence(ctx context.Context, needs Needs, gammas []float64) ([]Evidence, error)
	// Sharpen makes passes that narrow the brackets of the scores, if the passes are worth their cost. c is the
	// choice so far. If the criterion needs a pass, Search also calls Sharpen before the first choice, with a nil
	// c.
	Sharpen(ctx context.Context, needs Needs, c *GammaChoice) (Sharper, error)
	// Summary returns the summary of the rows, or nil if the source has no summary.
	Summary() *ridge.Summary
	// SharpenEach makes a pass that narrows all brackets, if the pass is worth its cost. excess is the largest
	// relative excess of all targets. The result is true if Evidence now returns narrower brackets at all γ.
	SharpenEach(ctx context.Context, needs Needs, excess float64) (bool, error)
}

// A Sharper describes the better evidence that [Source.Sharpen] found. The zero value means that it found none.
type Sharper struct {
	Again    bool       // there is better evidence at all γ
	Evidence []Evidence // better evidence at some γ of the choice
	More     Source     // if not nil, a source of evidence at Gammas, which the choice had left out
	Gammas   []float64
}

// Search chooses γ by the criterion by:
//
//  1. The candidates are the grid of the source. If the criterion needs a pass, Search first chooses by GCV from this
//     grid and continues with [AroundGCV], unless the grid of the source is Small or Fixed.
//  2. A grid that is not Fixed is extended while the best candidate is at its end, see [Gamma].
//  3. The candidate with the smallest upper bound on the score is chosen, see [Least].
//  4. For the marginal likelihood, γ between the best γ and its neighbours are tried, too, unless the grid is Fixed.
//     The reason is that the likelihoods of neighbours in the grid may differ by several per cent. Other scores differ
//     there by less than DefaultTol.
//  5. As long as the source finds better evidence, γ is chosen again.
//
// If the criterion is an error rate, steps 1 to 5 choose by the leave-one-out error, and the error rate then decides
// between their candidates. The field By of the result is the criterion by; the fields Passes, Whole and Spent are
// zero. Errors are the errors of the source.
func Search(ctx context.Context, by Criterion, from Source) (*GammaChoice, error) {
	s := &search{
		ctx:  ctx,
		by:   by,
		from: from,
		seen: map[*ridge.Solution]Evidence{},
	}
	if among := by.of().among; among != Auto {
		s.by = among
	}
	if s.needs().Pass {
		if _, err := from.Sharpen(ctx, by.Needs(), nil); err != nil {
			return nil, err
		}
	}
	c, err := s.run()
	if err != nil {
		return nil, err
	}
	for {
		more, err := from.Sharpen(ctx, by.Needs(), c)
		if err != nil {
			return nil, err
		}
		if !more.Again && more.Evidence == nil && more.More == nil {
			break
		}
		c, err = s.improve(c, more)
		if err != nil {
			return nil, err
		}
	}
	if by != s.by {
		if err := s.byErrorRate(c, by); err != nil {
			return nil, err
		}
	}
	c.By = by
	c.Noise = noiseOf(by, c.Path[c.Index])
	return c, nil
}

// search is the state of [Search].
type search struct {
	ctx  context.Context
	by   Criterion
	from Source
	seen map[*ridge.Solution]Evidence
}

func (s *search) needs() Needs { return s.by.Needs() }

// run chooses γ by the evidence that the source can give now.
func (s *search) run() (*GammaChoice, error) {
	grid, err := s.from.Grid(s.needs())
	if err != nil {
		return nil, err
	}
	if !s.needs().Pass || grid.Small {
		return s.among(s.by, s.from, grid)
	}
	byGCV, err := s.among(GCV, s.from, grid)
	if err != nil {
		return nil, err
	}
	if !grid.Fixed {
		grid = AroundGCV(byGCV)
	}
	c, err := s.among(s.by, s.from, grid)
	if err == nil {
		c.AddUnknown(byGCV.Unknown)
	}
	return c, err
}

// among chooses a γ of the grid by the criterion by. The evidence comes from the source from.
func (s *search) among(by Criterion, from Source, grid GammaGrid) (*GammaChoice, error) {
	find := func(gammas []float64) ([]Candidate, error) {
		found, err := from.Evidence(s.ctx, by.Needs(), gammas)
		if err != nil {
			return nil, err
		}
		var out []Candidate
		for i := range found {
			s.seen[found[i].Fit] = found[i]
			out = append(out, candidate(by, &found[i]))
		}
		return out, nil
	}
	if grid.Fixed {
		return among(by, grid.Gammas, GammaGrid{}, find)
	}
	return among(by, nil, grid, find)
}

// candidate converts the evidence at one γ to a Candidate, with the scores of the criterion by.
func candidate(by Criterion, e *Evidence) Candidate {
	out := Candidate{Fit: e.Fit}
	for _, s := range by.of().scores(e) {
		out.Scores = append(out.Scores, s.Bracket)
		out.Estimates = append(out.Estimates, interval.Interval(s.Bracket).Estimate(s.Estimate))
	}
	return out
}

// improve returns a new choice to replace c, using the better evidence that more describes.
func (s *search) improve(c *GammaChoice, more Sharper) (*GammaChoice, error) {
	switch {
	case more.Again:
		return s.run()
	case more.More != nil:
		others, err := s.among(s.by, more.More, GammaGrid{Gammas: more.Gammas, Fixed: true})
		if _, singular := errors.AsType[*ridge.SingularError](err); singular {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		grid, err := s.from.Grid(s.needs())
		if err != nil {
			return nil, err
		}
		return c.Merge(others, grid.Fixed)
	}
	all := candidatesOf(c)
	for i := range more.Evidence {
		e := &more.Evidence[i]
		at := slices.IndexFunc(all, func(one Candidate) bool {
			return one.Fit.Gamma == e.Fit.Gamma
		})
		if at < 0 {
			return nil, rows.Unfit("better evidence at γ = %v, which is no candidate", e.Fit.Gamma)
		}
		all[at] = candidate(s.by, e)
	}
	return c.Again(all)
}

// byErrorRate replaces the choice c by a choice among the same solutions. The new choice is by the error rate by.
func (s *search) byErrorRate(c *GammaChoice, by Criterion) error {
	var rates []ridge.Interval
	var estimates []float64
	for _, f := range c.Path {
		e := s.seen[f]
		if e.Decisions == nil {
			return rows.Unfit("an error rate without labels")
		}
		one := candidate(by, &e)
		rates = append(rates, one.Scores...)
		estimates = append(estimates, one.Estimates...)
	}
	return c.ByErrorRate(rates, estimates)
}

// SearchEach chooses a penalty γ for each target, by the criterion by. The candidates are the grid of the source.
// For the marginal likelihood, SearchEach adds three γ between neighbours of the grid, unless the user gave the
// grid. The added γ do not depend on the targets, so all blocks of targets have the same candidates. In the result,
// By is the criterion, and the fields Passes, Whole and Spent are zero. Errors are the errors of the source.
func SearchEach(ctx context.Context, by Criterion, from Source) (*TargetChoice, error) {
	grid, err := from.Grid(by.Needs())
	if err != nil {
		return nil, err
	}
	gammas := Ascending(grid.Gammas)
	if by.of().refines && !grid.Given {
		gammas = dense(gammas)
	}
	for {
		c, err := searchEach(ctx, by, gammas, from)
		if err != nil {
			return nil, err
		}
		again, err := from.SharpenEach(ctx, by.Needs(), c.WorstExcess())
		if err != nil || !again {
			return c, err
		}
	}
}

// searchEach chooses a γ for each target by the evidence that the source can give now.
func searchEach(
	ctx context.Context,
	by Criterion,
	gammas []float64,
	from Source,
) (*TargetChoice, error) {
	if sum, scores := from.Summary(), by.of().each; sum != nil && scores != nil {
		return eachOf(by, sum, gammas, scores)
	}
	// To save memory, the solutions of one part of the γ are dropped before the next part is solved. There is only one
	// part if each call of Evidence takes a pass.
	step := len(gammas)
	if by.Needs() == (Needs{}) {
		step = GridSize
	}
	var all []Candidate
	var noises [][]ridge.Interval
	for part := range slices.Chunk(gammas, max(1, step)) {
		found, err := from.Evidence(ctx, by.Needs(), part)
		if err != nil {
			return nil, err
		}
		for i := range found {
			one := candidate(by, &found[i])
			noises = append(noises, noiseOf(by, found[i].Fit))
			one.Fit = nil
			all = append(all, one)
			if len(one.Scores) != len(all[0].Scores) {
				return nil, rows.Unfit("candidates with different numbers of targets")
			}
		}
	}
	if len(all) == 0 {
		return nil, rows.Unfit("no candidates to choose from")
	}
	c := each(by, gammas, len(all[0].Scores), func(i, j int) (ridge.Interval, float64) {
		return all[i].Scores[j], all[i].Estimates[j]
	})
	for j, g := range c.Gammas {
		if noise := noises[slices.Index(gammas, g)]; noise != nil {
			c.Noise = append(c.Noise, noise[j])
		}
	}
	return c, nil
}

// eachOf chooses a γ for each target. The function scores computes the scores from the summary sum.
func eachOf(
	by Criterion,
	sum *ridge.Summary,
	gammas []float64,
	scores func(*ridge.Summary, []float64) ([]ridge.Interval, error),
) (*TargetChoice, error) {
	found, err := scores(sum, gammas)
	if err != nil {
		return nil, err
	}
	k := len(gammas)
	return each(by, gammas, sum.Config().Targets, func(i, j int) (ridge.Interval, float64) {
		v := found[j*k+i]
		return v, interval.Interval(v).Mid()
	}), nil
}

// middle returns a score with the bracket v and no estimate. The estimate is then the midpoint of v.
func middle(v ridge.Interval) Score {
	return Score{Bracket: v, Estimate: math.NaN()}
}

// ErrorsOf returns one score for each target, from the elements brackets[i] and estimates[i] for one γ. If
// estimates is nil, the midpoints of the brackets are used.
func ErrorsOf(brackets [][]ridge.Interval, estimates [][]float64, i int) []Score {
	var out []Score
	for j, v := range brackets[i] {
		one := middle(v)
		if estimates != nil {
			one.Estimate = estimates[i][j]
		}
		out = append(out, one)
	}
	return out
}
