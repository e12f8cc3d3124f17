package fd

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
)

// An erring backend adds the error that its accuracy allows to each entry of UUᵀ.
type erring struct {
	engine.Backend
	products int     // number of products UUᵀ
	part     float64 // of the error that Accuracy allows
}

func (e *erring) Syrk(trans bool, alpha float64, a engine.Matrix, beta float64, c engine.Matrix) {
	e.Backend.Syrk(trans, alpha, a, beta, c)
	if trans {
		return
	}
	e.products++
	relative := e.part * (e.Accuracy().Dot(a.Cols) + engine.Roundings) * eps
	for i := range c.Rows {
		for j := range i {
			// The norms of two rows bound the sum of the magnitudes of their products.
			c.Row(i)[j] += relative * floats.Norm(a.Row(i), 2) * floats.Norm(a.Row(j), 2)
		}
	}
}

// TestMeasureOmega: plain products measure Ω only if delta is large enough, and their errors are counted: φ and
// ‖Ω‖ as bounded hold for the exact Ω, however the products err within their accuracy.
func TestMeasureOmega(t *testing.T) {
	exact, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	const r, n = 20, 2*stripColumns + 30
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range []float64{0, -1, 1} {
		for _, delta := range []float64{0, 1e-12, 3e-10, 3e-9, 1e-3, 0.5} {
			be := &erring{Backend: exact, part: part}
			x := reduction{u: engine.View(r, n, make([]float64, r*n)), delta: delta}
			sum, want := 0.0, engine.View(r, r, make([]float64, r*r))
			for i := range r {
				x.kept = append(x.kept, 1/float64(i+1))
				sum += x.kept[i]
				x.u.Row(i)[i] = 1
				x.u.Row(i)[r+i] = 1e-9 * rng.NormFloat64()
				x.u.Row(i)[2*r] = 1e-7 * (1 + rng.Float64()) // all of Ω is positive
			}
			skew := spectral.Loss(exact, x.u, want, make([]float64, spectral.Work(r, n)))
			omega := engine.View(r, r, make([]float64, r*r))
			off := x.measureOmega(be, omega, make([]float64, spectral.Work(r, n)))
			if plain := off.entry > 0; plain != (delta > 1e-9) {
				t.Errorf("delta = %g: plain product: %v", delta, plain)
				continue
			}
			if off.entry == 0 { // Loss is tested in package orthogonal
				continue
			}
			if be.products != 3 {
				t.Errorf("delta = %g: %d products", delta, be.products)
			}
			if exactNorm := skew / 1.02; !(off.skew >= exactNorm) {
				t.Errorf("part %g: ‖Ω‖ = %g, bounded by %g", part, exactNorm, off.skew)
			}
			// Element by element, the bounded Ω covers the exact one.
			for i := range r {
				for j := range i + 1 {
					if e := math.Abs(omega.Row(i)[j] - want.Row(i)[j]); !(e <= off.entry) {
						t.Errorf("Ω is off by %g at (%d, %d), bounded by %g", e, i, j, off.entry)
					}
				}
			}
			phi := x.weighted(omega, delta) + off.weighted(1, sum, r, delta)
			if most := x.weighted(want, delta); !(phi >= most) || !(phi <= most+plainShare*delta) {
				t.Errorf("part %g, delta %g: φ is %g, bounded by %g", part, delta, most, phi)
			}
		}
	}
}

// TestMeasurePlainly: plain products raise the bounds of a shrink by at most a thousandth of delta. They err as much as
// they may, and one delta is almost too small for them.
func TestMeasurePlainly(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	const m, n, d = 40, 90, 200
	rng := rand.New(rand.NewPCG(3, 4))
	for _, decay := range []float64{1, 0.95, 0.9, 0.785} {
		rows := engine.View(n, d, make([]float64, n*d))
		for i := range n {
			for j := range rows.Row(i) {
				rows.Row(i)[j] = math.Pow(decay, float64(j)) * rng.NormFloat64()
			}
		}
		gram, u := engine.View(n, n, make([]float64, n*n)), engine.View(m, n, make([]float64, m*n))
		be.Syrk(false, 1, rows, 0, gram)
		w, lengths, first := make([]float64, n), make([]float64, n), make([]float64, n*n)
		for i := range lengths {
			lengths[i] = math.Sqrt(gram.Row(i)[i])
		}
		copy(first, gram.Data)
		if !be.SymEig(gram, w, u, make([]float64, be.SymEigWork(n, m))) {
			t.Fatal("no convergence")
		}
		x := reduction{lengths: lengths, chain: be.Accuracy().Sum(n) + engine.Roundings + 1, u: u, delta: w[m]}
		x.kept, x.scale = x.cut(w[:m], make([]float64, m), make([]float64, m))
		if len(x.kept) != m {
			t.Fatalf("%d rows are kept", len(x.kept))
		}

		work := make([]float64, measureWork(m, n))
		x.gram = engine.View(n, n, append([]float64{}, first...))
		pad, drift := x.measure(&erring{Backend: be, part: 1}, gram, work)

		x.gram = engine.View(n, n, append([]float64{}, first...))
		omega := engine.View(m, m, make([]float64, m*m))
		off := omegaError{skew: spectral.Loss(be, u, omega, work), norm: spectral.RoundOff(be, m, n)}
		leastPad, leastDrift := x.bounds(be, gram, omega, off, work)
		t.Logf("decay %g: pad %g and %g, drift %g and %g, delta %g", decay, pad, leastPad, drift, leastDrift, x.delta)
		if pad == leastPad || !(pad+3*drift <= leastPad+3*leastDrift+plainShare*x.delta) {
			t.Errorf("decay %g: pad %g and %g, drift %g and %g, delta %g", decay, pad, leastPad, drift, leastDrift, x.delta)
		}
	}
}

// BenchmarkMeasure measures a shrink's proof with plain products and with all digits.
func BenchmarkMeasure(b *testing.B) {
	be, err := engine.Default()
	if err != nil {
		b.Fatal(err)
	}
	const m, n = 256, 576
	u := engine.View(m, n, make([]float64, m*n))
	gram, factor := engine.View(n, n, make([]float64, n*n)), engine.View(n, n, make([]float64, n*n))
	for _, delta := range []float64{0x1p-1, 0x1p-40} {
		x := reduction{u: u, delta: delta, gram: gram, lengths: make([]float64, n)}
		for i := range m {
			u.Row(i)[i] = 1
			x.kept, x.scale = append(x.kept, 1), append(x.scale, math.Sqrt(1/(1+delta)))
		}
		name := "plain"
		if delta < 0x1p-20 {
			name = "all digits"
		}
		work := make([]float64, measureWork(m, n))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				clear(gram.Data)
				for i := range n {
					gram.Row(i)[i] = delta
					if i < m {
						gram.Row(i)[i]++
					}
				}
				pad, _ := x.measure(be, factor, work)
				if math.IsInf(pad, 1) {
					b.Fatal("the pad is infinite")
				}
			}
		})
	}
}
