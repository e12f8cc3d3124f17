package ridgetest

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge"
)

// TestLacks: a fit that lacks something is told what, and not indexed.
func TestLacks(t *testing.T) {
	p := draw(rand.New(rand.NewPCG(1, 1)), kinds[0], 5, 3, 2)
	if got := p.lacks(nil); got != "Coef" {
		t.Errorf("nil lacks %q", got)
	}
	f := &ridge.Solution{Coef: mat.NewDense(3, 2, nil)}
	two := []ridge.Interval{{}, {}}
	c := &f.Certificate
	for _, step := range []struct {
		lacks string
		add   func()
	}{
		{"Coef", func() { f.Coef = mat.NewDense(2, 3, nil) }},
		{"Intercept", func() { f.Intercept = []float64{0, 0} }},
		{"TSS", func() { f.TSS = []float64{0, 0} }},
		{"Certificate.ErrorBound", func() { c.ErrorBound = []float64{0, 0} }},
		{"Certificate.RelativeErrorBound", func() { c.RelativeErrorBound = []float64{0, 0} }},
		{"Certificate.EnergyBound", func() { c.EnergyBound = []float64{0, 0} }},
		{"Certificate.InterceptBound", func() { c.InterceptBound = []float64{0, 0} }},
		{"Certificate.TSS", func() { c.TSS = two }},
		{"Certificate.RSS", func() { c.RSS = two }},
		{"Certificate.Objective", func() { c.Objective = two }},
		{"Certificate.GCV", func() { c.GCV = two }},
		{"", func() {}},
	} {
		if got := p.lacks(f); got != step.lacks {
			t.Fatalf("it lacks %q, not %q", step.lacks, got)
		}
		step.add()
	}
}
