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
// logarithms and the excess is x, it bounds eˣ − 1 instead: the fraction by which another γ may be more likely.
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

// asRatio returns a bracket whose ratio Hi/Lo measures how well the score in bracket v is known. For a logarithm this
// is [1, 1 + Hi − Lo], because differences of logarithms matter. Other scores are returned unchanged.
func (c Criterion) asRatio(v ridge.Interval) ridge.Interval {
	if c.of().isLogarithm {
		return ridge.Interval{Lo: 1, Hi: 1 + (v.Hi - v.Lo)}
	}
	return v
}

// IsLogarithm reports whether the score is the logarithm of a likelihood. Then the differences of scores matter, and
// scores may be negative.
func (c Criterion) IsLogarithm() bool { return c.of().isLogarithm }

// noiseOf returns the noise variance of each target of a solution, or nil if the criterion by does not estimate it.
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
