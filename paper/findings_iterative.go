package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// The claims of section 4 of the paper, "Findings", about figures 3 to 5. The appendix of the paper repeats them for
// figures 4 and 5. Errors are ‖x⁽ᵗ⁾ − x*‖/‖x*‖.

// Meanings of the paper's words.
var fewOrders = [2]float64{0.5, 2.5} // "roughly 1–2 orders of magnitude"

const (
	roughly    = 10   // "approximately 10⁻⁷", as a factor
	poorly     = 10   // "perform poorly": at least this multiple of the error of IHS:SJLT
	reliable   = 1e3  // smaller multiples of the error of x* itself are not compared
	fewPercent = 0.05 // "to within a few percent", of a rate
)

// The methods of the paper; CG is added here.
var (
	sketchOnce = []string{"FD", "RFD"}
	drawn      = []string{"IHS:Gaussian", "IHS:SJLT", "Single:Gaussian", "Single:SJLT"}
	iterated   = append(slices.Clone(sketchOnce), drawn...)
)

var findingsIterative = section{"Section 4, findings", []int{3, 4, 5}, hasConverged, []claim{
	{"Convergence was easier for all methods when γ was increased.", onSets(easier), ""},
	{
		"When γ = 10, all methods except for RFD diverged.",
		onSets(at(10, converging(func(m string) bool { return m == "RFD" }, ""))),
		"",
	},
	{
		"When γ = 100, all methods began to descend towards the optimum.",
		onSets(at(100, converging(func(string) bool { return true }, " diverges"))),
		"",
	},
	{"At any fixed number of iterations RFD performed best, at every γ.", onSets(robustBest), ""},
	{
		"At γ = 100, after 10 iterations RFD achieved an error better than 10⁻¹⁰.",
		onSets(at(100, func(c *convergence, gamma float64) finding {
			return check(c.final("RFD", gamma) < 1e-10, chart.Short(c.final("RFD", gamma)), "")
		})),
		"",
	},
	{"At γ = 100, FD achieved approximately 10⁻⁷.", onSets(at(100, plainReaches)), ""},
	{
		"The deterministic methods performed better than all randomised methods (at γ = 100 and 1000).",
		onLarger(deterministicFirst),
		"",
	},
	{"Next best was IHS:SJLT (at γ = 100 and 1000).", onLarger(sjltNext), sjltIsGaussian},
	{
		"There is roughly a 1–2 order of magnitude difference between FD and IHS:SJLT (at γ = 100).",
		onSets(at(100, plainToSJLT)),
		sjltIsGaussian,
	},
	{
		"That is slightly less than the difference between RFD and FD (at γ = 100).",
		onSets(at(100, lessThanRobust)),
		sjltIsGaussian,
	},
	{
		"Single:Gaussian, Single:SJLT and IHS:Gaussian all perform poorly (at γ = 100).",
		onSets(at(100, poor)),
		sjltIsGaussian,
	},
	{"The ordering of the methods at γ = 100 is repeated at γ = 1000.", onSets(sameOrder), ""},
	{"The behaviour is reflected on all the data sets: the same ordering at γ = 100.", sameEverywhere, ""},
}}

var findingsCertificates = section{"Section 4, theorems 4 and 5, as corrected", nil, hasConverged, []claim{
	{
		"RFD contracts the error by no more than ρ/(γ+ρ) in any iteration, at every γ. (The paper has " +
			"b/(2−b), for b < 1 alone.)",
		onSets(withinRate("RFD")),
		"",
	},
	{"FD contracts the error by no more than η/γ. (The paper has b/(1−b).)", onSets(withinRate("FD")), ""},
	{"The contraction seen is the promised one to within a few percent.", onSets(sharpRate), ""},
	{"Every certified error bound was at least the error.", onSets(certified), ""},
}}

func hasConverged(r *results) bool { return len(r.sets()) > 0 }

