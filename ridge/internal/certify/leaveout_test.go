package certify

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// hadamard returns evidence in which the eigenvectors of K are known exactly: rows of ±1/√d, d a power of four. The
// means of features and target may be wrong by meanOff.
func hadamard(t *testing.T, d int, values []float64, weight, meanOff float64) *Known {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	e := spectral.Eigen{Dim: d, Values: values}
	for i := range values {
		for j := range d {
			e.V = append(e.V, math.Copysign(1/math.Sqrt(float64(d)), float64(1-2*(bits.OnesCount(uint(i&j))&1))))
		}
	}
	if len(values) == d {
		e.Rest = values[d-1]
	}
	k := &Known{
		Evidence: Evidence{
			Sketch:    &fd.Spectrum{Dim: d, Sigma2: values, V: e.V, Skew: 32 * eps},
			Backend:   be,
			Rows:      100,
			Weight:    weight,
			Intercept: meanOff > 0,
			Columns:   Columns{Means: make([]float64, d+1)},
		},
		eigen: e, norm: norms{largest2: values[0], meanOff: meanOff, least: e.Rest}, targets: []target{{meanOff: meanOff}},
	}
	k.factor = newFactors(&k.Evidence)
	return k
}

func dotBig(a, b []*big.Float) *big.Float {
	sum := new(big.Float).SetPrec(600)
	for i := range a {
		sum.Add(sum, new(big.Float).Mul(a[i], b[i]))
	}
	return sum
}

func exactOf(x []float64) []*big.Float {
	out := make([]*big.Float, len(x))
	for i, v := range x {
		out[i] = new(big.Float).SetPrec(600).SetFloat64(v)
	}
	return out
}

// TestLeftOut: leverages and residuals of rows that cancel in every product are within their
// bounds, with means that are off and with means that aren't.
func TestLeftOut(t *testing.T) {
	const d, weight, gamma = 64, 100.0, 1.0
	rng := rand.New(rand.NewPCG(1, 30))
	for trial := range 400 {
		values := make([]float64, d-trial%2*4) // one value is far above the others
		for i := range values {
			values[i] = 1
		}
		values[0] = 0x1p80
		meanOff := 0.0
		if trial%4 > 1 {
			meanOff = 1e-3
		}
		k := hadamard(t, d, values, weight, meanOff)
		a, x := make([]float64, d), make([]float64, d)
		large := math.Pow(10, 10*rng.Float64()) // along the first eigenvector
		for j := range a {
			a[j] = large*k.eigen.V[j] + 0.1*rng.NormFloat64()
			x[j] = k.eigen.V[d+j]*1e6 + rng.NormFloat64() // orthogonal to it
		}
		y := rng.NormFloat64()

		// The same without rounding, and less means that were rounded away from.
		shift := make([]float64, d)
		for j := range shift {
			shift[j] = meanOff / math.Sqrt(d) * float64(1-2*rng.IntN(2))
		}
		truth := exactOf(a)
		for j := range truth {
			truth[j].Add(truth[j], exactOf(shift)[j])
		}
		q, inV := new(big.Float).SetPrec(600), new(big.Float).SetPrec(600)
		for i, s2 := range values {
			z := dotBig(exactOf(k.eigen.V[i*d:(i+1)*d]), truth)
			z.Mul(z, z)
			inV.Add(inV, z)
			q.Add(q, new(big.Float).Quo(z, big.NewFloat(s2+gamma)))
		}
		off2 := new(big.Float).Sub(dotBig(truth, truth), inV)
		q.Add(q, new(big.Float).Quo(off2, big.NewFloat(k.eigen.Rest+gamma)))
		free := new(big.Float).Mul(q, big.NewFloat(1))
		r := new(big.Float).Sub(new(big.Float).SetPrec(600).SetFloat64(y), dotBig(truth, exactOf(x)))

		l := k.LeftOut([]float64{gamma})
		near, _ := q.Float64()
		w := math.Ldexp(1, -1-int(math.Ceil(math.Log2(near)))) // of leverage between a quarter and a half
		free.Mul(free, big.NewFloat(w))
		free.Sub(big.NewFloat(1), free)
		if meanOff > 0 {
			free.Sub(free, new(big.Float).Quo(big.NewFloat(w), big.NewFloat(weight)))
		}
		along := make([]float64, len(values))
		k.Backend.Gemm(
			false,
			true,
			1,
			engine.View(1, d, a),
			engine.View(len(values), d, k.eigen.V),
			0,
			engine.View(1, len(values), along),
		)
		n, squares := vec.Norm(a), vec.Norm(along)
		row := l.Row(w, n*n, squares*squares, n, -1)
		functions, forms := l.Functions(), [2]float64{}
		for i, z := range along {
			forms[0] += z * z * functions[i]
			forms[1] += z * z * functions[len(along)+i]
		}
		v := l.Leverage(0, &row, forms[0], forms[1], 0)
		if !(big.NewFloat(v.Free.Lo).Cmp(free) <= 0 && free.Cmp(big.NewFloat(v.Free.Hi)) <= 0) {
			t.Errorf("trial %d: 1 − h is %v, not within [%.17g, %.17g]", trial, free, v.Free.Lo, v.Free.Hi)
		}
		got, off := l.Residual(&row, &LeftFit{norm: vec.Norm(x)}, y, vec.Dot(a, x))
		if e, _ := new(big.Float).Sub(r, big.NewFloat(got)).Float64(); !(math.Abs(e) <= off) {
			t.Errorf("trial %d: the residual is off by %g, bound %g", trial, e, off)
		}
	}
}

// TestLightRow: the weight of a row may be so small that its product with a residual underflows, and
// that with the residual's square does not.
func TestLightRow(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for range 200 {
		weight, miss := float64(1+r.IntN(9))*0x1p-1074, math.Ldexp(1+r.Float64(), r.IntN(490))
		v, _ := (&LeftRow{weight: weight, root: math.Sqrt(weight)}).Squared(
			&Leverage{Free: interval.Interval{Lo: 1, Hi: 1}, Estimate: 1},
			&LeftFit{},
			miss,
			0,
		)
		exact := exactOf([]float64{miss})
		want := dotBig(exact, exact)
		want.Mul(want, big.NewFloat(weight))
		if !(big.NewFloat(v.Lo).Cmp(want) <= 0 && want.Cmp(big.NewFloat(v.Hi)) <= 0) {
			t.Errorf("weight %g, missed by %g: %v, is %g", weight, miss, v, want)
		}
	}
}
