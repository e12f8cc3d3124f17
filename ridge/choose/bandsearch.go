package choose

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A BandChoice holds the chosen overall penalty γ, the chosen penalties of groups of columns ([Band]), and how they
// were chosen.
type BandChoice struct {
	Bands []Band `json:"bands"` // with the chosen penalties
	// Choice is the choice among the trials in Tried, by the smallest upper bound on the score of generalised
	// cross-validation. Choice.Certain is about these trials only: penalties that were not tried may be better.
	// Choice.Index is −1 if all penalties were given.
	Choice Choice      `json:"choice"`
	Tried  []BandTrial `json:"tried"`  // the trials, in order
	AtEnd  bool        `json:"at_end"` // a penalty is 10⁸ or 10⁻⁸, the ends of the search
	Passes int         `json:"passes"` // number of passes for the choice, besides the pass of the summary
	Whole  bool        `json:"whole"`  // these passes computed AᵀA itself, so only round-off widens the brackets of GCV
	// Spent gives the reasons for the further passes, or the reason against a pass. It is empty if the summary was
	// enough for the choice.
	Spent []reason.Reason `json:"spent,omitempty"`
}

// A BandTrial is the result for one set of penalties of the groups of columns.
type BandTrial struct {
	Penalties []float64      `json:"penalties"`         // one for each band
	Gamma     float64        `json:"gamma" null:"NaN"`  // the γ with the smallest upper bound on GCV
	GCV       ridge.Interval `json:"gcv"`               // bracket of the GCV at Gamma, summed over all targets
	Least     float64        `json:"least" null:"-Inf"` // lower bound on GCV at all γ tried with these penalties
}

const (
	bandReach = 8 // penalties are between 10^−bandReach and 10^bandReach
	// If no candidates are given, each trial after the first compares 2·bandGammas + 1 values of the penalty γ. They
	// lie around the γ of the best trial so far, and neighbours differ by the factor 10^¼.
	bandGammas = 4
)

var bandSteps = [...]float64{1, 0.5, 0.25}

// BandOptions are the options of [Bands].
type BandOptions struct {
	Bands []Band
	// Penalty holds a factor for each column. The penalty of a column is this factor times the penalty of its band.
	// A nil Penalty means the factor 1 for every column.
	Penalty []float64
	// Candidates are the values of the penalty γ to compare. If it is nil, [Gamma] chooses its default grid.
	Candidates []float64
	// GivenGamma means that the user gave the penalty γ: Candidates are the γ to solve for. Bands then chooses the
	// penalties of all bands that have none. Otherwise γ is chosen, too, and the first band may keep penalty 1. The
	// reason is that only the products of γ and the penalties matter.
	GivenGamma bool
}

// Bands chooses γ and the penalties of all bands with Penalty 0, by GCV summed over all targets.
//
//  1. It starts with all penalties 1 and the γ that [Gamma] chooses from opts.Candidates.
//  2. It visits the bands in turn, and multiplies the penalty of a band by ten as long as this lowers the upper bound
//     on GCV. If the first multiplication does not lower it, the penalty is divided by ten instead. Each trial may
//     choose another γ.
//  3. When no band improves, it repeats step 2 with the factor √10, and then with the square root of √10.
//
// If γ and the penalties of all columns are chosen, the first band keeps penalty 1, because only the products of γ
// and the penalties matter.
//
// Trials use the sketch of sum, or AᵀA if sum keeps it, see [ridge.Summary.Penalize]. A trial takes O(m²d) time for
// a sketch of m rows and d columns, or O(d³) with AᵀA.
//
// Errors are the errors of [Penalties], [ridge.Summary.Penalize] and [ridge.Summary.Path], and the error of ctx.
func Bands(ctx context.Context, sum *ridge.Summary, opts BandOptions) (*BandChoice, error) {
	if _, err := sum.Spectrum(); err != nil {
		return nil, err
	}
	if _, err := Penalties(sum.Config().Dim, opts.Penalty, opts.Bands); err != nil {
		return nil, err
	}
	search := &bandSearch{
		BandOptions: opts,
		sum:         sum,
		exponents:   make([]float64, len(opts.Bands)),
	}
	if err := search.begin(); err != nil {
		return nil, err
	}
	free := search.freeBands()
	for _, step := range bandSteps {
		for moved := true; moved; {
			moved = false
			for _, i := range free {
				far, err := search.searchLine(ctx, i, step)
				if err != nil {
					return nil, err
				}
				moved = moved || far
			}
		}
	}
	return search.choice()
}

// bandSearch is the state of the search of [Bands].
type bandSearch struct {
	BandOptions
	sum            *ridge.Summary
	exponents      []float64 // log₁₀ of the best penalties so far
	best           int       // index of the best trial in tried
	tried          []BandTrial
	triedExponents [][]float64 // the exponents of each trial in tried
}

