package krylov

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Projection is the projection of a gradient.
type Projection = spectral.Projection

// A Status is the reason why an iteration stopped.
type Status int

// The statuses. Iterating is the zero value.
const (
	Iterating Status = iota
	Reached          // the tolerance was reached
	Zero             // x* is zero up to round-off
	RoundOff         // round-off prevents a smaller bound
	PassLimit        // the limit on passes was reached
	Diverged
)

// A System is the state of the iteration for one penalty γ and one target b. The exact solution is x*, and x is the
// iterate.
type System struct {
	Iterate
	Target   int
	Relative float64 // bounds ‖x − x*‖/‖x*‖; proved if Measured
	Status   Status

	index  int // index in Batch.Systems
	judged *certify.Judge
	// checking means that the next pass measures the gradient at the current iterate. Otherwise the pass makes a step.
	checking  bool
	precision precision // the precision of measured gradients
	origin    *origin   // nil until a gradient is measured with twice the digits
	passes    int
	bound     float64 // bounds ‖x − x*‖
	best      best
}

// A precision is the arithmetic in which a pass computes gradients.
type precision int

const (
	plain precision = iota
	// doubleDouble means that gradients are measured with twice the digits, in double-double arithmetic. The reason is
	// that round-off of plain gradients limits the error bound.
	doubleDouble
	plainAgain // plainAgain: a gradient in double-double arithmetic had no less round-off than a plain one
)

// An Iterate is the current approximation of the solution of a system. Its gradient comes from a pass over the
// rows, which measures it, or from a recursion.
type Iterate struct {
	// X holds the coefficients, or the coefficients minus the origin if there is one. G is the gradient at the iterate.
	X, G []float64
	// Residual is ‖Ax − b‖ for the coefficients x and the target b. It was measured by a pass, or computed from the
	// updated gradient. It is unused if there is an origin.
	Residual float64
	Measured bool // the last pass measured G
}

// best holds the iterate with the smallest certified error.
type best struct {
	x        []float64
	found    certify.Measured
	relative float64 // bounds the relative error; +Inf if unknown
	first    float64 // the first bound on ‖x − x*‖
	// failedChecks is the number of consecutive measured gradients that did not halve the error bound.
	failedChecks int
	known        bool
}

// maxFailedChecks limits the number of consecutive failed checks. A check is a pass that measures the gradient at
// an iterate and makes no step. A check fails unless the new error bound is less than half of the best bound so
// far.
const maxFailedChecks = 5

func newSystem(judge *certify.Judge, index, target, d int) *System {
	return &System{
		Target:  target,
		index:   index,
		judged:  judge,
		Iterate: Iterate{X: make([]float64, d), G: make([]float64, d)},
		best:    best{x: make([]float64, d), relative: math.Inf(1)},
	}
}

// Coef returns the current coefficients, rounded to float64. The next step overwrites the returned slice.
func (s *System) Coef() []float64 {
	if s.origin == nil {
		return s.X
	}
	return s.origin.rounded
}

// Gamma returns the γ of the system.
func (s *System) Gamma() float64 { return s.judged.Gamma }

// Passes returns the number of passes over the data that this system has taken part in.
func (s *System) Passes() int { return s.passes }

// Best returns the iterate with the smallest certified error. found has the results of the pass at this iterate.
func (s *System) Best() (x []float64, found certify.Measured) {
	return s.best.x, s.best.found
}

// Weights returns the bounds for the best iterate.
func (s *System) Weights() certify.Weights {
	return s.judged.Weights(s.Target, s.best.x, &s.best.found)
}

// judge bounds the error of the current iterate, whose projected gradient is g. If the certified error is the
// smallest so far, judge records the iterate as the best one. It then decides whether the system stops. If the
// system goes on, judge decides whether the next pass must measure its gradient.
func (s *System) judge(g *Projection, tol float64, observe func(*System)) {
	round := s.roundOff()
	rounding := s.distance(g, round)
	reached := s.Relative <= tol
	exhausted := round > (s.bound-rounding)/2 || s.bound < roundedAway*rounding
	if s.Measured && s.checking {
		s.best.failedChecks++
		if s.bound < s.best.found.Error/2 || !s.best.known {
			s.best.failedChecks = 0
		}
	}
	s.checking = false
	if observe != nil {
		observe(s)
	}
	finite := s.bound <= math.MaxFloat64
	if !finite && s.best.known { // the best iterate has a finite bound
		s.Status = Diverged
		return
	}
	if !s.Measured {
		s.checking = reached || exhausted || s.isZero()
		if s.precision == plain && s.plainFails(round, tol) {
			s.precision, s.checking = doubleDouble, true
		}
		return
	}
	if s.best.first == 0 {
		s.best.first = s.bound
	}
	if finite &&
		(!s.best.known || s.Relative < s.best.relative || (s.Relative == s.best.relative && s.bound < s.best.found.Error)) {
		s.record(g)
	}
	switch {
	case reached:
		s.Status = Reached
	case s.isZero() ||
		exhausted && s.hasZeroTarget() && s.precision != plain && math.IsInf(s.Relative, 1):
		s.Status = Zero
	case (exhausted || s.best.failedChecks >= maxFailedChecks) && s.precision == plain:
		s.precision = doubleDouble
		s.checking = true
		s.best.failedChecks = 0
	case exhausted &&
		s.origin != nil &&
		s.origin.isSharper() &&
		s.bound >= roundedAway*rounding:
		s.origin.renew, s.checking = true, true
	case exhausted || s.best.failedChecks >= maxFailedChecks:
		s.Status = RoundOff
	case !(s.bound <= 1e6*s.best.first):
		s.Status = Diverged
	}
}

