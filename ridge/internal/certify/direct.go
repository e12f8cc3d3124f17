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

// Streamed describes the n×d features A and the n×t targets Y that a direct method has read. The error bounds of
// the method are computed from this description.
type Streamed struct {
	Backend   engine.Backend
	Rows      int64
	Dim       int
	Intercept bool
	// Projected describes how columns without penalty were projected out of the rows. It is nil if all columns have
	// a penalty.
	Projected *Projection
	TSS       []float64 // ‖b‖² as computed, t
	Size      float64   // ‖A‖_F as computed, without the error Displaced
	Columns
}

// share returns ‖A‖_F/√(‖A‖²_F + γ), which bounds ‖(AᵀA + γI)^{-½}Aᵀ‖. off[j] bounds the norm
// of the error of column j of A.
func (e *Streamed) share(gamma float64, off []float64) float64 {
	size := (e.Size + vec.Norm(off[:e.Dim])) * inflate
	if share := size / math.Hypot(size, math.Sqrt(gamma)) * upward; share < 1 {
		return share
	}
	return 1
}

// Factored holds solutions of (AᵀA + γI)x = Aᵀb from a factorisation of AᵀA + γI, one for each target b. X
// solves this system, up to a residual, for slightly perturbed columns of A and of the targets. The field Data
// bounds these perturbations, and Residual bounds the residual.
type Factored struct {
	Gamma float64
	X     []float64 // x̂, t×d
	Triangle
	T   *Tridiagonal // if not nil, the tridiagonal form T is used instead of the factor R
	RSS []float64    // ‖Ax̂ − b‖² as computed

	Data []float64 // bounds the norm of the perturbation of each column, d+t
	// Above is true if only the features A and the targets are perturbed, and the rows √γI below A are exact.
	Above    bool
	Residual []float64 // bounds the elements of the residual Hx̂ − c of the perturbed system, t×d
	RSSRound []float64 // bounds the error of the computed RSS, as the RSS of the perturbed system

	bounds *spectrum // bounds on H computed from R; nil until they are known
}

// A Triangle is a triangular factor of H = AᵀA + γI, with bounds on its error.
type Triangle struct {
	R  []float64 // RᵀR ≈ H; upper triangular d×d, leading dimension Ld
	Ld int
	// Stacked bounds the norm of a further perturbation of each column of the matrix A above √γI. It is nil if
	// there is none.
	Stacked []float64
	Gram    float64 // bounds |RᵀR − H|ᵢⱼ/√(HᵢᵢHⱼⱼ) for the H of the perturbed matrix
	Lost    float64 // bounds the effect of underflow on ‖RᵀR − H‖
}

// Direct returns the bounds for each target of a factorisation, and a bracket of the effective dimension. Let x̂ be
// the computed and x* the exact solution of Hx = c, where H = AᵀA + γI and c = Aᵀb for the target b. From
// docs/math.md §8,
//
//	‖H^{½}(x̂ − x*)‖ ≤ Σ Eⱼ|x̂ⱼ| + E_b + min(‖v‖/σ, Σ vⱼ√(H⁻¹)ⱼⱼ),
//	vⱼ = Eⱼ‖r‖ + gⱼ.
//
// Here σ² is a lower bound on the eigenvalues of H, and r is the residual of the perturbed problem. Eⱼ and E_b
// bound the norms of the perturbations of the columns of [A; √γI] (A above √γI) and of b. gⱼ bounds |Hx̂ −
// c|ⱼ for the perturbed matrix.
//
// ‖x̂ − x*‖ is at most 1/σ times this bound. If √γI is not perturbed, the first two terms are multiplied by
// ‖H^{-½}Aᵀ‖.
func Direct(e *Streamed, f *Factored) (weights []Weights, df interval.Interval) {
	off, s := e.columnErrors(f)
	for j := range e.TSS {
		weights = append(weights, e.weights(f, s, off, e.lost(), j))
	}
	return weights, s.df.Interval
}

// lost returns a bound on the error of a sum of squares over all rows by underflow.
func (e *Streamed) lost() float64 {
	return (float64(e.Rows) + float64(e.Dim)) * roundoff.Underflow
}

