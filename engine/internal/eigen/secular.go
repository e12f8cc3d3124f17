package eigen

import "math"

// secularSteps is the largest number of evaluations of the secular function for one root. On average a root needs
// about three.
const secularSteps = 120

// patience is the number of evaluations of the secular function for a root before bisection replaces slow steps. A
// step is slow if it makes the magnitude of the function less than ten times smaller.
const patience = 8

// lastStep limits the step after which the iteration for a root ends. A last step η is at most lastStep·r, where r
// is the distance to the nearest pole. The remaining error is at most 4η²/r ≤ eps/4·r. The reason is that the
// secular function and its approximation have the same value and slope. The second derivative of both is at most
// 2/r times the slope.
const lastStep = 0x1p-28

// secular is the equation
//
//	f(λ) = 1/rho + Σᵢ zᵢ²/(dᵢ − λ) = 0,   d₀ < d₁ < … ,   rho > 0,
//
// for the eigenvalues λ of D + rho·zᵀz, where D is the diagonal matrix of the poles dᵢ. Root j lies between
// dⱼ and dⱼ₊₁. The last root lies between the last pole and this pole plus rho·‖z‖². zz holds the
// squares of z.
//
// The methods write λ = d_o + τ, where d_o is the pole nearest to the root. They write f = 1/rho + ψ + φ. The sum
// ψ has the terms of the poles d₀ to d_p, and φ has the terms of the other poles. The poles around the root are
// d_p and d_{p+1}. For the last root, d_p and d_{p+1} are the last two poles.
type secular struct {
	loops    Loops
	rho      float64
	d, z, zz []float64
}

// A value holds the value f = 1/rho + ψ + φ of the secular function at a point. ψ is the sum of the terms of the
// first poles, and φ is the sum of the terms of the other poles. A value also holds the derivatives of ψ and φ, and
// a bound on the round-off of f in units of eps.
type value struct {
	f, dpsi, dphi, bound float64
}

// eval evaluates the secular function f = 1/rho + ψ + φ at λ = d_o + tau, where d_o is pole o. The sum ψ has the
// terms of the poles d₀ to d_p, and φ has the terms of the other poles. eval sets delta[i] to
// dᵢ − λ = (dᵢ − d_o) − tau. It adds the small terms of far poles before the terms of near poles.
func (s *secular) eval(p, o int, tau float64, delta []float64) value {
	d := s.d[:len(delta)]
	zz := s.zz[:len(delta)]
	origin := s.d[o]
	psi, dpsi, below := s.loops.Poles(false, origin, tau, d[:p+1], zz[:p+1], delta[:p+1])
	phi, dphi, above := s.loops.Poles(true, origin, tau, d[p+1:], zz[p+1:], delta[p+1:])
	// Round-off arises in 1/rho, in the partial sums, in the terms (about three roundings each), when at most 16
	// parallel sums are added (four roundings), and in tau. The terms of ψ have one sign, and so have the terms of φ.
	bound := 1/s.rho +
		math.Abs(below) +
		math.Abs(above) +
		8*(math.Abs(psi)+math.Abs(phi)) +
		math.Abs(tau)*(dpsi+dphi)
	return value{1/s.rho + psi + phi, dpsi, dphi, bound}
}

// root computes root j as λ = d_o + τ, where d_o is the nearer of the poles next to the root. It sets delta[i] to
// dᵢ − λ = (dᵢ − d_o) − τ, which is accurate to a few eps for every i.
//
// The next iterate is the root of the approximation c + s/(d_p − λ) + t/(d_{p+1} − λ) of f. Here p and p+1 are
// the poles around the root, or the last two poles for the last root. Two methods determine s and t: the fixed weight
// method and the middle way, see [secular.correction]. root changes the method if f keeps its sign and most of its
// size. Bisection replaces a step that leaves the bracket, and a late step that changes f little.
//
// The iteration ends if f is zero up to round-off, if the step is short (see lastStep), or if the bracket contains no
// other number.
//
// Source: Li (1993).
func (s *secular) root(j int, delta []float64) (lambda float64, ok bool) {
	d := s.d
	if len(d) == 1 {
		delta[0] = -s.rho * s.zz[0]
		return d[0] - delta[0], true
	}
	last := j == len(d)-1
	p := j
	if last {
		p--
	}
	o, tau, lo, hi := s.start(j, p, delta)
	previous, middleWay := 0.0, false
	for evaluations := range secularSteps {
		v := s.eval(p, o, tau, delta)
		if math.Abs(v.f) <= eps*v.bound {
			return d[o] + tau, true
		}
		if v.f < 0 {
			lo = tau
		} else {
			hi = tau
		}
		slow := math.Abs(v.f) > math.Abs(previous)/10
		if slow && v.f*previous > 0 {
			middleWay = !middleWay
		}
		previous = v.f

		step := s.correction(v, p, o, last, middleWay, delta)
		near := min(math.Abs(delta[p]), math.Abs(delta[p+1]))
		next := tau + step
		if !(lo < next && next < hi) || slow && evaluations >= patience {
			next = bisect(lo, hi)
			if !(lo < next && next < hi) {
				return d[o] + tau, true
			}
		} else if math.Abs(step) <= lastStep*near {
			for i, x := range d {
				delta[i] = (x - d[o]) - next
			}
			return d[o] + next, true
		}
		tau = next
	}
	return 0, false
}

