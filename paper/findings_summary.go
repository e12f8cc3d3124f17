package paper

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

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
