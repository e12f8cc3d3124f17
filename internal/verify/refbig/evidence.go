package refbig

import "math/big"

// ln2 is computed once.
var ln2 = artanh(new(big.Float).Quo(Float(1), Float(3)))

// artanh returns twice the inverse hyperbolic tangent of s, for s from 0 to 1/3. The error is below 2⁻²⁵⁰.
func artanh(s *big.Float) *big.Float {
	square, power, sum := new(big.Float).Mul(s, s), new(big.Float).Set(s), Float(0)
	for k := 1; k < 200; k += 2 {
		sum.Add(sum, new(big.Float).Quo(power, Float(float64(k))))
		power.Mul(power, square)
	}
	return sum.Add(sum, sum)
}

// Log returns the natural logarithm of x, which must be positive. If the binary exponent of x is below 2³⁰, the
// absolute error is below 2⁻²⁰⁰.
func Log(x *big.Float) *big.Float {
	m := Float(0)
	e := x.MantExp(m) // between ½ and 1
	m.Mul(m, Float(2))
	s := new(big.Float).Quo(new(big.Float).Sub(m, Float(1)), new(big.Float).Add(m, Float(1)))
	return new(big.Float).Add(artanh(s), new(big.Float).Mul(ln2, Float(float64(e-1))))
}

// LogDet returns log det(I + K/γ) for the ridge penalty γ, where K is the Gram matrix of the penalised columns. If
// there are columns Z without penalty, they are first projected out of the others. Let K now be the Gram matrix of
// all columns, and P the diagonal matrix of the penalty factors pⱼ. The result is computed as
//
//	log det(K + γP) − log det K_ZZ − Σ log(γpⱼ),
//
// where K_ZZ belongs to the columns Z, and the sum is over the penalised columns.
func (p *Problem) LogDet(gamma float64) (*big.Float, error) {
	g := Float(gamma)
	l, err := p.Factor(g)
	if err != nil {
		return nil, err
	}
	sum := Float(0)
	for j := range p.D {
		sum.Add(sum, Log(l[j][j]))
	}
	var free []int
	for j := range p.D {
		pj := 1.0
		if p.Penalty != nil {
			pj = p.Penalty[j]
		}
		if pj == 0 {
			free = append(free, j)
			continue
		}
		sum.Sub(sum, Log(new(big.Float).Mul(g, Float(pj))))
	}
	if free == nil {
		return sum, nil
	}
	z := &Problem{N: p.N, D: len(free)}
	for _, i := range free {
		var row []*big.Float
		for _, j := range free {
			row = append(row, p.K[i][j])
		}
		z.K = append(z.K, row)
	}
	l, err = z.Factor(Float(0))
	if err != nil {
		return nil, err
	}
	for j := range free {
		sum.Sub(sum, Log(l[j][j]))
	}
	return sum, nil
}

// Evidence returns the noise variance σ² of target j that maximises the marginal likelihood at the ridge penalty γ.
// It also returns the negative logarithm of the maximum:
//
//	σ² = 2f*/ν,   loss = ½(ν·log σ² + log det(I + K/γ) + ν + ν·log 2π).
//
// f* is the minimum of the ridge objective, and the determinant is as in [Problem.LogDet]. ν is the number of rows
// minus the number of columns with penalty 0, minus 1 with an intercept. Both results are nil if ν < 1 or σ² = 0.
func (p *Problem) Evidence(gamma float64, j int) (noise, loss *big.Float, err error) {
	s, err := p.Solve(gamma)
	if err != nil {
		return nil, nil, err
	}
	det, err := p.LogDet(gamma)
	if err != nil {
		return nil, nil, err
	}
	free := p.N
	if p.Intercept {
		free--
	}
	for _, v := range p.Penalty {
		if v == 0 {
			free--
		}
	}
	if free < 1 || s.Objective[j].Sign() <= 0 {
		return nil, nil, nil
	}
	nu := Float(float64(free))
	noise = new(big.Float).Quo(new(big.Float).Mul(s.Objective[j], Float(2)), nu)
	pi, _, _ := big.ParseFloat(
		"3.14159265358979323846264338327950288419716939937510582097494459", 10, Prec, big.ToNearestEven,
	)
	loss = Log(new(big.Float).Mul(noise, new(big.Float).Mul(pi, Float(2))))
	loss.Add(loss, Float(1))
	loss.Mul(loss, nu)
	loss.Add(loss, det)
	return noise, loss.Quo(loss, Float(2)), nil
}
