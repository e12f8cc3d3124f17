package refbig

import "math/big"

// A LeftOut has what leaving one row out takes, at one γ.
type LeftOut struct {
	p        *Problem
	l        [][]*big.Float
	inverse  []*big.Float // of D, where H = LDLᵀ
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
	inverse := vector(p.D)
	for j := range inverse {
		inverse[j].Quo(Float(1), l[j][j])
	}
	return &LeftOut{p, l, inverse, s, weight}, nil
}

// Squared is w·(r/(1 − h))² of each target for a row x with targets y of weight w,
// h = w·aᵀH⁻¹a + w/W for a = x less the means, the last term with an intercept only; and what
// it is computed from, of which 2⁻⁴⁰⁰ is round-off. It is nil where h is 1.
func (o *LeftOut) Squared(x, y []float64, w *big.Float) (squared, scale []*big.Float) {
	a := vectorOf(x)
	for j := range a {
		a[j] = sub(a[j], o.p.MeanX[j])
	}
	z := forward(o.l, a)
	for j := range z {
		z[j].Mul(z[j].Mul(z[j], z[j]), o.inverse[j])
	}
	free := Float(1) // 1 − h, h = w·aᵀH⁻¹a = w·zᵀD⁻¹z for z = L⁻¹a
	for _, v := range z {
		free.Sub(free, v.Mul(v, w))
	}
	if o.p.Intercept {
		free = sub(free, quo(w, o.weight))
	}
	if free.Cmp(new(big.Float).SetMantExp(Float(1), -Prec+112)) <= 0 {
		return nil, nil
	}
	for j, coef := range o.solution.Coef {
		r, size, term := sub(Float(y[j]), o.p.MeanY[j]), Float(0), new(big.Float)
		for k := range a {
			r.Sub(r, term.Mul(a[k], coef[k]))
			size.Add(size, term.Abs(term))
		}
		size = add(size, new(big.Float).Abs(Float(y[j])))
		size = add(size, new(big.Float).Abs(o.p.MeanY[j]))
		r, size = quo(r, free), quo(size, mul(free, free))
		squared, scale = append(squared, mul(w, mul(r, r))), append(scale, mul(w, mul(size, size)))
	}
	return squared, scale
}
