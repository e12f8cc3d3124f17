package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"unsafe"
)

// precision of the reference, in bits: enough for the largest numbers and their reduction.
const precision = 1400

func newBig() *big.Float { return new(big.Float).SetPrec(precision) }

// bigPi is π by J. Machin's formula, 16·arctan(1/5) − 4·arctan(1/239).
var bigPi = sync.OnceValue(func() *big.Float {
	arctan := func(n int64) *big.Float { // of 1/n
		sum, power := newBig(), newBig().Quo(newBig().SetInt64(1), newBig().SetInt64(n))
		square := newBig().SetInt64(n * n)
		for k := int64(1); power.Sign() != 0 && power.MantExp(nil) > -precision; k += 2 {
			term := newBig().Quo(power, newBig().SetInt64(k))
			if k%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, square)
		}
		return sum
	}
	a, b := arctan(5), arctan(239)
	return newBig().Sub(a.Mul(a, newBig().SetInt64(16)), b.Mul(b, newBig().SetInt64(4)))
})

// bigCos is cos x: reduced by a multiple of π/2, the rest by Taylor's series with 200 bits.
func bigCos(x float64) *big.Float {
	half := newBig().Quo(bigPi(), newBig().SetInt64(2))
	turns := newBig().Quo(newBig().SetFloat64(x), half)
	turns.Add(turns, newBig().SetFloat64(math.Copysign(0.5, x)))
	q, _ := turns.Int(nil)
	exact := newBig().Sub(newBig().SetFloat64(x), newBig().Mul(newBig().SetInt(q), half))
	const bits = 200
	r := new(big.Float).SetPrec(bits).Set(exact)
	square := new(big.Float).SetPrec(bits).Mul(r, r)
	quadrant := new(big.Int).And(q, big.NewInt(3)).Int64() // of two's complement
	term, k := new(big.Float).SetPrec(bits).SetInt64(1), int64(0)
	if quadrant%2 == 1 { // cos(r + π/2) = −sin r
		term, k = r, 1
	}
	sum := new(big.Float).SetPrec(bits).Set(term)
	for term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-bits {
		term = new(big.Float).SetPrec(bits).Mul(term, square)
		term.Quo(term, new(big.Float).SetInt64(-(k+1)*(k+2)))
		k += 2
		sum.Add(sum, term)
	}
	if quadrant == 1 || quadrant == 2 {
		sum.Neg(sum)
	}
	return sum
}

// ulps is |got − want| in units of the last place of a float64 of want's size.
func ulps(got float64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(precision).SetFloat64(got)
	off, _ := d.Sub(d, want).Float64()
	return math.Abs(off) * math.Ldexp(1, 53-want.MantExp(nil))
}

// hardArguments are numbers of every kind, so many random ones among them.
func hardArguments(random int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := []float64{
		0,
		math.Copysign(0, -1),
		math.SmallestNonzeroFloat64,
		0x1p-1022,
		0x1p-1030,
		0x1p-27,
		0x1p-26,
		1,
		math.MaxFloat64,
		math.Pi,
		math.Pi / 2,
		math.Pi / 4,
		3 * math.Pi / 4,
		0x1.6ac5b262ca1ffp+849,
	} // the last is nearest of all to a multiple of π/2
	for _, v := range []float64{nearLimit, math.Pi / 4, 3 * math.Pi / 4, 0x1p52, 0x1p53, 0x1p63, 0x1p64} {
		for range 3 {
			x = append(x, v, -v)
			v = math.Nextafter(v, math.Inf(1))
		}
		v = math.Nextafter(v, 0)
		x = append(x, v, math.Nextafter(v, 0))
	}
	for e := -1074; e < 1024; e++ {
		x = append(x, math.Ldexp(1+rng.Float64(), e), -math.Ldexp(1, e))
	}
	for i := range 300 { // integers, multiples of π/4 and their neighbours
		x = append(x, float64(i), float64(rng.IntN(nearLimit)))
		v := float64(rng.IntN(nearLimit)) * (math.Pi / 4)
		x = append(x, v, math.Nextafter(v, 0), math.Nextafter(v, math.Inf(1)))
	}
	for i := range random {
		switch i % 4 {
		case 0:
			x = append(x, (2*rng.Float64()-1)*nearLimit)
		case 1:
			x = append(x, rng.NormFloat64()*10)
		case 2:
			x = append(x, float64(rng.IntN(2*nearLimit/3))*(math.Pi/2))
		case 3:
			x = append(x, math.Float64frombits(rng.Uint64()&^(1<<62)|1<<61)) // below one
		}
	}
	return x
}

