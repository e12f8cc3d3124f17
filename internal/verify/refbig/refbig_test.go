package refbig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range out[i] {
			out[i][j] = r.NormFloat64()
		}
	}
	return out
}

// TestSolveByHand: A = (1, 2)ᵀ, b = (3, 5)ᵀ, γ = 1: H = 6, c = 13, x = 13/6,
// df = 5/6, RSS = (3 − 13/6)² + (5 − 13/3)² = 25/36 + 16/36.
func TestSolveByHand(t *testing.T) {
	p := New([][]float64{{1}, {2}}, [][]float64{{3}, {5}}, nil, false)
	s, err := p.Solve(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		name      string
		got       *big.Float
		num, over float64
	}{
		{"x", s.Coef[0][0], 13, 6},
		{"df", s.EffectiveDimension, 5, 6},
		{"RSS", s.RSS[0], 41, 36},
		{"objective", s.Objective[0], 41.0/2 + 169.0/2, 36},
		{"GCV", s.GCV[0], 2 * 41, 49},
	} {
		d := sub(v.got, quo(Float(v.num), Float(v.over)))
		if f, _ := d.Float64(); !(math.Abs(f) <= 0x1p-480) {
			t.Errorf("%s = %.20g, off by %g", v.name, v.got, f)
		}
	}
}

// TestSolve checks the definition of the solution for random problems. The gradient of the augmented loss is zero in
// weights and intercept, and weighted rows count as repeated rows. RSS is the sum of squared residuals.
func TestSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 2, 7} {
		x, y := random(r, 9, d), random(r, 9, 2)
		w := []float64{1, 2, 3, 1, 0, 2, 1, 1, 4}
		var xx, yy [][]float64
		for i, k := range w {
			for range int(k) {
				xx, yy = append(xx, x[i]), append(yy, y[i])
			}
		}
		s, err := New(x, y, w, true).Solve(0.25)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := New(xx, yy, nil, true).Solve(0.25)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			grad, slope, rss := vector(d), Float(0), Float(0)
			for i := range xx {
				res := add(sub(dot(vectorOf(xx[i]), rep.Coef[j]), Float(yy[i][j])), rep.Intercept[j])
				slope, rss = add(slope, res), add(rss, mul(res, res))
				for k := range grad {
					grad[k] = add(grad[k], mul(res, Float(xx[i][k])))
				}
			}
			for k := range grad {
				grad[k] = add(grad[k], mul(Float(0.25), rep.Coef[j][k]))
			}
			diff := vector(d)
			for k := range diff {
				diff[k] = sub(s.Coef[j][k], rep.Coef[j][k])
			}
			for name, v := range map[string]float64{
				"gradient": Norm(grad), "slope": Norm([]*big.Float{slope}),
				"RSS": Norm([]*big.Float{sub(rss, rep.RSS[j])}), "weights": Norm(diff),
			} {
				if !(v <= 0x1p-460) {
					t.Errorf("d = %d: %s off by %g", d, name, v)
				}
			}
		}
	}
}

func TestSingular(t *testing.T) {
	x := [][]float64{{1, 2}, {0.3, 0.6}, {5, 10}}
	y := [][]float64{{1}, {2}, {3}}
	for _, intercept := range []bool{false, true} {
		if _, err := New(x, y, nil, intercept).Solve(0); err != ErrSingular {
			t.Errorf("intercept %v: %v", intercept, err)
		}
		if _, err := New(x, y, nil, intercept).Solve(1e-30); err != nil {
			t.Errorf("intercept %v: %v", intercept, err)
		}
	}
}

// TestConstant: rows that are the same have no scatter, whatever they weigh.
func TestConstant(t *testing.T) {
	p := New([][]float64{{0.1, 3}, {0.1, 3}, {0.1, 3}}, [][]float64{{1}, {2}, {3}}, []float64{1e-200, 1e-30, 7}, true)
	for i := range p.K {
		if p.C[0][i].Sign() != 0 {
			t.Errorf("c[%d] is %g", i, p.C[0][i])
		}
		for j, v := range p.K[i] {
			if v.Sign() != 0 {
				t.Errorf("K[%d][%d] is %g", i, j, v)
			}
		}
	}
}
