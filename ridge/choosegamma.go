package ridge

import (
	"cmp"
	"math"
	"slices"
)

// A GammaChoice is how γ was chosen of several: by the least score, summed over all targets.
type GammaChoice struct {
	Choice              // of which Index is that in Path
	Path   []*Solution  // the one-shot solutions of all γ that were tried, in the order of the candidates
	Scores [][]Interval // of each of them for each target
	CV     *CVResult    // the cross-validation that these scores are of; nil: they are of GCV
}

// Gamma is the γ that was chosen.
func (c *GammaChoice) Gamma() float64 { return c.Path[c.Index].Gamma }

// gridPoints is how many γ there are to choose of by GCV where none are given.
const gridPoints = 50

// How much further a grid goes at a time, three powers of ten, and how often.
const (
	morePoints = gridPoints / 2
	mostMore   = 3
)

// ChooseGamma chooses γ by GCV over all targets, see [ChooseGCV], of the candidates. Where
// none are given they are those of Grid(50), which goes on by three powers of ten at a time,
// at most three times, where the best γ is at its end, as long as one beyond is better for
// certain. Errors are those of [Summary.Path].
func (s *Summary) ChooseGamma(candidates []float64) (*GammaChoice, error) {
	grid := candidates
	if grid == nil {
		grid = s.Grid(gridPoints)
	}
	path, err := s.Path(grid)
	if err != nil {
		return nil, err
	}
	best, err := chooseByGCV(path)
	if err != nil || candidates != nil {
		return best, err
	}
	for range mostMore {
		more := best.beyond()
		if len(more) == 0 {
			break
		}
		found, err := s.Path(more)
		if err != nil {
			return nil, err
		}
		path = append(slices.Clone(path), found...)
		slices.SortFunc(path, func(a, b *Solution) int { return cmp.Compare(a.Gamma, b.Gamma) })
		next, err := chooseByGCV(path)
		if err != nil {
			return nil, err
		}
		if !(next.Score.Hi < best.Score.Lo) {
			break
		}
		best = next
	}
	return best, nil
}

func chooseByGCV(path []*Solution) (*GammaChoice, error) {
	c := &GammaChoice{Path: path, Scores: gcvOf(path)}
	var err error
	c.Choice, err = chooseTarget(c.Scores, -1)
	return c, err
}

// ChooseGamma chooses γ by the errors of the cross-validation, over all targets: by those
// of one-shot fits where these are what is to be made, else by those of exact solutions.
func (r *CVResult) ChooseGamma(oneShot bool) (*GammaChoice, error) {
	path, err := r.Summary.Path(r.Gammas)
	if err != nil {
		return nil, err
	}
	c := &GammaChoice{Path: path, Scores: r.Ridge, CV: r}
	if oneShot {
		c.Scores = r.Fitted
	}
	c.Choice, err = chooseTarget(c.Scores, -1)
	return c, err
}

// beyond are γ beyond the end of the path at which the best one is; none where it is inside.
func (c *GammaChoice) beyond() []float64 {
	end, step := c.Path[0].Gamma, -1.0
	switch last := len(c.Path) - 1; c.Index {
	case last:
		end, step = c.Path[last].Gamma, 1
	case 0:
	default:
		return nil
	}
	out := make([]float64, morePoints)
	for i := range out {
		out[i] = end * math.Pow(10, 3*step*float64(i+1)/morePoints)
	}
	return out
}