// freeBands returns the indices of the bands whose penalty the search has to choose.
func (b *bandSearch) freeBands() []int {
	var out []int
	columns, given := 0, false
	for i, band := range b.Bands {
		columns += len(band.Columns)
		if band.Penalty == 0 {
			out = append(out, i)
		} else {
			given = true
		}
	}
	if !b.GivenGamma &&
		columns == b.sum.Config().Dim &&
		!given &&
		len(out) > 0 {
		out = out[1:]
	}
	return out
}

// bandsAt returns a copy of the bands. A band i without a given penalty has the penalty 10^exponents[i] in the
// copy.
func (b *bandSearch) bandsAt(exponents []float64) []Band {
	out := slices.Clone(b.Bands)
	for i := range out {
		if out[i].Penalty == 0 {
			out[i].Penalty = math.Pow(10, exponents[i])
		}
	}
	return out
}

func (b *bandSearch) begin() error {
	_, err := b.try(b.exponents, b.Candidates)
	return err
}

// try adds a trial with the penalty 10^exponents[i] for each band i without a given penalty. It reports whether
// this trial is the best so far.
func (b *bandSearch) try(exponents, gammas []float64) (better bool, err error) {
	bands := b.bandsAt(exponents)
	p, err := Penalties(b.sum.Config().Dim, b.Penalty, bands)
	if err != nil {
		return false, err
	}
	view := b.sum
	if slices.ContainsFunc(p, func(v float64) bool { return v != 1 }) {
		view, err = b.sum.Penalize(p)
		if err != nil {
			return false, err
		}
	}
	choice, err := Gamma(view, gammas)
	if err != nil {
		return false, err
	}
	trial := BandTrial{Least: math.Inf(1)}
	for i, f := range choice.Path {
		v := ridge.Interval(sumBrackets(choice.Scores[i]))
		trial.Least = math.Min(trial.Least, v.Lo)
		if i == 0 || v.Hi < trial.GCV.Hi {
			trial.Gamma, trial.GCV = f.Gamma, v
		}
	}
	for _, band := range bands {
		trial.Penalties = append(trial.Penalties, band.Penalty)
	}
	b.tried = append(b.tried, trial)
	b.triedExponents = append(b.triedExponents, slices.Clone(exponents))
	better = len(b.tried) == 1 || trial.GCV.Hi < b.tried[b.best].GCV.Hi
	if better {
		b.best = len(b.tried) - 1
		b.exponents = slices.Clone(exponents)
	}
	return better, nil
}

// gammas returns the γ of the next trial.
func (b *bandSearch) gammas() []float64 {
	if b.Candidates != nil {
		return b.Candidates
	}
	out := make([]float64, 0, 2*bandGammas+1)
	for i := -bandGammas; i <= bandGammas; i++ {
		out = append(out, b.tried[b.best].Gamma*math.Pow(10, float64(i)/4))
	}
	return out
}

// searchLine multiplies the penalty of band i by 10^step as long as the score improves. If the first multiplication
// does not improve the score, searchLine divides by 10^step instead. The result moved is true if the penalty
// changed.
func (b *bandSearch) searchLine(ctx context.Context, i int, step float64) (moved bool, err error) {
	for _, change := range []float64{step, -step} {
		for {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			next := slices.Clone(b.exponents)
			next[i] += change
			if math.Abs(next[i]) > bandReach || b.wasTried(next) {
				break
			}
			better, err := b.try(next, b.gammas())
			if err != nil {
				return false, err
			}
			if !better {
				break
			}
			moved = true
		}
		if moved {
			break
		}
	}
	return moved, nil
}

// wasTried reports whether an earlier trial had these exponents.
func (b *bandSearch) wasTried(exponents []float64) bool {
	return slices.ContainsFunc(b.triedExponents, func(at []float64) bool {
		return slices.Equal(at, exponents)
	})
}

func (b *bandSearch) choice() (*BandChoice, error) {
	scores := make([]ridge.Interval, len(b.tried))
	most := make([]float64, len(b.tried))
	for i, t := range b.tried {
		most[i] = t.GCV.Hi
		scores[i] = t.GCV
		if i != b.best {
			scores[i].Lo = t.Least
		}
	}
	atEnd := slices.ContainsFunc(b.exponents, func(v float64) bool {
		return math.Abs(v) == bandReach
	})
	return &BandChoice{
		Bands:  b.bandsAt(b.exponents),
		Choice: Least(scores, most),
		Tried:  b.tried,
		AtEnd:  atEnd,
	}, nil
}
