package cell

import (
	"math/big"
	"sync/atomic"
)

// A wide is the number hi·2⁶⁴ + lo.
type wide struct{ hi, lo uint64 }

// powers is the table of [power], filled at the first use. Filling takes less than a millisecond.
var powers atomic.Pointer[[maxPower - minPower + 1]wide]

// For exponents q from exactDown to exactUp, the powers of ten in the table are precise enough for all products:
//
//   - For 0 ≤ q ≤ exactUp they are exact, since 5⁵⁵ < 2¹²⁸.
//   - For exactDown ≤ q < 0, 5^(−q) < 2⁶⁴, and the table holds its reciprocal, rounded up. An integer times
//     this reciprocal, rounded down, is the correct quotient (Lemire, section 5).
const exactUp, exactDown = 55, -27

// power returns the first 128 bits of 10^q. They are rounded up for q from exactDown to −1, and down for other q.
func power(q int) wide {
	t := powers.Load()
	if t == nil {
		t = makePowers()
		powers.Store(t)
	}
	return t[q-minPower]
}

// makePowers computes the table from powers of five: 5^|q| and 10^|q| have the same leading bits.
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
