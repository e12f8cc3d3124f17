package direct

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// stacks are rows that are hard on a streamed QR factorisation.
var stacks = []struct {
	name string
	at   func(rng *rand.Rand, i, j int) float64
}{
	{"gaussian", func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() }},
	{"equal rows", func(_ *rand.Rand, _, j int) float64 { return 0.1 + float64(j%5)/7 }},
	{"equal entries", func(*rand.Rand, int, int) float64 { return 0.1 }},
	{"repeated rows", func(_ *rand.Rand, i, j int) float64 { return math.Sin(float64((i%3 + 1) * (j + 1))) }},
	{"graded columns", func(rng *rand.Rand, _, j int) float64 { return rng.NormFloat64() * math.Exp2(-40*float64(j)) }},
	{
		"rising columns",
		func(rng *rand.Rand, _, j int) float64 { return rng.NormFloat64() * math.Exp2(20*float64(j)-500) },
	},
	{"falling rows", func(rng *rand.Rand, i, _ int) float64 { return rng.NormFloat64() * math.Exp2(-float64(i)) }},
	{"rising rows", func(rng *rand.Rand, i, _ int) float64 { return rng.NormFloat64() * math.Exp2(float64(i)-100) }},
	{"nearly dependent", func(rng *rand.Rand, i, j int) float64 {
		return math.Cos(float64(i)) + 1e-9*rng.NormFloat64()*float64(j)
	}},
	{"zeros", func(rng *rand.Rand, i, j int) float64 {
		if j%3 == 1 || i%5 == 2 {
			return 0
		}
		return rng.NormFloat64()
	}},
	{"subnormal numbers", func(rng *rand.Rand, _, j int) float64 {
		if j%2 == 0 {
			return rng.NormFloat64() * 0x1p-1060
		}
		return rng.NormFloat64()
	}},
	{"powers", func(_ *rand.Rand, i, j int) float64 { return math.Pow(1+float64(i)/50, float64(j)) }},
}

// exactSquares adds the products of the columns of x (n×q) to sum.
func exactSquares(sum []*big.Float, x []float64, q int) {
	for lo := 0; lo < len(x); lo += q {
		row := make([]*big.Float, q)
		for j := range row {
			row[j] = refbig.Float(x[lo+j])
		}
		for i := range q {
			for j := range i + 1 {
				sum[i*q+j].Add(sum[i*q+j], new(big.Float).SetPrec(refbig.Prec).Mul(row[i], row[j]))
			}
		}
	}
}

func zeros(n int) []*big.Float {
	out := make([]*big.Float, n)
	for i := range out {
		out[i] = refbig.Float(0)
	}
	return out
}

// TestQRBackward compares RᵀR after several folds with the exact AᵀA. R is the factor of A + E, where the columns
// of E have at most the claimed norms. So no entry of RᵀR may be further from AᵀA than these norms allow.
func TestQRBackward(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst := 0.0
		for _, stack := range stacks {
			for _, shape := range [][2]int{{1, 1}, {2, 7}, {3, 40}, {11, 5}, {16, 9}, {17, 20}, {35, 6}} {
				q, m := shape[0], shape[1]
				rng := rand.New(rand.NewPCG(31, uint64(q)))
				e := NewQR(be, q-1, 1, false).(*tsqr)
				exact := zeros(q * q)
				for f := range 4 {
					rows := e.buffer()[:m*q]
					for i := range rows {
						rows[i] = stack.at(rng, f*m+i/q, i%q)
					}
					exactSquares(exact, rows, q)
					e.fold(m)
				}
				ratio := nearFactor(exact, e)
				worst = math.Max(worst, ratio)
				if !(ratio <= 1) {
					t.Errorf("%s, q = %d, folds of %d rows: RᵀR is off by %g of the bound", stack.name, q, m, ratio)
				}
			}
		}
		t.Logf("worst error/bound %.3g", worst)
	})
}

// nearFactor is the largest distance of an entry of RᵀR from the exact one, relative to its bound.
func nearFactor(exact []*big.Float, e *tsqr) (worst float64) {
	q := e.d + e.t
	col := e.columns()
	found := zeros(q * q)
	exactSquares(found, e.r, q)
	for i := range q {
		for j := range i + 1 {
			v, _ := new(big.Float).Sub(found[i*q+j], exact[i*q+j]).Float64()
			a, b := e.backward(i), e.backward(j)
			worst = math.Max(worst, math.Abs(v)/(a*(col[j]+b)+b*col[i]+roundoff.Underflow))
		}
	}
	return worst
}

// TestQRBackwardIsSmall: the bound grows far less than with the number of rows, as rows that come
// late move R little.
func TestQRBackwardIsSmall(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q     int
		limit float64 // in units of Unit and a fold
	}{{3, 200}, {11, 250}, {40, 1500}} {
		rng := rand.New(rand.NewPCG(32, 1))
		e := NewQR(be, c.q-1, 1, false).(*tsqr)
		const folds = 40
		for range folds {
			rows := e.buffer()[:roundoff.StageRows*c.q]
			for i := range rows {
				rows[i] = rng.NormFloat64()
			}
			e.fold(roundoff.StageRows)
		}
		got := e.backward(0) / (roundoff.Unit * folds * e.columns()[0])
		t.Logf("q = %d: %.4g units a fold", c.q, got)
		if !(got <= c.limit) {
			t.Errorf("q = %d: %.4g units a fold", c.q, got)
		}
	}
}

// TestFoldMotion: 2 − τ of a reflection is 1 − |α/β|, what the diagonal moves by.
func TestFoldMotion(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	const q, m = 20, 6
	rng := rand.New(rand.NewPCG(33, 1))
	r, b := make([]float64, q*q), make([]float64, m*q)
	want := 0.0
	for i := range q {
		r[i*q+i] = 1 + rng.Float64()
	}
	before := append([]float64(nil), r...)
	for i := range b {
		b[i] = rng.NormFloat64()
	}
	motion := newFolder(be, q, m).fold(engine.View(q, q, r), engine.View(m, q, b))
	for i := range q {
		want += 1 - math.Abs(before[i*q+i]/r[i*q+i])
	}
	if !(math.Abs(motion-want) <= 1e-13*want) {
		t.Errorf("motion %v, want %v", motion, want)
	}
}
