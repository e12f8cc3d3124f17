package adversary

import (
	"math"
	"math/big"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// predictor is the intervals for rows of the data and for some far from them.
func (e *evaluation) predictor() {
	pr, err := e.sum.Predictor(e.p.gamma)
	if e.refused("prediction", err) {
		return
	}
	e.predict("prediction", pr)
	for _, f := range e.fits {
		if err := pr.Narrow(f); !e.refused("narrowed prediction", err) {
			e.predict("narrowed prediction", pr)
		}
	}
}

func (e *evaluation) predict(name string, pr *ridge.Predictor) {
	d, t := e.p.g.Cols, e.p.g.Targets
	var x []float64
	add := func(row []float64, factor float64) {
		for _, v := range row {
			x = append(x, math.Max(-1e149, math.Min(1e149, v*factor)))
		}
	}
	for i, factor := range []float64{1, -3, 1e6, 0} {
		add(e.p.x[i%len(e.p.x)], factor)
	}
	add(e.p.x[len(e.p.x)-1], 1) // of another level, if any is
	n := len(x) / d
	dst := make([]ridge.Interval, n*t)
	if e.refused(name, pr.Predict(dst, dataset.Block{N: n, X: x})) {
		return
	}
	for i := range n {
		for j := range t {
			y := new(big.Float).Set(e.truth.Intercept[j])
			scale := new(big.Float).Abs(y)
			for k, v := range x[i*d : (i+1)*d] {
				term := new(big.Float).Mul(refbig.Float(v), e.truth.Coef[j][k])
				y.Add(y, term)
				scale.Add(scale, term.Abs(term))
			}
			e.within(name, dst[i*t+j], y, scale, math.Inf(-1), math.Inf(1))
		}
	}
}
