package ridge

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
)

// ulp is the unit round-off u, and underflow what one product may lose to it.
const (
	ulp       = eps / 2
	underflow = 0x1p-1074
)

// A solution is what a factorization found for one γ, and what its arithmetic
// may have done to it. x̂ solves, but for a residual, the problem of a matrix
// [A; √γI, Y] perturbed a little in each column; the factor R is that of a
// perturbed matrix too, but for an error in RᵀR.
type solution struct {
	gamma float64
	x     []float64 // x̂, t×d
	r     []float64 // upper triangular d×d, leading dimension ld, RᵀR ≈ H
	ld    int
	rss   []float64 // ‖Ax̂ − b‖² as computed

	data     []float64 // bounds, in norm, on the perturbation of each column, q
	residual []float64 // bounds on the elements of Hx̂ − c of the perturbed data, t×d
	rssRound []float64 // bound on the error of rss, for the perturbed data
	stacked  []float64 // bounds, in norm, on a further perturbation of each column of [A; √γI] in R; nil for none
	gram     float64   // |RᵀR − H|ᵢⱼ of the matrix so perturbed, relative to √HᵢᵢHⱼⱼ
	lost     float64   // and what underflow adds to ‖RᵀR − H‖
}

// weigh is Σ wⱼ|xⱼ|, the norm of Ax at most where w are the norms of A's columns.
func weigh(w, x []float64) float64 {
	var s float64
	for j, v := range x {
		s += w[j] * math.Abs(v)
	}
	return s
}

// certificate bounds the error of a solution. With σ² ≤ λ_min(H), E the columnwise
// perturbation of [A; √γI, b] and gⱼ bounds on |Hx̂ − c| of the perturbed data,
//
//	‖H^{½}(x̂ − x*)‖ ≤ Σ Eⱼ|x̂ⱼ| + E_b + min(‖v‖/σ, Σ vⱼ√(H⁻¹)ⱼⱼ),
//	vⱼ = Eⱼ‖r̃‖ + gⱼ,   ‖r̃‖² = ‖Ax̂ − b‖² + γ‖x̂‖²,
//
// from H(x̂ − x*) = −Ãᵀ(Ex̂ − e_b) − Eᵀr̃ + residual and ‖H^{-½}Ãᵀ‖ ≤ 1
// (Higham, section 20.1); the error itself is at most 1/σ times that. The sum over the
// columns doesn't depend on their units, as ‖v‖/σ does.
func (e *exact) certificate(s *solution) Certificate {
	d, t := e.d, e.t
	n := float64(e.stage.rows)
	root := math.Sqrt(s.gamma)
	lost := (n + float64(d)) * underflow

	// 1.01 is for the rounding of the bounds themselves.
	pert := make([]float64, d+t)
	for j := range pert {
		pert[j] = 1.01*(s.data[j]+e.stage.displaced(j, e.col[j])) + float64(d+t)*lost
	}
	stacked := slices.Clone(pert[:d])
	for j, v := range s.stacked {
		stacked[j] += 1.01 * v
	}
	sigma, inverse, df := e.spectrum(s, stacked)

	c := Certificate{EffectiveDimension: df}
	for j := range t {
		x := s.x[j*d : (j+1)*d]
		xn := norm(x)
		moved := weigh(pert[:d], x) + pert[d+j]
		round := 1.01*s.rssRound[j] + lost*(1+xn)*(1+xn)
		low := math.Max(0, math.Sqrt(math.Max(0, s.rss[j]-round))-moved)
		high := math.Sqrt(math.Max(0, s.rss[j])+round) + moved
		rss := squared(low, high)

		v, size := make([]float64, d), math.Hypot(high, root*xn)
		for i, g := range s.residual[j*d : (j+1)*d] {
			v[i] = pert[i]*size + 1.01*g + lost*(1+xn)
		}
		inH := moved + math.Min(norm(v)/sigma, weigh(inverse, v))*(1+roundFactor*eps)
		bound := inH/sigma + float64(d)*underflow

		c.ErrorBound = append(c.ErrorBound, bound)
		c.RelativeErrorBound = append(c.RelativeErrorBound, relative(bound, xn*(1-float64(d+2)*eps)))
		c.TSS = append(c.TSS, e.totalSquares(j, lost))
		c.RSS = append(c.RSS, rss)
		c.EnergyBound = append(c.EnergyBound, inH)
		c.InterceptBound = append(c.InterceptBound, e.interceptError(j, xn, bound))
		c.Objective = append(c.Objective, objectiveAt(s.gamma, xn, inH, float64(d), rss))
		c.GCV = append(c.GCV, e.gcv(df, rssNear(s.gamma, inH, rss)))
	}
	return c
}