// nearestMultiples are, for each power of two up to nearLimit, the number below it that is
// nearest to an odd multiple of π/2.
func nearestMultiples() (x []float64) {
	for e := 0; e <= 20; e++ {
		best := math.Inf(1)
		var at float64
		for k := int64(math.Ldexp(2/math.Pi, e-1)) | 1; k <= int64(math.Ldexp(2/math.Pi, e)); k += 2 {
			// Two float64 are enough to tell which are near.
			p := float64(k) * halfPi1
			low := math.FMA(float64(k), halfPi1, -p) + float64(k)*halfPi2
			if v := p + low; math.Abs((p-v)+low) < best*math.Abs(v) {
				best, at = math.Abs((p-v)+low)/math.Abs(v), v
			}
		}
		if at != 0 {
			x = append(x, at, -at)
		}
	}
	return x
}

func TestCosineIsNear(t *testing.T) {
	random := 20000
	switch {
	case os.Getenv("FDRIDGE_THOROUGH") != "":
		random = 1000000
	case testing.Short():
		random = 2000
	}
	for _, x := range nearestMultiples() { // what leaving out a fourth part of π/2 stands on
		if c, _ := bigCos(x).Float64(); !(math.Abs(c) > 0x1p-61) {
			t.Errorf("cos %x = %g", x, c)
		}
	}
	worst, at := 0.0, 0.0
	for _, x := range append(nearestMultiples(), hardArguments(random)...) {
		want := bigCos(x)
		off := ulps(cosine(x), want)
		if !(off <= 1) {
			t.Errorf("cos %x is %x, off by %.3g ulp", x, cosine(x), off)
		}
		if off > worst {
			worst, at = off, x
		}
	}
	t.Logf("at most %.4f ulp, at %x", worst, at)
}

// alike compares numbers by their bits, NaN as NaN.
func alike(x, y float64) bool { return same(x, y) || math.IsNaN(x) && math.IsNaN(y) }

// TestCosines: every kernel makes the bits of the twin, wherever in a vector a number is and
// whatever is beside it, and writes nowhere else.
func TestCosines(t *testing.T) {
	arguments := append(hardArguments(4000), math.NaN(), math.Inf(1), math.Inf(-1))
	onEach(t, func(g *guarded) {
		for trial := range 4000 {
			n, scale := sizes[trial%len(sizes)], []float64{1, 0.044194173824159223, -3}[trial%3]
			x := make([]float64, n)
			for j := range x {
				switch {
				case trial%2 == 0: // all of them near
					x[j] = g.rng.NormFloat64() * 30
				default:
					x[j] = arguments[g.rng.IntN(len(arguments))]
				}
			}
			g.begin("n %d, trial %d", n, trial)
			y, finite := g.blank(1, n), true
			got := g.kernel.Cos(n, scale, unsafe.SliceData(g.put(0, x)), unsafe.SliceData(y))
			for j, v := range x {
				finite = finite && v-v == 0
				if want := scale * cosine(v); !alike(y[j], want) {
					g.fail("cos(%x)·%v is %x, want %x", v, scale, y[j], want)
				}
			}
			if got != finite {
				g.fail("finite: %v, want %v", got, finite)
			}
			for i, a := range g.areas {
				if !a.intact() {
					g.fail("wrote outside of operand %d", i)
				}
			}
		}
	})
}

