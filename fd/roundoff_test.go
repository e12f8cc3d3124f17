package fd_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// margin is the part of a pad that no error exceeds. A pad is a bound with a proof.
const margin = 1

// largest is the largest round-off found, as a part of its pad.
type largest struct {
	worst float64
	at    string
}

// add takes K − BᵀB into account, K the exact AᵀA, of the sketch p.
func (c *largest) add(e *mat.SymDense, b fd.Bound, at string) {
	lo, hi := extremes(e)
	if r := math.Max(-lo, hi-b.Shrinkage) / b.RoundOff; !(r <= c.worst) {
		c.worst = r
		c.at = fmt.Sprintf("%s: %.3g of %.3g·eps·‖A‖²", at, r*b.RoundOff/eps/b.Frobenius2, b.RoundOff/eps/b.Frobenius2)
	}
}

func (c *largest) holds(t *testing.T) {
	t.Helper()
	t.Logf("worst round-off is %.3f of its pad (%s)", c.worst, c.at)
	if !(c.worst <= margin) {
		t.Errorf("round-off reached %.3f of its pad (%s)", c.worst, c.at)
	}
}

// TestRoundOff holds Bound.RoundOff: over many streams the part of E beyond
// [0, η], measured in extended precision, stays below the pad.
func TestRoundOff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, name := range spectrumNames {
			for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
				for seed := range uint64(drawn(12)) {
					rng := rand.New(rand.NewPCG(seed, 11))
					d, m := 6+rng.IntN(40), 1+rng.IntN(20)
					a := stream(rng, 20+rng.IntN(700), d, name)
					s := newSketch(
						t,
						fd.Config{Dim: d, Size: m, ShrinkRows: 1 + rng.IntN(20), Shrink: driver, Backend: be},
					)
					check(t, s.Append(a))
					p := must(s.Spectrum())(t)
					c.add(gap(a, p.Matrix()), p.Bound, name+" "+driver.String())
				}
			}
		}
		c.holds(t)
	})
}

// repeated are blocks of 16 rows that round badly when they come again and again: equal
// terms are all rounded the same way.
var repeated = map[string]func(rng *rand.Rand, d int) *mat.Dense{
	"equal rows": func(rng *rand.Rand, d int) *mat.Dense {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		return rows16(d, func(_, j int) float64 { return row[j] })
	},
	"one number": func(rng *rand.Rand, d int) *mat.Dense {
		x := 1 + rng.Float64()
		return rows16(d, func(int, int) float64 { return x })
	},
	"two numbers": func(rng *rand.Rand, d int) *mat.Dense {
		x := [2]float64{1 + rng.Float64(), 1 + rng.Float64()}
		return rows16(d, func(_, j int) float64 { return x[j%2] })
	},
	"offset": func(rng *rand.Rand, d int) *mat.Dense {
		return rows16(d, func(_, j int) float64 { return 1e3 + float64(j) + rng.NormFloat64() })
	},
	"graded to 1e-16": func(rng *rand.Rand, d int) *mat.Dense {
		return rows16(d, func(_, j int) float64 { return rng.NormFloat64() * math.Pow(10, -16*float64(j)/float64(d)) })
	},
}

func rows16(d int, f func(i, j int) float64) *mat.Dense {
	a := mat.NewDense(16, d, nil)
	a.Apply(func(i, j int, _ float64) float64 { return f(i, j) }, a)
	return a
}

// drawn is how many streams of a kind are tried: so many where FDRIDGE_THOROUGH is set,
// else a quarter.
func drawn(most int) int {
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		return most
	}
	return most / 4
}

// isTried reports whether case i, such as a pair of a shape and a kind of rows, is tried: every second one, or all if
// FDRIDGE_THOROUGH is set.
func isTried(i int) bool { return i%2 == 0 || os.Getenv("FDRIDGE_THOROUGH") != "" }