// sets returns the data sets of figures 3 to 5 that were run.
func (r *results) sets() []*convergence {
	return slices.DeleteFunc(slices.Clone(r.converged[:]), func(c *convergence) bool {
		return c == nil
	})
}

// onSets judges each data set.
func onSets(judge func(*convergence) finding) func(*results) finding {
	return func(r *results) finding {
		return every(r.sets(), func(c *convergence) (string, finding) {
			return c.dataset + ": ", judge(c)
		})
	}
}

// onLarger judges each data set at γ = 100 and 1000.
func onLarger(judge func(*convergence, float64) finding) func(*results) finding {
	return onSets(func(c *convergence) finding {
		return every([]float64{100, 1000}, func(gamma float64) (string, finding) {
			return fmt.Sprintf("γ = %g, ", gamma), at(gamma, judge)(c)
		})
	})
}

// every judges a claim in several cases, which are data sets or values of γ. The claim holds if it holds in all
// cases. If it holds in some of them only, it holds with a condition. judge also returns the name of a case.
func every[T any](cases []T, judge func(T) (name string, f finding)) finding {
	var n notes
	_, out := judge(cases[0])
	for _, x := range cases {
		name, f := judge(x)
		n.number("%s%s", name, f.numbers)
		n.unless(f.why == "", "%s%s", name, f.why)
		out.verdict = out.verdict.and(f.verdict)
	}
	f := n.finding()
	f.verdict = out.verdict
	return f
}

// notes collects the numbers of a finding, and the facts that contradict the claim.
type notes struct{ numbers, wrong []string }

func (n *notes) number(format string, values ...any) {
	n.numbers = append(n.numbers, fmt.Sprintf(format, values...))
}

// unless adds the formatted text to the facts that contradict the claim, unless ok is true.
func (n *notes) unless(ok bool, format string, values ...any) {
	if !ok {
		n.wrong = append(n.wrong, fmt.Sprintf(format, values...))
	}
}

// finding returns the finding for a claim that holds if no fact contradicts it.
func (n *notes) finding() finding {
	return check(n.wrong == nil, strings.Join(n.numbers, "; "), strings.Join(n.wrong, "; "))
}

// notRun returns the finding for a claim about a γ that was not run.
func notRun(gamma float64) finding {
	return finding{"", unknown, fmt.Sprintf("γ = %g was not run", gamma)}
}

// at judges a data set that was run at γ.
func at(gamma float64, judge func(c *convergence, gamma float64) finding) func(*convergence) finding {
	return func(c *convergence) finding {
		if !c.has(gamma) {
			return notRun(gamma)
		}
		return judge(c, gamma)
	}
}

func easier(c *convergence) finding {
	var n notes
	for _, m := range iterated {
		var e []string
		for i, gamma := range c.gammas {
			e = append(e, chart.Short(c.final(m, gamma)))
			if i > 0 {
				low := c.gammas[i-1]
				t := min(c.comparable(low), c.comparable(gamma))
				n.unless(c.at(m, gamma, t) < c.at(m, low, t), "%s from γ = %g to %g", m, low, gamma)
			}
		}
		n.number("%s %s", m, strings.Join(e, ", "))
	}
	return n.finding()
}

// converging judges the claim that a method converges, to an error below 1, exactly if should(method) is true.
func converging(should func(method string) bool, note string) func(*convergence, float64) finding {
	return func(c *convergence, gamma float64) finding {
		var wrong []string
		for _, m := range iterated {
			if (c.final(m, gamma) < 1) != should(m) {
				wrong = append(wrong, m+note)
			}
		}
		return check(
			wrong == nil,
			c.listed(gamma, math.MaxInt, iterated...),
			strings.Join(wrong, ", "),
		)
	}
}

