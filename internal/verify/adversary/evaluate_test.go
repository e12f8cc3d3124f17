package adversary

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// mostCondition is up to which κ(H) the reference is trusted to be exact.
const mostCondition = 0x1p330

// Evaluate streams the problem of g through the library and compares all that is
// certified with the truth. A panic is reported as the certificate "panic: …".
func Evaluate(g Genome) *Report { return evaluate(newProblem(g)) }

func evaluate(p *problem) (r *Report) {
	r = newReport()
	defer func() {
		if e := recover(); e != nil {
			r.worst(fmt.Sprintf("panic: %v", e), math.Inf(1))
		}
	}()
	e := &evaluation{Report: r, p: p}
	if e.refused("preparation", p.prepare()) || !e.solved() {
		return r
	}
	var err error
	e.sum, err = p.summary(p.g.Size)
	if e.refused("summary", err) {
		return r
	}
	e.sketch()
	e.oneShot()
	e.predictor()
	e.path()
	if p.g.cycles() > 1 {
		if p.replay() {
			e.iterate()
			e.exact()
			e.dual()
		}
		return r
	}
	e.sizeFor()
	e.penalties()
	if p.replay() {
		e.iterate()
		e.passes()
		e.choosing()
		e.exact()
		e.dual()
		e.crossValidate()
		e.random()
	}
	return r
}

// solved makes the reference and the exact solution at γ, where that is a γ.
func (e *evaluation) solved() bool {
	p, g := e.p, e.p.g
	p.moments = p.reference(g.Intercept, everything)
	trace := refbig.Float(0)
	for j := range p.moments.K {
		trace.Add(trace, p.moments.K[j][j])
	}
	if trace.Sign() == 0 {
		trace = refbig.Float(1)
	}
	gamma := refbig.Float(math.Pow(10, g.Gamma))
	if !g.Absolute {
		gamma.Mul(gamma, trace)
	}
	p.gamma, _ = gamma.Float64()
	if !(p.gamma > 0) || math.IsInf(p.gamma, 0) {
		e.Refused["γ out of range"]++
		return false
	}
	e.truth = e.solve(p.gamma)
	return e.truth != nil
}

// An evaluation is under way.
type evaluation struct {
	*Report
	p     *problem
	sum   *ridge.Summary
	truth *refbig.Solution
	fits  []*ridge.Solution // to narrow predictions by

	eigenvalues []*big.Float // of K, once they were asked for
}

// refused books an error. Only those that the library documents for bad data are
// expected; any other is a false certificate of its kind.
func (e *evaluation) refused(what string, err error) bool {
	if err == nil {
		return false
	}
	var outOfRange *fd.RangeError
	var singular *ridge.SingularError
	var gamma *ridge.GammaError
	var scale *ridge.ScaleError
	switch {
	case badInput(err),
		errors.As(err, &outOfRange),
		errors.As(err, &singular),
		errors.As(err, &gamma),
		errors.As(err, &scale),
		errors.Is(err, ridge.ErrEmpty):
		e.Refused[what]++
	default:
		e.worst("error: "+what+": "+err.Error(), math.Inf(1))
	}
	return true
}

// solve is the exact solution, nil where the reference cannot tell.
func (e *evaluation) solve(gamma float64) *refbig.Solution {
	if !exactEnough(e.p.moments, gamma) {
		e.Refused["beyond the reference"]++
		return nil
	}
	s, err := e.p.moments.Solve(gamma)
	if err != nil {
		e.Refused["reference"]++
		return nil
	}
	return s
}

// exactEnough: γ is not too small beside tr K.
func exactEnough(p *refbig.Problem, gamma float64) bool {
	limit := new(big.Float).Mul(refbig.Float(gamma), refbig.Float(mostCondition))
	for j := range p.K {
		if p.K[j][j].Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

// certificate holds all that f claims against the truth.
func (e *evaluation) certificate(name string, f *ridge.Solution, truth *refbig.Solution) {
	p := e.p.moments
	name += ": "
	rank := float64(min(p.D, p.N))
	if p.Intercept {
		rank = float64(min(p.D, p.N-1))
	}
	e.within(
		name+"effective dimension",
		f.EffectiveDimension,
		truth.EffectiveDimension,
		refbig.Float(float64(p.D)),
		0,
		rank,
	)
	for j := range p.T {
		c := f.Targets[j]
		e.within(name+"TSS", c.TSS, p.YY[j], p.YY[j], 0, math.Inf(1))
		e.within(name+"objective", c.Objective, truth.Objective[j], p.YY[j], 0, math.Inf(1))
		if x := c.Coef; x != nil { // a choice by a dual method forms none
			if !finite(x) || !finite([]float64{c.Intercept}) {
				e.worst(name+"finite weights", math.Inf(1))
				return
			}
			size := normOf(truth.Coef[j])
			off := beyond(distance(x, truth.Coef[j]), size)
			e.atMost(name+"weights", off, c.ErrorBound)
			if size.Sign() > 0 {
				relative := new(big.Float).Quo(off, size)
				e.atMost(name+"relative", relative, c.RelativeErrorBound)
			}
			e.atMost(
				name+"intercept",
				new(big.Float).Abs(new(big.Float).Sub(refbig.Float(c.Intercept), truth.Intercept[j])),
				c.InterceptBound,
			)
			e.atMost(
				name+"energy",
				beyond(p.Energy(f.Gamma, x, truth.Coef[j]), p.Energy(f.Gamma, make([]float64, p.D), truth.Coef[j])),
				c.EnergyBound,
			)
			e.within(name+"RSS", c.RSS, p.RSS(j, x), p.YY[j], 0, math.Inf(1))
		}
		if truth.GCV[j] == nil {
			if !math.IsInf(c.GCV.Hi, 1) {
				e.worst(name+"GCV", math.Inf(1))
			}
		} else {
			scale := p.YY[j] // times n/(n − df)², of what the reference's RSS cancels from
			if rss := truth.RSS[j]; rss.Sign() > 0 {
				scale = new(big.Float).Mul(scale, new(big.Float).Quo(truth.GCV[j], rss))
			}
			e.within(name+"GCV", c.GCV, truth.GCV[j], scale, 0, math.Inf(1))
		}
	}
}

// beyond is a distance less what the truth itself may be off by, 2⁻⁴⁰⁰ of its size: twice
// the digits of float64 tell solutions apart that its 512 bits do not.
func beyond(off, size *big.Float) *big.Float {
	off = new(big.Float).Sub(off, new(big.Float).SetMantExp(size, -400))
	if off.Sign() < 0 {
		return new(big.Float)
	}
	return off
}

// oneShot is the two fits from the summary alone.
func (e *evaluation) oneShot() {
	robust, err := e.sum.Fit(e.p.gamma)
	if !e.refused("one-shot RFD", err) {
		e.certificate("one-shot RFD", robust, e.truth)
		e.contraction("one-shot RFD", true, robust)
	}
	plain, err := e.sum.FitFD(e.p.gamma)
	if !e.refused("one-shot FD", err) {
		e.certificate("one-shot FD", plain, e.truth)
		e.contraction("one-shot FD", false, plain)
		e.fits = append(e.fits, plain)
	}
}
