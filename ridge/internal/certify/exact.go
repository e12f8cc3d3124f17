package certify

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Exact holds error bounds at coefficients x whose gradient was computed with twice the digits. [Judge.Moved]
// derives bounds at a nearby point from them.
type Exact struct {
	RSS             interval.Interval // ‖Ax − b‖²
	Weights, Energy float64           // bounds on ‖H⁻¹δ‖ and ‖H^{-½}δ‖ for the error δ of the gradient
	gradient        float64           // bounds ‖δ‖
}

// Exact returns the bounds at coefficients x whose gradient was computed with twice the digits, from the features
// as they were read. The bounds include the rounding errors of these features ([Columns.Unround]).
//
// The gradient has the error e + Aᵀδ, where δ is the error of the computed residual Ax − b. bounds[i] bounds
// |eᵢ|, and residual bounds ‖δ‖. With H = AᵀA + γI for the penalty γ,
//
//	‖H⁻¹Aᵀδ‖    ≤ min(‖AH⁻¹‖, ‖A‖‖H⁻¹‖)·‖δ‖,
//	‖H^{-½}Aᵀδ‖ ≤ min(1, ‖A‖‖H⁻¹‖^{½})·‖δ‖.
func (g *Judge) Exact(
	x []float64,
	rss interval.Interval,
	bounds []float64,
	residual float64,
) Exact {
	m := Corrected{
		X:        x,
		Bounds:   bounds,
		Residual: residual,
		RSS:      rss,
	}
	g.Unround(&m, g.norm.root)
	rss = m.RSS
	bounds = m.Bounds
	residual = m.Residual
	off := vec.Norm(bounds) * (1 + 0x1p-30)
	most := g.inverse()
	residual *= 1 + 0x1p-30
	size := math.Sqrt(g.norm.largest2) // bounds ‖A‖
	var lost float64                   // bounds the underflow error of three products
	if off+residual > 0 {
		lost = few * roundoff.Underflow
	}
	perWeights := math.Min(g.timesInverse(), size*most+roundoff.Underflow)
	return Exact{
		RSS:     rss,
		Weights: off*most + residual*perWeights + lost,
		Energy: off*math.Sqrt(most) +
			residual*math.Min(1, size*math.Sqrt(most)+roundoff.Underflow) +
			lost,
		gradient: off + size*residual + lost,
	}
}

// A Move is a step from coefficients x to x + e. The gradient at x was computed with twice the digits. The products
// with e were computed in plain float64 arithmetic.
type Move struct {
	From     *Exact
	X        []float64
	Gradient []float64 // the gradient at x
	E        []float64
	AE       float64 // ‖Ae‖ as computed
	Norm     float64 // norm of Gradient + He, the gradient at x + e, as computed
}

// Moved returns the bounds at x + e, where x and e are the coefficients and the step of m. The round-off of the
// products with e is proportional to ‖e‖, not to ‖x‖. So the new bounds are almost as good as the bounds at
// x. With the gradient g of the objective at x, for the rows A, the target b and the penalty γ,
//
//	‖A(x + e) − b‖² = ‖Ax − b‖² + 2(g − γx)ᵀe + ‖Ae‖².
func (g *Judge) Moved(m *Move) *Exact {
	weights, energy := g.roundOff(rhs{}, m.E, m.AE)
	most := g.inverse()
	en := vec.Norm(m.E)
	sum := few * eps * (vec.Norm(m.Gradient) + m.Norm) // rounding of Gradient and He
	out := &Exact{
		Weights:  (m.From.Weights + weights + sum*most) * inflate,
		Energy:   (m.From.Energy + energy + sum*math.Sqrt(most)) * inflate,
		gradient: math.Inf(1), // no Move starts from here
	}
	var cross, size float64
	for i, e := range m.E {
		v := g.Gamma * m.X[i]
		cross += 2 * (m.Gradient[i] - v) * e
		terms := math.Abs(m.Gradient[i]) + math.Abs(v)
		size += 2 * terms * math.Abs(e)
	}
	square := g.squares(rhs{}, m.E, m.AE)
	terms := float64(len(m.E) + few)
	sizes := size + m.From.RSS.Hi + square.Hi
	off := (terms*eps*sizes + 2*m.From.gradient*en) * inflate
	off += terms * roundoff.Underflow * (1 + floats.Norm(m.E, 1))
	out.RSS = interval.Interval{
		Lo: math.Max(0, m.From.RSS.Lo+cross+square.Lo-off),
		Hi: math.Max(0, m.From.RSS.Hi+cross+square.Hi+off),
	}
	if !(out.RSS.Hi <= math.MaxFloat64) {
		out.RSS = interval.Nonnegative()
	}
	return out
}

// exactWeights returns the error bounds for x, the rounded coefficients of target j. The residual and the gradient
// in m are for the coefficients before rounding, which are x + m.Low.
func (g *Judge) exactWeights(j int, x []float64, m *Measured) Weights {
	xn := vec.Norm(x)
	low := vec.Norm(m.Low) * upward
	lowA := vec.AbsDot(g.columnNorms(), m.Low) * upward // bounds ‖A·low‖
	w := Weights{
		Error:    m.Error,
		Relative: Relative(m.Error, xn),
		RSS:      interval.WidenRoot(m.Exact.RSS, lowA),
		TSS:      g.TotalSquares(j),
	}
	w.RSS.Lo, w.RSS.Hi = w.RSS.Lo*downward, w.RSS.Hi*upward
	off := g.energies(&m.Gradient, m.Exact.Energy/math.Sqrt(g.inverse())) // ‖H^{½}(x + low − x*)‖ = ‖H^{-½}g‖
	// adjusted below, because γ‖x + low‖² replaces γ‖x‖²
	rss := m.Exact.RSS
	apart := g.Gamma * low * (2*xn + low) * upward
	rss.Lo = math.Max(0, rss.Lo-apart)
	rss.Hi += apart
	w.Objective = interval.Intersect(
		g.Objective(j),
		objectiveMeasured(g.Gamma, xn, rss, interval.Squared(off.Lo, off.Hi)),
	)
	energy := (off.Hi + math.Hypot(lowA, math.Sqrt(g.Gamma)*low)) * upward
	w.RSS = interval.Intersect(w.RSS, rssAbove(w.Objective, g.Gamma, xn, energy, few))
	w = g.complete(w, j, x, xn, energy, math.Inf(1))
	intercept := g.interceptAfter(&m.Landing, m.Near, math.Inf(1))
	scattered := g.Scattered(x) + g.Scattered(m.Low)
	w.Intercept = intercept.moved(g.ofMean(scattered, g.norm.root))
	return w
}