func robustBest(c *convergence) finding {
	var n notes
	for _, gamma := range c.gammas {
		methods, last := c.order(gamma)
		methods = slices.DeleteFunc(methods, func(m string) bool {
			return m == "RFD"
		})
		for t := 1; t <= last; t++ {
			for _, m := range iterated {
				n.unless(
					m == "RFD" ||
						c.at("RFD", gamma, t) <= c.at(m, gamma, t),
					"%s is better at γ = %g, t = %d",
					m,
					gamma,
					t,
				)
			}
		}
		n.number(
			"γ = %g, t = %d: %s, next %s",
			gamma,
			last,
			c.listed(gamma, last, "RFD"),
			c.listed(gamma, last, methods[0]),
		)
	}
	return n.finding()
}

func plainReaches(c *convergence, gamma float64) finding {
	e := c.final("FD", gamma)
	f := check(e <= roughly*1e-7 && e >= 1e-7/roughly, chart.Short(e), "")
	if f.verdict == fails && e < 1e-7 {
		f.verdict = partly
		f.why = "better than that"
	}
	return f
}

func deterministicFirst(c *convergence, gamma float64) finding {
	var n notes
	methods, t := c.order(gamma)
	n.number("t = %d: %s, best randomised %s", t, c.listed(gamma, t, "FD"), c.bestRandom(gamma, t))
	n.unless(
		slices.Contains(sketchOnce, methods[0]) &&
			slices.Contains(sketchOnce, methods[1]),
		"the order is %s",
		strings.Join(methods, ", "),
	)
	return n.finding()
}

func sjltNext(c *convergence, gamma float64) finding {
	var n notes
	t := c.comparable(gamma)
	n.number("t = %d: %s, best randomised %s", t, c.listed(gamma, t, "IHS:SJLT"), c.bestRandom(gamma, t))
	for _, m := range drawn {
		n.unless(!(c.at(m, gamma, t) < c.at("IHS:SJLT", gamma, t)), "%s is better", m)
	}
	return n.finding()
}

func plainToSJLT(c *convergence, gamma float64) finding {
	k := c.orders("IHS:SJLT", "FD", gamma)
	why := ""
	switch {
	case k < 0:
		why = "IHS:SJLT is the better"
	case k < fewOrders[0]:
		why = "less"
	case k > fewOrders[1]:
		why = "more"
	}
	return check(why == "", fmt.Sprintf("%.1f orders", k), why)
}

func lessThanRobust(c *convergence, gamma float64) finding {
	a := c.orders("IHS:SJLT", "FD", gamma)
	b := c.orders("FD", "RFD", gamma)
	return check(a < b, fmt.Sprintf("IHS:SJLT over FD %.1f orders, FD over RFD %.1f", a, b), "")
}

func poor(c *convergence, gamma float64) finding {
	t := c.comparable(gamma)
	others := []string{"Single:Gaussian", "Single:SJLT", "IHS:Gaussian"}
	good := slices.DeleteFunc(slices.Clone(others), func(m string) bool {
		return !(c.at(m, gamma, t) < poorly*c.at("IHS:SJLT", gamma, t))
	})
	numbers := c.listed(gamma, math.MaxInt, drawn...)
	if len(good) == 0 {
		return finding{numbers, holds, ""}
	}
	f := finding{numbers, fails, "as good as IHS:SJLT or nearly: " + strings.Join(good, ", ")}
	if len(good) < len(others) {
		f.verdict = partly
	}
	return f
}

func sameOrder(c *convergence) finding {
	if !c.has(100) || !c.has(1000) {
		return notRun(1000)
	}
	a, _ := c.order(100)
	b, _ := c.order(1000)
	f := check(slices.Equal(a, b), strings.Join(a, " < "), "")
	if f.verdict == fails {
		f.why = "at γ = 1000 it is " + strings.Join(b, " < ")
		if slices.Equal(a[:2], b[:2]) {
			f.verdict = partly
			f.why = "the first two are the same; " + f.why
		}
	}
	return f
}