// TestCosineOfManyNumbers compares the kernels on many numbers of each kind.
func TestCosineOfManyNumbers(t *testing.T) {
	random := 1 << 20
	if testing.Short() {
		random = 1 << 14
	}
	x := hardArguments(random)
	want := make([]float64, len(x))
	generic.Cos(len(x), 1, &x[0], &want[0])
	for _, k := range All() {
		y := make([]float64, len(x))
		k.Cos(len(x), 1, &x[0], &y[0])
		for j := range y {
			if !alike(y[j], want[j]) {
				t.Fatalf("%s: cos %x is %x, want %x", k.Name, x[j], y[j], want[j])
			}
		}
	}
}

// chained is the definition of a chain of products, for one number.
func chained(from float64, x, w []float64) float64 {
	for i, v := range x {
		from = math.FMA(v, w[i], from)
	}
	return from
}

func TestChain(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			for _, k := range []int{0, 1, 2, 7} {
				const inputs = 11
				w, from, x := g.normal(inputs*n), g.normal(n), g.normal(k)
				columns := make([]int32, k)
				for i, j := range g.rng.Perm(inputs)[:k] {
					columns[i] = int32(j)
				}
				g.begin("n %d, k %d", n, k)
				pw, pf, z := g.put(0, w), g.put(1, from), g.blank(2, n)
				g.kernel.Cosines.Chain(
					n,
					k,
					unsafe.SliceData(x),
					unsafe.SliceData(columns),
					unsafe.SliceData(pw),
					unsafe.SliceData(pf),
					unsafe.SliceData(z),
				)
				g.written(1, n, n+1, z)
				for c := range n {
					column := make([]float64, k)
					for i, j := range columns {
						column[i] = w[int(j)*n+c]
					}
					g.equal(fmt.Sprint("element ", c), z[c:c+1], []float64{chained(from[c], x, column)})
				}
			}
		}
	})
}

func TestChain4(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, n := range sizes {
			for trial, k := range []int{0, 1, 2, 7} {
				ldx, ldz := k+trial%2*3, n+trial/2*3
				w, x := g.put(0, g.normal(k*n)), g.put(1, g.normal(extent(4, k, ldx)))
				for _, ldf := range []int{0, n, n + 2} {
					from := g.normal(3*ldf + n)
					g.begin("n %d, k %d, ldx %d, ldf %d, ldz %d", n, k, ldx, ldf, ldz)
					z := g.blank(2, extent(4, n, ldz))
					g.kernel.Cosines.Chain4(
						n,
						k,
						unsafe.SliceData(x),
						ldx,
						unsafe.SliceData(w),
						unsafe.SliceData(from),
						ldf,
						unsafe.SliceData(z),
						ldz,
					)
					g.written(4, n, ldz, z)
					for i := range 4 * n {
						r, c := i/n, i%n
						column := make([]float64, k)
						for j := range column {
							column[j] = w[j*n+c]
						}
						g.equal(
							fmt.Sprintf("row %d, element %d", r, c),
							z[r*ldz+c:][:1],
							[]float64{chained(from[r*ldf+c], row(x, r, k, ldx), column)},
						)
					}
				}
			}
		}
	})
}

func FuzzCosine(f *testing.F) {
	for _, x := range hardArguments(0) {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		got := cosine(x)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if !math.IsNaN(got) {
				t.Fatalf("cos %v is %v", x, got)
			}
			return
		}
		if off := ulps(got, bigCos(x)); !(off <= 1) {
			t.Errorf("cos %x is %x, off by %.3g ulp", x, got, off)
		}
		for _, k := range All() {
			y := []float64{1, 2, 3, x, 5, 6, 7, 8, x}
			k.Cos(len(y), 1, &y[0], &y[0])
			if !same(y[3], got) || !same(y[8], got) {
				t.Errorf("%s: cos %x is %x and %x, want %x", k.Name, x, y[3], y[8], got)
			}
		}
	})
}
