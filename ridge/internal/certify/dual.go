package certify

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Dual is what is known of rows that are solved for through G = AAᵀ.
type Dual struct {
	Backend   engine.Backend
	Rows      int64
	Dim       int
	Intercept bool
	TSS       []twofold.Number // ‖b‖² of each target
	Size      float64          // bounds ‖A‖_F
	MeanNorm  float64          // bounds that of the means of the columns; 0 without an intercept
	Off       []float64        // bounds, in norm, what each row of A is off by in G
}

// A DualPoint is what was measured, with twice the digits, at an α and at x = X + Low, which is
// about Aᵀα.
type DualPoint struct {
	Gamma  float64
	X, Low []float64
	Apart  float64        // bounds ‖x − Aᵀα‖
	Norm   float64        // bounds ‖b − Ax − γα‖
	RSS    twofold.Number // ‖Ax − b‖²
	Mean   twofold.Number // that of y − Xx, X and y being the rows as they are; 0 without an intercept
}

// Weights bounds X, the rounded weights of target j. Whatever x and α are, with r = b − Ax − γα
//
//	x − x* = −H⁻¹Aᵀr + γH⁻¹(x − Aᵀα),
//
// as the gradient at x is Aᵀ(Ax − b) + γx = −Aᵀr + γ(x − Aᵀα); and ‖H⁻¹Aᵀ‖ is the largest
// √λ/(λ+γ), at most 1/(2√γ) and ‖A‖/γ. So, X being x but for Low,
//
//	‖X − x*‖ ≤ min(1/(2√γ), ‖A‖/γ)·‖r‖ + ‖x − Aᵀα‖ + ‖Low‖,
//	‖H^{½}(x − x*)‖ ≤ min(1, ‖A‖/√γ)·‖r‖ + √γ·‖x − Aᵀα‖.
//
// Nothing of it rests on how α was found. f*, and what is left of the training error of x*, follow
// from x before it was rounded.
func (e *Dual) Weights(j int, p *DualPoint, df interval.Interval) Weights {
	d, root := float64(e.Dim), math.Sqrt(p.Gamma)*(1+few*eps)
	least := math.Sqrt(p.Gamma) * (1 - few*eps)
	round, tiny := 1+few*eps, (d+few)*roundoff.Underflow
	near := math.Min(1/(2*least), e.Size/p.Gamma)*p.Norm*round + p.Apart*round + tiny
	energy := math.Min(1, e.Size/least)*p.Norm*round + root*p.Apart*round + tiny
	xn, low := vec.Norm(p.X), vec.Norm(p.Low)*(1+(d+few)*eps)+tiny
	bound := (near + low) * round

	v, off := p.RSS.Round()
	at := interval.Outward(v, off)
	at.Lo = math.Max(0, at.Lo)
	objective := objectiveNear(p.Gamma, xn, interval.Interval{Hi: energy}, d+few, at)
	whole := (energy + math.Hypot(e.Size, root)*low) * round
	rss := interval.WidenRoot(at, e.Size*low*round)
	rss.Lo, rss.Hi = rss.Lo*(1-few*eps), rss.Hi*(1+few*eps)
	rss = interval.Intersect(rss, rssAbove(objective, p.Gamma, xn, whole, d+few))

	total, lost := e.TSS[j].Round()
	w := Weights{
		Error: bound, Relative: Relative(bound, xn*(1-(d+few)*eps)), Energy: whole,
		TSS: interval.Outward(total, lost), RSS: rss, Objective: objective,
		GCV: gcv(e.Rows, e.Intercept, df, rssNear(p.Gamma, energy, at)),
	}
	if e.Intercept {
		value, moved := p.Mean.Round()
		w.Intercept = Intercept{value, (moved + e.MeanNorm*near) * inflate}
	}
	return w
}

// Rank bounds that of A, and with it the effective dimension, which is at most ‖A‖²_F/γ too.
func (e *Dual) Rank(gamma float64) interval.Interval {
	limit := float64(rank(e.Rows, e.Dim, e.Intercept))
	return interval.Interval{Hi: math.Min(limit, e.Size*e.Size/gamma*(1+few*eps))}
}

// Dimension brackets the effective dimension tr(H⁻¹K) = n − γ·tr (G + γI)⁻¹, by a factor of G + γI or
// T of G = QTQᵀ: as [Direct] has it, G standing in for K and the rows of A for its columns.
func (e *Dual) Dimension(f *Factored) interval.Interval {
	df := e.spectrum(f).df
	limit := e.Rank(f.Gamma)
	return interval.Interval{Lo: math.Min(df.Lo, limit.Hi), Hi: math.Min(df.Hi, limit.Hi)}
}

// spectrum is that of G + γI.
func (e *Dual) spectrum(f *Factored) spectrum {
	rows := &Streamed{Backend: e.Backend, Rows: e.Rows, Dim: len(e.Off), Intercept: e.Intercept}
	if f.T != nil {
		return rows.tridiagonal(f, e.Off)
	}
	return rows.spectrum(f, e.Off)
}
