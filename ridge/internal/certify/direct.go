package certify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Streamed is what is known of the rows of [A Y] that a factorisation was made of.
type Streamed struct {
	Backend   engine.Backend
	Rows      int64
	Dim       int
	Intercept bool
	TSS       []float64 // ‖b‖² as computed, t
	Size      float64   // ‖A‖_F as computed, before what has displaced the columns
	Columns
}

// share bounds ‖H^{-½}Aᵀ‖ = √(λ/(λ+γ)), λ being the largest eigenvalue of AᵀA, for which ‖A‖²_F
// stands in. off is how far, in norm, each column of A is off.
func (e *Streamed) share(gamma float64, off []float64) float64 {
	size := (e.Size + vec.Norm(off[:e.Dim])) * inflate
	if share := size / math.Hypot(size, math.Sqrt(gamma)) * (1 + few*eps); share < 1 {
		return share
	}
	return 1
}

// Factored is what a factorisation found for one γ, and what its arithmetic
// may have done to it. x̂ solves, but for a residual, the problem of a matrix
// [A; √γI, Y] perturbed a little in each column; the factor R is that of a
// perturbed matrix too, but for an error in RᵀR.
type Factored struct {
	Gamma float64
	X     []float64 // x̂, t×d
	Triangle
	T   *Tridiagonal // in place of R
	RSS []float64    // ‖Ax̂ − b‖² as computed

	Data     []float64 // bounds, in norm, on the perturbation of each column, d+t
	Above    bool      // Data is a perturbation of A and b alone: √γI below is as it should be
	Residual []float64 // bounds on the elements of Hx̂ − c of the perturbed data, t×d
	RSSRound []float64 // bound on the error of RSS, for the perturbed data
}

// A Triangle is a factor of H, and what it may be off by.
type Triangle struct {
	R       []float64 // upper triangular d×d, leading dimension Ld, RᵀR ≈ H
	Ld      int
	Stacked []float64 // bounds, in norm, on a further perturbation of each column of [A; √γI] in R; nil for none
	Gram    float64   // a bound on |RᵀR − H|ᵢⱼ of the matrix so perturbed, relative to √HᵢᵢHⱼⱼ
	Lost    float64   // what underflow adds to ‖RᵀR − H‖
}

// Direct are the bounds for each target of a factorisation, and on the effective
// dimension. With σ² ≤ λ_min(H), E the columnwise perturbation of [A; √γI, b] and gⱼ
// bounds on |Hx̂ − c| of the perturbed data,
//
//	‖H^{½}(x̂ − x*)‖ ≤ Σ Eⱼ|x̂ⱼ| + E_b + min(‖v‖/σ, Σ vⱼ√(H⁻¹)ⱼⱼ),   vⱼ = Eⱼ‖r‖ + gⱼ,
//
// from H(x̂ − x*) = −Mᵀ(Ex̂ − e_b) − Eᵀr + residual, where M = [A; √γI] is not perturbed, with
// ‖H^{-½}Mᵀ‖ = 1, and r is the residual of the perturbed problem (docs/math.md §8; Higham, section
// 20.1). The error itself is at most 1/σ times that. The sum over the
// columns doesn't depend on their units, as ‖v‖/σ does. Where only rows of A are perturbed, A
// stands in place of M, and the first two terms are ‖H^{-½}Aᵀ‖ times what they are else.
func Direct(e *Streamed, f *Factored) (weights []Weights, df interval.Interval) {
	off, s := e.moved(f)
	for j := range e.TSS {
		weights = append(weights, e.weights(f, s, off, e.lost(), j))
	}
	return weights, s.df
}

// lost is what a sum of squares over the rows loses to underflow.
func (e *Streamed) lost() float64 { return (float64(e.Rows) + float64(e.Dim)) * roundoff.Underflow }

// moved is how far, in norm, each column of [A Y] is off, and what follows of H.
func (e *Streamed) moved(f *Factored) (off []float64, s spectrum) {
	d, t := e.Dim, len(e.TSS)
	off = make([]float64, d+t) // E
	for j := range off {
		off[j] = inflate*(f.Data[j]+e.Displaced[j]) + float64(d+t)*e.lost()
	}
	inR := slices.Clone(off[:d])
	for j, v := range f.Stacked {
		inR[j] += inflate * v
	}
	if f.T != nil {
		return off, e.tridiagonal(f, inR)
	}
	return off, e.spectrum(f, inR)
}

