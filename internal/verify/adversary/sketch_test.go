package adversary

import (
	"context"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

const eps = 0x1p-52

// sketch checks the bounds of the Frequent Directions sketch. It skips centred and weighted rows, because the sketch
// then has rounded rows. Package ridge accounts for their rounding.
func (e *evaluation) sketch() {
	g := e.p.g
	if g.Intercept || e.p.weights != nil {
		return
	}
	s, err := e.sum.Sketch().Spectrum()
	if e.refused("fd", err) {
		return
	}
	k, b := e.p.moments.K, s.Bound
	frob := refbig.Float(0)
	for j := range k {
		frob.Add(frob, k[j][j])
	}
	least, most := extremes(combine(k, gram(s.Dim, s.Sigma2, s.V), -1), k)
	e.atMost("fd: above", most, b.FD())
	e.atMost("fd: below", new(big.Float).Neg(least), b.RoundOff)
	// Promised for ten shrinks and decays, growing with their number: the SVD driver rounds
	// repeated rows all the same way. Squares that underflow are lost whatever their sum.
	promised, _ := frob.Float64()
	promised *= math.Max(1, float64(e.p.rows())/float64(10*g.Shrink)) * float64(1+g.Decays/10)
	e.atMost(
		"fd: λmin ≥ −100·eps·‖A‖²",
		new(big.Float).Neg(least),
		100*eps*promised+float64(e.p.rows()*s.Dim)*0x1p-1022,
	)
	rho := refbig.Float(b.Shift())
	robust := new(big.Float).Sub(most, rho)
	if other := new(big.Float).Sub(rho, least); other.Cmp(robust) > 0 {
		robust = other
	}
	e.atMost("fd: robust", robust, b.RFD())
	e.eta(k, b, frob)
}

// extremes are the extreme eigenvalues of a gap between k and something near it,
// brought together by what the reference may be off.
func extremes(gap, k [][]*big.Float) (least, most *big.Float) {
	slack := refbig.Float(0)
	for j := range k {
		slack.Add(slack, k[j][j])
	}
	slack.SetMantExp(slack, -180)
	values := refbig.Eigenvalues(gap)
	return sum(values[0], slack), new(big.Float).Sub(values[len(values)-1], slack)
}

// contraction holds ‖x̂ − x*‖ ≤ q‖x*‖ for the x̂ of exact arithmetic, Ĥ⁻¹c with the
// sketch's own Ĥ.
func (e *evaluation) contraction(name string, robust bool, f *ridge.Solution) {
	g := e.p.g
	if g.Intercept || e.p.weights != nil {
		return
	}
	s, err := e.sum.Spectrum()
	if e.refused("fd", err) {
		return
	}
	m := e.p.moments
	own := &refbig.Problem{
		N:     m.N,
		D:     m.D,
		T:     m.T,
		K:     gram(s.Dim, s.Sigma2, s.V),
		C:     m.C,
		YY:    m.YY,
		MeanX: m.MeanX,
		MeanY: m.MeanY,
	}
	if robust {
		for i := range own.K {
			own.K[i][i] = sum(own.K[i][i], refbig.Float(s.Bound.Shift()))
		}
	}
	sol, err := own.Solve(e.p.gamma)
	if err != nil {
		e.Refused["reference"]++
		return
	}
	for j, x := range sol.Coef {
		diff := make([]*big.Float, len(x))
		for i, v := range x {
			diff[i] = new(big.Float).Sub(v, e.truth.Coef[j][i])
		}
		if size := normOf(e.truth.Coef[j]); size.Sign() > 0 {
			e.atMost(name+": contraction", new(big.Float).Quo(normOf(diff), size), f.Contraction)
		}
	}
}

// eta checks η ≤ ‖A − A_k‖²_F/(m+1−k) for every k ≤ m, up to round-off. Parts that shrink before and
// after a merge keep this bound, too.
func (e *evaluation) eta(k [][]*big.Float, b fd.Bound, frob *big.Float) {
	values := refbig.Eigenvalues(k)
	eta, m := b.Shrinkage, min(e.p.g.Size, len(k))
	tail := sum(frob, refbig.Float(b.RoundOff*float64(m+1)))
	for i := 0; i <= m; i++ {
		limit := new(big.Float).Quo(tail, refbig.Float(float64(m+1-i)))
		ratio := 0.0
		if eta > 0 {
			ratio, _ = new(big.Float).Quo(refbig.Float(eta), limit).Float64()
			if limit.Cmp(refbig.Float(0x1p-1000)) < 0 { // of underflowing squares
				ratio = 0
			}
		}
		e.worst("fd: η against the tail", ratio)
		if i < len(values) {
			tail.Sub(tail, values[len(values)-1-i])
		}
	}
}

// passes holds the prediction of how many passes shrink the error, in the norm of
// H, by a factor, for data on which round-off is no matter.
func (e *evaluation) passes() {
	const tol, fewest, most = 1e-3, 1, 40
	g := e.p.g
	if g.levelled() || g.Forget > 0 || g.Decays > 0 || g.WeightTop != 0 || g.Absolute || g.Preparation != Raw ||
		g.Gamma < -5 ||
		g.Mean > -1 ||
		g.Near < 0 ||
		math.Abs(g.Top) > 30 ||
		math.Abs(g.Scale) > 30 {
		return
	}
	predicted, err := plan.PredictedPasses(e.sum, e.p.gamma, tol, g.Method)
	if e.refused("predicted passes", err) || predicted < fewest || predicted > most {
		return
	}
	first, last := make([]*big.Float, g.Targets), make([]*big.Float, g.Targets)
	opts := ridge.SolveOptions{Method: g.Method, Tol: 1e-15, MaxPasses: predicted + 1, Observe: func(it ridge.Iterate) {
		if it.Pass > predicted || !finite(it.Coef) {
			return
		}
		last[it.Target] = e.energy(it.Coef, it.Target)
		if first[it.Target] == nil {
			first[it.Target] = last[it.Target]
		}
	}}
	if _, err := ridge.Solve(context.Background(), e.p.source, e.sum, e.p.gamma, opts); err != nil {
		e.Refused["predicted passes did not converge to 1e-15"]++
	}
	for j := range first {
		if first[j] == nil {
			continue
		}
		size := e.energy(make([]float64, g.Cols), j)
		floor := new(big.Float).Mul(size, refbig.Float(1e-9)) // where round-off begins
		if first[j].Cmp(new(big.Float).Mul(floor, refbig.Float(1e4))) < 0 {
			continue
		}
		goal, _ := new(big.Float).Mul(first[j], refbig.Float(tol)).Float64()
		e.atMost("predicted passes of "+g.Method.String(), last[j], goal)
	}
}

// energy is ‖H^{½}(x − x*)‖ for target j.
func (e *evaluation) energy(x []float64, j int) *big.Float {
	h := e.p.moments.Gradient(e.p.gamma, j, x) // H(x − x*)
	total := refbig.Float(0)
	for i, v := range x {
		total.Add(total, new(big.Float).Mul(new(big.Float).Sub(refbig.Float(v), e.truth.Coef[j][i]), h[i]))
	}
	if total.Sign() < 0 {
		return refbig.Float(0)
	}
	return new(big.Float).Sqrt(total)
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func sum(a, b *big.Float) *big.Float { return new(big.Float).Add(a, b) }

// distance is ‖x − y‖.
func distance(x []float64, y []*big.Float) *big.Float {
	diff := make([]*big.Float, len(x))
	for i, v := range x {
		diff[i] = new(big.Float).Sub(refbig.Float(v), y[i])
	}
	return normOf(diff)
}

func normOf(x []*big.Float) *big.Float {
	total := refbig.Float(0)
	for _, v := range x {
		total.Add(total, new(big.Float).Mul(v, v))
	}
	return total.Sqrt(total)
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// gram is Vᵀ·diag(λ)·V for V r×d.
func gram(d int, lambda, v []float64) [][]*big.Float {
	out := make([][]*big.Float, d)
	for i := range out {
		out[i] = make([]*big.Float, d)
		for j := range out[i] {
			s := refbig.Float(0)
			for l, x := range lambda {
				term := new(big.Float).Mul(refbig.Float(v[l*d+i]), refbig.Float(v[l*d+j]))
				s.Add(s, term.Mul(term, refbig.Float(x)))
			}
			out[i][j] = s
		}
	}
	return out
}

// combine is a + f·b.
func combine(a, b [][]*big.Float, f float64) [][]*big.Float {
	out := make([][]*big.Float, len(a))
	for i := range a {
		for j := range a[i] {
			out[i] = append(out[i], sum(a[i][j], new(big.Float).Mul(refbig.Float(f), b[i][j])))
		}
	}
	return out
}