// columnErrors returns bounds off on the norms of the errors in the columns of the features and targets. The result
// s holds bounds on the eigenvalues, the inverse and the effective dimension of AᵀA + γI.
func (e *Streamed) columnErrors(f *Factored) (off []float64, s spectrum) {
	off = e.perturbations(f)
	inR := slices.Clone(off[:e.Dim])
	for j, v := range f.Stacked {
		inR[j] += inflate * v
	}
	if f.T != nil {
		return off, e.tridiagonal(f, inR)
	}
	if f.bounds == nil {
		s := e.spectrum(f, inR)
		f.bounds = &s
	}
	return off, *f.bounds
}

// perturbations returns bounds on the norms of the errors in the columns of the features and targets. [Direct]
// calls them Eⱼ and E_b.
func (e *Streamed) perturbations(f *Factored) []float64 {
	off := make([]float64, e.Dim+len(e.TSS))
	for j := range off {
		perturbed := f.Data[j] + e.Displaced[j]
		off[j] = inflate*perturbed + float64(len(off))*e.lost()
	}
	return off
}

// weights returns error bounds for the coefficients of target j. off[i] bounds the norm of the error in column i of
// the features and targets. The argument lost is a bound on the error of a sum of squares by underflow.
func (e *Streamed) weights(
	f *Factored,
	s spectrum,
	off []float64,
	lost float64,
	j int,
) Weights {
	d := e.Dim
	root := math.Sqrt(f.Gamma)
	x := f.X[j*d : (j+1)*d]
	xn := vec.Norm(x)
	moved := vec.AbsDot(off[:d], x) + off[d+j]
	terms := 1 + floats.Norm(x, 1) // every product in K, c and ‖b‖² may underflow
	round := inflate*f.RSSRound[j] + lost*terms*terms
	rss, high := residualSquares(f.RSS[j], round, moved)

	v, size := make([]float64, d), math.Hypot(high, root*xn) // size bounds ‖r‖
	if !f.Above {
		size += moved // √γI is perturbed too
	}
	for i, g := range f.Residual[j*d : (j+1)*d] {
		v[i] = off[i]*size + inflate*g + lost*terms
	}
	share := 1.
	if f.Above {
		share = e.share(f.Gamma, off)
	}
	fromGradient := math.Min(vec.Norm(v)/s.sigma, vec.AbsDot(s.inverse, v))
	energy := moved*share + fromGradient*upward + (float64(d)+few)*roundoff.Underflow
	bound := energy/s.sigma + float64(d)*roundoff.Underflow
	w := Weights{
		Error:     bound,
		Relative:  Relative(bound, xn*(1-float64(d+2)*eps)),
		Energy:    energy,
		Scattered: e.Scattered(x),
		Intercept: e.intercept(j, x, xn, bound),
		TSS:       e.totalSquares(j, lost),
		RSS:       rss,
		Objective: objectiveNear(
			f.Gamma,
			xn,
			interval.Interval{Hi: energy},
			float64(d),
			rss,
		),
	}
	return w.scored(e.Rows, e.Intercept, e.Projected, &optimum{
		gamma:  f.Gamma,
		target: j,
		dim:    d,
		x:      x,
		xError: bound,
		tss:    e.totalSquares(j, lost),
		df:     s.df,
		rss:    rssNear(f.Gamma, energy, rss),
	})
}

// residualSquares returns a bracket of ‖Ax̂ − b‖² for coefficients x̂, and an upper bound on its root. The
// argument computed is this sum of squares for slightly perturbed A and b, with an error of at most round. The
// perturbations change Ax̂ − b by a vector whose norm is at most moved.
func residualSquares(computed, round, moved float64) (rss interval.Interval, root float64) {
	low := math.Max(0, math.Sqrt(math.Max(0, computed-round))-moved)
	high := math.Sqrt(math.Max(0, computed)+round) + moved
	return interval.Squared(low, high), high
}

