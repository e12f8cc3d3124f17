package cell

import (
	"math/big"
	"sync/atomic"
)

// A wide is the number hi·2⁶⁴ + lo.
type wide struct{ hi, lo uint64 }

// powers is the table of the powers of ten that the function power returns. The first call fills it, in less than a
// millisecond.
var powers atomic.Pointer[[maxPower - minPower + 1]wide]

// The table holds 128 bits of each power of ten 10^q. For q from exactDown to exactUp, these bits are enough to
// round every product with a 64-bit integer correctly:
//
//   - For 0 ≤ q ≤ exactUp the power is exact, because 5⁵⁵ < 2¹²⁸.
//   - For exactDown ≤ q < 0, 5^(−q) < 2⁶⁴, and the table holds the reciprocal of 5^(−q), rounded up. The product of
//     an integer and this reciprocal, rounded down, is the correct quotient (Lemire, section 5).
const exactUp, exactDown = 55, -27

// power returns the first 128 bits of 10^q. They are rounded up if exactDown ≤ q < 0, and rounded down for other q.
func power(q int) wide {
	t := powers.Load()
	if t == nil {
		t = makePowers()
		powers.Store(t)
	}
	return t[q-minPower]
}

// makePowers computes the table of the powers 10^q. It uses powers of five, because 10^q and 5^q differ by a power
// of two and so have the same leading bits.
func makePowers() *[maxPower - minPower + 1]wide {
	t := new([maxPower - minPower + 1]wide)
	five := big.NewInt(5)
	p := big.NewInt(1)
	c := new(big.Int)
	one := big.NewInt(1)
	low := new(big.Int).SetUint64(1<<64 - 1)
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
		if q > 0 { // 2^(n+127)/5^q lies between 2¹²⁷ and 2¹²⁸ and is no integer
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
