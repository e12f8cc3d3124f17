package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// scoredTargets is the number of targets in one matrix product of [Known.GCV].
const scoredTargets = 256

// GCV returns brackets of the generalised cross-validation score of the exact ridge solution, without computing
// coefficients. Element j·len(gammas) + i belongs to target j and the penalty gammas[i].
func (k *Known) GCV(gammas []float64) []interval.Interval {
	const functions = 3
	// The last of the q values of each function belongs to vectors orthogonal to the right singular vectors of the
	// sketch.
	g := len(gammas)
	t := len(k.targets)
	q := len(k.eigen.Values) + 1
	ats := make([]At, g)
	table := make([]float64, functions*g*q)
	lost := make([]float64, functions*g)
	df := make([]interval.Interval, g)
	for i, gamma := range gammas {
		a := k.At(gamma)
		ats[i] = a
		df[i] = a.EffectiveDimension()
		for l := range q {
			s2 := k.eigen.Rest
			if l < q-1 {
				s2 = k.eigen.Values[l]
			}
			middle := a.middle(s2)
			gap := a.gap(s2)
			more := 1 + 2*gamma*middle
			values := [functions]float64{
				middle * (1 + gamma*middle),
				gap,
				more * more * gap,
			}
			for f, v := range values {
				table[(functions*i+f)*q+l] = v
				lost[functions*i+f] = math.Max(lost[functions*i+f], v)
			}
		}
	}
	// lost[i] bounds the norm of the underflow error of the squares and of their products with function i.
	for i, v := range lost {
		lost[i] = math.Sqrt((float64(q) + few) * roundoff.Underflow * (1 + v))
	}
	round := 1 + 2*k.factor.along*eps
	out := make([]interval.Interval, t*g)
	var squares, sums []float64
	for lo := 0; lo < t; lo += scoredTargets {
		n := min(scoredTargets, t-lo)
		squares = vec.Grow(squares, n*q)
		sums = vec.Grow(sums, functions*g*n)
		for j := range n {
			c := &k.targets[lo+j].c
			row := squares[j*q : (j+1)*q]
			for l, v := range c.Along {
				row[l] = v * v
			}
			row[q-1] = c.Off * c.Off
		}
		// The squared norms in rssFromEnvelope are sums over the eigenvalues of the sketch. A term is a function of the
		// eigenvalue times the squared component of Aᵀb. One matrix product computes the sums for many targets b and
		// penalties.
		k.Backend.Gemm(
			false,
			true,
			1,
			engine.View(functions*g, q, table),
			engine.View(n, q, squares),
			0,
			engine.View(functions*g, n, sums),
		)
		norm := func(i, f, j int) float64 {
			return math.Sqrt(sums[(functions*i+f)*n+j])
		}
		for j := range n {
			rss := out[(lo+j)*g : (lo+j+1)*g]
			for i := range rss {
				rss[i] = ats[i].envelope(lo+j, &envelope{
					form: norm(i, 0, j),
					z:    norm(i, 1, j)*round + lost[functions*i+1],
					zy:   norm(i, 2, j)*round + lost[functions*i+2],
					lost: lost[functions*i],
				})
			}
			narrow(gammas, rss)
			for i, v := range rss {
				rss[i] = scored(k.Rows, k.Intercept, k.Projected, &optimum{
					gamma:  gammas[i],
					target: lo + j,
					dim:    k.eigen.Dim,
					xError: math.Inf(1),
					tss:    k.TotalSquares(lo + j),
					df:     Dimension{Interval: df[i]},
					rss:    v,
				})
			}
		}
	}
	return out
}

// NoiseGCV returns brackets of the generalised cross-validation score at each penalty for an artificial target b
// that is typical noise. The scores do not depend on the real targets. A choice of candidates by them is therefore
// the same for every block of targets. The artificial target has ‖b‖² = 1 and
//
//	Aᵀb = Σ σₗvₗ/√n
//
// for the singular values σₗ and right singular vectors vₗ of the sketch of n rows. If the elements of b were
// independent random numbers, σₗ/√n would be the root mean square of the component of Aᵀb along vₗ.
func (k *Known) NoiseGCV(gammas []float64) []interval.Interval {
	d := k.eigen.Dim
	e := k.Evidence
	e.Cross = make([]float64, d)
	for l, s2 := range k.eigen.Values {
		c := math.Sqrt(s2 / math.Max(1, float64(k.Rows)))
		for j, v := range k.eigen.V[l*d : (l+1)*d] {
			e.Cross[j] += c * v
		}
	}
	e.TSS = []float64{1}
	e.NonZero = []bool{k.NonZero[0], true}
	e.Displaced = append(slices.Clone(k.Displaced[:d]), 0)
	if k.Intercept {
		e.Means = append(slices.Clone(k.Means[:d]), 0)
		e.MeanErrors = append(slices.Clone(k.MeanErrors[:d]), 0)
	}
	return New(e).GCV(gammas)
}

// narrow narrows the bracket of the RSS at each penalty γ by the brackets at its neighbours in gammas. The RSS
// increases with γ, and RSS/γ² decreases (docs/math.md §10). The brackets become narrowest if gammas is ascending.
func narrow(gammas []float64, rss []interval.Interval) {
	const up, down = 1 + 4*eps, 1 - 4*eps
	for i := len(rss) - 2; i >= 0; i-- {
		if r := gammas[i] / gammas[i+1]; r <= 1 {
			least := rss[i+1].Lo*r*r*down - few*roundoff.Underflow
			rss[i].Lo = math.Max(rss[i].Lo, least)
			rss[i].Hi = math.Min(rss[i].Hi, rss[i+1].Hi)
		}
	}
	for i := 1; i < len(rss); i++ {
		if r := gammas[i] / gammas[i-1]; r >= 1 {
			rss[i].Lo = math.Max(rss[i].Lo, rss[i-1].Lo)
			most := rss[i-1].Hi*r*r*up + few*roundoff.Underflow
			rss[i].Hi = math.Min(rss[i].Hi, most)
		}
	}
}
