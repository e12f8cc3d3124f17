package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

// The claims of section 3 of the paper, "Findings" and "Summary", on figures 1 and
// 2. Errors are relative errors, |û − u*|/u*.

// turn is the γ at which the paper sees the methods change places in figure 2.
const turn = 1.0 / 16

// What the paper's words are taken to mean.
const (
	manyOrders  = 100  // "many orders of magnitude", as a factor
	muchWeaker  = 10   // "much weaker", as a factor
	negligible  = 0.01 // of u*, a difference that does not count
	near        = 1.5  // "competitive", "not too far", as a factor
	littleMore  = 1.25 // "little change", as a factor
	overmuch    = 2    // "substantially overestimate", as a factor
	noticeable  = 1.05 // "the worst", as a factor over the others
	similar     = 3    // "similarly", "competitive" of errors that span decades
	noFurther   = 3    // "no improvement" over all γ above turn, as a factor
	improvement = 10   // improvement there, as a factor
)

func hasR1(r *results) bool   { return r.risks[0] != nil }
func hasR2(r *results) bool   { return r.risks[1] != nil }
func hasBoth(r *results) bool { return hasR1(r) && hasR2(r) }

// onR1 and onR2 judge by figure 1 or 2.
func onR1(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding { return judge(r.risks[0]) }
}

func onR2(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding { return judge(r.risks[1]) }
}

// onBoth judges by figures 1 and 2.
func onBoth(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding {
		return both(part("R₁", judge(r.risks[0])), part("R₂", judge(r.risks[1])))
	}
}

// What is known of the methods, for claims that do not hold as they stand.
const (
	sjltIsGaussian  = "An SJLT with its factor 1/√s, which the paper's appendix forgets, has E[SᵀS] = I as the Gaussian has, and hardly differs from it."
	hessianIsRight  = "The Hessian sketch leaves Aᵀb exact, and becomes exact as γ grows; the classical sketch goes on sketching the noise."
	robustShrinks   = "With ρ above γ the shift shrinks the variance, by up to (γ/(γ+ρ))², below the optimal one, while another method may cross the optimal one and err by nothing there."
	crossingOptimal = "Where a value crosses the optimal one its error vanishes, and a ratio to it says little."
	allBias         = "As γ grows the bias of every method tends to ‖x₀‖²."
	fdCostsMore     = "SA takes 2mnd flops, and the sketch by FD with its eigenproblems several times that."
)

var findingsR1 = section{"Section 3, findings for R₁", []int{1}, hasR1, []claim{
	{"Across all 3 metrics, both deterministic methods dominate the randomised methods.", onR1(dominate), ""},
	{"RFDRR is marginally better than FDRR, but the difference is negligible.", onR1(marginal), ""},
	{"The relative error of all three metrics is consistently many orders of magnitude better than that of randomised methods.", onR1(ordersBetter), ""},
	{"For the bias, both Classical methods are the most competitive of the randomised.", onR1(classicalBias), ""},
	{"Their bias is in absolute terms not too far from the optimal one, yet its relative error is much weaker than that of the deterministic methods.", onR1(nearYetWeaker), ""},
	{"Classical:Gaussian appears most consistently competitive.", onR1(gaussianFirst), hessianIsRight},
	{"Classical:SJLT appears competitive for bias.", onR1(sjltBias), ""},
	{"Classical:SJLT has the worst variance.", onR1(sjltVariance), sjltIsGaussian},
	{"Both Hessian sketches substantially overestimate the bias.", onR1(hessianBias), allBias},
	{"Their variance is sandwiched between those of Classical:Gaussian and Classical:SJLT.", onR1(sandwiched), sjltIsGaussian},
	{"In the Hessian model there is little change between Gaussian and SJLT.", onR1(hessianKinds), ""},
}}

var findingsR2 = section{"Section 3, findings for R₂", []int{2}, hasR2, []claim{
	{"The relative errors (of the deterministic methods) are higher than for R₁.", higherThanR1, ""},
	{"RFDRR remains consistently the best performing sketch across all 3 metrics.", onR2(robustFirst), robustShrinks},
	{"FDRR performs up to roughly 2 orders of magnitude worse than RFDRR up to γ ≤ 2⁻⁴.", onR2(twoOrders), ""},
	{"FDRR performs roughly 1 order worse than Classical:Gaussian in bias and variance up to γ ≤ 2⁻⁴.", onR2(oneOrder), crossingOptimal},
	{"For γ > 2⁻⁴ FDRR begins to perform similarly to RFDRR in bias and variance.", onR2(alikeAbove), crossingOptimal},
	{"Classical:Gaussian looks competitive for small γ.", onR2(gaussianSmall), ""},
	{"Once γ > 2⁻⁴, Classical:Gaussian improves no more in relative error, in contrast to (R)FDRR.", onR2(noImprovement), ""},
	{"The same deficiency of Classical:SJLT: the worst variance.", onR2(sjltVariance), sjltIsGaussian},
	{"The same deficiency of both Hessian sketches: the bias is overestimated.", onR2(hessianBias), allBias},
}}

