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
	Off       []float64        // bounds, in norm, what each row of A is off by in G
	Shift     float64          // with an intercept G has this in place of the eigenvalue 0 of 1; else 0
}

// A DualPoint is what was measured, with twice the digits, at an α and at an x, which is X + Low but
// for Slack, and about Aᵀα.
type DualPoint struct {
	Gamma  float64
	X, Low []float64
	Apart  float64        // bounds ‖x − Aᵀα‖
	Slack  float64        // bounds what X + Low is from x
	Norm   float64        // bounds ‖b − Ax − γα‖
	RSS    twofold.Number // ‖Ax − b‖²
	Mean   twofold.Number // that of y − Xx, X and y being the rows as they are; 0 without an intercept
	// MeanNorm bounds that of the means of the columns; 0 without an intercept.
	MeanNorm float64
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
	// Products that underflow to 0 are not in Apart: as many as there are rows in each element.
	round, tiny := 1+few*eps, float64(e.Rows+1)*(d+few)*roundoff.Underflow
	// ‖A‖/γ and ‖r‖/γ may underflow, but not where the other is what counts.
	along := math.Min((e.Size/p.Gamma+roundoff.Underflow)*p.Norm, (p.Norm/p.Gamma+roundoff.Underflow)*e.Size)
	near := certain(math.Min(1/(2*least)*p.Norm, along)*round + p.Apart*round + tiny)
	energy := certain(math.Min(1, e.Size/least+roundoff.Underflow)*p.Norm*round + root*(p.Apart*round+tiny) + tiny)
	xn, low := vec.Norm(p.X), certain((vec.Norm(p.Low)+p.Slack)*(1+(d+few)*eps)+tiny)
	bound := (near + low) * round

	v, off := p.RSS.Round()
	at := interval.Outward(v, off)
	at.Lo = math.Max(0, at.Lo)
	objective := objectiveNear(p.Gamma, xn, interval.Interval{Hi: energy}, d+few, at)
	// Half of γ‖x‖² is known by half of γ‖X‖².
	rounded := (p.Gamma*low*(xn*(1+(d+few)*eps)+low/2) + 4*roundoff.Underflow*(1+xn+low)) * round
	objective = interval.Interval{Lo: math.Max(0, objective.Lo-rounded), Hi: objective.Hi + rounded}
	if objective.IsNaN() {
		objective = interval.Nonnegative()
	}
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
		w.Intercept = Intercept{value, certain((moved + p.MeanNorm*near) * inflate)}
	}
	return w
}

// certain is a bound that was computed, +Inf where numbers beyond range went into it.
func certain(bound float64) float64 {
	if math.IsNaN(bound) {
		return math.Inf(1)
	}
	return bound
}

// Rank bounds that of A, and with it the effective dimension, which is at most ‖A‖²_F/γ too. Of that
// no square is taken that may underflow, and a quotient that does is no more than 4 beside ‖A‖_F.
func (e *Dual) Rank(gamma float64) interval.Interval {
	limit := float64(rank(e.Rows, e.Dim, e.Intercept))
	return interval.Interval{Hi: math.Min(limit, e.Size/gamma*e.Size*(1+few*eps)+8*roundoff.Underflow)}
}

// largest is the γ up to which reciprocals of G + γI and of its factors are normal numbers.
const largest = 0x1p1000

// Dimension brackets the effective dimension tr(H⁻¹K) = n − γ·tr (G + γI)⁻¹, by a factor of G + γI or
// T of G = QTQᵀ: as [Direct] has it, G standing in for K and the rows of A for its columns. That of
// a G that has been shifted is Shift/(Shift+γ) more. Beyond [largest] only [Dual.Rank] is known.
func (e *Dual) Dimension(f *Factored) interval.Interval {
	if f.Gamma > largest {
		return e.Rank(f.Gamma)
	}
	df := e.spectrum(f).df
	limit, more := e.Rank(f.Gamma), e.Shift/(e.Shift+f.Gamma)
	df.Lo, df.Hi = math.Max(0, df.Lo-more*(1+few*eps)), df.Hi-more*(1-few*eps)+float64(len(e.Off))*eps
	return interval.Interval{Lo: math.Min(df.Lo*(1-few*eps), limit.Hi), Hi: math.Min(math.Max(df.Hi*(1+few*eps), 0), limit.Hi)}
}