// Dependent returns the bounds for each target of a least-squares solution (γ = 0), if nothing is known of the
// smallest singular value of A. The error of the coefficients x̂ then has no bound. The bracket RSS of ‖Ax̂ −
// b‖² for the target b is still proved, because it needs no factor of A. df brackets the effective dimension,
// which is the rank of A.
func Dependent(e *Streamed, f *Factored) (weights []Weights, df interval.Interval) {
	d := e.Dim
	lost := e.lost()
	most := rank(e.Rows, d, e.Intercept)
	df = interval.Interval{Lo: 0, Hi: float64(most)}
	off := e.perturbations(f)
	for j := range e.TSS {
		x := f.X[j*d : (j+1)*d]
		moved := vec.AbsDot(off[:d], x) + off[d+j]
		terms := 1 + floats.Norm(x, 1) // every product may underflow
		round := inflate*f.RSSRound[j] + lost*terms*terms
		rss, _ := residualSquares(f.RSS[j], round, moved)
		least := interval.Interval{Lo: 0, Hi: rss.Hi}
		weights = append(weights, Weights{
			Error:     math.Inf(1),
			Relative:  math.Inf(1),
			Energy:    math.Inf(1),
			Scattered: e.Scattered(x),
			Intercept: e.intercept(j, x, vec.Norm(x), math.Inf(1)),
			TSS:       e.totalSquares(j, lost),
			RSS:       rss,
			Objective: interval.Interval{Lo: 0, Hi: rss.Hi / 2},
			GCV: scored(e.Rows, e.Intercept, e.Projected, &optimum{
				gamma:  f.Gamma,
				target: j,
				dim:    d,
				x:      x,
				xError: math.Inf(1),
				tss:    e.totalSquares(j, lost),
				df: Dimension{
					Interval: df,
				},
				rss: least,
			}),
		})
	}
	return weights, df
}

// totalSquares returns a bracket of the sum of squares of target j. It is computed from TSS[j], a compensated sum
// of rounded squares. lost bounds the error of this sum by underflow.
func (e *Streamed) totalSquares(j int, lost float64) interval.Interval {
	n := float64(e.Rows)
	tss := e.TSS[j]
	off := e.Displaced[e.Dim+j]
	round := (4 + n*n*roundoff.Unit) * roundoff.Unit * tss
	moved := off * (2*math.Sqrt(tss) + off)
	return interval.Around(tss, inflate*(round+moved)+lost)
}

// A spectrum holds bounds on H = AᵀA + γI that follow from a factor of H.
type spectrum struct {
	sigma   float64   // √γ ≤ sigma, and sigma² ≤ λ_min(H)
	inverse []float64 // bounds √(H⁻¹)ⱼⱼ
	df      Dimension // brackets the effective dimension d − γ·tr H⁻¹
	factor  nearness
	// apart is used with a tridiagonal form T of H. It bounds the norm of the error of a computed product Hv,
	// relative to ‖v‖.
	apart float64
}

// A nearness holds bounds on the distance between RᵀR and H = AᵀA + γI, for a triangular factor R. It also holds
// bounds on the errors of solving with R.
type nearness struct {
	// lower·‖Rz‖ ≤ ‖H^{½}z‖ ≤ upper·‖Rz‖ for every vector z, where H is AᵀA + γI. Both are 0 if they
	// are unknown.
	lower, upper float64
	transposed   float64   // relative error of a computed R⁻ᵀg
	solved       float64   // relative error of a computed R⁻¹y
	inverse      float64   // bounds ‖R⁻¹‖
	columns      []float64 // norms of the columns of R
}

// spectrum returns bounds on H, computed from norms of R⁻¹. The smallest singular value of R is 1/‖R⁻¹‖₂.
// Row j of R⁻¹ has the norm √((RᵀR)⁻¹)ⱼⱼ, and ‖R⁻¹‖²_F = tr (RᵀR)⁻¹.
//
// Bounds on H = AᵀA + γI follow by (1−ω)RᵀR ⪯ H ⪯ (1+ω)RᵀR, if RᵀR differs from H by a relative ω.
// Let hⱼ be the norm of row j of R⁻¹, and rⱼ the norm of column j of R. A perturbation of RᵀR by ε·rᵢrⱼ
// in element i, j adds at most ε(Σ rⱼhⱼ)² to ω. A perturbation of the columns j of R by vectors of norm offⱼ
// adds Σ offⱼhⱼ to the relative perturbation of R. Both sums are independent of the units of the columns (J.
// Demmel, "On floating point errors in Cholesky", LAPACK Working Note 14, 1989).
func (e *Streamed) spectrum(f *Factored, off []float64) spectrum {
	d := float64(e.Dim)
	root := math.Sqrt(f.Gamma)
	frobenius, two, rows := inverseNorms(e.Backend, e.Dim, f.R, f.Ld)
	columns := columnsOf(e.Dim, f.R, f.Ld)
	kappa := vec.AbsDot(rows, columns)
	rnorm := vec.Norm(columns)
	slack := d * eps * math.Min(frobenius*rnorm, kappa) // relative error of rows and frobenius
	gram := inflate*f.Gram*rnorm*rnorm + f.Lost
	offNorm := vec.Norm(off)
	byNorm := (1 - d*eps*frobenius*rnorm*frobenius/two) / two
	byFrobenius := (1 - slack) / (frobenius * (1 + d*eps))
	gap := math.Max(0, root-offNorm)
	byGamma := math.Sqrt(math.Max(0, math.Pow(gap, 2)-gram))
	least := math.Max(byNorm, math.Max(byFrobenius, byGamma))
	limit := float64(rank(e.Rows, e.Dim, e.Intercept))
	s := spectrum{
		sigma:   root,
		inverse: make([]float64, e.Dim),
		df:      Dimension{interval.Interval{Lo: 0, Hi: limit}, interval.Nonnegative()},
	}
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
	s.factor = nearness{
		lower:      lower,
		upper:      upper,
		transposed: slack,
		solved:     d * eps * frobenius * rnorm,
		inverse:    1 / least,
		columns:    columns,
	}
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
	s.df.LogDet = e.logDetOfR(f, lower, upper)
	trace := math.Sqrt(f.Gamma) * frobenius // √(γ·tr (RᵀR)⁻¹)
	near := trace * (1 - slack) / upper
	far := trace * scaled / lower
	round := 4 * d * eps
	s.df.Lo = math.Min(limit, math.Max(0, d-far*far-round))
	s.df.Hi = math.Min(limit, math.Max(0, d-near*near+round))
	return s
}

