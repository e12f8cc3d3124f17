package scales

import "math/big"

// bits is the precision of the reference, 2^negligible what its own round-off is less than.
const bits, negligible = 4000, -2400

func number(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
func times(a, b *big.Float) *big.Float {
	return number(0).Mul(a, b)
}
func minus(a, b *big.Float) *big.Float { return number(0).Sub(a, b) }
func over(a, b *big.Float) *big.Float  { return number(0).Quo(a, b) }
func numbers(n int) (out []*big.Float) {
	for range n {
		out = append(out, number(0))
	}
	return out
}

// addTo is s += a·b.
func addTo(s, a, b *big.Float) { s.Add(s, times(a, b)) }

func product(a, b []*big.Float) *big.Float {
	s := number(0)
	for i := range a {
		addTo(s, a[i], b[i])
	}
	return s
}

// A reference is ridge regression of some rows at one γ, in many digits.
type reference struct {
	gamma        *big.Float
	w            []*big.Float   // weights of the rows
	weight       *big.Float     // their sum
	a, b         [][]*big.Float // centred rows, and targets
	meanA, meanB []*big.Float
	h, inverse   [][]*big.Float
	coef         [][]*big.Float // t×d
	base         []*big.Float   // intercepts
}

func newReference(x, y [][]float64, w []float64, gamma float64, intercept bool) *reference {
	n, d, t := len(x), len(x[0]), len(y[0])
	r := &reference{gamma: number(gamma), meanA: numbers(d), meanB: numbers(t), weight: number(0)}
	for _, v := range w {
		r.w = append(r.w, number(v))
		r.weight.Add(r.weight, number(v))
	}
	centred := func(rows [][]float64, mean []*big.Float) (out [][]*big.Float) {
		if intercept {
			for j := range mean {
				for i := range rows {
					addTo(mean[j], r.w[i], number(rows[i][j]))
				}
				mean[j].Quo(mean[j], r.weight)
			}
		}
		for i := range rows {
			row := numbers(len(mean))
			for j := range row {
				row[j].Sub(number(rows[i][j]), mean[j])
			}
			out = append(out, row)
		}
		return out
	}
	r.a, r.b = centred(x, r.meanA), centred(y, r.meanB)
	var work [][]*big.Float // [H I], eliminated
	for j := range d {
		r.h = append(r.h, numbers(d))
		for k := range d {
			for i := range n {
				addTo(r.h[j][k], times(r.w[i], r.a[i][j]), r.a[i][k])
			}
		}
		r.h[j][j].Add(r.h[j][j], r.gamma)
		row := numbers(2 * d)
		for k := range d {
			row[k].Set(r.h[j][k])
		}
		row[d+j] = number(1)
		work = append(work, row)
	}
	for j := range d { // positive definite: no pivoting
		for k := range work {
			if k == j {
				continue
			}
			f := over(work[k][j], work[j][j])
			for l := range 2 * d {
				work[k][l].Sub(work[k][l], times(f, work[j][l]))
			}
		}
	}
	for j := range d {
		row := work[j][d:]
		for k := range row {
			row[k].Quo(row[k], work[j][j])
		}
		r.inverse = append(r.inverse, row)
	}
	for j := range t {
		c, base := numbers(d), number(0)
		for k := range c {
			for i := range n {
				addTo(c[k], times(r.w[i], r.a[i][k]), r.b[i][j])
			}
		}
		coef := numbers(d)
		for k := range coef {
			coef[k] = product(r.inverse[k], c)
		}
		base.Sub(r.meanB[j], product(coef, r.meanA))
		r.coef, r.base = append(r.coef, coef), append(r.base, base)
	}
	return r
}

// predict returns the prediction of the exact solution for target j and the row x.
func (r *reference) predict(j int, x []float64) *big.Float {
	out := number(0).Set(r.base[j])
	for k, v := range x {
		addTo(out, number(v), r.coef[j][k])
	}
	return out
}

// squares is ‖Ax − b‖² of target j.
func (r *reference) squares(j int, x []*big.Float) *big.Float {
	s := number(0)
	for i := range r.a {
		v := minus(product(r.a[i], x), r.b[i][j])
		addTo(s, times(r.w[i], v), v)
	}
	return s
}

// dimension is tr H⁻¹K = d − γ·tr H⁻¹, summed without cancellation as the sum of leverages.
func (r *reference) dimension() *big.Float {
	s := number(0)
	for i := range r.a {
		s.Add(s, r.leverage(i))
	}
	return s
}

// leverage is w·aᵀH⁻¹a of row i.
func (r *reference) leverage(i int) *big.Float {
	v := numbers(len(r.h))
	for k := range v {
		v[k] = product(r.inverse[k], r.a[i])
	}
	return times(r.w[i], product(v, r.a[i]))
}

// energy is ‖H^{½}e‖.
func (r *reference) energy(e []*big.Float) *big.Float {
	s := number(0)
	for k := range e {
		addTo(s, e[k], product(r.h[k], e))
	}
	if s.Sign() < 0 {
		return number(0)
	}
	return s.Sqrt(s)
}