func sameEverywhere(r *results) finding {
	var n notes
	var first []string
	best, all := true, true
	for _, c := range r.sets() {
		if !c.has(100) {
			return notRun(100)
		}
		methods, _ := c.order(100)
		if first == nil {
			first = methods
		}
		n.number("%s: %s", c.dataset, strings.Join(methods, " < "))
		best = best && methods[0] == first[0]
		all = all && slices.Equal(methods, first)
	}
	f := n.finding()
	switch {
	case len(n.numbers) < 2:
		f.verdict = unknown
		f.why = "one data set was run"
	case !best:
		f.verdict = fails
		f.why = "another method is best"
	case !all:
		f.verdict = partly
		f.why = "the best is the same, the rest are ordered otherwise"
	}
	return f
}

func withinRate(method string) func(*convergence) finding {
	return func(c *convergence) finding {
		var n notes
		for _, gamma := range c.gammas {
			seen := c.find(method, gamma).contraction(c.floor)
			rate := c.rate(method, gamma)
			n.number("γ = %g: %.4g of %.4g", gamma, seen, rate)
			n.unless(seen <= rate, "exceeded at γ = %g", gamma)
		}
		return n.finding()
	}
}

func sharpRate(c *convergence) finding {
	var ratios []float64
	for _, m := range sketchOnce {
		for _, gamma := range c.gammas {
			ratios = append(ratios, c.find(m, gamma).contraction(c.floor)/c.rate(m, gamma))
		}
	}
	ok := !slices.ContainsFunc(ratios, func(q float64) bool {
		return q < 1-fewPercent
	})
	return check(
		ok,
		"seen over promised "+span(ratios...),
		"the promise is the worst case of the sketch's own bound η; the data do better",
	)
}

func certified(c *convergence) finding {
	var n notes
	worst, count := 0.0, 0
	for _, k := range c.curves {
		for t := 1; t < len(k.errors); t++ {
			if !math.IsInf(k.bounds[t], 1) {
				count++
				q := (k.errors[t] - c.floor) / k.bounds[t] // without the uncertainty of x* itself
				worst = math.Max(worst, q)
				n.unless(q <= 1, "%s at γ = %g, t = %d", k.method, k.gamma, t)
			}
		}
	}
	n.number("%d bounds, the largest error %.3g of its bound", count, worst)
	return n.finding()
}

// has reports whether every method of the paper was run at γ.
func (c *convergence) has(gamma float64) bool {
	return !slices.ContainsFunc(iterated, func(m string) bool {
		return c.find(m, gamma) == nil
	})
}

// at returns the error of iterate t. If the iteration ended earlier, it returns the error of the last iterate.
func (c *convergence) at(method string, gamma float64, t int) float64 {
	e := c.find(method, gamma).errors
	return e[min(t, len(e)-1)]
}

// final returns the error of the last iterate.
func (c *convergence) final(method string, gamma float64) float64 {
	return c.at(method, gamma, math.MaxInt)
}

// listed lists the errors of some methods at iteration t.
func (c *convergence) listed(gamma float64, t int, methods ...string) string {
	var parts []string
	for _, m := range methods {
		parts = append(parts, m+" "+chart.Short(c.at(m, gamma, t)))
	}
	return strings.Join(parts, ", ")
}

// comparable returns the last iteration at which the errors of all methods are well above the error of the computed
// x*.
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

// byError compares methods by their error at γ, at iteration t.
func (c *convergence) byError(gamma float64, t int) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Compare(c.at(a, gamma, t), c.at(b, gamma, t))
	}
}

// order sorts the methods by their error at γ, at the last iteration t at which the errors can be compared.
func (c *convergence) order(gamma float64) (methods []string, t int) {
	t = c.comparable(gamma)
	return slices.SortedFunc(slices.Values(iterated), c.byError(gamma, t)), t
}

// orders returns log₁₀ of the error of method divided by the error of other.
func (c *convergence) orders(method, other string, gamma float64) float64 {
	t := c.comparable(gamma)
	return math.Log10(c.at(method, gamma, t) / c.at(other, gamma, t))
}

// bestRandom names the best randomised method and its error.
func (c *convergence) bestRandom(gamma float64, t int) string {
	return c.listed(gamma, t, slices.MinFunc(drawn, c.byError(gamma, t)))
}