// objectiveNear returns a bracket of the minimum f* of the objective f at the penalty γ, from computed coefficients
// x̂ of norm xn. Let x* be the exact solution, and e the norm ‖(AᵀA + γI)^{½}(x̂ − x*)‖. Then
// f* = f(x̂) − ½e².
//
// energy brackets e, and rss brackets the sum of squared residuals of x̂. d is the length of x̂, on which the
// round-off of xn depends.
func objectiveNear(
	gamma, xn float64,
	energy interval.Interval,
	d float64,
	rss interval.Interval,
) interval.Interval {
	lost := lostSquares(xn)
	f := gamma * xn * xn
	round := (d + 4) * eps
	lo := rss.Lo*(1-4*eps) +
		f*(1-round-4*eps) -
		energy.Hi*energy.Hi*(1+4*eps) -
		lost
	hi := (rss.Hi+f*(1+round)+lost)*(1+4*eps) -
		energy.Lo*energy.Lo*(1-4*eps)
	out := interval.Interval{
		Lo: math.Max(0, lo/2),
		Hi: math.Max(0, hi)/2 + lost,
	}
	if out.IsNaN() || math.IsInf(out.Lo, 1) { // ‖x̂‖ or its square overflowed
		return interval.Nonnegative()
	}
	return out
}

// rssAbove returns a bracket of ‖Ax − b‖² for coefficients x of norm xn. objective brackets f*, the minimum of
// f(x) = ½‖Ax − b‖² + ½γ‖x‖². The argument energy bounds √(2(f(x) − f*)). The argument d is the
// length of x, on which the round-off of xn depends.
func rssAbove(objective interval.Interval, gamma, xn, energy, d float64) interval.Interval {
	lost := lostSquares(xn)
	f := gamma * xn * xn
	round := (d + 8) * eps
	least := 2 * objective.Lo * (1 - 4*eps)
	most := (2*objective.Hi + energy*energy) * (1 + 4*eps)
	out := interval.Interval{
		Lo: math.Max(0, least-f*(1+round)-lost),
		Hi: math.Max(0, most-f*(1-round)+lost),
	}
	if out.IsNaN() || math.IsInf(out.Lo, 1) {
		return interval.Nonnegative()
	}
	return out
}

// rssNear returns a bracket of ‖Ax* − b‖² for the exact coefficients x*, given computed coefficients x̂. rss
// brackets ‖Ax̂ − b‖². The argument energy bounds ‖A(x̂ − x*)‖, so that ‖Ax* − b‖ differs from
// ‖Ax̂ − b‖ by at most energy. For γ = 0, ‖Ax* − b‖ is at most ‖Ax̂ − b‖, because x* minimises
// this norm.
func rssNear(gamma, energy float64, rss interval.Interval) interval.Interval {
	lo := math.Max(0, math.Sqrt(rss.Lo)-energy)
	hi := math.Sqrt(rss.Hi) + energy
	near := interval.Squared(lo, hi)
	near.Lo = near.Lo * (1 - 8*eps)
	near.Hi = near.Hi * (1 + 8*eps)
	if gamma == 0 {
		near.Hi = rss.Hi
	}
	return near
}
