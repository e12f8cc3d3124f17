package adversary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// A Pair is the sum of two float64 as a number of 106 bits. Lo is at most half a unit in the last place of Hi
// (T. Dekker, Numer. Math. 18, 1971).
type Pair struct{ Hi, Lo float64 }

// PairOf returns x rounded to a Pair.
func PairOf(x *big.Float) Pair {
	hi, _ := x.Float64()
	if math.IsInf(hi, 0) {
		return Pair{Hi: hi}
	}
	lo, _ := new(big.Float).Sub(x, refbig.Float(hi)).Float64()
	return Pair{hi, lo}
}

// Big returns the exact value of p.
func (p Pair) Big() *big.Float { return sum(refbig.Float(p.Hi), refbig.Float(p.Lo)) }

// twoSum returns a + b as a pair (D. Knuth).
func twoSum(a, b float64) Pair {
	s := a + b
	z := s - a
	return Pair{s, (a - (s - z)) + (b - z)}
}

// quickSum is like twoSum, but assumes |a| ≥ |b|.
func quickSum(a, b float64) Pair {
	s := a + b
	return Pair{s, b - (s - a)}
}

// twoProd returns a·b as a pair.
func twoProd(a, b float64) Pair {
	p := float64(a * b) // not fused with a later addition
	return Pair{p, math.FMA(a, b, -p)}
}

// Add returns p + q.
func (p Pair) Add(q Pair) Pair {
	s, t := twoSum(p.Hi, q.Hi), twoSum(p.Lo, q.Lo)
	s = quickSum(s.Hi, s.Lo+t.Hi)
	return quickSum(s.Hi, s.Lo+t.Lo)
}

// Neg returns −p.
func (p Pair) Neg() Pair { return Pair{-p.Hi, -p.Lo} }

// Sub returns p − q.
func (p Pair) Sub(q Pair) Pair { return p.Add(q.Neg()) }

// Mul returns p·q.
func (p Pair) Mul(q Pair) Pair {
	r := twoProd(p.Hi, q.Hi)
	return quickSum(r.Hi, r.Lo+(p.Hi*q.Lo+p.Lo*q.Hi))
}

// Quo returns p/q.
func (p Pair) Quo(q Pair) Pair {
	a := p.Hi / q.Hi
	r := p.Sub(q.Mul(Pair{Hi: a}))
	b := r.Hi / q.Hi
	r = r.Sub(q.Mul(Pair{Hi: b}))
	s := quickSum(a, b)
	return s.Add(Pair{Hi: r.Hi / q.Hi})
}

// Sqrt returns √p for p ≥ 0.
func (p Pair) Sqrt() Pair {
	if p.Hi <= 0 {
		return Pair{}
	}
	a := Pair{Hi: math.Sqrt(p.Hi)}
	r := p.Sub(a.Mul(a))
	return a.Add(Pair{Hi: r.Hi / (2 * a.Hi)})
}

// A pairs is a vector of Pairs. hi has the high parts and lo the low parts. lo is nil if all low parts are
// zero.
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

// dotPairs returns xᵀy by the algorithm Dot2 (T. Ogita, S. Rump, S. Oishi, SIAM J. Sci. Comput. 26, 2005), in
// two independent sums.
func dotPairs(x, y pairs) Pair {
	n := len(x.hi)
	var a, b, sa, sb float64 // the two sums and their round-off errors
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

// TestPair: arithmetic of pairs is right to 100 bits.
func TestPair(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	draw := func() Pair {
		v := r.NormFloat64()
		return Pair{v, v * 0x1p-54 * r.Float64()}
	}
	for range 1000 {
		p, q := draw(), draw()
		for name, v := range map[string]struct {
			got  Pair
			want *big.Float
		}{
			"sum":        {p.Add(q), sum(p.Big(), q.Big())},
			"product":    {p.Mul(q), mul(p.Big(), q.Big())},
			"quotient":   {p.Quo(q), quo(p.Big(), q.Big())},
			"root":       {p.Mul(p).Sqrt(), new(big.Float).Abs(p.Big())},
			"conversion": {PairOf(p.Big()), p.Big()},
		} {
			off, _ := quo(sub(v.got.Big(), v.want), sum(new(big.Float).Abs(v.want), refbig.Float(1e-3))).Float64()
			if !(math.Abs(off) <= 0x1p-90) {
				t.Errorf("%s of %v and %v is off by %g", name, p, q, off)
			}
		}
	}
}

// table returns an n×d matrix of normal numbers.
func table(r *rand.Rand, n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = normals(r, d)
	}
	return out
}
