package refbig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestTwofold: pairs say what 512 bits say, to 25 digits where κ(H) is 10⁴, with
// means of 10⁸ and weights.
func TestTwofold(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, shape := range [][2]int{{1, 1}, {5, 9}, {40, 7}, {61, 12}} {
		for _, intercept := range []bool{false, true} {
			n, d := shape[0], shape[1]
			x, y := random(r, n, d), random(r, n, 2)
			weights, w := make([]Pair, n), make([]float64, n)
			for i := range x {
				w[i] = 1
				if d != 7 {
					w[i] = math.Ldexp(1+r.Float64(), r.IntN(20)-10)
				}
				weights[i] = Pair{Hi: w[i]}
				if intercept {
					for j := range x[i] {
						x[i][j] += 1e8
					}
				}
			}
			exact := New(x, y, w, intercept)
			two := NewTwofold(x, y, weights, intercept)
			gamma := 1e-4 * two.Trace
			if gamma == 0 {
				gamma = 1
			}
			want, err := exact.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			got, err := two.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, got Pair, want *big.Float, scale float64) {
				t.Helper()
				off, _ := sub(got.Big(), want).Float64()
				if !(math.Abs(off) <= 1e-25*scale) {
					t.Errorf("n = %d, d = %d, intercept %v: %s is off by %g of %g", n, d, intercept, what, off, want)
				}
			}
			near("df", got.EffectiveDimension, want.EffectiveDimension, float64(d)*1e4)
			for j := range 2 {
				yy, _ := exact.YY[j].Float64()
				size := Norm(want.Coef[j])
				for i := range d {
					near("x", got.Coef[j][i], want.Coef[j][i], size*1e2)
				}
				near("intercept", got.Intercept[j], want.Intercept[j], 1+1e9*size)
				near("RSS", got.RSS[j], want.RSS[j], yy*1e2)
				near("objective", got.Objective[j], want.Objective[j], yy*1e2)
			}
		}
	}
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
			"sum":        {p.Add(q), add(p.Big(), q.Big())},
			"product":    {p.Mul(q), mul(p.Big(), q.Big())},
			"quotient":   {p.Quo(q), quo(p.Big(), q.Big())},
			"root":       {p.Mul(p).Sqrt(), new(big.Float).Abs(p.Big())},
			"conversion": {PairOf(p.Big()), p.Big()},
		} {
			off, _ := quo(sub(v.got.Big(), v.want), add(new(big.Float).Abs(v.want), Float(1e-3))).Float64()
			if !(math.Abs(off) <= 0x1p-90) {
				t.Errorf("%s of %v and %v is off by %g", name, p, q, off)
			}
		}
	}
}

// BenchmarkTwofold is a problem of the largest kind.
func BenchmarkTwofold(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 9))
	x, y := random(r, 1200, 400), random(r, 1200, 1)
	w := make([]Pair, len(x))
	for i := range w {
		w[i] = Pair{Hi: 1}
	}
	for b.Loop() {
		if _, err := NewTwofold(x, y, w, true).Solve(1); err != nil {
			b.Fatal(err)
		}
	}
}
