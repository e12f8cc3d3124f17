package kernel

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
)

var twofoldGo = Twofold{
	Maxima: maximaGo,
	ColMax: colMaxGo,
	Dots:   dotsTwofoldGo,
	Open:   openGo,
	Axpys:  axpysTwofoldGo,
	Close:  closeGo,
	Add:    addGo,
}

const exponent = 0x7ff << 52

// Binade returns the largest power of two that is at most b, for a normal number b > 0. For a subnormal number or
// zero it returns 0.
func Binade(b float64) float64 {
	return math.Float64frombits(math.Float64bits(b) & exponent)
}

// Base returns the base of a [Twofold] sum, where b bounds the sum of the magnitudes of the terms. The base is the
// number from which the sum starts. It is 3/2 times the power of two in (2b, 4b]. For a subnormal b it is 0,
// because sums of subnormal numbers are exact.
func Base(b float64) float64 { return 6 * Binade(b) }

func maximaGo(n int, a *float64, lda int, m, c *float64) {
	cs := slice(c, 0, n)
	for i, most := range slice(m, 0, 4) {
		most = 0
		for j, v := range slice(a, i*lda, n) {
			most = max(most, math.Abs(v))
			cs[j] = max(cs[j], math.Abs(v))
		}
		*at(m, i) = most
	}
}

func colMaxGo(n int, f, a *float64, lda int, c *float64) {
	cs := slice(c, 0, n)
	for i, f := range slice(f, 0, 4) {
		for j, v := range slice(a, i*lda, n) {
			cs[j] = max(cs[j], f*math.Abs(v))
		}
	}
}

// extract returns t = s + a·x rounded to float64, and the round-off e of t.
func extract(a, x, s float64) (t, e float64) {
	t = math.FMA(a, x, s)
	return t, math.FMA(a, x, s-t)
}

func dotsTwofoldGo(
	n int,
	base, a *float64,
	lda int,
	x, s *float64,
) {
	const sides = 4
	xs := slice(x, 0, n)
	for i := range 4 {
		b := *at(base, i)
		row := slice(a, i*lda, n)
		hi := [sides]float64{b, b, b, b}
		lo := [sides]float64{}
		for j, v := range row {
			var e float64
			hi[j%sides], e = extract(v, xs[j], hi[j%sides])
			lo[j%sides] += e
		}
		*at(s, i) = (hi[0] - b) +
			(hi[1] - b) +
			((hi[2] - b) + (hi[3] - b))
		*at(s, 4+i) = (lo[0] + lo[1]) + (lo[2] + lo[3])
	}
}

func openGo(n int, sigma float64, c, h, l *float64) {
	hs := slice(h, 0, n)
	ls := slice(l, 0, n)
	for j, c := range slice(c, 0, n) {
		hs[j] = Base(sigma * c)
		ls[j] = 0
	}
}

func axpysTwofoldGo(
	n int,
	c, a *float64,
	lda int,
	h, l *float64,
) {
	hs := slice(h, 0, n)
	ls := slice(l, 0, n)
	cs := slice(c, 0, 8)
	for i := range 4 {
		for j, v := range slice(a, i*lda, n) {
			var e float64
			hs[j], e = extract(v, cs[i], hs[j])
			ls[j] = math.FMA(v, cs[4+i], ls[j]+e)
		}
	}
}

func closeGo(
	n int,
	sigma, eps float64,
	c, h, l, gh, gl, ge *float64,
) {
	cs := slice(c, 0, n)
	hs := slice(h, 0, n)
	ls := slice(l, 0, n)
	for j := range n {
		twofold.Add(
			hs[j]-Base(sigma*cs[j]),
			ls[j],
			float64(eps*cs[j]),
			at(gh, j),
			at(gl, j),
			at(ge, j),
		)
	}
}

func addGo(n int, h, l, e, gh, gl, ge *float64) {
	for j := range n {
		twofold.Add(
			*at(h, j),
			*at(l, j),
			*at(e, j),
			at(gh, j),
			at(gl, j),
			at(ge, j),
		)
	}
}
