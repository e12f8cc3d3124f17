package plan_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestPlanBase: every option includes the base memory and time of Config, and the base counts towards MaxBytes. With
// FreshRate the memory of an option itself takes time. CG needs no more steps than there are features.
func TestPlanBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, gammas := testkit.DrawWide(t, nil)
		cfg := plan.Config{Gammas: gammas, Sizes: []int{2}}
		without := testkit.Must(plan.New(p.Sum, cfg))(t)
		cfg.BaseBytes, cfg.BaseSeconds = 1<<20, 1000
		with := testkit.Must(plan.New(p.Sum, cfg))(t)
		for i, o := range with.Options {
			was := without.Options[i]
			if o.Bytes != was.Bytes+1<<20 || !(math.Abs(o.Seconds-1000-was.Seconds) <= 1e-9) {
				t.Errorf("%s: %d bytes, %v s; alone %d, %v", o.Method, o.Bytes, o.Seconds, was.Bytes, was.Seconds)
			}
			if o.Method == ridge.CG && o.Passes[0] > p.Ref.D+2 {
				t.Errorf("cg of %d features in %d passes", p.Ref.D, o.Passes[0])
			}
		}
		cfg.FreshRate = 1
		for i, o := range testkit.Must(plan.New(p.Sum, cfg))(t).Options {
			slow := with.Options[i].Seconds + float64(o.Bytes-cfg.BaseBytes)
			if !(math.Abs(o.Seconds-slow) <= 1e-6*slow) {
				t.Errorf("%s: %v s where memory is had a byte a second, want %v", o.Method, o.Seconds, slow)
			}
		}
		cfg.MaxBytes = 1 << 20
		if testkit.Must(plan.New(p.Sum, cfg))(t).Best >= 0 {
			t.Error("something fits into the base's own memory")
		}
		cfg.BaseSeconds = math.NaN()
		if _, err := plan.New(p.Sum, cfg); err == nil {
			t.Error("a plan with NaN seconds")
		}
	})
}

// TestPlanLossless: a sketch of d rows, which takes more of them at a time than any other, is
// planned with the memory of these, and no matrices of their order.
func TestPlanLossless(t *testing.T) {
	const d = 8
	sum := testkit.Must(
		ridge.Summarize(t.Context(), testkit.Waves(t, 60, d, 1), ridge.SummaryConfig{Size: d, Store: fd.StoreRows}, nil),
	)(
		t,
	)
	buffer := 8 * float64(d+sum.Sketch().Config().ShrinkRows) * d
	for _, o := range testkit.Must(plan.New(sum, plan.Config{Sizes: []int{d}}))(t).Options {
		if said := float64(o.Bytes); o.Size == d && !(said >= buffer && said <= 1.5*buffer) {
			t.Errorf("%s: planned %.0f bytes, the rows of the sketch take %.0f", o.Method, said, buffer)
		}
	}
}
