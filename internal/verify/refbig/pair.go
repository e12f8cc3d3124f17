package refbig

import (
	"math"
	"math/big"
)

// A Pair is the unevaluated sum of two float64, Lo at most half a unit in the last
// place of Hi: 106 bits (T. Dekker, Numer. Math. 18, 1971).
type Pair struct{ Hi, Lo float64 }

// PairOf rounds x.
func PairOf(x *big.Float) Pair {
	hi, _ := x.Float64()
	if math.IsInf(hi, 0) {
		return Pair{Hi: hi}
	}
	lo, _ := new(big.Float).Sub(x, Float(hi)).Float64()
	return Pair{hi, lo}
}

// Big is p, exactly.
func (p Pair) Big() *big.Float { return add(Float(p.Hi), Float(p.Lo)) }

// twoSum is a + b as a pair (D. Knuth).
func twoSum(a, b float64) Pair {
	s := a + b
	z := s - a
	return Pair{s, (a - (s - z)) + (b - z)}
}

// quickSum is twoSum for |a| ≥ |b|.
func quickSum(a, b float64) Pair {
	s := a + b
	return Pair{s, b - (s - a)}
}

// twoProd is a·b as a pair.
func twoProd(a, b float64) Pair {
	p := float64(a * b) // not fused into what it is added to
	return Pair{p, math.FMA(a, b, -p)}
}

// Add is p + q.
func (p Pair) Add(q Pair) Pair {
	s, t := twoSum(p.Hi, q.Hi), twoSum(p.Lo, q.Lo)
	s = quickSum(s.Hi, s.Lo+t.Hi)
	return quickSum(s.Hi, s.Lo+t.Lo)
}

// Neg is −p.
func (p Pair) Neg() Pair { return Pair{-p.Hi, -p.Lo} }

// Sub is p − q.
func (p Pair) Sub(q Pair) Pair { return p.Add(q.Neg()) }

// Mul is p·q.
func (p Pair) Mul(q Pair) Pair {
	r := twoProd(p.Hi, q.Hi)
	return quickSum(r.Hi, r.Lo+(p.Hi*q.Lo+p.Lo*q.Hi))
}

// Quo is p/q.
func (p Pair) Quo(q Pair) Pair {
	a := p.Hi / q.Hi
	r := p.Sub(q.Mul(Pair{Hi: a}))
	b := r.Hi / q.Hi
	r = r.Sub(q.Mul(Pair{Hi: b}))
	s := quickSum(a, b)
	return s.Add(Pair{Hi: r.Hi / q.Hi})
}

// Sqrt is √p for p ≥ 0.
func (p Pair) Sqrt() Pair {
	if p.Hi <= 0 {
		return Pair{}
	}
	a := Pair{Hi: math.Sqrt(p.Hi)}
	r := p.Sub(a.Mul(a))
	return a.Add(Pair{Hi: r.Hi / (2 * a.Hi)})
}

// pairs is a vector of them, the words apart. lo is nil where all are zero.
type pairs struct{ hi, lo []float64 }

func makePairs(n int) pairs { return pairs{make([]float64, n), make([]float64, n)} }

func (x pairs) cut(lo, hi int) pairs {
	if x.lo == nil {
		return pairs{x.hi[lo:hi], nil}
	}
	return pairs{x.hi[lo:hi], x.lo[lo:hi]}
}

func (x pairs) at(i int) Pair {
	if x.lo == nil {
		return Pair{Hi: x.hi[i]}
	}
	return Pair{x.hi[i], x.lo[i]}
}

func (x pairs) set(i int, v Pair) { x.hi[i], x.lo[i] = v.Hi, v.Lo }

// dotPairs is xᵀy by Dot2 (T. Ogita, S. Rump, S. Oishi, SIAM J. Sci. Comput. 26,
// 2005), in two chains.
func dotPairs(x, y pairs) Pair {
	n := len(x.hi)
	var a, b, sa, sb float64 // sums and what they lost
	xh, yh := x.hi, y.hi[:n]
	i := 0
	if x.lo == nil && y.lo == nil {
		for ; i+1 < n; i += 2 {
			u, v := xh[i], yh[i]
			p := float64(u * v) // not fused
			e := math.FMA(u, v, -p)
			s := a + p
			z := s - a
			sa += ((a - (s - z)) + (p - z)) + e
			a = s
			u, v = xh[i+1], yh[i+1]
			p = float64(u * v)
			e = math.FMA(u, v, -p)
			s = b + p
			z = s - b
			sb += ((b - (s - z)) + (p - z)) + e
			b = s
		}
	} else {
		xl, yl := x.lo[:n], y.lo[:n]
		for ; i+1 < n; i += 2 {
			u, v := xh[i], yh[i]
			p := float64(u * v) // not fused
			e := math.FMA(u, v, -p) + (u*yl[i] + xl[i]*v)
			s := a + p
			z := s - a
			sa += ((a - (s - z)) + (p - z)) + e
			a = s
			u, v = xh[i+1], yh[i+1]
			p = float64(u * v)
			e = math.FMA(u, v, -p) + (u*yl[i+1] + xl[i+1]*v)
			s = b + p
			z = s - b
			sb += ((b - (s - z)) + (p - z)) + e
			b = s
		}
	}
	total := twoSum(a, sa).Add(twoSum(b, sb))
	if i < n {
		total = total.Add(x.at(i).Mul(y.at(i)))
	}
	return total
}
