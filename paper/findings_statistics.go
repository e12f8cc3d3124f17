package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// The claims of section 3 of the paper, "Findings" and "Summary", about figures 1 and 2. Errors are relative errors,
// |û − u*|/u*, of a quantity u such as the bias.

// turn is the γ at which the best method changes in figure 2, according to the paper.
const turn = 1.0 / 16

// Meanings of the paper's words.
const (
	manyOrders  = 100  // "many orders of magnitude", as a factor
	muchWeaker  = 10   // "much weaker", as a factor
	negligible  = 0.01 // relative to u*, a difference that does not count
	near        = 1.5  // "competitive", "not too far", as a factor
	littleMore  = 1.25 // "little change", as a factor
	overmuch    = 2    // "substantially overestimate", as a factor
	noticeable  = 1.05 // "the worst", as a factor over the others
	similar     = 3    // "similarly", "competitive" of errors that span decades
	noFurther   = 3    // "no improvement" over all γ above turn, as a factor
	improvement = 10   // improvement there, as a factor
)

// on judges by figure 1 or 2, onBoth by both.
func on(figure int, judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding { return judge(r.risks[figure-1]) }
}

func onBoth(judge func(*risks) finding) func(*results) finding {
	return parts("R₁", on(1, judge), "R₂", on(2, judge))
}

func hasR1(r *results) bool   { return r.risks[0] != nil }
func hasR2(r *results) bool   { return r.risks[1] != nil }
func hasBoth(r *results) bool { return hasR1(r) && hasR2(r) }

// Known reasons why claims do not hold.
const (
	sjltIsGaussian = "An SJLT with its factor 1/√s, which the paper's appendix forgets, " +
		"has E[SᵀS] = I as the Gaussian has, and hardly differs from it."
	hessianIsRight = "The Hessian sketch leaves Aᵀb exact, and becomes exact as γ grows; " +
		"the classical sketch goes on sketching the noise."
	robustShrinks = "With ρ above γ the shift shrinks the variance, by up to (γ/(γ+ρ))², below the optimal one, " +
		"while another method may cross the optimal one and err by nothing there."
	crossingOptimal = "Where a value crosses the optimal one its error vanishes, and a ratio to it says little."
	allBias         = "As γ grows the bias of every method tends to ‖x₀‖²."
	fdCostsMore     = "SA takes 2mnd flops, and the sketch by FD with its eigenproblems several times that."
)

// The numbers that several claims are about.
var (
	gain = quantity{
		"error of the best randomised relative to the worse deterministic method",
		over(least(randomised...), most(deterministic...)),
	}

	plainToRobust = quantity{"error of FDRR relative to RFDRR", over(least(fdrr), least(rfdrr))}

	// sketched without RFDRR
	othersToRobust = quantity{
		"error of the best other method relative to RFDRR",
		over(least(slices.Concat([]string{fdrr}, randomised)...), least(rfdrr)),
	}

	classical = []string{classicalGaussian, classicalSJLT}
	hessian   = []string{hessianGaussian, hessianSJLT}
)

var (
	// negligibly judges that the errors of FDRR and RFDRR hardly differ.
	negligibly = allMetrics.judge(quantity{"difference of their errors", func(x *risks, m metric, i int) float64 {
		return math.Abs(x.err(fdrr, m, i) - x.err(rfdrr, m, i))
	}}, atMost(negligible))

	// gaussianFirst and sjltBias judge whether a classical sketch is the best randomised method.
	gaussianFirst = allMetrics.judge(
		quantity{
			"error of Classical:Gaussian over the least of the randomised",
			over(least(classicalGaussian), least(randomised...)),
		},
		atMost(near),
	)
	sjltBias = biasOnly.judge(
		quantity{
			"error of Classical:SJLT over the least of the randomised",
			over(least(classicalSJLT), least(randomised...)),
		},
		atMost(near),
	)

	robustFirst = allMetrics.judge(othersToRobust, atLeast(1))
	hessianBias = biasOnly.judge(
		quantity{"smaller bias of the two over the optimal one", over(leastValue(hessian...), leastValue(exact))},
		atLeast(overmuch),
	)
)

