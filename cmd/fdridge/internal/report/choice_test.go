package report

import (
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// TestMoreOfThoseLeftOut: the warning about candidates without a score names the option that helps, if there is one.
func TestMoreOfThoseLeftOut(t *testing.T) {
	for want, words := range map[string]wording{
		"hardly known; a larger --size would help": {narrower: "a larger --size"},
		"hardly known": {},
	} {
		c := choice{By: "loo", reserve: reserve{LeftOut: &leftOut{3, [2]number{1, 2}}}, wording: words}
		got := c.warnings()
		if len(got) != 1 || !strings.HasSuffix(got[0], want) ||
			!strings.Contains(got[0], "3 smaller candidates, 2 and below, were left out") {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestFlatEnd: that the best may lie beyond an end is said where the score still falls there, and not
// where it is flat.
func TestFlatEnd(t *testing.T) {
	for next, says := range map[float64]bool{2: true, 1.0005: false} {
		p := &choose.GammaChoice{
			Choice: choose.Choice{Index: 0, Possible: []int{0}, Certain: true},
			Path:   []*ridge.Solution{{Outcome: ridge.Outcome{Gamma: 1}}, {Outcome: ridge.Outcome{Gamma: 2}}},
			Scores: [][]ridge.Interval{{{Lo: 1, Hi: 1}}, {{Lo: next, Hi: next}}},
		}
		c := describe(p, wording{})
		if !c.AtEnd || strings.Contains(c.String(), "a smaller one may be better") != says {
			t.Errorf("next to it %g: %s", next, c)
		}
	}
}

// TestBeyond: the warning at an end of the grid names the end, and tenths or tens of it.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		gamma number
		ends  [2]bool
		want  string
	}{
		{0.25, [2]bool{true, false}, "a smaller one may be better: try --gamma auto:0.25,0.025,0.0025,0.00025"},
		{0.1, [2]bool{true, false}, "auto:0.1,0.01,0.001,0.0001"},
		{0.25, [2]bool{false, true}, "a larger one may be better: try --gamma auto:0.25,2.5,25,250"},
		{10, [2]bool{false, true}, "auto:10,100,1000,1e+04"},
		{1e308, [2]bool{false, true}, "auto:1e+308"},
		{5e-323, [2]bool{true, false}, "auto:4.941e-323,4.941e-324"},
		{1, [2]bool{true, true}, "is the only candidate: try --gamma auto"},
	} {
		choice := &choice{By: "loo", Gamma: c.gamma, reserve: reserve{ends: c.ends}}
		if got := choice.beyond(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%g: %q, want %q", c.gamma, got, c.want)
		}
	}
}

// TestTied: the text counts the candidates with the same error rate. It mentions larger candidates that may have it.
func TestTied(t *testing.T) {
	solution := func(gamma float64) *ridge.Solution { return &ridge.Solution{Outcome: ridge.Outcome{Gamma: gamma}} }
	for _, c := range []struct {
		last ridge.Interval
		want string
	}{
		{ridge.Interval{Lo: 0.25, Hi: 0.25}, "gamma = 4: smallest leave-one-out error rate of 3 candidates (proved), and the largest gamma of 2 with this leave-one-out error rate"},
		{ridge.Interval{Lo: 0.25, Hi: 0.375}, "and the largest gamma of 2 that are proved to have this leave-one-out error rate; 1 larger candidate may have it, too"},
		{ridge.Interval{Lo: 0.375, Hi: 0.5}, "and the largest gamma of 2 with this leave-one-out error rate"},
	} {
		p := &choose.GammaChoice{Path: []*ridge.Solution{solution(1), solution(4), solution(9)}}
		rates := []ridge.Interval{{Lo: 0.25, Hi: 0.25}, {Lo: 0.25, Hi: 0.25}, c.last}
		if c.last.Lo == c.last.Hi { // the third candidate is the smallest one
			p.Path[2].Gamma, rates[2] = 0.5, ridge.Interval{Lo: 0.5, Hi: 0.5}
		}
		if err := p.ByErrorRate(rates, []float64{0.25, 0.25, 0.5}); err != nil {
			t.Fatal(err)
		}
		p.By = choose.Accuracy
		if got := describe(p, wording{}).sentence(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%v: %q, want %q", c.last, got, c.want)
		}
	}
}

// TestDisagreement: the difference from GCV's choice is a whole number of per cent.
func TestDisagreement(t *testing.T) {
	for excess, want := range map[float64]string{0.091: "9 % larger", 1.03: "103 % larger", 9.9: "at least 990 % larger", 2200: "more than ten times as large", 0.04: ""} {
		got := strings.Join((&choice{By: "loo", reserve: reserve{disagreement: excess}}).warnings(), "")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%g: %q, want %q", excess, got, want)
		}
	}
}

// TestSpentWords: the passes of a choice are counted by purpose.
func TestSpentWords(t *testing.T) {
	lever, gram := reason.Reason{
		Rule: reason.LeverageTakesPass,
	}, reason.Reason{
		Rule:    reason.GramWasComputed,
		Numbers: []float64{-1},
	}
	for want, c := range map[string]*choose.GammaChoice{
		"it computed leave-one-out errors":                                                                                   {By: choose.LOO, Passes: 1, Spent: []reason.Reason{lever}},
		"they computed leave-one-out errors, for the grid and its extensions":                                                {By: choose.LOO, Passes: 2, Spent: []reason.Reason{lever}},
		"1 computed leave-one-out errors; 1 computed AᵀA, which makes these errors precise":                                  {By: choose.LOO, Passes: 2, Spent: []reason.Reason{lever, gram}},
		"2 computed leave-one-out errors, for the grid and its extensions; 1 computed AᵀA, which makes these errors precise": {By: choose.LOO, Passes: 3, Spent: []reason.Reason{lever, gram}},
		"": {By: choose.GCV},
	} {
		if got := describeSpent(c.By, c.Passes, c.Spent); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
