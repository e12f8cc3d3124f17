package twofold

import "math"

// A Number is Hi + Lo, off by at most Err. The zero value is 0. Its operations bound what
// they lose, where nothing overflows: Err is not finite then.
type Number struct{ Hi, Lo, Err float64 }

// Of is v.
func Of(v float64) Number { return Number{Hi: v} }

// tiny is more than what an operation loses where low parts underflow.
const tiny = 0x1p-1068

// Times is a·b.
func Times(a, b float64) Number {
	p, e := Product(a, b)
	return Number{p, e, underflow(p)}
}

// underflow is what a product may have lost beyond its low part.
func underflow(p float64) float64 {
	if p == 0 || math.Abs(p) > 0x1p-960 {
		return 0
	}
	return tiny
}

// Plus adds m to n.
func (n Number) Plus(m Number) Number {
	Add(m.Hi, m.Lo, m.Err, &n.Hi, &n.Lo, &n.Err)
	return n
}

// Minus takes m from n.
func (n Number) Minus(m Number) Number { return n.Plus(Number{-m.Hi, -m.Lo, m.Err}) }

// Times multiplies n by m.
func (n Number) Times(m Number) Number {
	p, e := Product(n.Hi, m.Hi)
	x, y := n.Hi*m.Lo, n.Lo*m.Hi
	lost := math.Abs(n.Lo*m.Lo) + Lost*(math.Abs(e)+math.Abs(x)+math.Abs(y))
	moved := n.magnitude()*m.Err + m.magnitude()*n.Err + n.Err*m.Err
	hi, lo := Sum(p, e+(x+y))
	return Number{hi, lo, (lost+moved)*(1+0x1p-40) + 4*tiny}
}

// Over divides n by m, which is not zero.
func (n Number) Over(m Number) Number {
	q := n.Hi / m.Hi
	rest := n.Minus(m.Times(Of(q)))
	q2 := rest.Hi / m.Hi
	rest = rest.Minus(m.Times(Of(q2)))
	hi, lo := Sum(q, q2)
	return Number{hi, lo, (rest.magnitude()+rest.Err)/(m.magnitude()-2*math.Abs(m.Lo)-m.Err)*(1+0x1p-40) + tiny}
}

// magnitude is that of Hi + Lo, or a little more.
func (n Number) magnitude() float64 { return math.Abs(n.Hi) + math.Abs(n.Lo) }

// Round is n as one number, and how far that is from what n stands for at most.
func (n Number) Round() (v, off float64) {
	hi, lo := Sum(n.Hi, n.Lo)
	return hi, (math.Abs(lo) + n.Err) * (1 + 0x1p-50)
}
