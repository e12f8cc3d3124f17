package paper

import (
	"fmt"
	"math"
	"strings"
)

// err is the relative error of a method.
func (x *risks) err(method string, m metric, i int) float64 { return x.relative[method][m][i] }

// least and most are the smallest and largest error of some methods.
func (x *risks) least(methods []string, m metric, i int) float64 {
	e := math.Inf(1)
	for _, method := range methods {
		e = math.Min(e, x.err(method, m, i))
	}
	return e
}

func (x *risks) most(methods []string, m metric, i int) float64 {
	e := 0.0
	for _, method := range methods {
		e = math.Max(e, x.err(method, m, i))
	}
	return e
}

// ratio is the value of a method over that of another.
func (x *risks) ratio(method, other string, m metric, i int) float64 {
	return x.absolute[method][m][i] / x.absolute[other][m][i]
}

// over is the range over all γ of the value of a method over that of another.
func (x *risks) over(method, other string, m metric) string {
	var values []float64
	for i := range x.gammas {
		values = append(values, x.ratio(method, other, m, i))
	}
	return span(values...)
}

// among returns the indices of the γ for which in is true; nil takes all.
func (x *risks) among(in func(gamma float64) bool) []int {
	var out []int
	for i, gamma := range x.gammas {
		if in == nil || in(gamma) {
			out = append(out, i)
		}
	}
	return out
}

func small(gamma float64) bool { return gamma <= turn }

func large(gamma float64) bool { return gamma > turn }

// judge tallies a claim about a quantity of each metric and γ and shows its range.
func (x *risks) judge(what string, of []metric, in func(float64) bool, quantity func(m metric, i int) float64, agrees rule) finding {
	var t tally
	var shown []string
	at := x.among(in)
	for _, i := range at {
		t.gammas = append(t.gammas, x.gammas[i])
	}
	for _, m := range of {
		var values []float64
		var row []bool
		for _, i := range at {
			q := quantity(m, i)
			values, row = append(values, q), append(row, agrees.ok(q))
		}
		t.series, t.ok = append(t.series, m.String()), append(t.ok, row)
		switch {
		case len(values) == 0:
		case len(of) == 1:
			shown = append(shown, span(values...))
		default:
			shown = append(shown, m.String()+" "+span(values...))
		}
	}
	return t.finding(fmt.Sprintf("%s: %s (rule: %s)", what, strings.Join(shown, ", "), agrees.text))
}

// A rule says which values of a quantity agree with a claim.
type rule struct {
	text string
	ok   func(float64) bool
}

func atLeast(limit float64) rule {
	return rule{fmt.Sprintf("≥ %v", limit), func(q float64) bool { return q >= limit }}
}

func atMost(limit float64) rule {
	return rule{fmt.Sprintf("≤ %v", limit), func(q float64) bool { return q <= limit }}
}

func aboutOne(factor float64) rule {
	return rule{fmt.Sprintf("1 to a factor of %v", factor), func(q float64) bool { return 1/factor <= q && q <= factor }}
}
