package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestModelIsExact: a model file holds, to the last bit, the weights that its certificate
// is about, and what is not finite is read as that.
func TestModelIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const d = 50
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64() * math.Exp2(float64(r.IntN(200)-100))
		}
		return x
	}
	for _, scaled := range []bool{false, true} {
		for _, targets := range []int{1, 2} {
			coef := draw(targets * d)
			coef[0], coef[1], coef[2] = math.Copysign(0, -1), 0x1p-1074, math.Nextafter(1, 2)
			f := &ridge.Solution{Outcome: ridge.Outcome{Gamma: 0.1, Rows: 9}}
			for j := range targets {
				bracket := func() ridge.Interval {
					v := ridge.Interval{Lo: math.Abs(r.NormFloat64()), Hi: 1e3 * r.Float64()}
					if j == 0 {
						v.Hi = math.Inf(1)
					}
					return v
				}
				v := draw(5)
				f.Targets = append(f.Targets, ridge.Target{
					Coef: coef[j*d : (j+1)*d], Intercept: v[0], ComputedTSS: v[1],
					Certificate: ridge.Certificate{
						ErrorBound:         v[2],
						RelativeErrorBound: v[3],
						EnergyBound:        v[4],
						Objective:          bracket(),
						RSS:                bracket(),
						GCV:                bracket(),
					},
				})
			}
			f.Targets[targets-1].EnergyBound, f.Targets[targets-1].ErrorBound = math.Inf(1), math.NaN()
			prep := Preparation{Inputs: d}
			if scaled {
				prep.Scaling = &dataset.Scaling{Mean: draw(d), Scale: slices.Repeat([]float64{3.7}, d)}
			}
			m, err := New(prep, []*ridge.Solution{f}, Details{Intercept: true})
			if err != nil {
				t.Fatal(err)
			}
			var text, again bytes.Buffer
			if err := m.Write(&text); err != nil {
				t.Fatal(err)
			}
			m, err = Read(bytes.NewReader(text.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Write(&again); err != nil || again.String() != text.String() {
				t.Errorf("%v; what was read is written as\n%s, it was\n%s", err, &again, &text)
			}
			p, err := m.Predictor(nil)
			if err != nil {
				t.Fatal(err)
			}
			p.useFitted(m)
			if err := p.certify(m); err != nil {
				t.Fatal(err)
			}
			same := func(what string, got, want []float64) {
				if len(got) != len(want) {
					t.Errorf("%s: %d of %d", what, len(got), len(want))
					return
				}
				for i, v := range want {
					if math.IsNaN(v) {
						v = math.Inf(1) // null, what is no bound
					}
					if math.Float64bits(got[i]) != math.Float64bits(v) {
						t.Errorf("scaled %v, %d targets, %s %d: %x, want %x", scaled, targets, what, i, got[i], v)
					}
				}
			}
			if len(p.fit.Targets) != targets {
				t.Fatalf("%d targets of %d", len(p.fit.Targets), targets)
			}
			for j, want := range f.Targets {
				got := p.fit.Targets[j]
				same("weight", got.Coef, want.Coef)
				same("intercept", []float64{got.Intercept}, []float64{want.Intercept})
				same("‖b‖²", []float64{got.ComputedTSS}, []float64{want.ComputedTSS})
				same("energy", []float64{got.EnergyBound}, []float64{want.EnergyBound})
				same("bound", []float64{got.ErrorBound}, []float64{want.ErrorBound})
				same(
					"objective",
					[]float64{got.Objective.Lo, got.Objective.Hi},
					[]float64{want.Objective.Lo, want.Objective.Hi},
				)
			}
			same("γ and n", []float64{p.fit.Gamma, float64(p.fit.Rows)}, []float64{f.Gamma, 9})
		}
	}
}
