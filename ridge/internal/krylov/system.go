package krylov

import (
	"math"

	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/interval"
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

	index    int // among all systems
	judged   *certify.Judge
	checking bool // its next query is to be the gradient at X, with no step before
	precise  bool // gradients are measured with twice the digits: those of plain passes certify no more
	passes   int
	bound    float64 // on ‖x − x*‖
	best     best
}

// An Iterate is where a system stands.
type Iterate struct {
	X, G     []float64      // the weights and the gradient there
	Residual float64        // ‖Ax − b‖ when last measured, or as carried along
	Measured bool           // G was measured at X by the last pass, not carried along
	exact    *certify.Exact // where it was measured with twice the digits
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
	s.bound = s.judged.Error(g, round)
	s.Relative = certify.Relative(s.bound, vec.Norm(s.X))
	reached, exhausted := s.Relative <= tol, round > s.bound/2
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
		s.checking = reached || exhausted
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
	case exhausted && s.judged.CNorm(s.Target) <= s.judged.CrossError(s.Target):
		s.Status = Zero
	case (exhausted || s.best.vain >= mostVain) && !s.precise:
		s.precise, s.checking, s.best.vain = true, true, 0
	case exhausted || s.best.vain >= mostVain:
		s.Status = RoundOff
	case !(s.bound <= 1e6*s.best.first):
		s.Status = Diverged
	}
}

// roundOff bounds ‖H⁻¹δ‖ for what the gradient is off by. What is carried along from a precise
// one is off by little of what has changed since: it is not counted, nothing is certified by it.
func (s *System) roundOff() float64 {
	switch {
	case s.exact != nil:
		return s.judged.ExactRoundOff(s.exact)
	case s.precise:
		return 0
	}
	round, _ := s.judged.RoundOff(s.Target, s.X, s.Residual)
	return round
}

// record keeps the iterate as the best so far.
func (s *System) record(g *Projection) {
	b := &s.best
	copy(b.x, s.X)
	along := append(b.found.Gradient.Along[:0], g.Along...)
	b.found = certify.Measured{
		Gradient: Projection{Along: along, Off2: g.Off2, Norm: g.Norm},
		RSS:      s.Residual * s.Residual,
		Error:    s.bound,
		Exact:    s.exact,
	}
	b.relative, b.known = s.Relative, true
}

// query asks for the gradient at X where it is affine, else for a product.
func (s *System) query(affine bool) gram.Query {
	return gram.Query{Target: s.Target, Affine: affine, Precise: affine && s.precise, Gamma: s.Gamma()}
}

// shift makes Hv of Kv, less c where that was asked for, or takes what was measured.
func (s *System) shift(kv, v []float64, found *gram.Measurement) {
	if found != nil {
		copy(kv, found.Gradient)
		return
	}
	vec.Axpy(s.Gamma(), v, kv)
}

// measured takes note of ‖Ax − b‖² at X, where G was measured.
func (s *System) measured(rss float64, found *gram.Measurement) {
	s.Measured, s.Residual = true, math.Sqrt(rss)
	if found != nil {
		v, off := found.RSS.Round()
		s.exact = &certify.Exact{RSS: interval.Outward(v, off), Gradient: vec.Norm(found.Bounds) * (1 + 0x1p-30)}
		if v >= 0 && !math.IsInf(s.exact.RSS.Hi, 1) {
			s.Residual = math.Sqrt(v)
		}
	}
}