// start begins the iteration for root j of the secular function f. It returns
//
//   - o: the index of the pole d_o that is nearest to the root
//   - lo, hi: a bracket of τ = λ − d_o for the root λ
//   - tau: a first value of τ in this bracket
//
// The first λ is the root of an approximation of f with only the two poles d_p and d_{p+1}. The approximation has
// the value and slope of f in the middle of the interval that contains root j.
//
// The slice delta is overwritten.
func (s *secular) start(j, p int, delta []float64) (o int, tau, lo, hi float64) {
	last := j > p
	gap := s.d[p+1] - s.d[p]
	base := p
	middle := gap / 2
	dp, dq := -middle, middle // d_p − λ and d_{p+1} − λ for λ in the middle
	if last {
		var norm2 float64
		for _, x := range s.zz {
			norm2 += x
		}
		base = p + 1
		middle = s.rho * norm2 / 2
		dp = -gap - middle
		dq = -middle
	}
	psi, dpsi, _ := s.loops.Poles(false, s.d[base], middle, s.d[:p], s.zz[:p], delta[:p])
	phi, dphi, _ := s.loops.Poles(true, s.d[base], middle, s.d[p+2:], s.zz[p+2:], delta[p+2:])
	zp := s.zz[p]
	zq := s.zz[p+1]
	rest := 1/s.rho + psi + phi
	slope := dpsi + dphi
	right := !last && rest+zp/dp+zq/dq < 0
	if last || right {
		zp += slope * dp * dp
		rest -= slope * dp
	} else {
		zq += slope * dq * dq
		rest -= slope * dq
	}
	// The approximation of the secular function is rest + zp/(d_p − λ) + zq/(d_{p+1} − λ), where λ = d_o + tau. Its
	// root tau solves a quadratic equation.
	switch {
	case last:
		o, lo, hi = j, 0, 4*middle // τ is at most 2·middle without round-off
		tau = rootOfQuadratic(zp+zq-rest*gap, -zq*gap, rest, true)
	case !right:
		o = p
		lo = 0
		hi = middle
		tau = rootOfQuadratic(zp+zq+rest*gap, zp*gap, rest, false)
	default:
		o = p + 1
		lo = -middle
		hi = 0
		tau = rootOfQuadratic(zp+zq-rest*gap, -zq*gap, rest, false)
	}
	if !(lo < tau && tau < hi) {
		tau = bisect(lo, hi)
	}
	return o, tau, lo, hi
}

// bisect returns a number between lo and hi, which must not have opposite signs. The number is normally the mean.
// If one magnitude is more than 4 times the other, it is the geometric mean, because the solution may be tiny. If
// one is zero, it is the other divided by 1024.
func bisect(lo, hi float64) float64 {
	near, far := lo, hi
	if math.Abs(near) > math.Abs(far) {
		near, far = far, near
	}
	switch {
	case near == 0:
		return far * 0x1p-10
	case math.Abs(far) > 4*math.Abs(near):
		return math.Copysign(math.Sqrt(math.Abs(near))*math.Sqrt(math.Abs(far)), far)
	}
	return lo + (hi-lo)/2
}

// correction returns the next step of the iteration for a root of the secular function f. It approximates f by
// c + s/(d_p − λ) + t/(d_{p+1} − λ), which has the same value and slope at the current λ. The step leads to the
// root of this approximation. A further condition determines s and t:
//
//   - fixed weight: the term of the nearer pole o is the same as in f
//   - middle way: the term of pole p has the slope of all terms of f up to pole p; the term of pole p+1 has the
//     slope of the other terms
//
// For the last root correction always uses the middle way.
func (s *secular) correction(
	v value,
	p, o int,
	last, middleWay bool,
	delta []float64,
) float64 {
	dp := delta[p]
	dq := delta[p+1]
	slope := v.dpsi + v.dphi
	var c float64
	switch {
	case middleWay || last:
		c = v.f - dp*v.dpsi - dq*v.dphi
	case o == p:
		c = v.f - dq*slope - (dp-dq)*(s.zz[p]/dp/dp)
	default:
		c = v.f - dp*slope - (dq-dp)*(s.zz[p+1]/dq/dq)
	}
	a := (dp+dq)*v.f - dp*dq*slope
	b := dp * dq * v.f
	eta := rootOfQuadratic(a, b, c, last)
	if !(eta*v.f < 0) { // f increases, so this can only be round-off
		eta = -v.f / slope
	}
	return eta
}

// rootOfQuadratic returns the root (a − √(a²−4bc))/2c of c·x² − a·x + b = 0. If plus is true, it returns
// the root (a + √(a²−4bc))/2c. It avoids cancellation.
func rootOfQuadratic(a, b, c float64, plus bool) float64 {
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if plus {
		root = -root
	}
	if (a <= 0) != plus {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}
