package dual

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// exactFree returns 1 − h of each row at γ, in extended precision.
func exactFree(t *testing.T, x [][]float64, w []float64, intercept bool, gamma float64) []*big.Float {
	y := make([][]float64, len(x))
	for i := range y {
		y[i] = []float64{0}
	}
	p := refbig.New(x, y, w, intercept)
	l, err := p.Factor(refbig.Float(gamma))
	if err != nil {
		t.Fatal(err)
	}
	total := refbig.Float(0)
	weight := func(i int) *big.Float {
		if w == nil {
			return refbig.Float(1)
		}
		return refbig.Float(w[i])
	}
	for i := range x {
		total.Add(total, weight(i))
	}
	out := make([]*big.Float, len(x))
	for i, row := range x {
		a := make([]*big.Float, len(row))
		for j, v := range row {
			a[j] = refbig.Float(v)
			a[j].Sub(a[j], p.MeanX[j])
		}
		form := refbig.Float(0)
		for j, v := range refbig.Forward(l, a) {
			v.Mul(v, v)
			form.Add(form, v.Quo(v, l[j][j]))
		}
		if intercept {
			form.Add(form, new(big.Float).Quo(refbig.Float(1), total))
		}
		out[i] = refbig.Float(1)
		out[i].Sub(out[i], form.Mul(form, weight(i)))
	}
	return out
}

// TestLeverages: the brackets of 1 − h contain the values of extended precision, for tables with fewer or more rows
// than features, dependent columns, equal rows, one row, and numbers of any size. They are narrow if the trial vectors
// span all vectors, and if γ is not small.
func TestLeverages(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases := 60
		if testing.Short() {
			cases = 12
		}
		for seed := range uint64(cases) {
			rng := rand.New(rand.NewPCG(seed, 44))
			n, d := 1+rng.IntN(40), 1+rng.IntN(14)
			if seed%2 == 0 {
				n, d = 1+rng.IntN(14), 1+rng.IntN(24)
			}
			scale := math.Exp2(float64([]int{0, 0, 0, 20, -20, 45, -45}[rng.IntN(7)]))
			x := make([][]float64, n)
			for i := range x {
				x[i] = make([]float64, d)
				for j := range d {
					if rng.IntN(4) == 0 {
						x[i][j] = scale * math.Exp2(float64(-rng.IntN(1+j))) * rng.NormFloat64()
					}
				}
			}
			switch rng.IntN(4) {
			case 0: // equal rows
				for i := range x {
					copy(x[i], x[rng.IntN(1+i/3)])
				}
			case 1: // dependent columns
				for i := range x {
					for j := d / 2; j < d; j++ {
						x[i][j] = 2 * x[i][j-d/2]
					}
				}
			}
			var w []float64
			if rng.IntN(2) == 0 {
				for range n {
					w = append(w, float64(rng.IntN(5)))
				}
				w[rng.IntN(n)] = 1
			}
			intercept := rng.IntN(2) == 0
			rows := rowsOf(x, w, true, intercept)
			shared := 1 + rng.IntN(max(n, d))
			l := rows.NewLeverages(be, shared)
			total := 0.0
			for i := range n {
				total += rows.Weight(i)
			}
			if l == nil {
				continue
			}
			var list []int
			for i := range n {
				list = append(list, i)
			}
			gammas := []float64{1e-6 * scale * scale, 0.03 * scale * scale, scale * scale, 100 * scale * scale}
			width := make([]float64, 5)
			for depth := 1; depth <= 4; depth++ {
				free := make([][]interval.Interval, len(gammas))
				for g := range gammas {
					for range n {
						free[g] = append(free[g], interval.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)})
					}
				}
				l.Narrow(gammas, list, depth, free)
				for g, gamma := range gammas {
					for i, want := range exactFree(t, x, w, intercept, gamma) {
						v := free[g][i]
						what := fmt.Sprintf(
							"seed %d (%d×%d, %d shared), depth %d, γ = %v, row %d",
							seed,
							n,
							d,
							l.m,
							depth,
							gamma,
							i,
						)
						if want.Cmp(refbig.Float(v.Lo)) < 0 || want.Cmp(refbig.Float(v.Hi)) > 0 {
							t.Fatalf("%s: 1 − h = %v is outside of %v", what, want, v)
						}
						heavy := intercept && rows.Weight(i) > 0.49*total // nothing is proved of such a row
						if all := min(n, d) <= shared && !heavy; gamma >= scale*scale && all && !(v.Hi-v.Lo <= 1e-5) {
							t.Errorf("%s: 1 − h = %v in the wide %v", what, want, v)
						}
						if g == 1 {
							width[depth] += v.Hi - v.Lo
						}
					}
				}
			}
			if !(width[3] <= 1.01*width[1]+1e-5) {
				t.Errorf("seed %d: width %v", seed, width)
			}
		}
	})
}
