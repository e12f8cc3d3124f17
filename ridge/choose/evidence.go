package choose

import (
	"math"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// evidence is the row of the table for [MarginalLikelihood].
var evidence = definition{
	name: "evidence",
	scores: func(e *Evidence) []Score {
		return scoresOf(e.Fit, func(o *ridge.Target) ridge.Interval {
			return o.Marginal.Loss
		})
	},
	isLogarithm: true,
	refines:     true,
	words: Words{
		Score:   "negative log evidence",
		Field:   "evidence",
		Axis:    "−log of the marginal likelihood",
		Caption: "The marginal likelihood of the targets, at the best noise variance for each γ.",
		Legend: "evidence: −log of the marginal likelihood at the best noise variance; " +
			"0.01 is one per cent of the likelihood.",
	},
}

// relativeExcess returns an upper bound on the excess of a choice divided by the smallest score. If the scores are
// logarithms, another γ may be up to eˣ times as likely, where x is the excess. In this case, the result is a bound
// on eˣ − 1.
func (c Criterion) relativeExcess(choice *Choice) float64 {
	switch x := choice.Excess; {
	case !c.of().isLogarithm:
		return choice.RelativeExcess()
	case x == 0:
		return 0
	case x < 1:
		return x / (1 - x) * (1 + 4*roundoff.Eps) // eˣ ≤ 1/(1 − x)
	}
	return math.Inf(1)
}

// asRatio returns a bracket whose ratio Hi/Lo measures how well the score in bracket v is known. If the score is a
// logarithm, asRatio returns [1, 1 + Hi − Lo], because only differences of logarithms matter. Any other v is
// returned unchanged.
func (c Criterion) asRatio(v ridge.Interval) ridge.Interval {
	if c.of().isLogarithm {
		return ridge.Interval{Lo: 1, Hi: 1 + (v.Hi - v.Lo)}
	}
	return v
}

// IsLogarithm reports whether the score is the logarithm of a likelihood. Such a score may be negative, and only
// differences of scores have a meaning.
func (c Criterion) IsLogarithm() bool { return c.of().isLogarithm }

// noiseOf returns a bracket of the noise variance of each target of the solution f. It returns nil if the criterion
// by does not estimate noise variances.
func noiseOf(by Criterion, f *ridge.Solution) []ridge.Interval {
	if !by.of().isLogarithm || f == nil {
		return nil
	}
	var out []ridge.Interval
	for _, o := range f.Targets {
		out = append(out, o.Marginal.Noise)
	}
	return out
}
