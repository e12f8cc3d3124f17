package ridgetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestLacks: a fit that lacks something is told what, and not indexed.
func TestLacks(t *testing.T) {
	p := draw(rand.New(rand.NewPCG(1, 1)), kinds[0], 5, 3, 2)
	if got := p.missingField(nil); got != "Targets" {
		t.Errorf("nil lacks %q", got)
	}
	nan := math.NaN()
	f := &ridge.Solution{Targets: make([]ridge.Target, 3)}
	for _, step := range []struct {
		lacks string
		add   func()
	}{
		{"Targets", func() { f.Targets = make([]ridge.Target, 1) }},
		{"Targets", func() { f.Targets = []ridge.Target{{Coef: make([]float64, 3)}, {Coef: make([]float64, 2)}} }},
		{"Coef", func() { f.Targets[1] = ridge.Target{Coef: make([]float64, 3), Intercept: nan, ComputedTSS: nan} }},
		{"Intercept", func() { f.Targets[1].Intercept = 0 }},
		{"ComputedTSS", func() { f.Targets[1].ComputedTSS = 0 }},
		{"", func() {}},
	} {
		if got := p.missingField(f); got != step.lacks {
			t.Fatalf("it lacks %q, not %q", got, step.lacks)
		}
		step.add()
	}
}
