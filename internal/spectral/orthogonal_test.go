package spectral_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/spectral"
)

// TestLoss: the loss of orthogonality agrees with a computation with twice the digits, even if V is orthonormal up to
// round-off. This holds for matrices of several blocks of rows and columns.
func TestLoss(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, s := range [][2]int{{1, 1}, {1, 700}, {3, 3}, {20, 30}, {40, 1100}, {257, 260}, {300, 520}} {
			for _, off := range []float64{0, 1e-14, 1e-9} {
				r, k := s[0], s[1]
				rng := rand.New(rand.NewPCG(uint64(r), uint64(k)))
				v := orthonormal(rng, r, k)
				for i := range v {
					v[i] += off * (2*rng.Float64() - 1)
				}
				omega := engine.View(r, r, make([]float64, r*r))
				work := make([]float64, spectral.Work(r, k))
				got := spectral.Loss(be, engine.View(r, k, v), omega, work)
				want, apart := 0.0, 0.0
				for i := range r {
					for j := range i + 1 {
						x := entry(v[i*k:(i+1)*k], v[j*k:(j+1)*k], i == j)
						f := 2.0
						if i == j {
							f = 1
						}
						want += f * x * x
						apart = math.Max(apart, math.Abs(x-omega.Row(i)[j]))
					}
				}
				want = math.Sqrt(want)
				if !(got >= want) || !(got <= 1.02*want+0x1p-60*float64(r)*math.Sqrt(float64(k))) ||
					!(apart <= 0x1p-60*float64(k)+1e-9*want) {
					t.Errorf("%d×%d, off by %g: %g, with entries off by %g, want %g", r, k, off, got, apart, want)
				}
				if again := spectral.Loss(be, engine.View(r, k, v), engine.Matrix{}, work); again != got {
					t.Errorf("%d×%d: %g without entries, %g with them", r, k, again, got)
				}
			}
		}
		long := []float64{1.5, 0, 0, 1}
		got := spectral.Loss(be, engine.View(2, 2, long), engine.Matrix{}, make([]float64, spectral.Work(2, 2)))
		if !math.IsInf(got, 1) {
			t.Errorf("a row of length 1.5: %g", got)
		}
		// The squares of these small entries are below the smallest number, but not zero.
		for _, tiny := range []float64{0x1p-600, 0x1p-1074} {
			v := engine.View(2, 2, []float64{1, tiny, 0, 1})
			if got := spectral.Loss(be, v, engine.Matrix{}, make([]float64, spectral.Work(2, 2))); !(got >= math.Sqrt2*tiny) {
				t.Errorf("(1, %g) and (0, 1): %g", tiny, got)
			}
			v = engine.View(1, 2, []float64{1, tiny})
			if got := spectral.Loss(be, v, engine.Matrix{}, make([]float64, spectral.Work(1, 2))); !(got > 0) {
				t.Errorf("(1, %g): %g", tiny, got)
			}
		}
		if got := spectral.Loss(be, engine.View(0, 5, nil), engine.Matrix{}, make([]float64, spectral.Work(0, 5))); got != 0 {
			t.Errorf("no rows: %g", got)
		}
	})
}

// orthonormal draws r orthonormal rows of length k.
func orthonormal(rng *rand.Rand, r, k int) []float64 {
	a := mat.NewDense(k, r, nil)
	a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	out := make([]float64, r*k)
	for i := range r {
		for j := range k {
			out[i*k+j] = q.At(j, i)
		}
	}
	return out
}

// entry is the product of x and y with twice the digits, less 1 on the diagonal.
func entry(x, y []float64, diagonal bool) float64 {
	s, c := 0.0, 0.0
	add := func(p float64) {
		t := s + p
		z := t - s
		c += (s - (t - z)) + (p - z)
		s = t
	}
	if diagonal {
		add(-1)
	}
	for i, v := range x {
		p := v * y[i]
		add(p)
		c += math.FMA(v, y[i], -p)
	}
	return s + c
}