var findingsR1 = section{"Section 3, findings for R₁", []int{1}, hasR1, []claim{
	{
		"Across all 3 metrics, both deterministic methods dominate the randomised methods.",
		on(1, allMetrics.judge(gain, atLeast(1))),
		"",
	},
	{
		"RFDRR is marginally better than FDRR, but the difference is negligible.",
		on(1, parts("better", allMetrics.judge(plainToRobust, atLeast(1)), "negligible", negligibly)),
		"",
	},
	{
		"The relative error of all three metrics is consistently many orders of magnitude better than for " +
			"randomised methods.",
		on(1, allMetrics.judge(gain, atLeast(manyOrders))),
		"",
	},
	{
		"For the bias, both Classical methods are the most competitive of the randomised.",
		on(
			1,
			biasOnly.judge(
				quantity{
					"error of the better Hessian relative to the worse Classical method",
					over(least(hessian...), most(classical...)),
				},
				atLeast(1),
			),
		),
		"",
	},
	{
		"Their bias is in absolute terms not too far from the optimal one, yet its relative error is much weaker " +
			"than for the deterministic methods.",
		on(1, parts(
			"not far",
			biasOnly.judge(
				quantity{"larger value over the optimal one", over(mostValue(classical...), mostValue(exact))},
				aboutOne(near),
			),
			"weaker",
			biasOnly.judge(
				quantity{
					"smaller error relative to the worse deterministic method",
					over(least(classical...), most(deterministic...)),
				},
				atLeast(muchWeaker),
			),
		)),
		"",
	},
	{"Classical:Gaussian appears most consistently competitive.", on(1, gaussianFirst), hessianIsRight},
	{"Classical:SJLT appears competitive for bias.", on(1, sjltBias), ""},
	{"Classical:SJLT has the worst variance.", on(1, sjltVariance), sjltIsGaussian},
	{"Both Hessian sketches substantially overestimate the bias.", on(1, hessianBias), allBias},
	{
		"Their variance is sandwiched between the variances of Classical:Gaussian and Classical:SJLT.",
		on(1, sandwiched),
		sjltIsGaussian,
	},
	{
		"In the Hessian model there is little change between Gaussian and SJLT.",
		on(
			1,
			allMetrics.judge(
				quantity{
					"value of Hessian:SJLT over Hessian:Gaussian",
					over(mostValue(hessianSJLT), mostValue(hessianGaussian)),
				},
				aboutOne(littleMore),
			),
		),
		"",
	},
}}

var findingsR2 = section{"Section 3, findings for R₂", []int{2}, hasR2, []claim{
	{"The relative errors (of the deterministic methods) are higher than for R₁.", higherThanR1, ""},
	{"RFDRR remains consistently the best performing sketch across all 3 metrics.", on(2, robustFirst), robustShrinks},
	{"FDRR performs up to roughly 2 orders of magnitude worse than RFDRR up to γ ≤ 2⁻⁴.", on(2, twoOrders), ""},
	{
		"FDRR performs roughly 1 order worse than Classical:Gaussian in bias and variance up to γ ≤ 2⁻⁴.",
		on(2, domain{[]metric{bias, variance}, small}.judge(
			quantity{
				"error of FDRR relative to Classical:Gaussian for γ ≤ 2⁻⁴",
				over(least(fdrr), least(classicalGaussian)),
			},
			rule{
				"10 to a factor of √10",
				func(q float64) bool { return math.Abs(math.Log10(q)-1) <= 0.5 },
			},
		)),
		crossingOptimal,
	},
	{
		"For γ > 2⁻⁴ FDRR begins to perform similarly to RFDRR in bias and variance.",
		on(2, alikeAbove),
		crossingOptimal,
	},
	{
		"Classical:Gaussian looks competitive for small γ.",
		on(2, domain{allMetrics.of, small}.judge(
			quantity{
				"error of Classical:Gaussian relative to RFDRR for γ ≤ 2⁻⁴",
				over(least(classicalGaussian), least(rfdrr)),
			},
			atMost(similar),
		)),
		"",
	},
	{
		"Once γ > 2⁻⁴, Classical:Gaussian improves no more in relative error, in contrast to (R)FDRR.",
		on(2, noImprovement),
		"",
	},
	{"The same deficiency of Classical:SJLT: the worst variance.", on(2, sjltVariance), sjltIsGaussian},
	{"The same deficiency of both Hessian sketches: the bias is overestimated.", on(2, hessianBias), allBias},
}}

