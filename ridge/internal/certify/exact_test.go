package certify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// repeated returns the evidence for n equal rows a.
func repeated(t *testing.T, n int, a []float64) *Known {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	size := vec.Norm(a)
	v := make([]float64, len(a))
	vec.Axpy(1/size, a, v)
	values := []float64{float64(n) * size * size}
	spec := &fd.Spectrum{Dim: len(a), Sigma2: values, V: v, Skew: 32 * eps}
	spec.Bound.RoundOff = 64 * eps * values[0]
	k := &Known{
		Evidence: Evidence{
			Sketch:  spec,
			Backend: be,
			Rows:    int64(n),
			Sums:    Sums{TSS: []float64{0}, NonZero: []bool{true, false}},
		},
		eigen: spectral.Eigen{Dim: len(a), Values: values, V: v}, bound: spec.Bound, targets: make([]target, 1),
	}
	k.factor, k.norm.largest2, k.norm.read = newFactors(&k.Evidence), values[0]*(1+64*eps), math.Sqrt(values[0])*(1+64*eps)
	k.norm.columns = k.columnNorms()
	return k
}

// TestMoved: what is known at x + e of the product with e of a plain pass holds, where all rows
// are the same and their roundings go the same way.
func TestMoved(t *testing.T) {
	const n, d, gamma = 96, 5, 1e-3
	rng := rand.New(rand.NewPCG(3, 9))
	worst := 0.0
	for try := range 200 {
		a, e, x, g0 := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range a {
			a[j], e[j], x[j] = 1+rng.Float64(), 1e-6*rng.NormFloat64(), rng.NormFloat64()
		}
		k := repeated(t, n, a)
		g := k.Judge(gamma)

		// b = Ax − r for residuals r: Aᵀr + γx is the gradient at x.
		r := rng.NormFloat64()
		bounds, off := make([]float64, d), make([]float64, d)
		// Of every third try what is off is each residual, by δ: g₀ by δ·n·a.
		delta, residual := 0.0, 0.0
		if try%3 == 2 {
			residual = 1e-9 * math.Abs(r) * math.Sqrt(n)
			delta = residual / math.Sqrt(n) * float64(try%2*2-1) * (1 - 1e-5)
		}
		for j := range g0 {
			g0[j] = n*r*a[j] + gamma*x[j]
			if residual == 0 {
				bounds[j] = float64(try%2) * 1e-10 * math.Abs(g0[j])
			}
			off[j] = bounds[j]*(2*rng.Float64()-1)*(1-1e-5) + delta*n*a[j]
			g0[j] += off[j]
		}
		rows := make([]float64, 0, n*d)
		for range n {
			rows = append(rows, a...)
		}
		he, ae := make([]float64, d), make([]float64, n)
		k.Backend.Gradient(
			engine.View(n, d, rows),
			engine.View(1, d, e),
			engine.View(0, 0, nil),
			engine.View(1, d, he),
			engine.View(n, 1, ae),
		)
		vec.Axpy(gamma, e, he)
		at := make([]float64, d)
		copy(at, he)
		vec.Axpy(1, g0, at)
		from := g.Exact(x, interval.Outward(n*r*r, 4*eps*n*r*r), bounds, residual)
		found := g.Moved(&Move{From: &from, X: x, Gradient: g0, E: e, AE: vec.Norm(ae), Norm: vec.Norm(at)})

		// ‖H⁻¹δ‖ with H⁻¹ = (I − n·aaᵀ/(γ + n‖a‖²))/γ, of δ = at − He − g₀, but for what g₀
		// is off by.
		wrong := make([]*big.Float, d)
		dot := sum(a, e)
		for j := range wrong {
			he := new(big.Float).Mul(dot, number(n*a[j]))
			he.Add(he, new(big.Float).Mul(number(gamma), number(e[j])))
			wrong[j] = new(big.Float).Sub(new(big.Float).Sub(number(at[j]), number(g0[j])), he)
		}
		moved := 0.0
		size := vec.Norm(a)
		along := 0.0
		for j, v := range wrong {
			f, _ := v.Float64()
			along += (f + off[j]) * a[j] / size
		}
		for j, v := range wrong {
			f, _ := v.Float64()
			moved = math.Hypot(moved, (f+off[j]-along*a[j]/size)/gamma)
		}
		worst = math.Max(worst, moved/found.Weights)
		if !(moved <= found.Weights) {
			t.Fatalf("‖H⁻¹δ‖ is %g, more than %g", moved, found.Weights)
		}
		// ‖A(x+e) − b‖² = n(r + aᵀe)²
		v := new(big.Float).Add(number(r), dot)
		v.Mul(v, v).Mul(v, number(n))
		if v.Cmp(number(found.RSS.Lo)) < 0 || v.Cmp(number(found.RSS.Hi)) > 0 {
			t.Fatalf("RSS %v is outside %v", v, found.RSS)
		}
	}
	t.Logf("worst %.3g of the bound", worst)
	if !(worst > 0.5) {
		t.Errorf("%g of the bound at most: what the gradient was off by is hardly there", worst)
	}
}

func number(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }

// sum is aᵀe.
func sum(a, e []float64) *big.Float {
	s := number(0)
	for j := range a {
		s.Add(s, new(big.Float).Mul(number(a[j]), number(e[j])))
	}
	return s
}
