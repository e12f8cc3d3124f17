package choose_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

func TestPenalties(t *testing.T) {
	p, err := choose.Penalties(
		6,
		nil,
		[]choose.Band{{Columns: []int{4, 1}, Penalty: 2}, {Columns: []int{0}, Penalty: 0.5}, {Columns: []int{3}}},
	)
	if err != nil || !slices.Equal(p, []float64{0.5, 2, 1, 1, 2, 1}) {
		t.Errorf("%v, %v", p, err)
	}
	for want, bands := range map[string][]choose.Band{
		`band "a" has no columns`:               {{Name: "a"}},
		`band "a" has column 7, there are 6`:    {{Name: "a", Columns: []int{6}}},
		`band 1 has column 0, there are 6`:      {{Columns: []int{-1}}},
		`band 1 has column 3 twice`:             {{Columns: []int{2, 2}}},
		`column 3 is in band "a" and in band 2`: {{Name: "a", Columns: []int{2}}, {Columns: []int{1, 2}}},
		`the penalty of band 1 is -1`:           {{Columns: []int{2}, Penalty: -1}},
		`the penalty of band 1 is NaN`:          {{Columns: []int{2}, Penalty: math.NaN()}},
		`the penalty of band 1 is +Inf`:         {{Columns: []int{2}, Penalty: math.Inf(1)}},
	} {
		if p, err := choose.Penalties(6, nil, bands); p != nil || !errors.Is(err, ridge.ErrInput) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", bands, err, want)
		}
	}
}

// TestChooseBands: columns that do not matter get larger penalties than columns that do. The chosen penalties have the
// least GCV of all that were tried. The GCV of each trial agrees with a fit of the penalised summary.
func TestChooseBands(t *testing.T) {
	const d = 16
	s := testkit.PenalisedProblem(300, d)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: d, Intercept: true})
	bands := []choose.Band{{Name: "signal", Columns: testkit.UpTo(0, d/4)}, {Name: "noise", Columns: testkit.UpTo(d/4, d)}}
	c, err := choose.Bands(context.Background(), sum, choose.BandOptions{Bands: bands})
	if err != nil {
		t.Fatal(err)
	}
	if c.Bands[0].Penalty != 1 || !(c.Bands[1].Penalty >= 10) || bands[1].Penalty != 0 {
		t.Errorf("penalties %v and %v", c.Bands[0].Penalty, c.Bands[1].Penalty)
	}
	best, first := c.Tried[c.Choice.Index], c.Tried[0]
	if !slices.Equal(first.Penalties, []float64{1, 1}) ||
		!slices.Equal(best.Penalties, []float64{1, c.Bands[1].Penalty}) ||
		!(best.GCV.Hi < first.GCV.Lo) {
		t.Errorf("%+v is the best, begun with %+v", best, first)
	}
	if common, err := choose.Gamma(sum, nil); err != nil || common.Gamma() != first.Gamma || common.Score != first.GCV {
		t.Errorf("the first is %+v, and without bands %v has %v, %v", first, common.Gamma(), common.Score, err)
	}
	for i, one := range c.Tried {
		if one.GCV.Hi < best.GCV.Hi {
			t.Errorf("%+v is better than %+v", one, best)
		}
		for _, other := range c.Tried[:i] {
			if slices.Equal(one.Penalties, other.Penalties) {
				t.Errorf("%v was tried twice", one.Penalties)
			}
		}
		p, err := choose.Penalties(
			d,
			nil,
			[]choose.Band{
				{Columns: bands[0].Columns, Penalty: one.Penalties[0]},
				{Columns: bands[1].Columns, Penalty: one.Penalties[1]},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		f := testkit.Must(testkit.Must(sum.Penalize(p))(t).Fit(one.Gamma))(t)
		lo, hi := f.Targets[0].GCV.Lo+f.Targets[1].GCV.Lo, f.Targets[0].GCV.Hi+f.Targets[1].GCV.Hi
		if !(lo <= one.GCV.Hi && hi >= one.GCV.Lo) {
			t.Errorf("%+v, and a fit has %v to %v", one, lo, hi)
		}
	}
	// Where other columns have 1, or a band is given, all bands to be chosen move.
	c, err = choose.Bands(
		context.Background(), sum, choose.BandOptions{Bands: []choose.Band{{Columns: testkit.UpTo(0, d/4)}}},
	)
	if err != nil || !(c.Bands[0].Penalty <= 0.1) {
		t.Errorf("a band alone is penalised by %v, %v", c.Bands[0].Penalty, err)
	}
	c, err = choose.Bands(
		context.Background(),
		sum,
		choose.BandOptions{
			Bands: []choose.Band{{Columns: testkit.UpTo(0, d/4)}, {Columns: testkit.UpTo(d/4, d), Penalty: 100}},
		},
	)
	if err != nil || c.Bands[1].Penalty != 100 || !(c.Bands[0].Penalty <= 10) {
		t.Errorf("%+v, %v", c.Bands, err)
	}
	if end := c.Bands[0].Penalty == 1e-8; c.AtEnd != end {
		t.Errorf("a penalty of %v is at the end: %v", c.Bands[0].Penalty, c.AtEnd)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := choose.Bands(cancelled, sum, choose.BandOptions{Bands: bands}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, err = choose.Bands(context.Background(), new(ridge.Summary), choose.BandOptions{Bands: bands})
	if !errors.Is(err, ridge.ErrShape) {
		t.Errorf("of no summary: %v", err)
	}
}

// TestChooseBandsExcess: what is said of other penalties than those chosen is true at every γ that
// was tried with them, by 512-bit arithmetic, and not at the best of them alone.
func TestChooseBandsExcess(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	open := 0
	for range 60 {
		n, d := 4+r.IntN(10), 2+r.IntN(4)
		s := testkit.Table{Block: 64}
		for range n {
			row := make([]float64, d)
			for j := range row {
				row[j] = float64(r.IntN(3) - 1)
			}
			s.X, s.Y = append(s.X, row), append(s.Y, []float64{row[0] + float64(r.IntN(3))})
		}
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 1, Store: fd.StoreRows})
		bands, candidates := []choose.Band{{Columns: []int{0}}}, []float64{0.1, 1, 10, 100}
		c, err := choose.Bands(context.Background(), sum, choose.BandOptions{Bands: bands, Candidates: candidates})
		if err != nil {
			t.Fatal(err)
		}
		gcv := func(trial choose.BandTrial, gamma float64) float64 {
			p := slices.Repeat([]float64{1}, d)
			p[0] = trial.Penalties[0]
			truth, err := refbig.New(testkit.ScaledTable(s, p).X, s.Y, nil, false).Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := truth.GCV[0].Float64()
			return v
		}
		best := c.Tried[c.Choice.Index]
		score := gcv(best, best.Gamma)
		for i, trial := range c.Tried {
			for _, gamma := range candidates {
				v := gcv(trial, gamma)
				if !(v >= trial.Least*(1-1e-12)) {
					t.Errorf("%v has %v at γ = %v, at least %v was proved", trial.Penalties, v, gamma, trial.Least)
				}
				if i == c.Choice.Index {
					continue
				}
				if off := score - v; off > 1e-12*score {
					open++
					if c.Choice.Certain || !(off <= c.Choice.Excess*(1+1e-12)) {
						t.Errorf(
							"%v has %v at γ = %v, the best %v: certain %v, at most %v more",
							trial.Penalties,
							v,
							gamma,
							score,
							c.Choice.Certain,
							c.Choice.Excess,
						)
					}
				}
			}
		}
	}
	if open == 0 {
		t.Error("no penalties were better than those chosen")
	}
}
