package decimal

import (
	"math/big"
	"sync/atomic"
)

// A wide is hi·2⁶⁴ + lo.
type wide struct{ hi, lo uint64 }

// powers are made when the first of them is asked for; it takes less than a millisecond.
var powers atomic.Pointer[[maxPower - minPower + 1]wide]

// exactUp and exactDown are the powers of ten that 128 bits hold as the product needs them:
// 5⁵⁵ < 2¹²⁸, and 5²⁷ < 2⁶⁴, so that a whole number divided by it, by way of a reciprocal that
// is rounded up, is rounded down correctly (Lemire, section 5).
const exactUp, exactDown = 55, -27

// power is 10^q, scaled by a power of two to 128 bits. It is rounded down, but up from
// exactDown to −1.
func power(q int) wide {
	t := powers.Load()
	if t == nil {
		t = makePowers()
		powers.Store(t)
	}
	return t[q-minPower]
}

// makePowers makes them from 5^|q|, which differs from 10^|q| by a power of two.
func makePowers() *[maxPower - minPower + 1]wide {
	t := new([maxPower - minPower + 1]wide)
	five, p, c := big.NewInt(5), big.NewInt(1), new(big.Int)
	one, low := big.NewInt(1), new(big.Int).SetUint64(1<<64-1)
	put := func(q int) {
		t[q-minPower].lo = new(big.Int).And(c, low).Uint64()
		t[q-minPower].hi = new(big.Int).Rsh(c, 64).Uint64()
	}
	for q := 0; q <= -minPower; q++ {
		n := p.BitLen() // 2^(n−1) ≤ 5^q < 2^n
		if q <= maxPower {
			if n <= 128 {
				c.Lsh(p, uint(128-n))
			} else {
				c.Rsh(p, uint(n-128))
			}
			put(q)
		}
		if q > 0 { // 2^(n+127)/5^q is between 2¹²⁷ and 2¹²⁸, and never whole
			c.Quo(c.Lsh(one, uint(n+127)), p)
			if -q >= exactDown {
				c.Add(c, one)
			}
			put(-q)
		}
		p.Mul(p, five)
	}
	return t
}