// weights bounds target j. off is how far, in norm, each column of [A Y] is off, and lost
// what a sum of squares loses to underflow.
func (e *Streamed) weights(f *Factored, s spectrum, off []float64, lost float64, j int) Weights {
	d, root := e.Dim, math.Sqrt(f.Gamma)
	x := f.X[j*d : (j+1)*d]
	xn := vec.Norm(x)
	moved := vec.AbsDot(off[:d], x) + off[d+j]
	terms := 1 + floats.Norm(x, 1) // each product in K, c and ‖b‖² has lost as much
	round := inflate*f.RSSRound[j] + lost*terms*terms
	low := math.Max(0, math.Sqrt(math.Max(0, f.RSS[j]-round))-moved)
	high := math.Sqrt(math.Max(0, f.RSS[j])+round) + moved
	rss := interval.Squared(low, high)

	v, size := make([]float64, d), math.Hypot(high, root*xn) // bounds ‖r‖
	if !f.Above {
		size += moved // √γI is perturbed, too
	}
	for i, g := range f.Residual[j*d : (j+1)*d] {
		v[i] = off[i]*size + inflate*g + lost*terms
	}
	share := 1.
	if f.Above {
		share = e.share(f.Gamma, off)
	}
	energy := moved*share + math.Min(vec.Norm(v)/s.sigma, vec.AbsDot(s.inverse, v))*(1+few*eps) + (float64(d)+few)*roundoff.Underflow
	bound := energy/s.sigma + float64(d)*roundoff.Underflow
	return Weights{
		Error: bound, Relative: Relative(bound, xn*(1-float64(d+2)*eps)), Energy: energy,
		Intercept: e.intercept(j, x, xn, bound),
		TSS:       e.totalSquares(j, lost), RSS: rss,
		Objective: objectiveNear(f.Gamma, xn, interval.Interval{Hi: energy}, float64(d), rss),
		GCV:       gcv(e.Rows, e.Intercept, s.df, rssNear(f.Gamma, energy, rss)),
	}
}

// totalSquares brackets ‖b‖² of target j: a compensated sum of squares, which loses so much
// to underflow, of numbers that rounding has put a little wrong.
func (e *Streamed) totalSquares(j int, lost float64) interval.Interval {
	n, tss, off := float64(e.Rows), e.TSS[j], e.Displaced[e.Dim+j]
	round := (4 + n*n*roundoff.Unit) * roundoff.Unit * tss
	return interval.Around(tss, inflate*(round+off*(2*math.Sqrt(tss)+off))+lost)
}

// A spectrum is what a factor tells of the eigenvalues of H.
type spectrum struct {
	sigma   float64           // sigma² ≤ λ_min(H): √γ at least
	inverse []float64         // bounds on the √(H⁻¹)ⱼⱼ
	df      interval.Interval // brackets the effective dimension d − γ·tr H⁻¹
	factor  nearness
	apart   float64 // with T: bounds what a computed Hv is off by, relative to ‖v‖
}

// A nearness says how near RᵀR is to H, and how well R can be solved with.
type nearness struct {
	lower, upper float64   // ‖H^{½}z‖ is between these times ‖Rz‖; 0 where nothing is known
	transposed   float64   // relative error of a computed R⁻ᵀg
	solved       float64   // relative error of a computed R⁻¹y
	inverse      float64   // bounds ‖R⁻¹‖
	columns      []float64 // norms of R's
}

