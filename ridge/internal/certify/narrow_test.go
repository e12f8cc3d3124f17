package certify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// TestNarrow: narrow tightens brackets of Σ γ²h²/(λ+γ)² by their neighbours. The tightened brackets contain the
// exact sum, and a bracket that was [0, ∞) becomes narrow.
func TestNarrow(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		lambda, h, gammas := make([]float64, 5), make([]float64, 5), make([]float64, 8)
		for i := range h {
			lambda[i], h[i] = math.Exp(8*r.Float64()), r.NormFloat64()
		}
		var exact []*big.Float
		rss := make([]interval.Interval, len(gammas))
		for i := range gammas {
			gammas[i] = math.Exp(r.NormFloat64() - 4)
			if i > 0 && seed%2 == 0 { // ascending, some equal
				gammas[i] = gammas[i-1] * (1 + 0.5*float64(r.IntN(2)))
			}
			sum := new(big.Float).SetPrec(300)
			for l, v := range lambda {
				gamma := refbig.Float(gammas[i])
				x := new(big.Float).Quo(gamma, new(big.Float).Add(refbig.Float(v), gamma))
				x.Mul(x, refbig.Float(h[l]))
				sum.Add(sum, x.Mul(x, x))
			}
			exact = append(exact, sum)
			at, _ := sum.Float64()
			rss[i] = interval.Interval{Lo: at * (1 - 1e-12), Hi: at * (1 + 1e-12)}
		}
		rss[0] = interval.Nonnegative()
		narrow(gammas, rss)
		for i, v := range rss {
			if !(refbig.Float(v.Lo).Cmp(exact[i]) <= 0) ||
				!(math.IsInf(v.Hi, 1) || refbig.Float(v.Hi).Cmp(exact[i]) >= 0) {
				t.Fatalf("seed %d: the sum at γ = %v is %v, not in %v", seed, gammas[i], exact[i], v)
			}
		}
		if v := rss[0]; seed%2 == 0 && !(v.Lo >= v.Hi/3) {
			t.Errorf("seed %d: nothing is known of the first sum: %v", seed, v)
		}
	}
}
