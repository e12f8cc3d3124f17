package krylov

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Projection is that of a gradient.
type Projection = resolvent.Projection

// A Status says why an iteration stopped.
type Status int

// Iterating is the zero value.
const (
	Iterating Status = iota
	Reached          // the tolerance
	Zero             // the solution is zero, to round-off
	RoundOff         // certifies no smaller error
	PassLimit        // the limit on passes
	Diverged
)

// A System is one γ and target on its way.
type System struct {
	Iterate
	Target   int
	Relative float64 // bounds ‖x − x*‖/‖x*‖: proved where Measured
	Status   Status

	index     int // among all systems
	judged    *certify.Judge
	checking  bool      // its next query is to be the gradient where it is, with no step before
	precision precision // of the gradients that are measured
	origin    *origin   // where that was; nil before
	passes    int
	bound     float64 // on ‖x − x*‖
	best      best
}

// A precision is that of measured gradients.
type precision int

const (
	plain      precision = iota
	twice                // plain ones certify no more: one is measured with twice the digits
	plainAgain           // that has certified no more either
)

// An Iterate is where a system stands.
type Iterate struct {
	X, G     []float64 // the weights, less those of the origin where there is one, and the gradient there
	Residual float64   // ‖Ax − b‖ when last measured, or as carried along; of no use from an origin on
	Measured bool      // G was measured at X by the last pass, not carried along
}

// best is the iterate of the least certified error.
type best struct {
	x        []float64
	found    certify.Measured
	relative float64 // bound, +Inf where nothing is known
	first    float64 // bound of the first measurement, on ‖x − x*‖
	vain     int     // checks in a row that did not bring it to half of what it was
	known    bool
}

// mostVain is how many checks in a row may be in vain: each time the gradient that was carried
// along promised the tolerance, and the one then measured was not much better than before.
const mostVain = 5

func newSystem(judge *certify.Judge, index, target, d int) *System {
	return &System{
		Target: target, index: index, judged: judge, Iterate: Iterate{X: make([]float64, d), G: make([]float64, d)},
		best: best{x: make([]float64, d), relative: math.Inf(1)},
	}
}

// Coef are the weights where the system stands, rounded to float64; valid until it moves.
func (s *System) Coef() []float64 {
	if s.origin == nil {
		return s.X
	}
	return s.origin.rounded
}

// Gamma is that of the system.
func (s *System) Gamma() float64 { return s.judged.Gamma }

// Passes is how many reads of the data there were.
func (s *System) Passes() int { return s.passes }

// Best returns the iterate of the least certified error, with what was measured there.
func (s *System) Best() (x []float64, found certify.Measured) { return s.best.x, s.best.found }

// Weights are the bounds for it.
func (s *System) Weights() certify.Weights {
	return s.judged.Weights(s.Target, s.best.x, &s.best.found)
}

// judge bounds the error at the iterate, whose gradient is g, and keeps it when it is the
// best. Then it decides whether the system stops, or its gradient is to be measured.
func (s *System) judge(g *Projection, tol float64, observe func(*System)) {
	round := s.roundOff()
	rounding := s.distance(g, round)
	reached := s.Relative <= tol
	exhausted := round > (s.bound-rounding)/2 || s.bound < roundedAway*rounding
	if s.Measured && s.checking {
		if s.best.vain++; s.bound < s.best.found.Error/2 || !s.best.known {
			s.best.vain = 0
		}
	}
	s.checking = false
	if observe != nil {
		observe(s)
	}
	finite := s.bound <= math.MaxFloat64
	if !finite && s.best.known { // it was better before
		s.Status = Diverged
		return
	}
	if !s.Measured {
		s.checking = reached || exhausted || s.isZero()
		if s.precision == plain && s.plainFails(round, tol) {
			s.precision, s.checking = twice, true
		}
		return
	}
	if s.best.first == 0 {
		s.best.first = s.bound
	}
	if finite && (!s.best.known || s.Relative < s.best.relative || (s.Relative == s.best.relative && s.bound < s.best.found.Error)) {
		s.record(g)
	}
	switch {
	case reached:
		s.Status = Reached
	case s.isZero() || exhausted && s.zeroTarget() && s.precision != plain && math.IsInf(s.Relative, 1):
		s.Status = Zero
	case (exhausted || s.best.vain >= mostVain) && s.precision == plain:
		s.precision, s.checking, s.best.vain = twice, true, 0
	case exhausted && s.origin != nil && s.origin.isFar() && s.bound >= roundedAway*rounding:
		s.origin.renew, s.checking = true, true
	case exhausted || s.best.vain >= mostVain:
		s.Status = RoundOff
	case !(s.bound <= 1e6*s.best.first):
		s.Status = Diverged
	}
}

