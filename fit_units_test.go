package fdridge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge/choose"
)

// sensors returns 2,052 rows and 128 columns that resemble a gas sensor array: eight readings of each of 16 nearly
// equal sensors. Readings differ by up to twelve powers of ten in size.
func sensors(t *testing.T) dataset.Source {
	t.Helper()
	const n, count, readings = 2052, 16, 8
	rng := rand.New(rand.NewPCG(44, 4))
	var x, y []float64
	for range n {
		gas, heat := rng.ExpFloat64(), rng.NormFloat64()
		for range count {
			for k := range readings {
				size := math.Pow(10, 7-12*float64(k)/(readings-1))
				x = append(x, size*(gas+0.3*heat*float64(k%3)+0.02*gas*gas*float64(k)+0.003*rng.NormFloat64()))
			}
		}
		y = append(y, 3*heat+math.Sqrt(gas)+0.3*rng.NormFloat64())
	}
	return testkit.Must(dataset.FromDense(n, count*readings, 1, x, y))(t)
}

// TestSensors: a table in raw units gets a γ that is proved to be best, and predicts as well as the standardised
// table.
func TestSensors(t *testing.T) {
	src := sensors(t)
	raw := testkit.Must(fdridge.Fit(t.Context(), src, fdridge.Options{}))(t)
	c := raw.Choice
	if c.By != choose.LOO || !(c.Score.Hi <= 1.001*c.Score.Lo) || !(c.RelativeExcess() <= 0.01) || c.LittleKnown() {
		t.Errorf(
			"γ = %g scores %v, another may be better by %g, left out are %v",
			c.Gamma(),
			c.Score,
			c.RelativeExcess(),
			c.Unknown,
		)
	}
	scaled, _, err := dataset.Standardize(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	like := testkit.Must(fdridge.Fit(t.Context(), scaled, fdridge.Options{}))(t)
	if v := like.Choice.Score; !(c.Score.Hi <= 1.1*v.Lo) {
		t.Errorf("the error is %v, standardised %v", c.Score, v)
	}
}