var statisticsSummary = section{"Section 3, summary", nil, hasBoth, []claim{
	{
		"Across all 3 metrics and for R₁ and R₂, RFDRR is the standout sketch method.",
		onBoth(robustFirst),
		robustShrinks,
	},
	{"For R₁ FDRR is competitive with RFDRR; for R₂ this depends on the regularisation.", dependsOnGamma, ""},
	{"Of the randomised methods Classical:Gaussian is the most competitive.", onBoth(gaussianFirst), hessianIsRight},
	{"It is fraught with scalability issues: generating SA takes too long.", onBoth(gaussianCost), fdCostsMore},
	{"With SJLT instead of Gaussian there is noticeable degradation.", onBoth(degrades(classicalSJLT)), sjltIsGaussian},
	{
		"With the Hessian sketch instead there is noticeable degradation.",
		onBoth(degrades(hessianGaussian, hessianSJLT)),
		hessianIsRight,
	},
}}

var statisticsBounds = section{"Section 3, theorems 1 to 3", nil, hasBoth, []claim{
	{
		"Bias, variance and MSE of FDRR and RFDRR are bounded by their values for ridge regression. (The paper's " +
			"bounds on bias and MSE are false, see paper.Estimator.Bounds; judged here are the corrected ones.)",
		onBoth(bounded),
		"",
	},
}}

// alikeAbove judges whether FDRR and RFDRR have similar errors for γ > 2⁻⁴.
var alikeAbove = domain{
	[]metric{bias, variance},
	large,
}.judge(
	quantity{plainToRobust.name + " for γ > 2⁻⁴", plainToRobust.of},
	aboutOne(similar),
)

func sjltVariance(x *risks) finding {
	others := slices.DeleteFunc(slices.Clone(sketched), func(method string) bool {
		return method == classicalSJLT
	})
	f := domain{
		of: []metric{variance},
	}.judge(
		quantity{
			"variance of Classical:SJLT over the largest of the others",
			over(mostValue(classicalSJLT), mostValue(others...)),
		},
		atLeast(noticeable),
	)(
		x,
	)
	f.numbers += "; relative to Classical:Gaussian: " + x.over(classicalSJLT)
	return f
}

func sandwiched(x *risks) finding {
	t := tally{gammas: x.gammas}
	for _, method := range hessian {
		var row []bool
		for i := range x.gammas {
			u := x.value(method, variance, i)
			row = append(
				row,
				leastValue(classical...)(x, variance, i) <= u &&
					u <= mostValue(classical...)(x, variance, i),
			)
		}
		t.add(method, row...)
	}
	return t.finding(
		fmt.Sprintf("variance relative to Classical:Gaussian: Hessian:Gaussian %s, Hessian:SJLT %s, Classical:SJLT %s",
			x.over(hessianGaussian), x.over(hessianSJLT), x.over(classicalSJLT)),
	)
}

func higherThanR1(r *results) finding {
	a, b := r.risks[0], r.risks[1]
	if a == nil || !slices.Equal(a.gammas, b.gammas) {
		return finding{verdict: unknown, why: "figure 1 was not run"}
	}
	return allMetrics.judge(
		quantity{
			"smaller ratio of the errors for R₂ and R₁, of FDRR and RFDRR",
			func(b *risks, m metric, i int) float64 {
				ofFDRR := b.err(fdrr, m, i) / a.err(fdrr, m, i)
				ofRFDRR := b.err(rfdrr, m, i) / a.err(rfdrr, m, i)
				return math.Min(ofFDRR, ofRFDRR)
			},
		},
		atLeast(1),
	)(
		b,
	)
}

