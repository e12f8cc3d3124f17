package paper

import (
	"fmt"
	"math"
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

func marginal(x *risks) finding {
	return both(part("better", x.judge(plainToRobustText, allMetrics, nil, x.plainToRobust, atLeast(1))), part("negligible", x.negligible()))
}

// negligible judges that the errors of FDRR and RFDRR hardly differ.
func (x *risks) negligible() finding {
	return x.judge("difference of their errors", allMetrics, nil, func(m metric, i int) float64 {
		return math.Abs(x.err(fdrr, m, i) - x.err(rfdrr, m, i))
	}, atMost(negligible))
}

const plainToRobustText = "error of FDRR over that of RFDRR"

// plainToRobust is the error of FDRR over that of RFDRR.
func (x *risks) plainToRobust(m metric, i int) float64 {
	return x.err(fdrr, m, i) / x.err(rfdrr, m, i)
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
