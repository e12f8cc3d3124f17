package twofold

import "math"

// A Number is the sum Hi + Lo of two float64. It differs from the exact value by at most Err. The zero value is the
// exact number 0. Every operation adds a bound on its round-off to Err. After an overflow, Err is infinite or NaN.
type Number struct{ Hi, Lo, Err float64 }

// Of returns v as a Number.
func Of(v float64) Number { return Number{Hi: v} }

// tiny is a bound on the error of an operation whose low part underflows.
const tiny = 0x1p-1068

// Times returns a·b.
func Times(a, b float64) Number {
	p, e := Product(a, b)
	return Number{p, e, underflow(p)}
}

// underflow bounds the error of the low part of a product due to underflow. p is the product rounded to float64.
func underflow(p float64) float64 {
	if p == 0 || math.Abs(p) > 0x1p-960 {
		return 0
	}
	return tiny
}

// Plus returns n + m.
func (n Number) Plus(m Number) Number {
	Add(m.Hi, m.Lo, m.Err, &n.Hi, &n.Lo, &n.Err)
	return n
}

// Minus returns n − m.
func (n Number) Minus(m Number) Number {
	return n.Plus(Number{-m.Hi, -m.Lo, m.Err})
}

// Times returns n·m.
func (n Number) Times(m Number) Number {
	p, e := Product(n.Hi, m.Hi)
	x, y := n.Hi*m.Lo, n.Lo*m.Hi
	lost := math.Abs(n.Lo*m.Lo) + Lost*(math.Abs(e)+math.Abs(x)+math.Abs(y))
	moved := n.magnitude()*m.Err + m.magnitude()*n.Err + n.Err*m.Err
	hi, lo := Sum(p, e+(x+y))
	return Number{hi, lo, (lost+moved)*(1+0x1p-40) + 4*tiny}
}

// Over returns n/m. m.Hi must not be zero. If the exact value of m can be zero, the result has an infinite Err.
func (n Number) Over(m Number) Number {
	q := n.Hi / m.Hi
	rest := n.Minus(m.Times(Of(q)))
	q2 := rest.Hi / m.Hi
	rest = rest.Minus(m.Times(Of(q2)))
	hi, lo := Sum(q, q2)
	least := m.magnitude() - 2*math.Abs(m.Lo) - m.Err // of |m|
	if !(least > 0) {
		return Number{hi, lo, math.Inf(1)}
	}
	return Number{hi, lo, (rest.magnitude()+rest.Err)/least*(1+0x1p-40) + tiny}
}

// magnitude returns an upper bound on |Hi + Lo|.
func (n Number) magnitude() float64 {
	return math.Abs(n.Hi) + math.Abs(n.Lo)
}

// Round returns the float64 nearest to Hi + Lo. off bounds its distance from the exact value of n.
func (n Number) Round() (v, off float64) {
	hi, lo := Sum(n.Hi, n.Lo)
	return hi, (math.Abs(lo) + n.Err) * (1 + 0x1p-50)
}