func twoOrders(x *risks) finding {
	at := x.among(small)
	if at == nil {
		return finding{verdict: unknown, why: "no γ ≤ 2⁻⁴ was run"}
	}
	var worst []float64
	var shown []string
	for m := range metrics {
		worst = append(worst, x.largest(plainToRobust.of, m, at))
		shown = append(shown, m.String()+" "+chart.Short(worst[m]))
	}
	orders := math.Log10(slices.Max(worst))
	return check(
		math.Abs(orders-2) <= 0.5,
		fmt.Sprintf(
			"largest %s for γ ≤ 2⁻⁴: %s (rule: 100 to a factor of √10 for the largest)",
			plainToRobust.name,
			strings.Join(shown, ", "),
		),
		fmt.Sprintf("%.1f orders of magnitude", orders),
	)
}

// largest returns the largest f(x, m, i) over the given indices i of γ.
func (x *risks) largest(f evaluation, m metric, indices []int) float64 {
	w := 0.0
	for _, i := range indices {
		w = math.Max(w, f(x, m, i))
	}
	return w
}

// noImprovement compares the largest error for γ > 2⁻⁴ with the error at the largest γ.
func noImprovement(x *risks) finding {
	at := x.among(large)
	if len(at) < 2 {
		return finding{verdict: unknown, why: "no two γ > 2⁻⁴ were run"}
	}
	last := at[len(at)-1]
	t := tally{gammas: x.gammas[last : last+1]}
	var shown []string
	for m := range metrics {
		drop := func(method string) float64 {
			return x.largest(least(method), m, at) / x.err(method, m, last)
		}
		random := drop(classicalGaussian)
		plain := drop(fdrr)
		robust := drop(rfdrr)
		t.add(m.String(), random <= noFurther && math.Min(plain, robust) >= improvement)
		shown = append(
			shown,
			fmt.Sprintf(
				"%s Classical:Gaussian %s, FDRR %s, RFDRR %s",
				m,
				chart.Short(random),
				chart.Short(plain),
				chart.Short(robust),
			),
		)
	}
	return t.finding(fmt.Sprintf("largest error for γ > 2⁻⁴ over that at γ = %s: %s (rule: ≤ %v, ≥ %v, ≥ %v)",
		power(x.gammas[last]), strings.Join(shown, "; "), noFurther, improvement, improvement))
}

// dependsOnGamma judges two data sets. For R₁, FDRR must be about as good as RFDRR. For R₂, it must be much worse
// at the smallest γ and similar at the largest γ.
var dependsOnGamma = parts("R₁", on(1, negligibly), "R₂", on(2, func(x *risks) finding {
	last := len(x.gammas) - 1
	t := tally{gammas: []float64{x.gammas[0], x.gammas[last]}}
	var shown []string
	for m := range metrics {
		p := plainToRobust.of(x, m, 0)
		q := plainToRobust.of(x, m, last)
		t.add(m.String(), p > muchWeaker, q <= similar)
		shown = append(shown, fmt.Sprintf("%s %s and %s", m, chart.Short(p), chart.Short(q)))
	}
	return t.finding(
		fmt.Sprintf(
			"%s at γ = %s and %s: %s (rule: ≥ %v, ≤ %v)",
			plainToRobust.name,
			power(x.gammas[0]),
			power(x.gammas[last]),
			strings.Join(shown, ", "),
			muchWeaker,
			similar,
		),
	)
}))

func gaussianCost(x *risks) finding {
	gaussian := x.seconds[classicalGaussian] / x.seconds[fdrr]
	sjlt := x.seconds[classicalSJLT] / x.seconds[fdrr]
	return check(
		gaussian > 1,
		fmt.Sprintf(
			"time to sketch A relative to FD: Gaussian %s, SJLT %s (rule: > 1 for Gaussian)",
			chart.Short(gaussian),
			chart.Short(sjlt),
		),
		"Gaussian sketches are faster to make",
	)
}

// degrades judges that methods are worse than Classical:Gaussian.
func degrades(methods ...string) func(*risks) finding {
	return allMetrics.judge(
		quantity{
			"least error of " + strings.Join(methods, ", ") + " relative to Classical:Gaussian",
			over(least(methods...), least(classicalGaussian)),
		},
		atLeast(near),
	)
}