// TestRoundOffOfRepeatedRows is TestRoundOff for many repetitions, of sketches that lose
// nothing because they keep as many rows as there are features, or as the rank.
func TestRoundOffOfRepeatedRows(t *testing.T) {
	shapes := []struct {
		d, m, p, n int
		driver     fd.Driver
	}{
		{
			1,
			1,
			0,
			200000,
			fd.Gram,
		},
		{1, 1, 1, 4000, fd.Gram}, {2, 2, 0, 100000, fd.Gram}, {3, 3, 2, 8000, fd.Gram}, {3, 2, 1, 4000, fd.Gram},
		{2, 2, 1, 2000, fd.SVD}, {12, 12, 12, 8000, fd.Gram}, {12, 10, 10, 8000, fd.Gram},
		{8, 8, 0, 50000, fd.Gram}, {8, 8, 0, 1000000, fd.Gram}, {8, 8, 1, 8000, fd.Gram},
		{8, 8, 10, 20000, fd.Gram},
		{
			20,
			20,
			0,
			60000,
			fd.Gram,
		},
		{32, 32, 1, 600, fd.Gram}, {64, 64, 0, 1300, fd.Gram}, {64, 64, 5, 800, fd.Gram},
		{130, 130, 0, 2000, fd.Gram}, {130, 130, 10, 700, fd.Gram},
		{8, 8, 0, 5000, fd.SVD}, {20, 20, 0, 2500, fd.SVD}, {64, 64, 0, 300, fd.SVD}, {20, 20, 400, 2500, fd.SVD},
		{
			30,
			20,
			0,
			1500,
			fd.Gram,
		},
		{30, 20, 200, 20000, fd.Gram}, {100, 60, 0, 1500, fd.Gram}, {150, 16, 0, 400, fd.Gram},
		{30, 20, 0, 1500, fd.SVD}, {30, 20, 200, 5000, fd.SVD}, {100, 20, 0, 300, fd.SVD},
	}
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for i, s := range shapes {
			if testing.Short() && s.n*s.d > 100000 {
				continue // minutes where the processor is emulated
			}
			seeds := 1
			if s.n <= 200000 && (s.d < 4 || (s.d == 8 && s.p != 1)) {
				seeds = drawn(8)
			}
			if os.Getenv("FDRIDGE_THOROUGH") == "" {
				seeds = 1
				if s.n >= 50000 {
					s.n /= 8
				}
			}
			for k, name := range slices.Sorted(maps.Keys(repeated)) {
				if !isTried(i + k) {
					continue
				}
				for seed := range seeds {
					a := repeated[name](rand.New(rand.NewPCG(uint64(s.d), uint64(seed))), s.d)
					sketch := newSketch(
						t,
						fd.Config{Dim: s.d, Size: s.m, ShrinkRows: s.p, Shrink: s.driver, Backend: be},
					)
					times := s.n/16 + 1
					for range times {
						check(t, sketch.Append(a))
					}
					p := must(sketch.Spectrum())(t)
					c.add(
						gapTimes(times, a, p.Matrix()),
						p.Bound,
						fmt.Sprintf("%s, d = %d, m = %d, p = %d, %s", name, s.d, s.m, s.p, s.driver),
					)
				}
			}
		}
		c.holds(t)
	})
}