// interceptError is as of a knowledge.
func (e *exact) interceptError(j int, x, bound float64) float64 {
	if !e.opts.Intercept {
		return 0
	}
	means, wrong := e.stage.means(), e.stage.meanErrors()
	return interceptOff(norm(means[:e.d]), norm(wrong[:e.d]), means[e.d+j], wrong[e.d+j], x, bound)
}

// totalSquares brackets ‖b‖² of target j, whose squares lose so much to underflow: a
// compensated sum of squares of rows that the stage has put a little wrong.
func (e *exact) totalSquares(j int, lost float64) Interval {
	n, tss, off := float64(e.stage.rows), e.tss[j].Value(), e.stage.displaced(e.d+j, e.col[e.d+j])
	round := (4 + n*n*ulp) * ulp * tss
	return widenBy(tss, inflate*(round+off*(2*math.Sqrt(tss)+off))+lost)
}

// spectrum returns σ > 0 with σ² ≤ λ_min(H), or 0 where rounding leaves no such
// thing to say, bounds on the √(H⁻¹)ⱼⱼ, and a bracket on the effective dimension
// d − γ·tr H⁻¹. All come from norms of R⁻¹: R's least singular value is at least
// 1/‖R⁻¹‖₂, row j of R⁻¹ has the norm √((RᵀR)⁻¹)ⱼⱼ, and ‖R⁻¹‖²_F is tr (RᵀR)⁻¹, whose
// distances from those of H follow from (1−ω)RᵀR ⪯ H ⪯ (1+ω)RᵀR. With hⱼ the norms of
// the rows of R⁻¹ and rⱼ those of R's columns, a perturbation of RᵀR by ε·rᵢrⱼ in each
// element is one of ε(Σ rⱼhⱼ)² relative to RᵀR, and one of R by Eⱼ in each column one
// of Σ Eⱼhⱼ: neither depends on the units of the columns (J. Demmel, "On floating
// point errors in Cholesky", LAPACK Working Note 14, 1989).
func (e *exact) spectrum(s *solution, pert []float64) (sigma float64, inverse []float64, df Interval) {
	d := float64(e.d)
	frobenius, two, rows := inverseNorms(e.be, e.d, s.r, s.ld)
	columns := columnsOf(e.d, s.r, s.ld)
	kappa, rnorm := weigh(rows, columns), norm(columns)
	slack := d * eps * math.Min(frobenius*rnorm, kappa) // relative error of rows and frobenius
	root := math.Sqrt(s.gamma)
	gram := 1.01*s.gram*rnorm*rnorm + s.lost
	pertNorm := norm(pert)
	least := math.Max((1-d*eps*frobenius*rnorm*frobenius/two)/two, math.Max((1-slack)/(frobenius*(1+d*eps)),
		math.Sqrt(math.Max(0, math.Pow(math.Max(0, root-pertNorm), 2)-gram))))
	limit := math.Min(d, float64(e.stage.rows))
	if e.opts.Intercept {
		limit = math.Min(d, float64(e.stage.rows-1))
	}
	df = Interval{0, limit}
	inverse = make([]float64, e.d)
	for j := range inverse {
		inverse[j] = math.Inf(1)
	}

	scaled := 1 + 2*slack
	q := math.Min(gram/least/least, 1.01*s.gram*kappa*kappa*scaled*scaled+s.lost/least/least)
	p := math.Min(pertNorm/least, weigh(rows, pert)*scaled)
	lower := math.Sqrt(math.Max(0, 1-q)) - p
	upper := math.Sqrt(1+q) + p
	if !(lower > 0) || !(slack < 0.1) {
		return root, inverse, df
	}
	sigma = math.Max(root, least*lower)
	for j, h := range rows {
		inverse[j] = h * scaled / lower
		if root > 0 {
			inverse[j] = math.Min(inverse[j], 1/root)
		}
	}
	if s.gamma == 0 {
		df.Lo = limit
		return sigma, inverse, df
	}
	trace := math.Sqrt(s.gamma) * frobenius // √(γ·tr (RᵀR)⁻¹)
	near, far := trace*(1-slack)/upper, trace*scaled/lower
	round := 4 * d * eps
	df.Lo = math.Min(limit, math.Max(0, d-far*far-round))
	df.Hi = math.Min(limit, math.Max(0, d-near*near+round))
	return sigma, inverse, df
}

