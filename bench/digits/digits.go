package main

import (
	"math"
	"math/big"
	"strconv"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// An answer is what somebody computed for a problem.
type answer struct {
	coef      []float64
	intercept float64
	bound     float64 // proved of ‖x̂ − x*‖/‖x*‖; NaN: nothing
	passes    int     // reads of the rows; 0: nobody counted
	failed    string  // why there is none
}

// A grade is how good an answer is, in decimal digits: −log₁₀ of a relative error.
type grade struct {
	weights   float64 // of ‖x̂ − x*‖/‖x*‖; +Inf where each weight is the float64 nearest to the exact one
	least     float64 // of the worst of weights and intercept; +Inf where all are the nearest float64
	certified float64 // of the bound on ‖x̂ − x*‖/‖x*‖; NaN: none
	passes    int     // reads of the rows; 0: nobody counted
	failed    string
}

// grade compares an answer with the exact solution.
func (p *problem) grade(a answer) grade {
	if a.failed != "" {
		return grade{failed: a.failed}
	}
	g := grade{least: math.Inf(1), certified: digitsOf(a.bound), passes: a.passes}
	g.weights = digitsOf(refbig.Distance(a.coef, p.coef) / refbig.Norm(p.coef))
	all := true
	for j, v := range a.coef {
		d := agree(v, p.coef[j])
		all = all && math.IsInf(d, 1)
		g.least = min(g.least, d)
	}
	if all {
		g.weights = math.Inf(1)
	}
	if p.intercept {
		g.least = min(g.least, agree(a.intercept, p.offset))
	}
	return g
}

// agree is how many digits of v are those of want: +Inf where v is the float64 nearest to it.
func agree(v float64, want *big.Float) float64 {
	if nearest, _ := want.Float64(); v == nearest {
		return math.Inf(1)
	}
	return digitsOf(refbig.Distance([]float64{v}, []*big.Float{want}) / refbig.Norm([]*big.Float{want}))
}

// digitsOf is −log₁₀ of a relative error, 0 where nothing is right.
func digitsOf(relative float64) float64 { return max(0, -math.Log10(relative)) }

// text is the digits, cut off after the first decimal, and "all" for +Inf.
func text(digits float64) string {
	switch {
	case math.IsInf(digits, 1):
		return "all"
	case math.IsNaN(digits):
		return "–"
	}
	return strconv.FormatFloat(math.Floor(digits*10)/10, 'f', 1, 64)
}