// TestRoundOffOfLongRows: rows of one number or two and many features, whose products are
// long sums of equal terms.
func TestRoundOffOfLongRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, d := range []int{256, 1000, 4096, 20000} {
			for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
				for seed := range uint64(drawn(16)) {
					rng := rand.New(rand.NewPCG(seed, 2))
					row := make([]float64, d)
					x := []float64{1 + rng.Float64(), 1 + rng.Float64()}[:1+seed%2]
					norm2 := number(0)
					for j := range row {
						row[j] = x[j%len(x)]
						norm2.Add(norm2, mul(number(row[j]), number(row[j])))
					}
					s := newSketch(t, fd.Config{Dim: d, Size: 2, Shrink: driver, Backend: be})
					for range 5 {
						check(t, s.AppendRow(row))
					}
					// All rows are equal, so λ = uᵀ(AᵀA − BᵀB)u along their direction u is the whole error.
					p, err := s.Spectrum()
					if driver == fd.SVD && errors.Is(err, fd.ErrNoConvergence) {
						// Some kernels' sums are too coarse for Jacobi's rotations to end.
						t.Logf("d = %d, seed %d: %v", d, seed, err)
						continue
					}
					check(t, err)
					e := mul(number(5), norm2)
					for i, s2 := range p.Sigma2 {
						dot := number(0)
						for j, v := range p.V[i*d : (i+1)*d] {
							dot.Add(dot, mul(number(v), number(row[j])))
						}
						along := mul(number(s2), mul(dot, dot))
						e.Sub(e, along.Quo(along, norm2))
					}
					lambda, _ := e.Float64()
					c.add(mat.NewSymDense(1, []float64{lambda}), p.Bound, fmt.Sprintf("d = %d, %v", d, driver))
				}
			}
		}
		c.holds(t)
	})
}

// TestRoundOffOfMerge: what a merged sketch had lost to round-off is lost to the union.
func TestRoundOffOfMerge(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d, n = 8, 8000
		a := repeated["equal rows"](rand.New(rand.NewPCG(8, 8)), d)
		cfg := fd.Config{Dim: d, Size: d, ShrinkRows: 1, Backend: be}
		s, o := newSketch(t, cfg), newSketch(t, cfg)
		for range n / 16 {
			check(t, o.Append(a))
		}
		check(t, s.Merge(o))
		within(t, gapTimes(n/16, a, must(s.Spectrum())(t).Matrix()), must(s.Spectrum())(t).Bound)

		// Each merge adds a single row and shrinks.
		s, o = newSketch(t, cfg), newSketch(t, cfg)
		check(t, o.AppendRow(a.RawRowView(0)))
		for range n {
			check(t, s.Merge(o))
		}
		within(t, gapTimes(n/16, a, must(s.Spectrum())(t).Matrix()), must(s.Spectrum())(t).Bound)
	})
}

// TestRoundOffOfDecay: each decay rounds √β the same way. At the end it is far below the
// smallest normal number that squares of entries are.
func TestRoundOffOfDecay(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			for _, c := range []struct {
				beta          float64
				decays, every int
			}{{0.99, 3000, 500}, {0.9999, 3000, 3000}, {1e-3, 400, 5}, {0.25, 1100, 25}, {1e-300, 4, 1}} {
				for _, m := range []int{1, 3} {
					a := stream(rand.New(rand.NewPCG(3, 1)), 9, 3, "decay")
					s := newSketch(t, fd.Config{Dim: 3, Size: m, ShrinkRows: 2, Shrink: driver, Backend: be})
					check(t, s.Append(a))
					k, beta := bigGram(a), number(c.beta)
					for i := range c.decays {
						check(t, s.Decay(c.beta))
						for _, row := range k {
							for j := range row {
								row[j] = mul(row[j], beta)
							}
						}
						if (i+1)%c.every == 0 {
							withinBig(t, k, must(s.Spectrum())(t))
						}
					}
				}
			}
		}
	})
}

// TestUnderflow: where every square underflows BᵀB is zero and AᵀA is not.
func TestUnderflow(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			for _, x := range []float64{1e-170, 1e-162, 3e-158, 1.4e-154, 5e-324} {
				for _, n := range []int{1, 3, 50} {
					for _, m := range []int{1, 2} {
						a := mat.NewDense(n, 2, nil)
						a.Apply(func(i, j int, _ float64) float64 { return x * []float64{1, -0.5, 0.75}[(i+2*j)%3] }, a)
						s := newSketch(t, fd.Config{Dim: 2, Size: m, ShrinkRows: 1, Shrink: driver, Backend: be})
						check(t, s.Append(a))
						withinBig(t, bigGram(a), must(s.Spectrum())(t))
					}
				}
			}
		}
	})
}

