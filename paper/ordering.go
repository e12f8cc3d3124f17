package paper

import (
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// has reports whether every method of the paper was run at γ.
func (c *convergence) has(gamma float64) bool {
	return !slices.ContainsFunc(iterated, func(m string) bool { return c.find(m, gamma) == nil })
}

// at is the error of iterate t, or the last one where the iteration ended before.
func (c *convergence) at(method string, gamma float64, t int) float64 {
	e := c.find(method, gamma).errors
	return e[min(t, len(e)-1)]
}

// final is the error of the last iterate.
func (c *convergence) final(method string, gamma float64) float64 {
	return c.find(method, gamma).last()
}

// listed writes the last errors of some methods.
func (c *convergence) listed(gamma float64, methods ...string) string {
	var parts []string
	for _, m := range methods {
		parts = append(parts, m+" "+chart.Short(c.final(m, gamma)))
	}
	return strings.Join(parts, ", ")
}

// comparable is the last iteration at which errors at γ can be compared: those of all
// methods are still well above the error of x* itself.
func (c *convergence) comparable(gamma float64) int {
	last := math.MaxInt
	for _, m := range iterated {
		e := c.find(m, gamma).errors
		t := len(e) - 1
		for t > 0 && e[t] <= reliable*c.floor {
			t--
		}
		last = min(last, t)
	}
	return last
}

// order returns the methods by their error at γ, at the last iteration t that is comparable.
func (c *convergence) order(gamma float64) (methods []string, t int) {
	t = c.comparable(gamma)
	methods = slices.Clone(iterated)
	slices.SortFunc(methods, func(a, b string) int {
		if c.at(a, gamma, t) < c.at(b, gamma, t) {
			return -1
		}
		return 1
	})
	return methods, t
}

// orders is the number of powers of ten by which a method's error at γ = 100 exceeds that of
// another.
func (c *convergence) orders(method, over string) float64 {
	const gamma = 100
	t := c.comparable(gamma)
	return math.Log10(c.at(method, gamma, t) / c.at(over, gamma, t))
}

// bestRandom names the best randomised method and its error.
func bestRandom(c *convergence, gamma float64, t int) string {
	best := drawn[0]
	for _, m := range drawn {
		if c.at(m, gamma, t) < c.at(best, gamma, t) {
			best = m
		}
	}
	return best + " " + chart.Short(c.at(best, gamma, t))
}