// spectrum is that of G + γI.
func (e *Dual) spectrum(f *Factored) spectrum {
	rows := &Streamed{Backend: e.Backend, Rows: e.Rows, Dim: len(e.Off)}
	if f.T != nil {
		return rows.tridiagonal(f, e.Off)
	}
	return rows.spectrum(f, e.Off)
}

// DualLeft is what leave-one-out errors of one target follow from.
type DualLeft struct {
	Diagonal []float64 // of (G + γI)⁻¹ as computed by T
	Norms    []float64 // bound those of the rows of A
	Share    []float64 // w/Σw of each row with an intercept; nil without
	Missed   []float64 // b − Ax at some x
	Off      float64   // bounds what each of these is off by
	Energy   float64   // bounds ‖H^{½}(x − x*)‖
}

// LeftOut brackets the leave-one-out error Σ w·(r/(1 − h))²/n of the exact solution, see [LeftOut]:
// AH⁻¹Aᵀ = I − γ(G + γI)⁻¹, so that
//
//	1 − h = γ·((G + γI)⁻¹)ᵢᵢ − w/Σw,
//
// the last term being there with an intercept only; of a G that has been shifted it is
// w/Σw·γ/(Shift + γ). With (1−ω)M ⪯ G + γI ⪯ (1+ω)M for the M of T as
// computed, and Q off by δ in each row, element i of the diagonal is within (1∓ω)⁻¹ of what was
// computed, and 2δ/σ². And each √w·aᵀ(x − x*) is at most ‖H^{½}(x − x*)‖.
func (e *Dual) LeftOut(f *Factored, l *DualLeft) interval.Interval {
	if f.Gamma > largest {
		return interval.Nonnegative()
	}
	s := e.spectrum(f)
	n, sigma2 := float64(len(l.Diagonal)), s.sigma*s.sigma*(1-few*eps)
	omega := (s.factor.solved + 4*f.T.rounding(f.Gamma)/sigma2) * inflate
	if !(omega < 0.5) {
		return interval.Nonnegative()
	}
	skew := 2 * f.T.Skew / sigma2 * inflate
	var sum interval.Interval
	for i, v := range l.Diagonal {
		round := 2*n*eps + few*eps
		free := interval.Interval{
			Lo: f.Gamma * (v*(1-round)/(1+omega) - skew),
			Hi: f.Gamma * (v*(1+round)/(1-omega) + skew),
		}
		others, share := 1.0, 0.0
		if l.Share != nil {
			share = l.Share[i]
			others = math.Max(0, 1-share-few*eps)
		}
		along := share * f.Gamma / (e.Shift + f.Gamma)
		free.Lo, free.Hi = free.Lo-along*(1+few*eps), math.Min(1, free.Hi-along*(1-few*eps))
		far := l.Norms[i] * (1 + few*eps)
		if v := others * f.Gamma / (f.Gamma + far*far/others) * (1 - few*eps); v > free.Lo { // false for a NaN
			free.Lo = v
		}
		if !(v <= math.MaxFloat64) || !(skew <= math.MaxFloat64) {
			return interval.Nonnegative() // of a γ whose reciprocal overflows
		}
		free.Lo = math.Min(free.Lo, free.Hi)
		off := (l.Off + l.Energy) * (1 + few*eps)
		lo, hi := math.Max(0, math.Abs(l.Missed[i])-off)/free.Hi, (math.Abs(l.Missed[i])+off)/free.Lo
		if !(free.Lo > 0) || !(free.Hi > 0) {
			lo, hi = 0, math.Inf(1)
			if l.Missed[i] == 0 && off == 0 {
				hi = 0
			}
		}
		sum.Lo += lo * lo * (1 - few*eps)
		sum.Hi += hi*hi*(1+few*eps) + roundoff.Underflow
	}
	round := (n + few) * eps
	out := interval.Interval{Lo: math.Max(0, sum.Lo/float64(e.Rows)*(1-round)-roundoff.Underflow), Hi: sum.Hi / float64(e.Rows) * (1 + round)}
	if out.IsNaN() || !(out.Hi <= math.MaxFloat64/2) {
		return interval.Nonnegative()
	}
	return out
}
