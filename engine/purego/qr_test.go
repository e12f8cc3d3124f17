package purego_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// normals are n normal random numbers, the same each time.
func normals(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// upper runs QR on a copy of A (m×n) and returns R (min(m, n)×n), zeros below its
// diagonal.
func upper(t *testing.T, m, n int, a []float64) []float64 {
	t.Helper()
	be, err := purego.New(purego.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a = slices.Clone(a)
	work := slices.Repeat([]float64{math.NaN()}, be.QRWork(m, n))
	be.QR(matrix.View(m, n, a), work)
	r := a[:min(m, n)*n]
	for i := range min(m, n) {
		clear(r[i*n : i*n+i])
	}
	return r
}

// Shapes with one and several panels and blocks of rows.
var qrShapes = [][2]int{
	{1, 1},
	{5, 5},
	{40, 200},
	{200, 40},
	{150, 150},
	{1024, 65},
	{1025, 64},
	{2700, 130},
	{3000, 17},
}

// TestQRGram checks RᵀR = AᵀA column by column. Every seventh column is zero.
func TestQRGram(t *testing.T) {
	for _, s := range qrShapes {
		m, n := s[0], s[1]
		a := normals(m * n)
		for i := range a {
			if i%n%7 == 0 {
				a[i] = 0
			}
		}
		r := upper(t, m, n, a)
		for j := range n {
			for k := range j + 1 {
				var g, aa, bb float64
				for i := range m {
					g += a[i*n+j] * a[i*n+k]
					aa += a[i*n+j] * a[i*n+j]
					bb += a[i*n+k] * a[i*n+k]
				}
				for i := range min(m, k+1) {
					g -= r[i*n+j] * r[i*n+k]
				}
				if !(math.Abs(g) <= 4*0x1p-52*float64(m+n)*math.Sqrt(aa*bb)) {
					t.Fatalf("%d×%d: (AᵀA − RᵀR)(%d, %d) is %g", m, n, j, k, g)
				}
			}
		}
	}
}

// TestQRScale scales the columns by powers of two, to 1e±290 and beyond the range
// of squares: R's columns must be scaled alike, bit for bit.
func TestQRScale(t *testing.T) {
	for _, s := range qrShapes {
		m, n := s[0], s[1]
		a, rng := normals(m*n), rand.New(rand.NewPCG(5, 6))
		exps := make([]int, n)
		for j := range exps {
			exps[j] = rng.IntN(1920) - 960
		}
		want, scaled := upper(t, m, n, a), slices.Clone(a)
		for i := range scaled {
			scaled[i] = math.Ldexp(a[i], exps[i%n])
		}
		for i := range want {
			want[i] = math.Ldexp(want[i], exps[i%n])
		}
		if what := differ(upper(t, m, n, scaled), want); what != "" {
			t.Errorf("%d×%d: %s", m, n, what)
		}
	}
}

// TestQRTiny looks at what is left of columns below larger ones, relative to
// itself.
func TestQRTiny(t *testing.T) {
	for _, tiny := range []float64{1, 1e-150, 1e-200, 1e-300} {
		const n = 3
		a := []float64{
			1, 1, 1,
			0, tiny, tiny,
			0, tiny, 0,
			0, 0, tiny,
		}
		r := upper(t, 4, n, a)
		for _, e := range []struct {
			at   int
			want float64
		}{{0, 1}, {1, 1}, {2, 1}, {n + 1, math.Sqrt2 * tiny}, {n + 2, tiny / math.Sqrt2}, {2*n + 2, math.Sqrt(1.5) * tiny}} {
			if !(math.Abs(math.Abs(r[e.at])-e.want) <= 16*0x1p-52*e.want) {
				t.Errorf("%g: element %d is %g, want ±%g", tiny, e.at, r[e.at], e.want)
			}
		}
	}
}

// TestQRSpecial: zero columns give zero rows of R where they stand first, and a
// NaN or an infinity does no more harm than to R.
func TestQRSpecial(t *testing.T) {
	for _, s := range qrShapes {
		m, n := s[0], s[1]
		for _, x := range upper(t, m, n, make([]float64, m*n)) {
			if x != 0 {
				t.Fatalf("%d×%d: R of zeros has %g", m, n, x)
			}
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			a := normals(m * n)
			a[(m/2)*n+n/2] = bad
			finite := !slices.ContainsFunc(
				upper(t, m, n, a),
				func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) },
			)
			if finite {
				t.Errorf("%d×%d: %g went unnoticed", m, n, bad)
			}
		}
	}
}

// TestQRLargest: columns whose norm is near the largest number.
func TestQRLargest(t *testing.T) {
	const m, n = 100, 20
	a := normals(m * n)
	for i := range a {
		a[i] = math.Ldexp(a[i], 1015)
	}
	for i, x := range upper(t, m, n, a) {
		if !(math.Abs(x) <= math.MaxFloat64) {
			t.Fatalf("element %d is %g", i, x)
		}
	}
}
