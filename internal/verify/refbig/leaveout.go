package refbig

import "math/big"

// A LeftOut has what leaving one row out takes, at one γ.
type LeftOut struct {
	p        *Problem
	l        [][]*big.Float
	solution *Solution
	weight   *big.Float // of all rows
}

// LeaveOut prepares leaving rows out of a problem of the given weight. That of no other row
// is looked at: the leverage h of a row tells what the solution without it misses it by.
func (p *Problem) LeaveOut(gamma float64, weight *big.Float) (*LeftOut, error) {
	l, err := p.factor(Float(gamma))
	if err != nil {
		return nil, err
	}
	s, err := p.Solve(gamma)
	if err != nil {
		return nil, err
	}
	return &LeftOut{p, l, s, weight}, nil
}

// Squared is w·(r/(1 − h))² of each target for a row x with targets y of weight w,
// h = w·aᵀH⁻¹a + w/W for a = x less the means, the last term with an intercept only; and what
// it is computed from, of which 2⁻⁴⁰⁰ is round-off. It is nil where h is 1.
func (o *LeftOut) Squared(x, y []float64, w *big.Float) (squared, scale []*big.Float) {
	a := vectorOf(x)
	for j := range a {
		a[j] = sub(a[j], o.p.MeanX[j])
	}
	free := sub(Float(1), mul(w, dot(a, solve(o.l, a))))
	if o.p.Intercept {
		free = sub(free, quo(w, o.weight))
	}
	if free.Cmp(new(big.Float).SetMantExp(Float(1), -Prec+112)) <= 0 {
		return nil, nil
	}
	for j, coef := range o.solution.Coef {
		r, size := sub(sub(Float(y[j]), o.p.MeanY[j]), dot(a, coef)), Float(0)
		for k := range a {
			term := mul(a[k], coef[k])
			size = add(size, term.Abs(term))
		}
		size = add(size, new(big.Float).Abs(Float(y[j])))
		size = add(size, new(big.Float).Abs(o.p.MeanY[j]))
		r, size = quo(r, free), quo(size, mul(free, free))
		squared, scale = append(squared, mul(w, mul(r, r))), append(scale, mul(w, mul(size, size)))
	}
	return squared, scale
}
