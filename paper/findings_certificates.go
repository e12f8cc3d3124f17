package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

var findingsCertificates = section{"Section 4, theorems 4 and 5, as corrected", nil, hasConverged, []claim{
	{"RFD contracts the error by no more than ρ/(γ+ρ) in any iteration, at every γ. (The paper has b/(2−b), for b < 1 alone.)", onSets(withinRate("RFD")), ""},
	{"FD contracts the error by no more than η/γ. (The paper has b/(1−b).)", onSets(withinRate("FD")), ""},
	{"The contraction seen is the promised one to within a few percent.", onSets(sharpRate), ""},
	{"Every certified error bound was at least the error.", onSets(certified), ""},
}}

func withinRate(method string) func(*convergence) finding {
	return func(c *convergence) finding {
		var numbers, wrong []string
		for _, gamma := range c.gammas {
			seen, rate := c.find(method, gamma).contraction(c.floor), c.rate(method, gamma)
			numbers = append(numbers, fmt.Sprintf("γ = %g: %.4g of %.4g", gamma, seen, rate))
			if !(seen <= rate) {
				wrong = append(wrong, fmt.Sprintf("exceeded at γ = %g", gamma))
			}
		}
		return check(wrong == nil, strings.Join(numbers, "; "), strings.Join(wrong, "; "))
	}
}

func sharpRate(c *convergence) finding {
	var ratios []float64
	for _, m := range sketchOnce {
		for _, gamma := range c.gammas {
			ratios = append(ratios, c.find(m, gamma).contraction(c.floor)/c.rate(m, gamma))
		}
	}
	ok := !slices.ContainsFunc(ratios, func(q float64) bool { return q < 1-fewPercent })
	return check(ok, "seen over promised "+span(ratios...), "the promise is the worst case of the sketch's own bound η; the data do better")
}

func certified(c *convergence) finding {
	worst, wrong, n := 0.0, []string{}, 0
	for _, k := range c.curves {
		for t := 1; t < len(k.errors); t++ {
			if math.IsInf(k.bounds[t], 1) {
				continue
			}
			n++
			// What is not known of x* itself is not held against the bound.
			q := (k.errors[t] - c.floor) / k.bounds[t]
			worst = math.Max(worst, q)
			if !(q <= 1) {
				wrong = append(wrong, fmt.Sprintf("%s at γ = %g, t = %d", k.method, k.gamma, t))
			}
		}
	}
	return check(len(wrong) == 0, fmt.Sprintf("%d bounds, the largest error %.3g of its bound", n, worst), strings.Join(wrong, ", "))
}
