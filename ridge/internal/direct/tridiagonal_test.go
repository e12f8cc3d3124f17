package direct

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// families are rows of integers, so that sums of their products are exact.
var families = []struct {
	name    string
	rankOne bool
	row     func(rng *rand.Rand, i, j, d int) float64
}{
	{"gaussian", false, func(rng *rand.Rand, _, _, _ int) float64 { return math.Round(1000 * rng.NormFloat64()) }},
	{"equal rows", true, func(_ *rand.Rand, _, j, _ int) float64 { return float64(1<<12 - 3*(j%5)) }},
	{"equal entries", true, func(*rand.Rand, int, int, int) float64 { return 43691.0 / 8 }},
	{"falling", false, func(rng *rand.Rand, _, j, d int) float64 {
		return math.Round(rng.NormFloat64() * math.Exp2(18-17*float64(j)/float64(d)))
	}},
	{"rising", false, func(rng *rand.Rand, _, j, d int) float64 {
		return math.Round(rng.NormFloat64() * math.Exp2(1+17*float64(j)/float64(d)))
	}},
	{"of rank one", true, func(_ *rand.Rand, i, j, _ int) float64 { return float64((i%7 + 1) * (j + 100)) }},
	{"diagonal", false, func(_ *rand.Rand, i, j, _ int) float64 {
		if i == j {
			return float64(1000 + i)
		}
		return 0
	}},
	{"a column of zeros", false, func(rng *rand.Rand, _, j, _ int) float64 {
		if j == 1 {
			return 0
		}
		return math.Round(100 * rng.NormFloat64())
	}},
}

// integers is K = AᵀA of n rows of a family, without round-off, in normal equations.
func integers(rng *rand.Rand, be engine.Backend, f int, n, d int) *normalEquations {
	e := newNormalEquations(be, d, 1, 1, false)
	q := d + 1
	row := make([]float64, d)
	for i := range n {
		for j := range row {
			row[j] = families[f].row(rng, i, j, d)
		}
		for j := range d {
			for k := range j + 1 {
				e.sum[j*q+k] += row[j] * row[k]
			}
		}
	}
	e.columns()
	return e
}

// TestReduction: the eigenvalues of T differ from the eigenvalues of K by at most Reduced. For rows of rank one the
// eigenvalues are known: ‖A‖²_F and zeros. Sturm sequences in extended precision count the eigenvalues of T. For
// other rows the defect KQ − QT, measured with twice the digits, bounds the differences, because Q is orthogonal up
// to round-off.
func TestReduction(t *testing.T) {
	orders := []int{1, 2, 3, 17, 60, 150}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		orders = append(orders, 400, 850)
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst, where := 0.0, ""
		for f, family := range families {
			for _, d := range orders {
				if d > 400 && f%3 > 0 {
					continue // a second each
				}
				rng := rand.New(rand.NewPCG(uint64(d), uint64(f)))
				e := integers(rng, be, f, 1+rng.IntN(60), d)
				trace := 0.0
				for j := range d {
					trace += e.sum[j*(d+1)+j]
				}
				if !(trace > 0 && trace < 1<<53) {
					t.Fatalf("%s, d = %d: trace %g", family.name, d, trace)
				}
				r := (&System{f: reduced{e}}).Reduce()
				pad := r.T.Reduced
				if most := 8 * (float64(d) + 16) * math.Sqrt(float64(d)) * roundoff.Eps * trace; !(pad <= most) {
					t.Errorf("%s, d = %d: Reduced is %g, more than %g", family.name, d, pad, most)
				}
				if family.rankOne {
					got := [...]int{r.below(-pad), r.below(pad), r.below(trace - pad), r.below(trace + pad)}
					if got != [...]int{0, d - 1, d - 1, d} {
						t.Errorf(
							"%s, d = %d: %v eigenvalues are below -δ, δ, ‖A‖² - δ and ‖A‖² + δ",
							family.name,
							d,
							got,
						)
					}
					continue
				}
				if off := exactDefect(e, r) / pad; !(off <= worst) {
					worst, where = off, fmt.Sprintf("%s, d = %d", family.name, d)
				}
			}
		}
		t.Logf("worst defect is %.3g of its bound (%s)", worst, where)
		if !(worst <= 1) {
			t.Errorf("the defect of a reduction is %.3g of its bound (%s)", worst, where)
		}
	})
}

// below is how many eigenvalues of T are below x: as many as T − xI = LDLᵀ has negative pivots.
func (r *Reduction) below(x float64) (count int) {
	var p *big.Float
	for i, a := range r.T.Diagonal {
		v := new(big.Float).Sub(refbig.Float(a), refbig.Float(x))
		if i > 0 {
			e := refbig.Float(r.T.Beside[i-1])
			v.Sub(v, new(big.Float).Quo(new(big.Float).Mul(e, e), p))
		}
		if v.Sign() == 0 { // of a T that is off by as good as nothing
			v = refbig.Float(0x1p-1000)
		}
		if v.Sign() < 0 {
			count++
		}
		p = v
	}
	return count
}

// exactDefect is ‖KQ − QT‖_F with the columns of Q from Turn.
func exactDefect(e *normalEquations, r *Reduction) float64 {
	d := e.d
	q := make([]float64, d*d)
	for i := range d {
		q[i*d+i] = 1
	}
	r.Turn(false, q) // row i is column i of Q
	sum := 0.0
	for i := range d {
		column := q[i*d : (i+1)*d]
		for k := range d {
			var s, c float64
			add := func(x, y float64) {
				p := x * y
				c += math.FMA(x, y, -p)
				t := s + p
				z := t - s
				c += (s - (t - z)) + (p - z)
				s = t
			}
			for j, v := range column {
				add(e.sum[k*(d+1)+j], v)
			}
			add(-r.T.Diagonal[i], column[k])
			if i > 0 {
				add(-r.T.Beside[i-1], q[(i-1)*d+k])
			}
			if i+1 < d {
				add(-r.T.Beside[i], q[(i+1)*d+k])
			}
			sum += (s + c) * (s + c)
		}
	}
	return math.Sqrt(sum)
}

// TestReductionSolves: what Correct solves leaves little, and what is left is told.
func TestReductionSolves(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 90
		rng := rand.New(rand.NewPCG(3, 3))
		e := integers(rng, be, 0, 200, d)
		r := (&System{f: reduced{e}}).Reduce()
		gammas := []float64{1, 1e5, 1e9}
		g := make([]float64, len(gammas)*d)
		for i := range g {
			g[i] = rng.NormFloat64()
		}
		step, left := r.Correct(gammas, g)
		for i, gamma := range gammas {
			for k := range d {
				got := g[i*d+k] - gamma*step[i*d+k]
				for j := range d {
					got -= e.sum[k*(d+1)+j] * step[i*d+j]
				}
				if !(math.Abs(got) <= 1e-8) || !(math.Abs(got-left[i*d+k]) <= 1e-10) {
					t.Fatalf("γ = %g: component %d: left is %g, told %g", gamma, k, got, left[i*d+k])
				}
			}
		}
		if (&System{f: e}).Reduce() != nil {
			t.Error("normal equations without room for it are reduced")
		}
	})
}
