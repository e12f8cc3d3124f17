package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// The claims of section 4 of the paper, "Findings", on figures 3 to 5, which its
// appendix repeats for figures 4 and 5. Errors are ‖x⁽ᵗ⁾ − x*‖/‖x*‖.

// What the paper's words are taken to mean.
var fewOrders = [2]float64{0.5, 2.5} // "roughly 1–2 orders of magnitude"

const (
	roughly    = 10   // "approximately 10⁻⁷", as a factor
	poorly     = 10   // "perform poorly": so many times the error of IHS:SJLT
	reliable   = 1e3  // errors below so many times that of x* itself are not compared
	fewPercent = 0.05 // "to within a few percent", of a rate
)

// The methods of the paper; CG is ours.
var (
	sketchOnce = []string{"FD", "RFD"}
	drawn      = []string{"IHS:Gaussian", "IHS:SJLT", "Single:Gaussian", "Single:SJLT"}
	iterated   = append(slices.Clone(sketchOnce), drawn...)
)

var findingsIterative = section{"Section 4, findings", []int{3, 4, 5}, hasConverged, []claim{
	{"Convergence was easier for all methods when γ was increased.", onSets(easier), ""},
	{"When γ = 10, all methods except for RFD diverged.", onSets(onlyRFDConverges), ""},
	{"When γ = 100, all methods began to descend towards the optimum.", onSets(allDescend), ""},
	{"At any fixed number of iterations RFD performed best, at every γ.", onSets(robustBest), ""},
	{"At γ = 100, after 10 iterations RFD achieved an error better than 10⁻¹⁰.", onSets(robustReaches), ""},
	{"At γ = 100, FD achieved approximately 10⁻⁷.", onSets(plainReaches), ""},
	{"The deterministic methods performed better than all randomised methods (at γ = 100 and 1000).", onSets(deterministicFirst), ""},
	{"Next best was IHS:SJLT (at γ = 100 and 1000).", onSets(sjltNext), sjltIsGaussian},
	{"There is roughly a 1–2 order of magnitude difference between FD and IHS:SJLT (at γ = 100).", onSets(plainToSJLT), sjltIsGaussian},
	{"That is slightly less than the difference between RFD and FD (at γ = 100).", onSets(lessThanRobust), sjltIsGaussian},
	{"Single:Gaussian, Single:SJLT and IHS:Gaussian all perform poorly (at γ = 100).", onSets(poor), sjltIsGaussian},
	{"The ordering of the methods at γ = 100 is repeated at γ = 1000.", onSets(sameOrder), ""},
	{"The behaviour is reflected on all the data sets: the same ordering at γ = 100.", sameEverywhere, ""},
}}

func hasConverged(r *results) bool { return len(r.sets()) > 0 }

// sets are the data sets of figures 3 to 5 that were run.
func (r *results) sets() []*convergence {
	return slices.DeleteFunc(slices.Clone(r.converged[:]), func(c *convergence) bool { return c == nil })
}

// onSets judges each data set, and holds where it does on all.
func onSets(judge func(*convergence) finding) func(*results) finding {
	return func(r *results) finding {
		var names []string
		var findings []finding
		for _, c := range r.sets() {
			names, findings = append(names, c.dataset+": "), append(findings, judge(c))
		}
		return every(names, findings)
	}
}

// every joins the findings of one claim on several data sets or γ, which are named: the
// claim holds where all do, and with a condition where some do.
func every(names []string, findings []finding) finding {
	var numbers, why []string
	out := findings[0]
	for i, f := range findings {
		numbers = append(numbers, names[i]+f.numbers)
		if f.why != "" {
			why = append(why, names[i]+f.why)
		}
		out.verdict = out.verdict.and(f.verdict)
	}
	out.numbers, out.why = strings.Join(numbers, "; "), strings.Join(why, "; ")
	return out
}

// cannot is the finding of a claim about a γ that was not run.
func cannot(gamma float64) finding {
	return finding{"", unknown, fmt.Sprintf("γ = %g was not run", gamma)}
}

func easier(c *convergence) finding {
	var worse, numbers []string
	for _, m := range iterated {
		for i := 1; i < len(c.gammas); i++ {
			low, high := c.gammas[i-1], c.gammas[i]
			t := min(c.comparable(low), c.comparable(high))
			if !(c.at(m, high, t) < c.at(m, low, t)) {
				worse = append(worse, fmt.Sprintf("%s from γ = %g to %g", m, low, high))
			}
		}
		var e []string
		for _, gamma := range c.gammas {
			e = append(e, chart.Short(c.final(m, gamma)))
		}
		numbers = append(numbers, m+" "+strings.Join(e, ", "))
	}
	return check(worse == nil, strings.Join(numbers, "; "), strings.Join(worse, "; "))
}

func onlyRFDConverges(c *convergence) finding {
	const gamma = 10
	if !c.has(gamma) {
		return cannot(gamma)
	}
	var wrong []string
	for _, m := range iterated {
		if (c.final(m, gamma) < 1) != (m == "RFD") {
			wrong = append(wrong, m)
		}
	}
	return check(wrong == nil, c.listed(gamma, iterated...), strings.Join(wrong, ", "))
}

func allDescend(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	var wrong []string
	for _, m := range iterated {
		if !(c.final(m, gamma) < 1) {
			wrong = append(wrong, m+" diverges")
		}
	}
	return check(wrong == nil, c.listed(gamma, iterated...), strings.Join(wrong, ", "))
}

