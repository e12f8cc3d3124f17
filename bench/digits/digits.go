package main

import (
	"math"
	"math/big"
	"strconv"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// An answer is a computed solution of a problem.
type answer struct {
	coef      []float64
	intercept float64
	bound     float64 // proved bound on ‖x̂ − x*‖/‖x*‖; NaN: none
	passes    int     // reads of the rows; 0: not counted
	failed    string  // why there is no answer
}

// A grade is the accuracy of an answer x̂ in decimal digits: −log₁₀ of a relative error. x* is the exact
// solution.
type grade struct {
	weights   float64 // of ‖x̂ − x*‖/‖x*‖; +Inf if each coefficient is the float64 nearest to the exact one
	least     float64 // of the worst coefficient or intercept; +Inf if all are the nearest float64
	certified float64 // of the bound on ‖x̂ − x*‖/‖x*‖; NaN: none
	passes    int     // reads of the rows; 0: not counted
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

// agree returns the number of digits in which v agrees with want. It returns +Inf if v is the float64 nearest to
// want.
func agree(v float64, want *big.Float) float64 {
	if nearest, _ := want.Float64(); v == nearest {
		return math.Inf(1)
	}
	return digitsOf(refbig.Distance([]float64{v}, []*big.Float{want}) / refbig.Norm([]*big.Float{want}))
}

// digitsOf returns −log₁₀ of a relative error, at least 0.
func digitsOf(relative float64) float64 { return max(0, -math.Log10(relative)) }

// text formats digits, cut after the first decimal place. +Inf becomes "all".
func text(digits float64) string {
	switch {
	case math.IsInf(digits, 1):
		return "all"
	case math.IsNaN(digits):
		return "–"
	}
	return strconv.FormatFloat(math.Floor(digits*10)/10, 'f', 1, 64)
}
