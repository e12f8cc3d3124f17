package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
)

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
