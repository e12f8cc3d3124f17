package model

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge"
)

// addRow adds row i of the block b, whose target is y, to the score of the solution o. Let x be the features of the
// row, w the coefficients of o and c its intercept. The residual y − c − xᵀw is computed with a bound on its
// error. It is
//
//   - y − predicted, if the round-off of the prediction predicted is small compared with the residuals so far
//   - otherwise a sum with twice the digits of a float64
func (s *Score) addRow(
	o *ridge.Target,
	b dataset.Block,
	i int,
	y, predicted float64,
) {
	if !(b.Weight(i) > 0) {
		return
	}
	const accurate = 0x1p-30
	r := twofold.Of(y).Minus(twofold.Number{Hi: predicted, Err: roundOff(o, b, i)})
	perWeight := s.rss.Hi / math.Max(s.weight.Hi, 1)
	typical := math.Max(math.Abs(r.Hi), math.Sqrt(perWeight))
	if !(r.Err <= accurate*typical) {
		r = residual(o, b, i, y)
	}
	s.addResidual(b.Weight(i), y, r)
}

// roundOff returns a bound on the error of a prediction by [ridge.Solution.PredictRow]. Let x be the features of
// row i of b, k their number, w the coefficients of o and c the intercept. The products xⱼwⱼ and c may be summed in
// any order, with or without fused multiplication. The error of the sum is at most (k + 2)·2⁻⁵²·(Σ|xⱼwⱼ| +
// |c|), and each underflow adds at most 2⁻¹⁰⁷⁴. See docs/math.md §19.
func roundOff(o *ridge.Target, b dataset.Block, i int) float64 {
	size := math.Abs(o.Intercept)
	terms := 0
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			size += math.Abs(o.Coef[j] * val[k])
		}
		terms = len(idx)
	} else {
		d := len(o.Coef)
		for j, x := range b.X[i*d : (i+1)*d] {
			size += math.Abs(o.Coef[j] * x)
		}
		terms = d
	}
	return float64(terms+2)*0x1p-52*size + float64(terms)*0x1p-1074
}

// residual returns the target y minus the prediction of the solution o for row i of b. The result includes a bound
// on its error.
func residual(o *ridge.Target, b dataset.Block, i int, y float64) twofold.Number {
	sum := twofold.Of(y).Minus(twofold.Of(o.Intercept))
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(i)
		for k, j := range idx {
			sum = sum.Minus(twofold.Times(o.Coef[j], val[k]))
		}
		return sum
	}
	d := len(o.Coef)
	for j, x := range b.X[i*d : (i+1)*d] {
		sum = sum.Minus(twofold.Times(o.Coef[j], x))
	}
	return sum
}
