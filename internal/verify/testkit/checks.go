package testkit

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
)

func Marshal(t rapid.TB, s *ridge.Summary) []byte {
	t.Helper()
	return wiretest.Marshal(t, s)
}

func Check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p Table) Truth(intercept bool) *refbig.Problem {
	return refbig.New(p.X, p.Y, p.W, intercept)
}

// Predict returns the prediction of target j by the solution s for a row. It computes with 512 bits.
func Predict(s *refbig.Solution, j int, row []float64) *big.Float {
	y := new(big.Float).Set(s.Intercept[j])
	for k, v := range row {
		y.Add(y, new(big.Float).Mul(refbig.Float(v), s.Coef[j][k]))
	}
	return y
}

// Unknown is an interval that holds anything.
var Unknown = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}

// EveryField returns a solution in which every field has a value. Of its two targets, the first has infinite bounds
// and the second has finite bounds.
func EveryField(status ridge.Status) *ridge.Solution {
	nothing := ridge.Certificate{
		ErrorBound: math.Inf(1), RelativeErrorBound: math.Inf(1), EnergyBound: math.Inf(1), InterceptBound: math.Inf(1),
		Objective: Unknown, TSS: Unknown, RSS: ridge.Interval{Lo: 0, Hi: math.Inf(1)},
		GCV: ridge.Interval{Lo: math.Inf(-1), Hi: 1.0 / 3},
	}
	some := ridge.Certificate{
		ErrorBound: 0x1p-1074, RelativeErrorBound: 0.1, EnergyBound: 1e308, InterceptBound: 0,
		Objective: ridge.Interval{Lo: 1, Hi: 2},
		TSS:       ridge.Interval{Lo: 3, Hi: 3},
		RSS:       ridge.Interval{Lo: -0.1, Hi: 0.2},
		GCV:       ridge.Interval{Lo: 1e-300, Hi: 1e300},
	}
	return &ridge.Solution{
		Outcome: ridge.Outcome{
			Gamma: 0.1, Shrinkage: math.Inf(1), Contraction: math.Inf(1),
			EffectiveDimension: ridge.Interval{Lo: 0, Hi: math.Inf(1)},
			Method:             ridge.CG, Backend: "purego", Rows: 1 << 52, Passes: 7, Iterations: 8, Status: status,
		},
		Penalty: []float64{4, 1},
		Targets: []ridge.Target{
			{
				Coef:         []float64{1.0 / 3, math.Copysign(0, -1)},
				Intercept:    math.NaN(),
				ComputedTSS:  math.NaN(),
				GradientNorm: math.NaN(),
				Scaled:       []float64{2.0 / 3, 0},
				Certificate:  nothing,
				Marginal:     UnknownMarginal,
			},
			{
				Coef:         []float64{-1e-310, 5},
				Intercept:    0.3,
				ComputedTSS:  2,
				GradientNorm: 1e-9,
				Scaled:       []float64{-2e-310, 5},
				Certificate:  some,
				Marginal:     UnknownMarginal,
			},
		},
	}
}

// Again is v as it comes back from JSON.
func Again[T any](t *testing.T, v T) (T, string) {
	t.Helper()
	var back T
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return back, string(text)
}

// UnknownMarginal is the Marginal of a solution that was read from JSON, because JSON does not contain the marginal
// likelihood.
var UnknownMarginal = ridge.Marginal{
	Loss:  ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)},
	Noise: ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)},
}

// Rational returns v as a fraction.
func Rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
