package shrinks

import "math"

// A pair is the unevaluated sum hi + lo, with |lo| ≤ ulp(hi)/2: twice the digits of a float64.
// (T. Dekker, "A floating-point technique for extending the available precision", 1971.)
type pair struct{ hi, lo float64 }

// sumOf returns a + b exactly.
func sumOf(a, b float64) pair {
	s := a + b
	z := s - a
	return pair{s, (a - (s - z)) + (b - z)}
}

// productOf returns a·b exactly, if nothing underflows.
func productOf(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (p pair) plus(q pair) pair {
	s, t := sumOf(p.hi, q.hi), sumOf(p.lo, q.lo)
	s = sumOf(s.hi, s.lo+t.hi)
	return sumOf(s.hi, s.lo+t.lo)
}

func (p pair) minus(q pair) pair { return p.plus(pair{-q.hi, -q.lo}) }

func (p pair) times(q pair) pair {
	s := productOf(p.hi, q.hi)
	return sumOf(s.hi, s.lo+(p.hi*q.lo+p.lo*q.hi))
}

func (p pair) over(q float64) pair {
	a := p.hi / q
	rest := p.minus(productOf(a, q))
	return sumOf(a, rest.hi/q)
}

func (p pair) value() float64 { return p.hi + p.lo }

// root returns √p, to the digits of a pair.
func (p pair) root() pair {
	if p.hi <= 0 {
		return pair{}
	}
	a := math.Sqrt(p.hi)
	rest := p.minus(productOf(a, a))
	return sumOf(a, rest.hi/(2*a))
}

// dot returns xᵀy.
func dot(x, y []float64) (sum pair) {
	for i, v := range x {
		if v != 0 && y[i] != 0 {
			sum = sum.plus(productOf(v, y[i]))
		}
	}
	return sum
}
