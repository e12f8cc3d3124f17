package adversary

import (
	"math"
	"math/big"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// path checks the certificates of a path of γ, and the choice of γ by GCV.
func (e *evaluation) path() {
	var gammas []float64
	var truths []*refbig.Solution
	for _, f := range []float64{1, 1e-4, 1e-2, 10} {
		gamma := e.p.gamma * f
		if !(gamma > 0x1p-1000) || math.IsInf(gamma, 0) {
			continue
		}
		if s := e.solve(gamma); s != nil {
			gammas, truths = append(gammas, gamma), append(truths, s)
		}
	}
	if len(gammas) == 0 {
		return
	}
	fits, err := e.sum.Path(gammas)
	if e.refused("path", err) {
		return
	}
	for i, f := range fits {
		e.certificate("path", f, truths[i])
	}
	choice, err := choose.LeastGCV(fits, 0)
	if e.refused("choice", err) {
		return
	}
	var scores []*big.Float
	for _, s := range truths {
		scores = append(scores, s.GCV[0])
	}
	e.choice("choice by GCV", choice, scores)
}

// choice holds a choice against the true scores, nil being infinite.
func (e *evaluation) choice(name string, c choose.Choice, scores []*big.Float) {
	least := -1
	for i, v := range scores {
		if v != nil && (least < 0 || v.Cmp(scores[least]) < 0) {
			least = i
		}
	}
	if least < 0 {
		return
	}
	chosen := scores[c.Index]
	if chosen == nil {
		if !math.IsInf(c.Excess, 1) { // its score is infinite
			e.worst(name, math.Inf(1))
		}
		return
	}
	excess := new(big.Float).Sub(chosen, scores[least])
	if slack := new(big.Float).SetMantExp(chosen, -400); excess.Cmp(slack) <= 0 {
		excess = refbig.Float(0)
	}
	if c.Certain && excess.Sign() > 0 {
		e.worst(name, math.Inf(1))
		return
	}
	e.atMost(name, excess, c.Excess)
}

// sizeFor builds the sketch of the size that suffices at worst, but for its own round-off.
func (e *evaluation) sizeFor() {
	const want = 0.1
	m, _, err := plan.SizeFor(e.sum, want, e.p.gamma)
	if err != nil { // round-off leaves no such size
		e.Refused["size"]++
		return
	}
	// One that was read back is planned for as by default.
	sum, err := e.p.summaryOf(m, func(int) fd.Storage { return e.sum.Config().Store })
	if e.refused("size", err) {
		return
	}
	f, err := sum.Fit(e.p.gamma)
	if e.refused("size", err) {
		return
	}
	spectrum, err := sum.Sketch().Spectrum()
	if e.refused("size", err) {
		return
	}
	for j, o := range f.Targets {
		e.relative("size at worst", o.Coef, j, want+spectrum.Bound.RoundOff/e.p.gamma)
	}
}
