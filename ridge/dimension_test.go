package ridge_test

import (
	"math/big"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestEffectiveDimensionOfEqualEigenvalues: tr(H⁻¹K) is a sum of d terms. If they are equal, a plain sum rounds
// all partial sums the same way, and is off by up to d²·eps/4.
func TestEffectiveDimensionOfEqualEigenvalues(t *testing.T) {
	const d = 512
	sum := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: d, Store: fd.StoreScatter}))(t)
	rows, y := make([]float64, d*d), make([]float64, d)
	for j := range d {
		rows[j*d+j], y[j] = 1, 1
	}
	if err := sum.AppendBlock(dataset.Block{N: d, X: rows, Y: y}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		gamma := 1e-6 * float64(i+1)
		exact := new(big.Float).SetPrec(200).Quo(
			big.NewFloat(d), new(big.Float).SetPrec(200).Add(big.NewFloat(1), big.NewFloat(gamma)),
		)
		df := testkit.Must(sum.Fit(gamma))(t).EffectiveDimension
		if exact.Cmp(big.NewFloat(df.Lo)) < 0 || exact.Cmp(big.NewFloat(df.Hi)) > 0 {
			t.Errorf("γ = %g: %.17g is not in [%.17g, %.17g]", gamma, exact, df.Lo, df.Hi)
		}
	}
}
