package interval

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Product is a product of positive numbers. It is stored as a mantissa and an integer exponent, so that it
// neither overflows nor underflows. The zero value is the product 1.
type Product struct {
	mantissa float64 // between ½ and 1; 0 stands for ½·2¹
	exponent int
	factors  int
	invalid  bool // a factor was not positive and finite
}

// Times multiplies p by x.
func (p *Product) Times(x float64) {
	if !(x > 0 && x <= math.MaxFloat64) {
		p.invalid = true
		return
	}
	if p.mantissa == 0 {
		p.mantissa, p.exponent = 0.5, 1
	}
	m, e := math.Frexp(x)
	rest, more := math.Frexp(p.mantissa * m)
	p.mantissa = rest
	p.exponent = p.exponent + e + more
	p.factors++
}

// Log returns a bracket of the logarithm of the exact product. The factors given to Times may have relative errors
// of up to each, which must be at most ½. If such a factor was not positive and finite, Log returns Unknown.
// docs/math.md §22, "Logarithms", has the proof.
func (p *Product) Log(each float64) Interval {
	if p.invalid {
		return Unknown()
	}
	if p.factors == 0 {
		return Interval{}
	}
	m, e := p.mantissa, p.exponent
	if m < math.Sqrt2/2 {
		m = 2 * m
		e--
	}
	// log m is 2·artanh s for s = (m − 1)/(m + 1). The series of 2·artanh s is 2·(s + s³/3 + s⁵/5 + …).
	// The magnitude |s| is below 0.172, so that the terms after s²⁵ are below 2⁻⁶⁵·|s|.
	s := (m - 1) / (m + 1)
	sum := 0.0
	for k := 25; k > 0; k -= 2 {
		sum = sum*s*s + 1/float64(k)
	}
	own := 2 * s * sum
	whole := float64(e) * math.Ln2
	off := 16*roundoff.Eps*(math.Abs(own)+math.Abs(whole)) +
		float64(p.factors)*(roundoff.Eps+2*each)*(1+0x1p-20)
	return Interval{own + whole - off, own + whole + off}
}

// Log returns a bracket of the logarithm of a number in v. If v.Lo is not positive, the lower end of the bracket is
// −Inf.
func Log(v Interval) Interval {
	out := Unknown()
	if v.Lo > 0 && v.Lo <= math.MaxFloat64 {
		var p Product
		p.Times(v.Lo)
		out.Lo = p.Log(0).Lo
	}
	if v.Hi > 0 && v.Hi <= math.MaxFloat64 {
		var p Product
		p.Times(v.Hi)
		out.Hi = p.Log(0).Hi
	}
	return out
}
