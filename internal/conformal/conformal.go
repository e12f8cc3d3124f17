// Package conformal computes the order statistics of conformal prediction. Given are n exchangeable residuals and a
// coverage 1 − α. The intervals use the k-th smallest residual, where k = ⌈(1 − α)(n + 1)⌉. With a
// probability of at least 1 − α, a further residual is not larger than this residual.
//
// Sources: V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005); R. Barber, E. Candès,
// A. Ramdas, R. Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49 (2021).
package conformal

import (
	"math/big"
	"math/rand/v2"
	"strconv"
)

// Rank returns the rank ⌈level·(n + 1)⌉ of the residual that gives intervals with the coverage level, for n
// residuals. level must be below 1. It is read as its shortest decimal text: 0.9 means exactly 9/10, although the
// float64 is slightly larger. If the rank is n + 1, no finite interval has this coverage.
func Rank(level float64, n int64) int64 {
	at := decimal(level)
	at.Mul(at, new(big.Rat).SetInt64(n+1))
	return ceil(at)
}

// Least returns the smallest number of residuals that gives a finite interval with the coverage level. It is the
// smallest n such that Rank(level, n) is at most n, which is ⌈level/(1 − level)⌉. The level must be below 1.
func Least(level float64) int64 {
	p := decimal(level)
	rest := new(big.Rat).Sub(new(big.Rat).SetInt64(1), p)
	return ceil(p.Quo(p, rest))
}

// decimal returns the exact value of the shortest decimal text of v. v must be finite.
func decimal(v float64) *big.Rat {
	out, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return out
}

// ceil returns v rounded up to an integer. v must not be negative.
func ceil(v *big.Rat) int64 {
	n := new(big.Int).Add(v.Num(), v.Denom())
	n.Sub(n, big.NewInt(1))
	return n.Quo(n, v.Denom()).Int64()
}

// Smallest returns the k-th smallest of values, where k = 1 means the smallest. It reorders values. The expected
// time is linear (C. Hoare's selection). No value may be NaN.
func Smallest(values []float64, k int64) float64 {
	at := int(k - 1)
	for lo, hi := 0, len(values)-1; lo < hi; {
		pivot := values[lo+rand.IntN(hi-lo+1)]
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			hi = j
		case at >= i:
			lo = i
		default:
			return values[at]
		}
	}
	return values[at]
}