// gapTimes is times·AᵀA − BᵀB, to about twice working precision.
func gapTimes(times int, a, b *mat.Dense) *mat.SymDense {
	_, d := a.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			high, low := twofold(0, 0, 1, a, i, j)
			t := float64(times)
			s, c := t*high, math.FMA(t, high, -t*high)+t*low
			s, c = twofold(s, c, -1, b, i, j)
			out.SetSym(i, j, s+c)
		}
	}
	return out
}

// twofold adds sign times the product of columns i and j of a to s + c.
func twofold(s, c, sign float64, a *mat.Dense, i, j int) (float64, float64) {
	n, _ := a.Dims()
	for k := range n {
		x, y := sign*a.At(k, i), a.At(k, j)
		p := x * y
		c += math.FMA(x, y, -p)
		t := s + p
		z := t - s
		c += (s - (t - z)) + (p - z)
		s = t
	}
	return s, c
}

// within checks the bound b of a sketch with AᵀA − BᵀB = e.
func within(t rapid.TB, e *mat.SymDense, b fd.Bound) {
	t.Helper()
	if lo, hi := extremes(e); !(lo >= -b.RoundOff) || !(hi <= b.FD()) {
		t.Errorf("AᵀA − BᵀB is from %g to %g, bounded by %g and %g", lo, hi, -b.RoundOff, b.FD())
	}
}

func number(x float64) *big.Float { return refbig.Float(x) }

func mul(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }

// bigGram is AᵀA.
func bigGram(a *mat.Dense) [][]*big.Float {
	n, d := a.Dims()
	k := make([][]*big.Float, d)
	for i := range k {
		for j := range d {
			sum := number(0)
			for r := range n {
				sum.Add(sum, mul(number(a.At(r, i)), number(a.At(r, j))))
			}
			k[i] = append(k[i], sum)
		}
	}
	return k
}

// withinBig checks the bound of p, whose AᵀA is k, where float64 would underflow.
func withinBig(t rapid.TB, k [][]*big.Float, p *fd.Spectrum) {
	t.Helper()
	e := make([][]*big.Float, p.Dim)
	for i := range e {
		for j := range p.Dim {
			off := new(big.Float).Set(k[i][j])
			for r, s2 := range p.Sigma2 {
				off.Sub(off, mul(number(s2), mul(number(p.V[r*p.Dim+i]), number(p.V[r*p.Dim+j]))))
			}
			e[i] = append(e[i], off)
		}
	}
	w := refbig.Eigenvalues(e)
	lo, hi := w[0], w[len(w)-1]
	if !(lo.Cmp(number(-p.Bound.RoundOff)) >= 0) || !(hi.Cmp(number(p.Bound.FD())) <= 0) {
		t.Errorf("AᵀA − BᵀB is from %.3g to %.3g, bounded by %g and %g", lo, hi, -p.Bound.RoundOff, p.Bound.FD())
	}
}

// TestRoundOffStaysSmall: of a sketch that loses nothing, the pad of n rows grows by less
// than their number.
func TestRoundOffStaysSmall(t *testing.T) {
	for _, c := range []struct {
		d, n   int
		driver fd.Driver
		most   float64 // in eps·‖A‖²_F
	}{{8, 20000, fd.Gram, 90}, {8, 1000000, fd.Gram, 350}, {64, 20000, fd.Gram, 500}, {8, 20000, fd.SVD, 2400}} {
		a := stream(rand.New(rand.NewPCG(1, 1)), 1000, c.d, "decay")
		s := newSketch(t, fd.Config{Dim: c.d, Size: c.d, Shrink: c.driver})
		for range c.n / 1000 {
			check(t, s.Append(a))
		}
		b := must(s.Spectrum())(t).Bound
		if got := b.RoundOff / eps / b.Frobenius2; !(got <= c.most) || b.Shrinkage != 0 {
			t.Errorf("d = %d, n = %d, %v: RoundOff is %.4g·eps·‖A‖², η is %g", c.d, c.n, c.driver, got, b.Shrinkage)
		}
	}
}