// objectiveAt brackets f* by f(x̂) − f* = ½‖H^{½}(x̂ − x*)‖² ∈ [0, ½inH²].
func objectiveAt(gamma, xn, inH, d float64, rss Interval) Interval {
	lost := 8 * underflow * (1 + xn) // of the products here, and of γ‖x‖ times ‖x‖
	f := gamma * xn * xn
	round := (d + 4) * eps
	return Interval{
		math.Max(0, (rss.Lo+f*(1-round)-inH*inH-lost)/2),
		(rss.Hi+f*(1+round)+lost)/2*(1+4*eps) + lost,
	}
}

// rssNear brackets ‖Ax* − b‖², given that of x̂: the residuals differ by no more
// than ‖H^{½}(x̂ − x*)‖, and at γ = 0 that of x* is the least.
func rssNear(gamma, inH float64, rss Interval) Interval {
	lo := math.Max(0, math.Sqrt(rss.Lo)-inH)
	hi := math.Sqrt(rss.Hi) + inH
	near := squared(lo, hi)
	if gamma == 0 {
		near.Hi = rss.Hi
	}
	return near
}

// gcv brackets n·RSS/(n − df)², the intercept counting as one more degree of
// freedom.
func (e *exact) gcv(df, rss Interval) Interval {
	n := float64(e.stage.rows)
	free := Interval{n - df.Hi, n - df.Lo}
	if e.opts.Intercept {
		free.Lo, free.Hi = free.Lo-1, free.Hi-1
	}
	out := Interval{0, math.Inf(1)}
	if free.Hi > 0 {
		out.Lo = math.Max(0, n*rss.Lo/free.Hi/free.Hi*(1-8*eps)-4*underflow)
	}
	if free.Lo > 0 {
		out.Hi = n*rss.Hi/free.Lo/free.Lo*(1+8*eps) + 4*underflow
	}
	return out
}

// inverseNorms returns ‖R⁻¹‖_F for the upper triangular d×d matrix r, a bound on
// ‖R⁻¹‖₂, the lesser of that and √(‖R⁻¹‖₁‖R⁻¹‖_∞), and the norms of its rows. The rows of the inverse X
// come from XR = I, a panel of them at a time, and in each from left to right.
// The first two are +Inf where R is too close to singular to be inverted.
func inverseNorms(be engine.Backend, d int, r []float64, ldr int) (frobenius, two float64, rows []float64) {
	const nb = 64
	panel := make([]float64, min(nb, d)*d)
	columns := make([]float64, d) // sums of absolute values
	var widest float64            // row
	for i0 := 0; i0 < d; i0 += nb {
		m := min(nb, d-i0)
		clear(panel)
		for i := range m {
			panel[i*d+i0+i] = 1
		}
		for j0 := i0; j0 < d; j0 += nb {
			j1 := min(j0+nb, d)
			if j0 > i0 {
				be.Gemm(false, false, -1, engine.Strided(m, j0-i0, panel[i0:], d), engine.Strided(j0-i0, j1-j0, r[i0*ldr+j0:], ldr), 1, engine.Strided(m, j1-j0, panel[j0:], d))
			}
			for i := range m {
				x := panel[i*d : i*d+j1]
				for k := j0; k < j1; k++ {
					x[k] /= r[k*ldr+k]
					axpy(-x[k], r[k*ldr+k+1:k*ldr+j1], x[k+1:])
				}
			}
		}
		for i := range m {
			row := panel[i*d : (i+1)*d]
			rows = append(rows, norm(row))
			frobenius = math.Hypot(frobenius, rows[i0+i])
			sum := 0.0
			for j, v := range row {
				sum += math.Abs(v)
				columns[j] += math.Abs(v)
			}
			widest = math.Max(widest, sum)
		}
	}
	if math.IsNaN(frobenius) {
		return math.Inf(1), math.Inf(1), rows
	}
	return frobenius, math.Min(frobenius, math.Sqrt(slices.Max(columns))*math.Sqrt(widest)), rows
}

// columnsOf returns the norms of the columns of the upper triangle.
func columnsOf(d int, r []float64, ldr int) []float64 {
	out := make([]float64, d)
	for i := range d {
		for j := i; j < d; j++ {
			out[j] = math.Hypot(out[j], r[i*ldr+j])
		}
	}
	return out
}

// triangleNorm is ‖R‖_F of the upper triangle.
func triangleNorm(d int, r []float64, ldr int) float64 { return norm(columnsOf(d, r, ldr)) }