func robustBest(c *convergence) finding {
	var numbers, wrong []string
	for _, gamma := range c.gammas {
		last := c.comparable(gamma)
		for t := 1; t <= last; t++ {
			for _, m := range iterated {
				if m != "RFD" && !(c.at("RFD", gamma, t) <= c.at(m, gamma, t)) {
					wrong = append(wrong, fmt.Sprintf("%s is better at γ = %g, t = %d", m, gamma, t))
				}
			}
		}
		methods, t := c.order(gamma)
		second := methods[0]
		if second == "RFD" {
			second = methods[1]
		}
		numbers = append(numbers, fmt.Sprintf("γ = %g, t = %d: RFD %s, next %s %s", gamma, t, chart.Short(c.at("RFD", gamma, t)), second, chart.Short(c.at(second, gamma, t))))
	}
	return check(wrong == nil, strings.Join(numbers, "; "), strings.Join(wrong, "; "))
}

func robustReaches(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	return check(c.final("RFD", gamma) < 1e-10, chart.Short(c.final("RFD", gamma)), "")
}

func plainReaches(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	e := c.final("FD", gamma)
	f := check(e <= roughly*1e-7 && e >= 1e-7/roughly, chart.Short(e), "")
	if f.verdict == fails && e < 1e-7 {
		f.verdict, f.why = partly, "better than that"
	}
	return f
}

// atLarger judges at γ = 100 and 1000.
func (c *convergence) atLarger(judge func(gamma float64) (ok bool, numbers, why string)) finding {
	var names []string
	var findings []finding
	for _, gamma := range []float64{100, 1000} {
		f := cannot(gamma)
		if c.has(gamma) {
			f = check(judge(gamma))
		}
		names, findings = append(names, fmt.Sprintf("γ = %g, ", gamma)), append(findings, f)
	}
	return every(names, findings)
}

func deterministicFirst(c *convergence) finding {
	return c.atLarger(func(gamma float64) (bool, string, string) {
		methods, t := c.order(gamma)
		ok := slices.Contains(sketchOnce, methods[0]) && slices.Contains(sketchOnce, methods[1])
		why := ""
		if !ok {
			why = "the order is " + strings.Join(methods, ", ")
		}
		return ok, fmt.Sprintf("t = %d: FD %s, best randomised %s", t, chart.Short(c.at("FD", gamma, t)), bestRandom(c, gamma, t)), why
	})
}

func sjltNext(c *convergence) finding {
	return c.atLarger(func(gamma float64) (bool, string, string) {
		t := c.comparable(gamma)
		e := c.at("IHS:SJLT", gamma, t)
		why := ""
		for _, m := range drawn {
			if c.at(m, gamma, t) < e {
				why += m + " is better; "
			}
		}
		return why == "", fmt.Sprintf("t = %d: IHS:SJLT %s, best randomised %s", t, chart.Short(e), bestRandom(c, gamma, t)), strings.TrimSuffix(why, "; ")
	})
}

func plainToSJLT(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	k := c.orders("IHS:SJLT", "FD")
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

func lessThanRobust(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	a, b := c.orders("IHS:SJLT", "FD"), c.orders("FD", "RFD")
	return check(a < b, fmt.Sprintf("IHS:SJLT over FD %.1f orders, FD over RFD %.1f", a, b), "")
}

func poor(c *convergence) finding {
	const gamma = 100
	if !c.has(gamma) {
		return cannot(gamma)
	}
	t, wrong := c.comparable(gamma), []string{}
	for _, m := range []string{"Single:Gaussian", "Single:SJLT", "IHS:Gaussian"} {
		if c.at(m, gamma, t) < poorly*c.at("IHS:SJLT", gamma, t) {
			wrong = append(wrong, m)
		}
	}
	f := check(len(wrong) == 0, c.listed(gamma, drawn...), "")
	if len(wrong) > 0 {
		f.why = "as good as IHS:SJLT or nearly: " + strings.Join(wrong, ", ")
		if len(wrong) < 3 {
			f.verdict = partly
		}
	}
	return f
}

func sameOrder(c *convergence) finding {
	if !c.has(100) || !c.has(1000) {
		return cannot(1000)
	}
	a, _ := c.order(100)
	b, _ := c.order(1000)
	f := check(slices.Equal(a, b), strings.Join(a, " < "), "")
	if f.verdict == fails {
		f.why = "at γ = 1000 it is " + strings.Join(b, " < ")
		if slices.Equal(a[:2], b[:2]) {
			f.verdict, f.why = partly, "the first two are the same; "+f.why
		}
	}
	return f
}

func sameEverywhere(r *results) finding {
	var first []string
	var numbers []string
	f := finding{verdict: holds}
	for _, c := range r.sets() {
		if !c.has(100) {
			return cannot(100)
		}
		methods, _ := c.order(100)
		numbers = append(numbers, c.dataset+": "+strings.Join(methods, " < "))
		switch {
		case first == nil:
			first = methods
		case methods[0] != first[0]:
			f = finding{verdict: fails, why: "another method is best"}
		case !slices.Equal(methods, first) && f.verdict == holds:
			f = finding{verdict: partly, why: "the best is the same, the rest are ordered otherwise"}
		}
	}
	if len(numbers) < 2 {
		f = finding{verdict: unknown, why: "one data set was run"}
	}
	f.numbers = strings.Join(numbers, "; ")
	return f
}