// zeroTarget says that c is zero to round-off, and so is x*, of which no relative error is ever
// certified.
func (s *System) zeroTarget() bool {
	return s.judged.CNorm(s.Target) <= s.judged.CrossError(s.Target)
}

// isZero says that for such a target the weights that it started from are gone but for a rounding,
// and that those it has are nothing that is certain.
func (s *System) isZero() bool {
	return s.zeroTarget() && s.bound <= roundoff.Eps*s.best.first && math.IsInf(s.Relative, 1)
}

// soon is the share of round-off in a bound from which on it is not waited for more of it.
const soon = 1. / 64

// plainFails says that no plain gradient here certifies the tolerance, and that the bound is not
// far from what one would certify.
func (s *System) plainFails(round, tol float64) bool {
	return round > tol*vec.Norm(s.X) && round > soon*s.bound && !s.zeroTarget()
}

// measuresAnew says that the next gradient is measured with twice the digits. Its iteration need
// not wait for it: it differs from the one at hand by little.
func (s *System) measuresAnew() bool {
	return s.checking && s.precision == twice && (s.origin == nil || s.origin.renew)
}

// roundedAway times what rounding the weights to float64 has moved them by is a bound on their
// error that no further pass would make much less.
const roundedAway = 1.125

// distance sets the bounds on how far the weights, rounded to float64, are from x*, and returns
// how much of them is that rounding.
func (s *System) distance(g *Projection, round float64) (rounding float64) {
	if s.origin != nil {
		rounding = s.origin.add(s.X)
	}
	near := s.judged.Error(g, round)
	if s.origin != nil {
		s.origin.near = near
	}
	s.bound = near + rounding
	s.Relative = certify.Relative(s.bound, vec.Norm(s.Coef()))
	return rounding
}

// roundOff bounds ‖H⁻¹δ‖ for what the gradient is off by. What is carried along from an origin
// is off by little of what has changed since: it is not counted, nothing is certified by it.
func (s *System) roundOff() float64 {
	switch {
	case s.precision == twice && !s.Measured:
		return 0
	case s.origin != nil:
		return s.origin.here.Weights
	}
	round, _ := s.judged.RoundOff(s.Target, s.X, s.Residual)
	return round
}

// record keeps the iterate as the best so far.
func (s *System) record(g *Projection) {
	b := &s.best
	copy(b.x, s.Coef())
	along := append(b.found.Gradient.Along[:0], g.Along...)
	b.found = certify.Measured{
		Gradient: Projection{Along: along, Off: g.Off, Norm: g.Norm},
		RSS:      s.Residual * s.Residual,
		Error:    s.bound,
	}
	if o := s.origin; o != nil {
		here := *o.here // o.exact, which it may be, is another one when the origin moves
		b.found.Exact, b.found.Near = &here, o.near
		b.found.Landing = certify.Landing{Shift: o.shift, Step: negated(s.X), Low: slices.Clone(o.low)}
	}
	b.relative, b.known = s.Relative, true
}

// query asks for the product with v or, where it is affine, for the gradient at v, which is X.
// That may take the product with X alone, or put the weights themselves in place of v.
func (s *System) query(affine bool, v []float64) gram.Query {
	q := gram.Query{Target: s.Target, Affine: affine, Gamma: s.Gamma()}
	switch o := s.origin; {
	case !affine || s.precision != twice:
	case o == nil:
		q.Precise = true
	case o.renew:
		q.Precise = true
		o.add(s.X)
		copy(v, o.rounded)
	default:
		q.Affine, o.asked = false, true
	}
	return q
}

// shift makes of kv what was asked for of v: Hv, or the gradient.
func (s *System) shift(kv, v []float64, found *gram.Measurement) {
	switch {
	case found == nil:
	case s.settle(v, found):
		copy(kv, found.Gradient)
		return
	default:
		s.precision, s.origin = plainAgain, nil
		copy(s.X, v)
	}
	vec.Axpy(s.Gamma(), v, kv)
	if o := s.origin; o != nil && o.asked {
		vec.Axpy(1, o.g, kv)
	}
}

// measured takes note that G was measured at X, where the residual's square, or that of AX from
// an origin, is rss.
func (s *System) measured(rss float64, found *gram.Measurement) {
	s.Measured, s.Residual = true, math.Sqrt(rss)
	if o := s.origin; o != nil && found == nil {
		o.asked = false
		o.here = s.judged.Moved(&certify.Move{From: &o.exact, X: o.x, Gradient: o.g, E: s.X, AE: s.Residual, Norm: vec.Norm(s.G)})
	}
}
