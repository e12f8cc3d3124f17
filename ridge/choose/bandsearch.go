package choose

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge"
)

// A BandChoice is how the penalties of bands were chosen, together with γ.
type BandChoice struct {
	Bands []Band `json:"bands"` // with their penalties
	// Choice is that of the least GCV among what was tried, of other penalties the least that GCV may be
	// at any γ tried with them; Index is -1 where the penalties were given. Certain says that
	// its bracket is below all others. Other penalties than those tried may be better.
	Choice Choice         `json:"choice"`
	Tried  []BandTrial    `json:"tried"`           // in this order
	AtEnd  bool           `json:"at_end"`          // a penalty is 10⁸ or 10⁻⁸, beyond which none is tried
	Passes int            `json:"passes"`          // that a fit has made for it, after the summary's
	Whole  bool           `json:"whole"`           // these have computed AᵀA itself: what the brackets leave open is round-off
	Spent  []ridge.Reason `json:"spent,omitempty"` // what the passes were spent on, or why there was none; empty if the sketch's pass was enough
}

// A BandTrial is what one set of penalties comes to.
type BandTrial struct {
	Penalties []float64      `json:"penalties"`         // of each band
	Gamma     float64        `json:"gamma" null:"NaN"`  // that of those tried with them of which the upper end of GCV is the least
	GCV       ridge.Interval `json:"gcv"`               // there, summed over all targets
	Least     float64        `json:"least" null:"-Inf"` // no γ of those tried with them has less; it may be another one
}

// Penalties are tried on a grid of powers of 10^step, the coarsest first, no further than
// 10^±bandReach; each with so many γ on either side of the best so far, a quarter of a power of
// ten from each other.
const (
	bandReach  = 8
	bandGammas = 4
)

var bandSteps = [...]float64{1, 0.5, 0.25}

// Bands chooses the penalties of those bands that have none, and γ, by GCV over all
// targets. It begins with all penalties 1 and the γ that [Gamma] chooses of the
// candidates. Then it goes from band to band, and multiplies or divides the penalty of one by ten
// as long as that lowers the upper end of the bracket on GCV, until no band has anything to
// gain; then by √10, and by its square root. With each set of penalties γ may move, too. Were all
// columns in bands to be chosen, the first would keep the penalty 1, as γ is a factor of all.
//
// All is done on the sketch, or on AᵀA where that is kept, see [ridge.Summary.Penalize]: a trial takes
// O(m²d), or O(d³). Errors are those of [Penalties], [ridge.Summary.Penalize] and [ridge.Summary.Path]; a cancelled
// ctx ends the search with its error.
func Bands(ctx context.Context, sum *ridge.Summary, bands []Band, candidates []float64) (*BandChoice, error) {
	ctx = background.IfNil(ctx)
	if _, err := sum.Spectrum(); err != nil {
		return nil, err
	}
	if _, err := Penalties(sum.Config().Dim, bands); err != nil {
		return nil, err
	}
	search := &bandSearch{sum: sum, bands: bands, candidates: candidates, exponents: make([]float64, len(bands))}
	if err := search.begin(); err != nil {
		return nil, err
	}
	free := search.free()
	for _, step := range bandSteps {
		for moved := true; moved; {
			moved = false
			for _, i := range free {
				far, err := search.line(ctx, i, step)
				if err != nil {
					return nil, err
				}
				moved = moved || far
			}
		}
	}
	return search.choice()
}

// bandSearch is a search under way.
type bandSearch struct {
	sum        *ridge.Summary
	bands      []Band
	candidates []float64
	exponents  []float64 // of the best penalties, as powers of ten
	best       int       // of tried
	tried      []BandTrial
	places     [][]float64 // the exponents of tried
}

// free are the bands that may move.
func (b *bandSearch) free() []int {
	var out []int
	columns, given := 0, false
	for i, band := range b.bands {
		columns += len(band.Columns)
		if given = given || band.Penalty != 0; band.Penalty == 0 {
			out = append(out, i)
		}
	}
	if columns == b.sum.Config().Dim && !given && len(out) > 0 {
		out = out[1:]
	}
	return out
}

// at are the bands with those exponents for the penalties that are not given.
func (b *bandSearch) at(exponents []float64) []Band {
	out := slices.Clone(b.bands)
	for i := range out {
		if out[i].Penalty == 0 {
			out[i].Penalty = math.Pow(10, exponents[i])
		}
	}
	return out
}

// begin tries penalties of 1.
func (b *bandSearch) begin() error {
	_, err := b.try(b.exponents, b.candidates)
	return err
}

// try tries penalties with those γ, nil for a grid, and reports whether they are the best so far.
func (b *bandSearch) try(exponents, gammas []float64) (better bool, err error) {
	bands := b.at(exponents)
	p, err := Penalties(b.sum.Config().Dim, bands)
	if err != nil {
		return false, err
	}
	view := b.sum
	if slices.ContainsFunc(p, func(v float64) bool { return v != 1 }) {
		if view, err = b.sum.Penalize(p); err != nil {
			return false, err
		}
	}
	choice, err := Gamma(view, gammas)
	if err != nil {
		return false, err
	}
	trial := BandTrial{Gamma: choice.Gamma(), GCV: choice.Score, Least: choice.Score.Lo}
	for _, i := range choice.Possible {
		trial.Least = math.Min(trial.Least, total(choice.Scores[i]).Lo)
	}
	for _, band := range bands {
		trial.Penalties = append(trial.Penalties, band.Penalty)
	}
	b.tried, b.places = append(b.tried, trial), append(b.places, slices.Clone(exponents))
	if better = len(b.tried) == 1 || trial.GCV.Hi < b.tried[b.best].GCV.Hi; better {
		b.best = len(b.tried) - 1
		b.exponents = slices.Clone(exponents)
	}
	return better, nil
}

// gammas are those to be tried with the next penalties.
func (b *bandSearch) gammas() []float64 {
	if b.candidates != nil {
		return b.candidates
	}
	out := make([]float64, 0, 2*bandGammas+1)
	for i := -bandGammas; i <= bandGammas; i++ {
		out = append(out, b.tried[b.best].Gamma*math.Pow(10, float64(i)/4))
	}
	return out
}

// line moves the penalty of band i in steps as long as that is better, up or else down.
func (b *bandSearch) line(ctx context.Context, i int, step float64) (moved bool, err error) {
	for _, by := range []float64{step, -step} {
		for {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			next := slices.Clone(b.exponents)
			next[i] += by
			if math.Abs(next[i]) > bandReach || b.known(next) {
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

// known says that penalties were tried.
func (b *bandSearch) known(exponents []float64) bool {
	return slices.ContainsFunc(b.places, func(at []float64) bool { return slices.Equal(at, exponents) })
}

func (b *bandSearch) choice() (*BandChoice, error) {
	scores := make([]ridge.Interval, len(b.tried))
	for i, t := range b.tried {
		if scores[i] = t.GCV; i != b.best {
			scores[i].Lo = t.Least
		}
	}
	atEnd := slices.ContainsFunc(b.exponents, func(v float64) bool { return math.Abs(v) == bandReach })
	return &BandChoice{Bands: b.at(b.exponents), Choice: Least(scores), Tried: b.tried, AtEnd: atEnd}, nil
}
