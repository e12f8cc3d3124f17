package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Dimension brackets two sums over the eigenvalues λᵢ of AᵀA at one penalty γ. One is the effective dimension
// Σ λᵢ/(λᵢ+γ). The other, LogDet, is log det(I + AᵀA/γ) = Σ log(1 + λᵢ/γ).
type Dimension struct {
	interval.Interval
	LogDet interval.Interval
}

// A Marginal describes the marginal likelihood of one target b at the penalty γ. First, the intercept and the
// unpenalised columns are projected out of the n rows A and of b. Then b has the distribution N(0, σ²(I + AAᵀ/γ)).
// Let ν be n minus the number of these columns, where the intercept counts as one. Let f* be the smallest
// objective. Then
//
//	σ̂² = 2f*/ν,   Loss = ½(ν·log σ̂² + log det(I + AᵀA/γ) + ν + ν·log 2π).
//
// σ̂², the field Noise, maximises the likelihood. Loss is the negative logarithm of this maximum. For weights w,
// the term −½Σ log w is left out of Loss.
type Marginal struct {
	Loss, Noise interval.Interval
}

// logDet returns a bracket of log det(I + AᵀA/γ), computed from the sketch of A (docs/math.md, Theorem 22.2).
func (a At) logDet() interval.Interval {
	eta := a.bound.Shrinkage
	dim := float64(a.eigen.Dim)
	const each = 4 * eps // relative error of a factor 1 + λ/γ
	tail := (a.factor.squares + a.factor.skew) * eps * a.bound.Frobenius2
	lost := tail + a.traceError() + a.bound.TailSlack // bounds the error of Tail
	moved := a.unseen() * a.inverse()
	for _, s2 := range a.eigen.Values {
		least := math.Max(a.norm.least, s2*downward-a.bound.RoundOff)
		moved += 1 / (a.Gamma + least)
	}
	pad := a.bound.RoundOff*moved*inflate + dim*few*eps

	left := 0.0 // the part of bound.Tail that is not yet distributed over the eigenvalues, in units of η
	if eta > 0 {
		units := (a.bound.Tail - lost) / eta
		left = math.Max(0, units*(1-(dim+few)*eps))
	}
	var least, capped, filled, ofEta, ofLevel interval.Product
	level := 0.0
	below := a.unseen()
	rest := a.bound.Tail + lost
	for i := len(a.eigen.Values); i > 0 && (a.eigen.Values[i-1]-level)*below <= rest; i-- {
		rest -= (a.eigen.Values[i-1] - level) * below
		level = a.eigen.Values[i-1]
		below++
	}
	if below > 0 {
		level += rest/below + (dim+few)*few*eps*(a.bound.Tail+lost+level)
	}
	for _, s2 := range a.eigen.Values {
		part := math.Min(1, left)
		left -= part
		least.Times(1 + (s2+part*eta)/a.Gamma)
		capped.Times(1 + (s2+eta)/a.Gamma)
		filled.Times(1 + math.Max(s2, level)/a.Gamma)
	}
	ofEta.Times(1 + eta/a.Gamma)
	ofLevel.Times(1 + level/a.Gamma)
	unseen := a.unseen()
	lo := least.Log(each).Lo +
		math.Min(left, unseen)*math.Max(0, ofEta.Log(each).Lo)*(1-4*eps)
	hi := math.Min(
		capped.Log(each).Hi+unseen*ofEta.Log(each).Hi*(1+4*eps),
		filled.Log(each).Hi+unseen*ofLevel.Log(each).Hi*(1+4*eps),
	)
	return outside(lo, hi, pad)
}

// outside returns the bracket from lo − pad to hi + pad of the logarithm of a determinant. The bracket is widened
// by round-off. Negative ends become 0, because the logarithm is at least 0.
func outside(lo, hi, pad float64) interval.Interval {
	out := interval.Interval{
		Lo: math.Max(0, lo-pad-few*eps*math.Abs(lo)),
		Hi: math.Max(0, hi+pad+few*eps*math.Abs(hi)),
	}
	if out.IsNaN() {
		return interval.Nonnegative()
	}
	return out
}

// logDetOfR returns a bracket of log det(H/γ) for H = AᵀA + γI, from a triangular factor R of H. The factor is near
// H: lower²·RᵀR ⪯ H ⪯ upper²·RᵀR.
func (e *Streamed) logDetOfR(f *Factored, lower, upper float64) interval.Interval {
	if !(f.Gamma > 0) || !(lower > 0) {
		return interval.Nonnegative()
	}
	var p interval.Product
	for j := range e.Dim {
		p.Times(math.Abs(f.R[j*f.Ld+j]))
		p.Times(math.Abs(f.R[j*f.Ld+j]))
		p.Times(1 / f.Gamma)
	}
	v := p.Log(eps)
	d := 2 * float64(e.Dim)
	// This uses log x ≤ x − 1 and log x ≥ (x − 1)/x, for x = lower and x = upper.
	return outside(
		v.Lo+d*math.Min(0, (lower-1)/lower),
		v.Hi+d*math.Max(0, upper-1),
		d*few*eps,
	)
}

