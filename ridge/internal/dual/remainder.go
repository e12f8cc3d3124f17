package dual

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/direct"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

const (
	// maxRemainder is the largest accepted bound on ‖b − (AAᵀ + γI)α‖ relative to γ‖α‖.
	maxRemainder = 1e-5
	// small excludes numbers whose products may underflow.
	small = 0x1p-150
)

// Unformed solves at γ for each row of targets, with the tridiagonal form t of g. It returns Missed and Off, and bounds for
// the coefficients, which are not computed. first is the number of the first target, and df brackets the effective
// dimension. The result is nil if a remainder is too large.
func (g *Gram) Unformed(known *certify.Dual, t *direct.TridiagonalForm, gamma float64, df interval.Interval, first int, targets []float64) (found []*Found, bounds []certify.Weights) {
	if !(gamma > small && gamma < 1/small && known.Size*known.Size < 1/small) {
		return nil, nil
	}
	n, alpha := g.N, slices.Clone(targets)
	t.SolveEach(slices.Repeat([]float64{gamma}, len(targets)/n), alpha)
	for i, r := range g.Remainders(known.Backend, gamma, alpha, targets) {
		a := alpha[i*n : (i+1)*n : (i+1)*n]
		w := known.Unformed(first+i, gamma, a, targets[i*n:(i+1)*n], r, df)
		total, off := known.TSS[first+i].Round()
		if (total != 0 || off != 0) && !(total > small*small && r <= maxRemainder*math.Sqrt(w.RSS.Hi) && w.Relative < 1) {
			return nil, nil
		}
		vec.Scale(gamma, a)
		found, bounds = append(found, &Found{Missed: a, Off: r}), append(bounds, w)
	}
	return found, bounds
}

// Remainders returns a bound on ‖b − (AAᵀ + γI)α‖ for each row α of alpha and b of targets (k×n), computed with G.
// [Samples.Centred] returns the rows of targets. A includes the column of [Gram] for an intercept.
// docs/math.md, Proposition 8.8, has the bound.
func (g *Gram) Remainders(be engine.Backend, gamma float64, alpha, targets []float64) []float64 {
	n := g.N
	rest, out := slices.Clone(targets), make([]float64, len(targets)/n)
	vec.Axpy(-gamma, alpha, rest)
	be.Gemm(false, true, -1, engine.View(len(out), n, alpha), engine.View(n, n, g.G), 1, engine.View(len(out), n, rest))
	size, off := g.Size(), vec.Norm(g.Off)
	dot := (be.Accuracy().Dot(n) + engine.Roundings + roundoff.Few) * roundoff.Eps
	gram := size*size*(dot+g.Units*roundoff.Unit) + g.Lost + off*(2*size+off)
	for k := range out {
		row := func(of []float64) float64 { return vec.Norm(of[k*n : (k+1)*n]) }
		out[k] = (row(rest) + (gram+dot*gamma)*row(alpha) + (dot+float64(n+16)*roundoff.Eps)*row(targets)) * roundoff.Inflate
		if out[k] > 0 {
			out[k] += float64(n*n) * roundoff.Underflow
		}
	}
	return out
}
