package dual

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// wide is a number of many digits and any exponent.
func wide(v float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(v) }

func plus(a, b *big.Float) *big.Float  { return wide(0).Add(a, b) }
func minus(a, b *big.Float) *big.Float { return wide(0).Sub(a, b) }
func times(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }

func norm(x []*big.Float) *big.Float {
	sum := wide(0)
	for _, v := range x {
		sum = plus(sum, times(v, v))
	}
	return wide(0).Sqrt(sum)
}

// TestMeasure: what is measured is within the bounds that come with it, at any scale of rows,
// targets, weights and γ, next to the ends of the range, too.
func TestMeasure(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	beyond, problems := 0, uint64(1000)
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		problems = 10000
	}
	for seed := range problems {
		rng := rand.New(rand.NewPCG(seed, 29))
		n, d := 1+rng.IntN(6), 1+rng.IntN(6)
		sparse, intercept, weighted := seed&1 != 0, seed&2 != 0, seed&4 != 0
		scale := func(far int) float64 { return math.Ldexp(1, rng.IntN(2*far+1)-far) }
		near, about := scale(400), scale(400)
		b := dataset.Block{N: n, Y: make([]float64, n)}
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for j := range x[i] {
				if !sparse || rng.IntN(3) == 0 {
					x[i][j] = rng.NormFloat64() * near
				}
			}
			b.Y[i] = rng.NormFloat64() * about
		}
		if weighted {
			b.W = make([]float64, n)
			for i := range b.W {
				b.W[i] = rng.Float64() * scale(30)
			}
		}
		rows := rowsWith(x, b, sparse, intercept)
		p := Point{Gamma: scale(500) * (1 + rng.Float64()), Hi: make([]float64, n), Lo: make([]float64, n)}
		small := math.Ldexp(1, -1022-rng.IntN(53)+rng.IntN(100)) // next to the least numbers
		if rng.IntN(2) == 0 {
			small = about / p.Gamma
		}
		for i := range p.Hi {
			p.Hi[i] = rng.NormFloat64() * small
			p.Lo[i] = p.Hi[i] * 0x1p-54 * rng.Float64()
		}
		theta := func(i int) *big.Float { return plus(wide(p.Hi[i]), wide(p.Lo[i])) }
		found, err := rows.Measure(
			context.Background(),
			be,
			[]Point{{Gamma: p.Gamma, Hi: slices.Clone(p.Hi), Lo: slices.Clone(p.Lo)}},
		)
		if err != nil {
			t.Fatal(err)
		}
		f := found[0]
		finite := func(v float64) bool { return v-v == 0 }
		if !finite(f.RSS.Hi + f.RSS.Lo + floats.Sum(f.X) + floats.Sum(f.Low) + floats.Sum(f.Missed)) {
			beyond++
			continue // beyond the range, which is told
		}
		weight := func(i int) *big.Float { return wide(b.Weight(i)) }
		total := wide(0)
		for i := range n {
			total = plus(total, weight(i))
		}
		centred := func(v []*big.Float) []*big.Float {
			if !intercept {
				return v
			}
			mean := wide(0)
			for i := range v {
				mean = plus(mean, times(weight(i), v[i]))
			}
			mean.Quo(mean, total)
			out := make([]*big.Float, n)
			for i := range v {
				out[i] = minus(v[i], mean)
			}
			return out
		}
		a := make([][]*big.Float, d) // columns
		var apart, missed, left []*big.Float
		for j := range d {
			column := make([]*big.Float, n)
			for i := range n {
				column[i] = wide(x[i][j])
			}
			a[j] = centred(column)
			sum := wide(0)
			for i := range n {
				sum = plus(sum, times(times(weight(i), theta(i)), a[j][i]))
			}
			apart = append(apart, minus(plus(wide(f.X[j]), wide(f.Low[j])), sum))
		}
		targets := make([]*big.Float, n)
		thetas := make([]*big.Float, n)
		for i := range n {
			targets[i], thetas[i] = wide(b.Y[i]), theta(i)
		}
		targets, thetas = centred(targets), centred(thetas)
		off := 0.0
		rss := wide(0)
		for i := range n {
			v := targets[i]
			for j := range d {
				v = minus(v, times(a[j][i], plus(wide(f.X[j]), wide(f.Low[j]))))
			}
			root := wide(0).Sqrt(weight(i))
			missed = append(missed, times(root, v))
			rss = plus(rss, times(missed[i], missed[i]))
			left = append(left, times(root, minus(v, times(wide(p.Gamma), thetas[i]))))
			wrong, _ := minus(missed[i], wide(f.Missed[i])).Float64()
			off = math.Max(off, math.Abs(wrong))
		}
		holds := func(what string, wrong *big.Float, bound float64) {
			t.Helper()
			if bound < math.Inf(1) && wrong.Cmp(wide(bound+float64(d)*0x1p-1074)) > 0 {
				ratio, _ := wide(0).Quo(wrong, wide(bound+0x1p-1074)).Float64()
				t.Errorf(
					"seed %d: %s: %.4g of its bound %g (n %d, d %d, sparse %v, intercept %v, weighted %v, rows %g, "+
						"targets %g, γ %g, θ %g)",
					seed,
					what,
					ratio,
					bound,
					n,
					d,
					sparse,
					intercept,
					weighted,
					near,
					about,
					p.Gamma,
					small,
				)
			}
		}
		holds("x − Aᵀα", norm(apart), f.Apart+f.Slack)
		holds("b − Ax − γα", norm(left), f.Norm)
		holds("an element of b − Ax", wide(off), f.Off)
		rss = minus(rss, plus(wide(f.RSS.Hi), wide(f.RSS.Lo)))
		holds("‖b − Ax‖²", rss.Abs(rss), f.RSS.Err)
	}
	if beyond > int(problems)/4 {
		t.Errorf("%d of %d problems are beyond the range", beyond, problems)
	}
}

// rowsWith returns rows with the features x, and the targets and weights of b.
func rowsWith(x [][]float64, b dataset.Block, sparse, intercept bool) *Rows {
	r := NewRows(len(x[0]), 1, intercept)
	if sparse {
		b.Sparse = &engine.CSR{Rows: len(x), Cols: len(x[0]), RowPtr: []int{0}}
	}
	squares := 0.0
	for i, row := range x {
		for j, v := range row {
			squares += b.Weight(i) * v * v
			if !sparse {
				b.X = append(b.X, v)
			} else if v != 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(j)), append(b.Sparse.Val, v)
			}
		}
		if sparse {
			b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
		}
	}
	r.Add(b, true)
	r.Close(squares)
	return r
}
