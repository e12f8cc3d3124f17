package choose_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// between returns the interval [lo, hi].
func between(lo, hi float64) ridge.Interval { return ridge.Interval{Lo: lo, Hi: hi} }

func TestChoose(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, c := range map[string]struct {
		scores   []ridge.Interval
		index    int
		certain  bool
		possible []int
		excess   float64
	}{
		"certain":       {[]ridge.Interval{between(3, 4), between(1, 2), between(2.5, 9)}, 1, true, []int{1}, 0},
		"overlapping":   {[]ridge.Interval{between(3, 4), between(1, 2), between(1.5, 9)}, 1, false, []int{1, 2}, 0.5},
		"below":         {[]ridge.Interval{between(0, inf), between(1, 2), between(3, 4)}, 1, false, []int{0, 1}, 2},
		"touching":      {[]ridge.Interval{between(2, 3), between(1, 2)}, 1, false, []int{0, 1}, 0},
		"nothing known": {[]ridge.Interval{between(nan, nan), between(1, 2)}, 1, false, []int{0, 1}, inf},
		"all unknown":   {[]ridge.Interval{between(0, inf), between(0, inf)}, 0, false, []int{0, 1}, inf},
		"one":           {[]ridge.Interval{between(0, inf)}, 0, true, []int{0}, 0},
		"none":          {nil, -1, false, nil, 0},
	} {
		got := choose.Least(c.scores, nil)
		if got.Index != c.index || got.Certain != c.certain || !slices.Equal(got.Possible, c.possible) ||
			got.Excess != c.excess {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestExcess: what a choice promises is no less than the difference, in exact arithmetic, and the
// relative figure no less than the quotient.
func TestExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{1, 1e300, 1e-300, 5e-324})
		number := func(label string) float64 {
			return size.Draw(t, label+" size") * rapid.Float64Range(1, 100).Draw(t, label)
		}
		lo, hi, other := number("lo"), number("hi"), number("other")
		lo, hi = math.Min(lo, hi), math.Max(lo, hi)
		c := choose.Least([]ridge.Interval{{Lo: lo, Hi: hi}, {Lo: other, Hi: math.Inf(1)}}, nil)
		if len(c.Possible) == 1 {
			return
		}
		want := new(big.Rat).SetFloat64(hi)
		want.Sub(want, new(big.Rat).SetFloat64(other))
		if !(want.Cmp(new(big.Rat).SetFloat64(c.Excess)) <= 0) {
			t.Fatalf("from %v to %v and from %v on: an excess of %v", lo, hi, other, c.Excess)
		}
		relative := new(big.Rat).Quo(want, new(big.Rat).SetFloat64(other))
		if r := c.RelativeExcess(); !math.IsInf(r, 1) && !(relative.Cmp(new(big.Rat).SetFloat64(r)) <= 0) {
			t.Fatalf("from %v to %v and from %v on: an excess of %v, relatively %v", lo, hi, other, c.Excess, r)
		}
	})
}

// TestChooseGCV: the γ of least GCV in exact arithmetic is always among those said
// to be possible, and no better than promised.
func TestChooseGCV(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		certain, drawn := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			p, gammas := testkit.DrawWide(t, be)
			fits := testkit.Must(p.Sum.Path(gammas))(t)
			exact := make([][]float64, len(gammas))
			for i, gamma := range gammas {
				want, err := p.Ref.Solve(gamma)
				if err != nil { // γ > 0: never singular
					t.Fatal(err)
				}
				for _, g := range want.GCV {
					v := math.Inf(1)
					if g != nil {
						v, _ = g.Float64()
					}
					exact[i] = append(exact[i], v)
				}
			}
			for j := -1; j < p.Ref.T; j++ {
				score := func(i int) float64 {
					if j >= 0 {
						return exact[i][j]
					}
					s := 0.0
					for _, v := range exact[i] {
						s += v
					}
					return s
				}
				best := 0
				for i := range gammas {
					if score(i) < score(best) {
						best = i
					}
				}
				c := testkit.Must(choose.LeastGCV(fits, j))(t)
				drawn++
				if c.Certain {
					certain++
				}
				// Ties are broken by the last bit.
				tie := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*math.Abs(b) }
				if !slices.ContainsFunc(c.Possible, func(i int) bool { return tie(score(i), score(best)) }) {
					t.Errorf("γ[%d] is best, possible are said to be %v", best, c.Possible)
				}
				if c.Certain && !tie(score(c.Index), score(best)) {
					t.Errorf("γ[%d] is best, γ[%d] was certain", best, c.Index)
				}
				excess := score(c.Index) - score(best)
				if !math.IsInf(score(best), 1) && !(excess <= c.Excess+1e-12*score(best)) {
					t.Errorf("%g above the best, at most %g were promised", excess, c.Excess)
				}
			}
		})
		t.Logf("%d of %d choices certain", certain, drawn)
	})
}

// TestChooseGCVRealData: on California housing the sketch chooses the same γ as the exact path.
func TestChooseGCVRealData(t *testing.T) {
	src := testkit.Housing(t)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 8, Intercept: true})
	gammas := choose.Grid(sum, 25)
	got := testkit.Must(choose.LeastGCV(testkit.Must(sum.Path(gammas))(t), -1))(t)
	want := testkit.Must(
		choose.LeastGCV(
			testkit.Must(ridge.SolveExact(context.Background(), src, gammas, ridge.ExactOptions{Intercept: true}))(t),
			-1,
		),
	)(
		t,
	)
	t.Logf("sketch: γ[%d], possible %v, excess %g; exact: γ[%d]", got.Index, got.Possible, got.Excess, want.Index)
	if !slices.Contains(got.Possible, want.Index) || got.Index != want.Index {
		t.Errorf("sketch %+v, exact %+v", got, want)
	}
}

func TestChooseGCVRefuses(t *testing.T) {
	if _, err := choose.LeastGCV(nil, 0); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("no fits: %v", err)
	}
	f := &ridge.Solution{Targets: []ridge.Target{{Certificate: ridge.Certificate{GCV: between(1, 2)}}}}
	if _, err := choose.LeastGCV([]*ridge.Solution{f}, 1); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("second of one target: %v", err)
	}
}