// bounded judges that each value lies within its bounds.
func bounded(x *risks) finding {
	t := tally{gammas: x.gammas}
	var shown []string
	for _, method := range deterministic {
		var row []bool
		var width []float64
		for i := range x.gammas {
			ok := true
			for m := range metrics {
				b := x.bound(method, m, i)
				u := x.absolute[method][m][i]
				ok = ok && b.Lo <= u && u <= b.Hi
			}
			row = append(row, ok)
			width = append(width, x.bound(method, mse, i).Hi/x.absolute[exact][mse][i])
		}
		t.add(method, row...)
		shown = append(shown, method+" "+span(width...))
	}
	return t.finding("upper bound of the MSE over the optimal one: " + strings.Join(shown, ", "))
}

// A quantity is a named number of figure 1 or 2, which depends on the metric and γ.
type quantity struct {
	name string
	of   evaluation
}

// An evaluation computes a number for metric m and the γ with index i.
type evaluation func(x *risks, m metric, i int) float64

// err and value return the relative error and the value of a metric for one method.
func (x *risks) err(method string, m metric, i int) float64 {
	return x.relative[method][m][i]
}
func (x *risks) value(method string, m metric, i int) float64 {
	return x.absolute[method][m][i]
}

// least and most return the smallest and the largest error of the given methods. leastValue and mostValue return
// their smallest and largest value of the metric.
func least(methods ...string) evaluation {
	return extreme((*risks).err, math.Min, methods)
}

func most(methods ...string) evaluation {
	return extreme((*risks).err, math.Max, methods)
}

func leastValue(methods ...string) evaluation {
	return extreme((*risks).value, math.Min, methods)
}

func mostValue(methods ...string) evaluation {
	return extreme((*risks).value, math.Max, methods)
}

func extreme(
	number func(*risks, string, metric, int) float64,
	of func(a, b float64) float64,
	methods []string,
) evaluation {
	return func(x *risks, m metric, i int) float64 {
		e := number(x, methods[0], m, i)
		for _, method := range methods[1:] {
			e = of(e, number(x, method, m, i))
		}
		return e
	}
}

// over returns the quotient a/b.
func over(a, b evaluation) evaluation {
	return func(x *risks, m metric, i int) float64 {
		return a(x, m, i) / b(x, m, i)
	}
}

// over describes the range, over all γ, of the variance of a method divided by the variance of Classical:Gaussian.
func (x *risks) over(method string) string {
	var values []float64
	for i := range x.gammas {
		values = append(values, x.value(method, variance, i)/x.value(classicalGaussian, variance, i))
	}
	return span(values...)
}

// among returns the indices of all γ with in(gamma). A nil function selects all γ.
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

// A domain holds the metrics and the values of γ that a claim is about.
type domain struct {
	of []metric
	in func(gamma float64) bool // nil: all γ
}

var (
	allMetrics = domain{of: []metric{bias, variance, mse}}
	biasOnly   = domain{of: []metric{bias}}
)

// judge returns a function that tallies, for each metric and γ, whether the quantity q obeys the rule. It also
// describes the range of q.
func (d domain) judge(q quantity, r rule) func(*risks) finding {
	return func(x *risks) finding {
		var t tally
		var shown []string
		at := x.among(d.in)
		for _, i := range at {
			t.gammas = append(t.gammas, x.gammas[i])
		}
		for _, m := range d.of {
			var values []float64
			var row []bool
			for _, i := range at {
				v := q.of(x, m, i)
				values = append(values, v)
				row = append(row, r.ok(v))
			}
			t.add(m.String(), row...)
			switch {
			case len(values) == 0:
			case len(d.of) == 1:
				shown = append(shown, span(values...))
			default:
				shown = append(shown, m.String()+" "+span(values...))
			}
		}
		return t.finding(fmt.Sprintf("%s: %s (rule: %s)", q.name, strings.Join(shown, ", "), r.text))
	}
}

// A rule decides whether a value of a quantity agrees with a claim.
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
	return rule{
		fmt.Sprintf("1 to a factor of %v", factor),
		func(q float64) bool { return 1/factor <= q && q <= factor },
	}
}