// hasZeroTarget reports whether Aᵀb is zero up to round-off, for the target b. The exact solution is then also zero
// up to round-off, and no relative error can be certified.
func (s *System) hasZeroTarget() bool {
	return s.judged.CNorm(s.Target) <= s.judged.CrossError(s.Target)
}

// isZero reports whether the solution is zero up to round-off. Three conditions must hold. The product Aᵀb is zero
// up to round-off for the target b. The iteration has reduced the error bound to round-off. No digit of the current
// coefficients is certain.
func (s *System) isZero() bool {
	return s.hasZeroTarget() &&
		s.bound <= roundoff.Eps*s.best.first &&
		math.IsInf(s.Relative, 1)
}

// nearShare is a fraction of the error bound. Up to this fraction, [System.plainFails] accepts the round-off of
// plain gradients.
const nearShare = 1. / 64

// plainFails reports whether plain arithmetic is too inaccurate for the gradient. Two conditions must hold. The
// effect of the round-off on the coefficients is above the tolerance, and it is more than nearShare of the error
// bound. If Aᵀb is zero up to round-off for the target b, plainFails returns false.
func (s *System) plainFails(round, tol float64) bool {
	return round > tol*vec.Norm(s.X) &&
		round > nearShare*s.bound &&
		!s.hasZeroTarget()
}

// measuresPrecisely reports whether the next pass measures the gradient with twice the digits. The same pass also
// continues the iteration from the present gradient. This is useful because the precise gradient will differ little
// from the present one.
func (s *System) measuresPrecisely() bool {
	return s.checking && s.precision == doubleDouble && (s.origin == nil || s.origin.renew)
}

// roundedAway is a factor. Rounding the coefficients to float64 causes an error. If an error bound is less than
// roundedAway times this error, further passes can hardly reduce the bound.
const roundedAway = 1.125

// distance sets s.bound to a bound on the distance of the rounded coefficients from the exact solution. The
// argument g is the gradient projected onto the right singular vectors of the sketch. The argument round bounds the
// effect of the gradient's round-off on the coefficients. The result rounding is the part of the bound that comes
// from rounding the coefficients.
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

// roundOff returns a bound on the distance by which the round-off of the gradient moves the coefficients.
func (s *System) roundOff() float64 {
	switch {
	case s.precision == doubleDouble && !s.Measured:
		return 0 // small, and no certificate depends on it
	case s.origin != nil:
		return s.origin.here.Weights
	}
	round, _ := s.judged.RoundOff(s.Target, s.X, s.Residual)
	return round
}

// record stores the current iterate as the best one.
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
		here := *o.here // a copy, because here may point to o.exact, which changes with the origin
		b.found.Exact, b.found.Near = &here, o.near
		b.found.Landing = certify.Landing{
			Shift: o.shift,
			Step:  negated(s.X),
			Low:   slices.Clone(o.low),
		}
	}
	b.relative, b.known = s.Relative, true
}

// query returns the query of a pass for the vector v. If affine is false, the pass computes AᵀAv. If affine is
// true, v must be X of the iterate. The pass then computes
//   - if s.origin is nil: the gradient at X
//   - if s.origin.renew is true: the gradient at origin + X; query overwrites v with origin + X
//   - otherwise: the product AᵀAX, which the method complete turns into the gradient at origin + X
func (s *System) query(affine bool, v []float64) gram.Query {
	q := gram.Query{Target: s.Target, Affine: affine, Gamma: s.Gamma()}
	switch o := s.origin; {
	case !affine || s.precision != doubleDouble:
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

// complete turns kv, the result of a pass for v, into the product (AᵀA + γI)v or into a gradient. If the pass was
// for the iterate origin + v, complete adds the gradient at the origin to the product. The sum is the gradient at
// the iterate.
func (s *System) complete(kv, v []float64, found *gram.Measurement) {
	switch {
	case found == nil:
	case s.setOrigin(v, found):
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

// measured records that this pass has computed the gradient s.G. rss is the sum of squares that the pass computed.
func (s *System) measured(rss float64, found *gram.Measurement) {
	s.Measured = true
	s.Residual = math.Sqrt(rss)
	if o := s.origin; o != nil && found == nil { // the pass computed AᵀAX, and rss is ‖AX‖²
		o.asked = false
		o.here = s.judged.Moved(
			&certify.Move{
				From:     &o.exact,
				X:        o.x,
				Gradient: o.g,
				E:        s.X,
				AE:       s.Residual,
				Norm:     vec.Norm(s.G),
			},
		)
	}
}