// logDet returns a bracket of log det(H/γ) from a tridiagonal form T, for H = AᵀA + γI. The eigenvalues of H and
// of T + γI differ by at most distance.
func (t *Tridiagonal) logDet(gamma, distance float64) interval.Interval {
	out := interval.Nonnegative()
	if !(gamma > 0) {
		return out
	}
	distance = (distance + t.rounding(gamma+distance)) * inflate
	pivots := make([]float64, len(t.Diagonal))
	of := func(s float64) interval.Interval {
		var p interval.Product
		if !t.pivots(s, pivots) {
			return interval.Unknown()
		}
		for _, v := range pivots {
			p.Times(v)
			p.Times(1 / gamma)
		}
		return p.Log(eps)
	}
	return outside(of(gamma-distance).Lo, of(gamma+distance).Hi, 0)
}

// logDet returns a bracket of log det(I + AAᵀ/γ), given the bracket v of log det(I + G/γ) for the computed G ≈
// AAᵀ. With an intercept, G has the eigenvalue Shift where AAᵀ has the eigenvalue 0. So logDet subtracts log(1 +
// Shift/γ).
func (e *Dual) logDet(gamma float64, v interval.Interval) interval.Interval {
	if e.Shift == 0 {
		return v
	}
	factor := 1 + e.Shift/gamma
	more := interval.Log(interval.Interval{
		Lo: factor * (1 - 4*eps),
		Hi: factor * (1 + 4*eps),
	})
	return outside(v.Lo-more.Hi, v.Hi-more.Lo, 0)
}

// marginal returns the marginal likelihood at the optimum o for n rows. If p is not nil, columns without penalty
// were projected out of these rows by p. The marginal likelihood is then for the rows before this projection.
func marginal(n int64, intercept bool, p *Projection, o *optimum) Marginal {
	free := float64(n)
	if intercept {
		free--
	}
	f, det := o.objective, o.df.LogDet
	if p != nil {
		free -= float64(len(p.Inverse))
		f, det = p.marginal(o)
	}
	out := Marginal{Loss: interval.Unknown(), Noise: interval.Nonnegative()}
	if !(free >= 1) || !(o.gamma > 0) {
		return out
	}
	out.Noise = interval.Interval{
		Lo: math.Max(0, 2*f.Lo/free*(1-4*eps)-roundoff.Underflow),
		Hi: 2*f.Hi/free*(1+4*eps) + roundoff.Underflow,
	}
	const log2PiE = 2.8378770664093453 // 1 + log 2π
	logs := interval.Log(out.Noise)
	magnitude := math.Max(math.Abs(logs.Lo), math.Abs(logs.Hi))
	size := free*(magnitude+log2PiE) + det.Hi
	if !(size <= math.MaxFloat64) {
		size = free*(math.Abs(logs.Hi)+log2PiE) + det.Lo // an end is infinite
	}
	pad := few * eps * size
	out.Loss = interval.Interval{
		Lo: (free*(logs.Lo+log2PiE)+det.Lo)/2 - pad,
		Hi: (free*(logs.Hi+log2PiE)+det.Hi)/2 + pad,
	}
	if out.Loss.IsNaN() {
		out.Loss = interval.Unknown()
	}
	return out
}

// marginal returns brackets of the smallest objective and of log det(I + AᵀA/γ) for the rows A before the
// projection p. The argument o is the optimum for the projected rows (docs/math.md, Theorem 22.2).
func (p *Projection) marginal(o *optimum) (objective, det interval.Interval) {
	j, d := o.target, o.dim
	m := p.moves(o.gamma, d, o.df.Interval)
	target := math.Sqrt(o.tss.Hi) + p.Round[d+j]
	size := target / math.Sqrt(o.gamma) * upward // bounds ‖x̂*‖ and ‖x*‖
	moved := (p.Round[d+j] + m.round*size) * inflate
	inside := moved + (p.Left[d+j]+m.left*size)*inflate
	f := o.objective
	objective.Hi = (f.Hi + moved*math.Sqrt(2*f.Hi) + moved*moved) * upward
	lost := moved*math.Sqrt(2*objective.Hi) + moved*moved + inside*inside
	objective.Lo = math.Max(0, (f.Lo-lost*upward)*downward)
	if objective.IsNaN() {
		objective = interval.Nonnegative()
	}
	det = interval.Nonnegative()
	if m.lower > 0 {
		count := 2 * float64(d)
		det = outside(
			o.df.LogDet.Lo+count*math.Min(0, (m.lower-1)/m.lower),
			o.df.LogDet.Hi+count*math.Max(0, m.upper-1),
			0,
		)
	}
	return objective, det
}
