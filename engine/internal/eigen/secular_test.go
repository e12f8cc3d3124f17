package eigen

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// drawSecular draws an equation with gaps and weights of any size that deflation
// lets through.
func drawSecular(t *rapid.T) secular {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	s := secular{loops: plainLoops{}, rho: math.Pow(10, rapid.Float64Range(-12, 3).Draw(t, "rho"))}
	x := rapid.Float64Range(-1, 1).Draw(t, "first")
	var norm2 float64
	for range n {
		s.d = append(s.d, x)
		z := math.Pow(10, rapid.Float64Range(-14, 0).Draw(t, "z"))
		s.z = append(s.z, z)
		norm2 += z * z
		x += math.Pow(10, rapid.Float64Range(-13, 0).Draw(t, "gap"))
	}
	for i := range s.z {
		s.z[i] /= math.Sqrt(norm2)
		s.zz = append(s.zz, s.z[i]*s.z[i])
	}
	return s
}

// Each root lies in its interval and, evaluated in 300 bits, f vanishes there up to
// what the rounding of its terms and of τ explains.
func TestSecularRoots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSecular(t)
		n := len(s.d)
		for j := range n {
			delta := make([]float64, n)
			lambda, ok := s.root(j, delta)
			if !ok {
				t.Fatalf("root %d: not converged", j)
			}
			o := j // the pole from which λ = d_o − delta[o] is exact
			if j < n-1 && math.Abs(delta[j+1]) < math.Abs(delta[j]) {
				o = j + 1
			}
			if lambda != s.d[o]-delta[o] {
				t.Errorf("root %d: %g is not %g - %g", j, lambda, s.d[o], delta[o])
			}
			f, size := residual(s, o, delta[o])
			if !(math.Abs(f) <= 10*eps*float64(n)*size) {
				t.Errorf("root %d: f = %g of terms of %g", j, f, size)
			}
			for i, x := range delta {
				if (x > 0) != (i > j) || x == 0 {
					t.Errorf("root %d: on the wrong side of pole %d", j, i)
				}
				want := (s.d[i] - s.d[o]) + delta[o]
				if !(math.Abs(x-want) <= 4*eps*math.Abs(want)) {
					t.Errorf("root %d: difference %d is %g, want %g", j, i, x, want)
				}
			}
		}
	})
}

// Every root is found, between its poles, for weights, gaps and rho of any mixture
// of sizes. Some of these equations take more than a hundred steps when the
// iteration is left to the quadratics or bisection is by halves alone.
func TestSecularConverges(t *testing.T) {
	for _, digits := range [][2]float64{{0, 0}, {4, 1}, {14, 13}, {3, 3}, {0, 13}, {14, 0}} {
		rng := rand.New(rand.NewPCG(1, 2))
		size := func(digits float64) float64 { return math.Pow(10, -digits*rng.Float64()) * (0.5 + rng.Float64()) }
		for range 2000 {
			n := 2 + rng.IntN(40)
			s := secular{loops: plainLoops{}, rho: size(8), d: make([]float64, n), z: make([]float64, n), zz: make([]float64, n)}
			norm, delta := 0.0, make([]float64, n)
			for i := range n {
				s.d[i] = size(digits[1])
				if i > 0 {
					s.d[i] += s.d[i-1]
				}
				s.z[i] = size(digits[0])
				norm = math.Hypot(norm, s.z[i])
			}
			for i := range n {
				s.z[i] /= norm
				s.zz[i] = s.z[i] * s.z[i]
			}
			for j := range n {
				if _, ok := s.root(j, delta); !ok {
					t.Fatalf("digits %v: root %d of %v not found", digits, j, s)
				}
				if !(delta[j] < 0) || j+1 < n && !(delta[j+1] > 0) {
					t.Fatalf("digits %v: root %d of %v is not between its poles", digits, j, s)
				}
			}
		}
	}
}

// residual returns f(d_o − difference) and the sum of the magnitudes of its terms,
// with the effect of an error of eps in the difference.
func residual(s secular, o int, difference float64) (f, size float64) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	lambda := number(s.d[o])
	lambda.Sub(lambda, number(difference))
	sum := number(1)
	sum.Quo(sum, number(s.rho))
	size = 1 / s.rho
	for i, d := range s.d {
		gap := number(d)
		gap.Sub(gap, lambda)
		term := number(s.zz[i])
		term.Quo(term, gap)
		sum.Add(sum, term)
		x, _ := term.Float64()
		g, _ := gap.Float64()
		size += math.Abs(x) * (1 + math.Abs(difference/g))
	}
	f, _ = sum.Float64()
	return f, size
}
