package outside

import "math/big"

// matrix is a dense matrix of rational numbers.
type matrix [][]*big.Rat

func newMatrix(rows, columns int) matrix {
	m := make(matrix, rows)

	for i := range m {
		m[i] = make([]*big.Rat, columns)
		for j := range m[i] {
			m[i][j] = new(big.Rat)
		}
	}

	return m
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

func square(a *big.Rat) *big.Rat { return mul(a, a) }

// solve returns h⁻¹·c, or nil if h is singular. It eliminates without
// fractions (Bareiss) on rows of integers.
func solve(h, c matrix) matrix {
	n := len(h)
	if n == 0 {
		return matrix{}
	}

	width := n + len(c[0])
	a := make([][]*big.Int, n)

	for i := range a {
		a[i] = integers(append(append([]*big.Rat{}, h[i]...), c[i]...))
	}

	previous := big.NewInt(1)
	product := new(big.Int)

	for k := range n {
		pivot := k
		for pivot < n && a[pivot][k].Sign() == 0 {
			pivot++
		}

		if pivot == n {
			return nil
		}

		a[k], a[pivot] = a[pivot], a[k]

		for i := range n {
			if i == k {
				continue
			}

			factor := new(big.Int).Set(a[i][k])
			for j := range width {
				if j < k && j != i {
					continue
				}

				a[i][j].Mul(a[i][j], a[k][k])
				a[i][j].Sub(a[i][j], product.Mul(factor, a[k][j]))
				a[i][j].Quo(a[i][j], previous)
			}
		}

		previous.Set(a[k][k])
	}

	x := newMatrix(n, width-n)

	for i := range x {
		for j := range x[i] {
			x[i][j].SetFrac(a[i][n+j], a[i][i])
		}
	}

	return x
}

// integers multiplies a row by the least common denominator.
func integers(row []*big.Rat) []*big.Int {
	common := big.NewInt(1)
	gcd := new(big.Int)

	for _, v := range row {
		gcd.GCD(nil, nil, common, v.Denom())
		common.Mul(common, new(big.Int).Quo(v.Denom(), gcd))
	}

	result := make([]*big.Int, len(row))

	for j, v := range row {
		result[j] = new(big.Int).Mul(v.Num(), new(big.Int).Quo(common, v.Denom()))
	}

	return result
}

// problem is a weighted ridge problem. If intercept is set, column 0 is ones.
type problem struct {
	x         matrix // rows with the column of ones
	y         matrix // n×t
	w         []*big.Rat
	p         []*big.Rat // penalty of each column of x
	intercept bool
}

// scatter returns XᵀWX and XᵀWY of all rows but skip.
func (p *problem) scatter(skip int) (k, c matrix) {
	d := len(p.p)
	k = newMatrix(d, d)
	c = newMatrix(d, len(p.y[0]))

	for i, row := range p.x {
		if i == skip || p.w[i].Sign() == 0 {
			continue
		}

		for a := range d {
			wa := mul(p.w[i], row[a])
			if wa.Sign() == 0 {
				continue
			}

			for b := range d {
				k[a][b].Add(k[a][b], mul(wa, row[b]))
			}

			for b := range c[a] {
				c[a][b].Add(c[a][b], mul(wa, p.y[i][b]))
			}
		}
	}

	return k, c
}

// hessian adds γ·p to the diagonal of k.
func (p *problem) hessian(k matrix, gamma *big.Rat) matrix {
	h := newMatrix(len(k), len(k))

	for i := range k {
		for j := range k {
			h[i][j].Set(k[i][j])
		}

		h[i][i].Add(h[i][i], mul(gamma, p.p[i]))
	}

	return h
}

// exact is the exact solution at one γ.
type exact struct {
	gamma    *big.Rat
	x        matrix   // columns×targets, nil if singular
	h        matrix   // the Hessian
	freedom  *big.Rat // all degrees of freedom
	loo      []*big.Rat
	leftOut  matrix // predictions of left-out rows
	rss      []*big.Rat
	gcv      []*big.Rat // nil entries if undefined
	training matrix
}

func (p *problem) solveExact(gamma *big.Rat, leaveOut bool) *exact {
	k, c := p.scatter(-1)
	h := p.hessian(k, gamma)
	d := len(k)
	both := newMatrix(d, len(c[0])+d)

	for i := range both {
		copy(both[i], c[i])
		both[i][len(c[0])+i].SetInt64(1)
	}

	solution := solve(h, both)
	if solution == nil {
		return nil
	}

	e := &exact{gamma: gamma, h: h, freedom: new(big.Rat).SetInt64(int64(d))}
	e.x = newMatrix(d, len(c[0]))

	for i := range d {
		copy(e.x[i], solution[i][:len(c[0])])
		e.freedom.Sub(e.freedom, mul(mul(gamma, p.p[i]), solution[i][len(c[0])+i]))
	}

	e.training = multiply(p.x, e.x)

	n := new(big.Rat).SetInt64(int64(len(p.x)))
	left := sub(n, e.freedom)

	for t := range c[0] {
		rss := p.residual(column(e.x, t), t)
		e.rss = append(e.rss, rss)

		if left.Sign() == 0 {
			e.gcv = append(e.gcv, nil)
		} else {
			e.gcv = append(e.gcv, quo(mul(n, rss), square(left)))
		}
	}

	if leaveOut {
		e.leaveOut(p)
	}

	return e
}

// leaveOut refits without each row.
func (e *exact) leaveOut(p *problem) {
	targets := len(p.y[0])
	predictions := newMatrix(len(p.x), targets)
	sums := make([]*big.Rat, targets)

	for t := range sums {
		sums[t] = new(big.Rat)
	}

	for i := range p.x {
		k, c := p.scatter(i)

		x := solve(p.hessian(k, e.gamma), c)
		if x == nil {
			if p.w[i].Sign() == 0 {
				continue
			}

			return
		}

		predictions[i] = multiply(p.x[i:i+1], x)[0]

		for t := range sums {
			sums[t].Add(sums[t], mul(p.w[i], square(sub(predictions[i][t], p.y[i][t]))))
		}
	}

	for t := range sums {
		sums[t].Quo(sums[t], new(big.Rat).SetInt64(int64(len(p.x))))
	}

	e.leftOut = predictions
	e.loo = sums
}

// residual returns Σ w(y − x·c)² for target t.
func (p *problem) residual(c []*big.Rat, t int) *big.Rat {
	sum := new(big.Rat)

	for i, row := range p.x {
		r := sub(dot(row, c), p.y[i][t])
		sum.Add(sum, mul(p.w[i], square(r)))
	}

	return sum
}

// total returns the (centred) weighted sum of squares of target t.
func (p *problem) total(t int) *big.Rat {
	mean, weight := new(big.Rat), new(big.Rat)

	for i := range p.y {
		mean.Add(mean, mul(p.w[i], p.y[i][t]))
		weight.Add(weight, p.w[i])
	}

	if !p.intercept {
		mean.SetInt64(0)
	} else if weight.Sign() > 0 {
		mean.Quo(mean, weight)
	}

	sum := new(big.Rat)
	for i := range p.y {
		sum.Add(sum, mul(p.w[i], square(sub(p.y[i][t], mean))))
	}

	return sum
}

func dot(a, b []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i := range a {
		sum.Add(sum, mul(a[i], b[i]))
	}

	return sum
}

func multiply(a, b matrix) matrix {
	c := newMatrix(len(a), len(b[0]))

	for i := range a {
		for j := range c[i] {
			c[i][j] = dot(a[i], column(b, j))
		}
	}

	return c
}

func column(m matrix, j int) []*big.Rat {
	c := make([]*big.Rat, len(m))
	for i := range m {
		c[i] = m[i][j]
	}

	return c
}

// energy returns the least eᵀHe over the coefficients without penalty, for
// the errors e of the others.
func energy(p *problem, h matrix, e []*big.Rat) *big.Rat {
	var fixed, free []int

	for i := range p.p {
		if p.p[i].Sign() == 0 {
			free = append(free, i)
		} else {
			fixed = append(fixed, i)
		}
	}

	sum := new(big.Rat)

	for _, i := range fixed {
		for _, j := range fixed {
			sum.Add(sum, mul(mul(e[i], h[i][j]), e[j]))
		}
	}

	if len(free) == 0 {
		return sum
	}

	inner := newMatrix(len(free), len(free))
	right := newMatrix(len(free), 1)

	for a, i := range free {
		for b, j := range free {
			inner[a][b].Set(h[i][j])
		}

		for _, j := range fixed {
			right[a][0].Add(right[a][0], mul(h[i][j], e[j]))
		}
	}

	z := solve(inner, right)
	if z == nil {
		return new(big.Rat)
	}

	return sum.Sub(sum, dot(column(right, 0), column(z, 0)))
}
