package adversary

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// A Report has, for each certificate of a problem, the largest ratio of true error to reported bound. The ratio is +Inf
// if a bound is NaN or the call panicked. Refused counts typed errors.
type Report struct {
	Ratios   map[string]float64
	Refined  map[string][]Refined
	Refused  map[string]int
	Compared int // bounds
}

func newReport() *Report {
	return &Report{Ratios: map[string]float64{}, Refined: map[string][]Refined{}, Refused: map[string]int{}}
}

// Names of the certificates, sorted.
func (r *Report) Names() []string { return slices.Sorted(maps.Keys(r.Ratios)) }

func (r *Report) worst(name string, ratio float64) {
	r.Compared++
	if math.IsNaN(ratio) {
		ratio = math.Inf(1)
	}
	if old, ok := r.Ratios[name]; !ok || ratio > old {
		r.Ratios[name] = ratio
	}
}

// atMost records err ≤ bound, for an err that is not negative.
func (r *Report) atMost(name string, err *big.Float, bound float64) {
	r.worst(name, overBound(err, bound))
}

func overBound(err *big.Float, bound float64) float64 {
	switch {
	case math.IsNaN(bound):
		return math.NaN()
	case math.IsInf(bound, 1):
		return 0
	case err.Sign() <= 0 && bound >= 0:
		return 0
	case bound <= 0:
		return math.Inf(1)
	}
	f, _ := new(big.Float).Quo(err, refbig.Float(bound)).Float64()
	return f
}

// within records lo ≤ truth ≤ hi for a quantity that is always between lowest and highest. An end at or beyond
// these says nothing. If only one end says something, the ratio is between this end and the truth. If both ends do, the
// ratio is the distance of the truth from the middle, relative to the half width. The truth has an error of at most
// 2⁻⁴⁰⁰·scale.
func (r *Report) within(name string, v ridge.Interval, truth, scale *big.Float, lowest, highest float64) {
	r.worst(name, bracket(v, truth, scale, lowest, highest))
}

func bracket(v ridge.Interval, truth, scale *big.Float, lowest, highest float64) float64 {
	if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) || v.Lo > v.Hi {
		return math.NaN()
	}
	slack := new(big.Float).SetMantExp(new(big.Float).Abs(scale), -400)
	below, above := v.Lo <= lowest || math.IsInf(v.Lo, -1), v.Hi >= highest || math.IsInf(v.Hi, 1)
	// Proportions of what is left of the truth past the slack.
	toLo := new(big.Float).Sub(refbig.Float(math.Max(v.Lo, -math.MaxFloat64)), truth) // > 0: false
	toHi := new(big.Float).Sub(truth, refbig.Float(math.Min(v.Hi, math.MaxFloat64)))
	outside := toLo
	if toHi.Cmp(toLo) > 0 {
		outside = toHi
	}
	switch {
	case below && above:
		return 0
	case below:
		return oneSided(truth, refbig.Float(v.Hi), toHi, slack)
	case above:
		return oneSided(refbig.Float(v.Lo), truth, toLo, slack)
	case v.Lo == v.Hi && outside.Cmp(slack) <= 0: // exact
		return 0
	case v.Lo == v.Hi:
		return math.Inf(1)
	case outside.Cmp(slack) <= 0 && outside.Sign() >= 0:
		return 1
	}
	half := new(big.Float).Sub(refbig.Float(v.Hi), refbig.Float(v.Lo))
	half.Quo(half, refbig.Float(2))
	out, _ := new(big.Float).Quo(new(big.Float).Add(half, outside), half).Float64()
	return out
}

// oneSided returns small/large for the claim small ≤ large, where beyond = small − large. It returns 1 if the claim
// is false by at most slack.
func oneSided(small, large, beyond, slack *big.Float) float64 {
	switch {
	case small.Sign() <= 0:
		return 0
	case beyond.Cmp(slack) <= 0 && beyond.Sign() >= 0:
		return 1
	case large.Sign() <= 0:
		return math.Inf(1)
	}
	out, _ := new(big.Float).Quo(small, large).Float64()
	return out
}
