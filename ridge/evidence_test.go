package ridge_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// TestEvidenceOfSketches: the brackets of the evidence from sketches that lose a part of the rows hold, and some are
// useful.
func TestEvidenceOfSketches(t *testing.T) {
	useful := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 20))
		n, d := 20+rng.IntN(20), 6+rng.IntN(6)
		var x, y [][]float64
		var flat, target []float64
		for range n {
			row := make([]float64, d)
			for j := range row {
				row[j] = rng.NormFloat64() * math.Pow(2, -float64(j))
			}
			x, y = append(x, row), append(y, []float64{row[0] + rng.NormFloat64()})
			flat, target = append(flat, row...), append(target, y[len(y)-1]...)
		}
		src, err := dataset.FromDense(n, d, 1, flat, target)
		if err != nil {
			t.Fatal(err)
		}
		cfg := ridge.SummaryConfig{Size: 2 + rng.IntN(3), Store: fd.StoreRows, Lanes: 1, Intercept: seed%2 == 0}
		sum, err := ridge.Summarize(t.Context(), src, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		path, err := sum.Path([]float64{0.01, 1, 100})
		if err != nil {
			t.Fatal(err)
		}
		whole := refbig.New(x, y, nil, cfg.Intercept)
		for _, f := range path {
			noise, loss, err := whole.Evidence(f.Gamma, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := f.Targets[0].Marginal
			if !holds(m.Loss, loss) || !holds(m.Noise, noise) {
				t.Errorf("seed %d, γ = %g: %.10g, %.10g are outside %v, %v", seed, f.Gamma, loss, noise, m.Loss, m.Noise)
			}
			if width := m.Loss.Hi - m.Loss.Lo; width > 1e-6 && width < 3 {
				useful++
			}
		}
	}
	if useful < 20 {
		t.Errorf("only %d brackets of lossy sketches are narrower than 3", useful)
	}
}

// holds reports whether v holds x.
func holds(v ridge.Interval, x *big.Float) bool {
	return (math.IsInf(
		v.Lo, -1,
	) || refbig.Float(v.Lo).Cmp(x) <= 0) && (math.IsInf(v.Hi, 1) || refbig.Float(v.Hi).Cmp(x) >= 0)
}
