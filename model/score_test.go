package model_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/fdridge/fdridge/model"
)

// TestScore: R² and RMSE are what gonum makes of all rows at once, also where the target's
// mean is large against its deviation, and neither is a number where it has no meaning.
func TestScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, mean := range []float64{0, -3, 1e8} {
		var s model.Score
		var observed, predicted []float64
		squares := 0.0
		for range 1000 {
			y := mean + rng.NormFloat64()
			yhat := y + 0.3*rng.NormFloat64()
			s.Add(y, yhat)
			observed, predicted = append(observed, y), append(predicted, yhat)
			squares += (y - yhat) * (y - yhat)
		}
		want := stat.RSquaredFrom(predicted, observed, nil)
		if got := s.R2(); !(math.Abs(got-want) <= 1e-9) || s.Rows() != 1000 {
			t.Errorf("mean %g: R² of %d rows is %v, not %v", mean, s.Rows(), got, want)
		}
		if got, want := s.RMSE(), math.Sqrt(squares/1000); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("mean %g: RMSE %v, not %v", mean, got, want)
		}
	}
	var none, constant model.Score
	constant.Add(2, 1)
	constant.Add(2, 3)
	if !math.IsNaN(none.R2()) || !math.IsNaN(none.RMSE()) || !math.IsNaN(constant.R2()) || constant.RMSE() != 1 {
		t.Errorf("of no rows %v and %v, of a constant target %v and %v", none.R2(), none.RMSE(), constant.R2(), constant.RMSE())
	}
}