// spectrum follows from norms of R⁻¹ alone: R's least singular value is at least
// 1/‖R⁻¹‖₂, row j of R⁻¹ has the norm √((RᵀR)⁻¹)ⱼⱼ, and ‖R⁻¹‖²_F is tr (RᵀR)⁻¹, whose
// distances from those of H follow from (1−ω)RᵀR ⪯ H ⪯ (1+ω)RᵀR. With hⱼ the norms of
// the rows of R⁻¹ and rⱼ those of R's columns, a perturbation of RᵀR by ε·rᵢrⱼ in each
// element is one of ε(Σ rⱼhⱼ)² relative to RᵀR, and one of R by Eⱼ = off in each column one
// of Σ Eⱼhⱼ: neither depends on the units of the columns (J. Demmel, "On floating
// point errors in Cholesky", LAPACK Working Note 14, 1989).
func (e *Streamed) spectrum(f *Factored, off []float64) spectrum {
	d, root := float64(e.Dim), math.Sqrt(f.Gamma)
	frobenius, two, rows := inverseNorms(e.Backend, e.Dim, f.R, f.Ld)
	columns := columnsOf(e.Dim, f.R, f.Ld)
	kappa, rnorm := vec.AbsDot(rows, columns), vec.Norm(columns)
	slack := d * eps * math.Min(frobenius*rnorm, kappa) // relative error of rows and frobenius
	gram := inflate*f.Gram*rnorm*rnorm + f.Lost
	offNorm := vec.Norm(off)
	least := math.Max((1-d*eps*frobenius*rnorm*frobenius/two)/two, math.Max((1-slack)/(frobenius*(1+d*eps)),
		math.Sqrt(math.Max(0, math.Pow(math.Max(0, root-offNorm), 2)-gram))))
	limit := float64(rank(e.Rows, e.Dim, e.Intercept))
	s := spectrum{sigma: root, inverse: make([]float64, e.Dim), df: interval.Interval{Lo: 0, Hi: limit}}
	for j := range s.inverse {
		s.inverse[j] = math.Inf(1)
	}

	scaled := 1 + 2*slack
	q := math.Min(gram/least/least, inflate*f.Gram*kappa*kappa*scaled*scaled+f.Lost/least/least)
	p := math.Min(offNorm/least, vec.AbsDot(rows, off)*scaled)
	lower := math.Sqrt(math.Max(0, 1-q)) - p
	upper := math.Sqrt(1+q) + p
	if !(lower > 0) || !(slack < 0.1) {
		return s
	}
	s.sigma = math.Max(root, least*lower)
	s.factor = nearness{lower, upper, slack, d * eps * frobenius * rnorm, 1 / least, columns}
	for j, h := range rows {
		s.inverse[j] = h * scaled / lower
		if root > 0 {
			s.inverse[j] = math.Min(s.inverse[j], 1/root)
		}
	}
	if f.Gamma == 0 {
		s.df.Lo = limit
		return s
	}
	trace := math.Sqrt(f.Gamma) * frobenius // √(γ·tr (RᵀR)⁻¹)
	near, far := trace*(1-slack)/upper, trace*scaled/lower
	round := 4 * d * eps
	s.df.Lo = math.Min(limit, math.Max(0, d-far*far-round))
	s.df.Hi = math.Min(limit, math.Max(0, d-near*near+round))
	return s
}

// objectiveNear brackets f* by f(x̂) − f* = ½‖H^{½}(x̂ − x*)‖², energy being a bracket of that
// norm.
func objectiveNear(gamma, xn float64, energy interval.Interval, d float64, rss interval.Interval) interval.Interval {
	lost := lostSquares(xn)
	f := gamma * xn * xn
	round := (d + 4) * eps
	out := interval.Interval{
		Lo: math.Max(0, (rss.Lo*(1-4*eps)+f*(1-round-4*eps)-energy.Hi*energy.Hi*(1+4*eps)-lost)/2),
		Hi: math.Max(0, (rss.Hi+f*(1+round)+lost)*(1+4*eps)-energy.Lo*energy.Lo*(1-4*eps))/2 + lost,
	}
	if out.IsNaN() || math.IsInf(out.Lo, 1) { // ‖x̂‖, or its square, is beyond range
		return interval.Nonnegative()
	}
	return out
}

// rssAbove brackets ‖Ax − b‖² = 2f(x) − γ‖x‖², given f* and a bound on ‖H^{½}(x − x*)‖: f(x) is
// above f*, by half its square at most. ‖x‖ is the norm of d numbers.
func rssAbove(objective interval.Interval, gamma, xn, energy, d float64) interval.Interval {
	lost := lostSquares(xn)
	f := gamma * xn * xn
	round := (d + 8) * eps
	out := interval.Interval{
		Lo: math.Max(0, 2*objective.Lo*(1-4*eps)-f*(1+round)-lost),
		Hi: math.Max(0, (2*objective.Hi+energy*energy)*(1+4*eps)-f*(1-round)+lost),
	}
	if out.IsNaN() || math.IsInf(out.Lo, 1) {
		return interval.Nonnegative()
	}
	return out
}

// rssNear brackets ‖Ax* − b‖², given that of x̂: the residuals differ by no more
// than ‖H^{½}(x̂ − x*)‖, and at γ = 0 that of x* is the least.
func rssNear(gamma, energy float64, rss interval.Interval) interval.Interval {
	lo := math.Max(0, math.Sqrt(rss.Lo)-energy)
	hi := math.Sqrt(rss.Hi) + energy
	near := interval.Squared(lo, hi)
	near.Lo, near.Hi = near.Lo*(1-8*eps), near.Hi*(1+8*eps)
	if gamma == 0 {
		near.Hi = rss.Hi
	}
	return near
}