var statisticsSummary = section{"Section 3, summary", nil, hasBoth, []claim{
	{"Across all 3 metrics and for R₁ and R₂, RFDRR is the standout sketch method.", onBoth(robustFirst), robustShrinks},
	{"For R₁ FDRR is competitive with RFDRR; for R₂ this depends on the regularisation.", dependsOnGamma, ""},
	{"Of the randomised methods Classical:Gaussian is the most competitive.", onBoth(gaussianFirst), hessianIsRight},
	{"It is fraught with scalability issues: generating SA takes too long.", onBoth(gaussianCost), fdCostsMore},
	{"With SJLT instead of Gaussian there is noticeable degradation.", onBoth(degrades(classicalSJLT)), sjltIsGaussian},
	{"With the Hessian sketch instead there is noticeable degradation.", onBoth(degrades(hessianGaussian, hessianSJLT)), hessianIsRight},
}}

var statisticsBounds = section{"Section 3, theorems 1 to 3", nil, hasBoth, []claim{
	{"Bias, variance and MSE of FDRR and RFDRR are bounded by those of ridge regression. (The paper's bounds on bias and MSE are false, see paper.Estimator.Bounds; judged here are the corrected ones.)", onBoth(bounded), ""},
}}

var (
	allMetrics   = []metric{bias, variance, mse}
	biasVariance = []metric{bias, variance}
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

// among keeps the γ for which in is true, nil all.
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

// gain is the error of the best randomised method over that of the worse
// deterministic one.
func (x *risks) gain(m metric, i int) float64 {
	return x.least(randomised, m, i) / x.most(deterministic, m, i)
}

const gainText = "error of the best randomised over that of the worse deterministic method"

func dominate(x *risks) finding { return x.judge(gainText, allMetrics, nil, x.gain, atLeast(1)) }
func ordersBetter(x *risks) finding {
	return x.judge(gainText, allMetrics, nil, x.gain, atLeast(manyOrders))
}

// plainToRobust is the error of FDRR over that of RFDRR.
func (x *risks) plainToRobust(m metric, i int) float64 {
	return x.err(fdrr, m, i) / x.err(rfdrr, m, i)
}

const plainToRobustText = "error of FDRR over that of RFDRR"

func marginal(x *risks) finding {
	return both(part("better", x.judge(plainToRobustText, allMetrics, nil, x.plainToRobust, atLeast(1))), part("negligible", x.negligible()))
}

// negligible judges that the errors of FDRR and RFDRR hardly differ.
func (x *risks) negligible() finding {
	return x.judge("difference of their errors", allMetrics, nil, func(m metric, i int) float64 {
		return math.Abs(x.err(fdrr, m, i) - x.err(rfdrr, m, i))
	}, atMost(negligible))
}

func classicalBias(x *risks) finding {
	return x.judge("error of the better Hessian over that of the worse Classical method", []metric{bias}, nil, func(m metric, i int) float64 {
		return x.least([]string{hessianGaussian, hessianSJLT}, m, i) / x.most([]string{classicalGaussian, classicalSJLT}, m, i)
	}, atLeast(1))
}

func nearYetWeaker(x *risks) finding {
	return both(
		part("not far", x.judge("larger value over the optimal one", []metric{bias}, nil, func(m metric, i int) float64 {
			return math.Max(x.ratio(classicalGaussian, exact, m, i), x.ratio(classicalSJLT, exact, m, i))
		}, aboutOne(near))),
		part("weaker", x.judge("smaller error over that of the worse deterministic method", []metric{bias}, nil, func(m metric, i int) float64 {
			return x.least([]string{classicalGaussian, classicalSJLT}, m, i) / x.most(deterministic, m, i)
		}, atLeast(muchWeaker))))
}

func gaussianFirst(x *risks) finding {
	return x.judge("error of Classical:Gaussian over the least of the randomised", allMetrics, nil, func(m metric, i int) float64 {
		return x.err(classicalGaussian, m, i) / x.least(randomised, m, i)
	}, atMost(near))
}

func sjltBias(x *risks) finding {
	return x.judge("error of Classical:SJLT over the least of the randomised", []metric{bias}, nil, func(m metric, i int) float64 {
		return x.err(classicalSJLT, m, i) / x.least(randomised, m, i)
	}, atMost(near))
}

func sjltVariance(x *risks) finding {
	f := x.judge("variance of Classical:SJLT over the largest of the others", []metric{variance}, nil, func(m metric, i int) float64 {
		others := 0.0
		for _, method := range sketched {
			if method != classicalSJLT {
				others = math.Max(others, x.absolute[method][m][i])
			}
		}
		return x.absolute[classicalSJLT][m][i] / others
	}, atLeast(noticeable))
	f.numbers += "; over that of Classical:Gaussian: " + x.over(classicalSJLT, classicalGaussian, variance)
	return f
}

// over is the range over all γ of the value of a method over that of another.
func (x *risks) over(method, other string, m metric) string {
	var values []float64
	for i := range x.gammas {
		values = append(values, x.ratio(method, other, m, i))
	}
	return span(values...)
}

func hessianBias(x *risks) finding {
	return x.judge("smaller bias of the two over the optimal one", []metric{bias}, nil, func(m metric, i int) float64 {
		return math.Min(x.ratio(hessianGaussian, exact, m, i), x.ratio(hessianSJLT, exact, m, i))
	}, atLeast(overmuch))
}

func sandwiched(x *risks) finding {
	t := tally{gammas: x.gammas}
	for _, method := range []string{hessianGaussian, hessianSJLT} {
		var row []bool
		for i := range x.gammas {
			a, b := x.absolute[classicalGaussian][variance][i], x.absolute[classicalSJLT][variance][i]
			u := x.absolute[method][variance][i]
			row = append(row, math.Min(a, b) <= u && u <= math.Max(a, b))
		}
		t.series, t.ok = append(t.series, method), append(t.ok, row)
	}
	return t.finding(fmt.Sprintf("variance over that of Classical:Gaussian: Hessian:Gaussian %s, Hessian:SJLT %s, Classical:SJLT %s",
		x.over(hessianGaussian, classicalGaussian, variance), x.over(hessianSJLT, classicalGaussian, variance), x.over(classicalSJLT, classicalGaussian, variance)))
}

func hessianKinds(x *risks) finding {
	return x.judge("value of Hessian:SJLT over Hessian:Gaussian", allMetrics, nil, func(m metric, i int) float64 {
		return x.ratio(hessianSJLT, hessianGaussian, m, i)
	}, aboutOne(littleMore))
}

func higherThanR1(r *results) finding {
	a, b := r.risks[0], r.risks[1]
	if a == nil || !slices.Equal(a.gammas, b.gammas) {
		return finding{verdict: unknown, why: "figure 1 was not run"}
	}
	return b.judge("smaller ratio of the errors for R₂ and R₁, of FDRR and RFDRR", allMetrics, nil, func(m metric, i int) float64 {
		return math.Min(b.err(fdrr, m, i)/a.err(fdrr, m, i), b.err(rfdrr, m, i)/a.err(rfdrr, m, i))
	}, atLeast(1))
}

func robustFirst(x *risks) finding {
	others := slices.DeleteFunc(slices.Clone(sketched), func(m string) bool { return m == rfdrr })
	return x.judge("error of the best other method over that of RFDRR", allMetrics, nil, func(m metric, i int) float64 {
		return x.least(others, m, i) / x.err(rfdrr, m, i)
	}, atLeast(1))
}

func twoOrders(x *risks) finding {
	if x.among(small) == nil {
		return finding{verdict: unknown, why: "no γ ≤ 2⁻⁴ was run"}
	}
	var worst []float64
	for _, m := range allMetrics {
		w := 0.0
		for _, i := range x.among(small) {
			w = math.Max(w, x.plainToRobust(m, i))
		}
		worst = append(worst, w)
	}
	orders := math.Log10(slices.Max(worst))
	return check(math.Abs(orders-2) <= 0.5, fmt.Sprintf("largest %s for γ ≤ 2⁻⁴: bias %s, variance %s, MSE %s (rule: 100 to a factor of √10 for the largest)", plainToRobustText, chart.Short(worst[0]), chart.Short(worst[1]), chart.Short(worst[2])),
		fmt.Sprintf("%.1f orders of magnitude", orders))
}

func oneOrder(x *risks) finding {
	return x.judge("error of FDRR over that of Classical:Gaussian for γ ≤ 2⁻⁴", biasVariance, small, func(m metric, i int) float64 {
		return x.err(fdrr, m, i) / x.err(classicalGaussian, m, i)
	}, rule{"10 to a factor of √10", func(q float64) bool { return math.Abs(math.Log10(q)-1) <= 0.5 }})
}

func alikeAbove(x *risks) finding {
	return x.judge(plainToRobustText+" for γ > 2⁻⁴", biasVariance, large, x.plainToRobust, aboutOne(similar))
}

func gaussianSmall(x *risks) finding {
	return x.judge("error of Classical:Gaussian over that of RFDRR for γ ≤ 2⁻⁴", allMetrics, small, func(m metric, i int) float64 {
		return x.err(classicalGaussian, m, i) / x.err(rfdrr, m, i)
	}, atMost(similar))
}

// noImprovement compares the largest error for γ > 2⁻⁴ with that at the last γ.
func noImprovement(x *risks) finding {
	at := x.among(large)
	if len(at) < 2 {
		return finding{verdict: unknown, why: "no two γ > 2⁻⁴ were run"}
	}
	last := at[len(at)-1]
	t := tally{gammas: x.gammas[last : last+1]}
	var shown []string
	for _, m := range allMetrics {
		drop := func(method string) float64 {
			e := 0.0
			for _, i := range at {
				e = math.Max(e, x.err(method, m, i))
			}
			return e / x.err(method, m, last)
		}
		random, plain, robust := drop(classicalGaussian), drop(fdrr), drop(rfdrr)
		t.series = append(t.series, m.String())
		t.ok = append(t.ok, []bool{random <= noFurther && math.Min(plain, robust) >= improvement})
		shown = append(shown, fmt.Sprintf("%s Classical:Gaussian %s, FDRR %s, RFDRR %s", m, chart.Short(random), chart.Short(plain), chart.Short(robust)))
	}
	return t.finding(fmt.Sprintf("largest error for γ > 2⁻⁴ over that at γ = %s: %s (rule: ≤ %v, ≥ %v, ≥ %v)",
		power(x.gammas[last]), strings.Join(shown, "; "), noFurther, improvement, improvement))
}

// dependsOnGamma: for R₂ FDRR is much worse at the smallest γ, and similar at the
// largest.
func dependsOnGamma(r *results) finding {
	x := r.risks[1]
	last := len(x.gammas) - 1
	t := tally{gammas: []float64{x.gammas[0], x.gammas[last]}}
	var shown []string
	for _, m := range allMetrics {
		p, q := x.plainToRobust(m, 0), x.plainToRobust(m, last)
		t.series, t.ok = append(t.series, m.String()), append(t.ok, []bool{p > muchWeaker, q <= similar})
		shown = append(shown, fmt.Sprintf("%s %s and %s", m, chart.Short(p), chart.Short(q)))
	}
	numbers := fmt.Sprintf("%s at γ = %s and %s: %s (rule: ≥ %v, ≤ %v)", plainToRobustText, power(x.gammas[0]), power(x.gammas[last]), strings.Join(shown, ", "), muchWeaker, similar)
	return both(part("R₁", r.risks[0].negligible()), part("R₂", t.finding(numbers)))
}

func gaussianCost(x *risks) finding {
	gaussian, sjlt := x.seconds[classicalGaussian]/x.seconds[fdrr], x.seconds[classicalSJLT]/x.seconds[fdrr]
	return check(gaussian > 1, fmt.Sprintf("time to sketch A over that of FD: Gaussian %s, SJLT %s (rule: > 1 for Gaussian)", chart.Short(gaussian), chart.Short(sjlt)), "Gaussian sketches are faster to make")
}

// degrades compares methods with Classical:Gaussian.
func degrades(methods ...string) func(*risks) finding {
	return func(x *risks) finding {
		return x.judge("least error of "+strings.Join(methods, ", ")+" over that of Classical:Gaussian", allMetrics, nil, func(m metric, i int) float64 {
			return x.least(methods, m, i) / x.err(classicalGaussian, m, i)
		}, atLeast(near))
	}
}

// bounded: each value lies within its bounds.
func bounded(x *risks) finding {
	t := tally{gammas: x.gammas}
	var shown []string
	for _, method := range deterministic {
		var row []bool
		var width []float64
		for i := range x.gammas {
			ok := true
			for m := range metrics {
				b, u := x.bound(method, m, i), x.absolute[method][m][i]
				ok = ok && b.Lo <= u && u <= b.Hi
			}
			row, width = append(row, ok), append(width, x.bound(method, mse, i).Hi/x.absolute[exact][mse][i])
		}
		t.series, t.ok = append(t.series, method), append(t.ok, row)
		shown = append(shown, method+" "+span(width...))
	}
	return t.finding("upper bound of the MSE over the optimal one: " + strings.Join(shown, ", "))
}
