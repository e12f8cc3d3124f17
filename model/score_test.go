package model_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/fdridge/fdridge/model"
)

// TestScore: R² and RMSE equal what gonum computes from all rows at once, even if the mean of the target is much
// larger than its deviation. R² and RMSE of no rows, and R² of a constant target, are NaN.
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
		t.Errorf(
			"of no rows %v and %v, of a constant target %v and %v",
			none.R2(),
			none.RMSE(),
			constant.R2(),
			constant.RMSE(),
		)
	}
}

// TestScoreJSON: a score has what its methods return, and one that was read goes on to the same bits.
func TestScoreJSON(t *testing.T) {
	var s, none, huge model.Score
	s.AddWeighted(0.1, 1.0/3, 0.3)
	s.AddWeighted(2, -7, -5)
	s.Add(1e8, 1e8+1)
	huge.Add(1e200, 0)
	huge.Add(-1e200, 0)
	for _, score := range []model.Score{s, none, huge} {
		text, err := json.Marshal(score)
		if err != nil {
			t.Fatal(err)
		}
		var fields struct {
			N        int64
			R2, RMSE *float64
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		same := func(got *float64, want float64) bool {
			if math.IsNaN(want) || math.IsInf(want, 0) {
				return got == nil
			}
			return got != nil && *got == want
		}
		if fields.N != score.Rows() || !same(fields.R2, score.R2()) || !same(fields.RMSE, score.RMSE()) {
			t.Errorf("%s is of a score of %d rows, R2 %v and RMSE %v", text, score.Rows(), score.R2(), score.RMSE())
		}
		var back model.Score
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, err := json.Marshal(&back); err != nil || string(again) != string(text) && fields.RMSE != nil {
			t.Errorf("%s comes back as %s: %v", text, again, err)
		}
		score.Add(3, 4)
		back.Add(3, 4)
		bits := math.Float64bits
		if back.Rows() != score.Rows() || bits(back.R2()) != bits(score.R2()) && !math.IsNaN(score.R2()) {
			t.Errorf(
				"%s goes on to %d rows and %v, not %d and %v",
				text,
				back.Rows(),
				back.R2(),
				score.Rows(),
				score.R2(),
			)
		}
	}
	if !math.IsNaN(huge.R2()) {
		t.Errorf("R2 = %v of squares beyond float64", huge.R2())
	}
	// Scores of an evaluation are among others of its fields.
	if text, err := json.Marshal(model.Evaluation{Scores: [][]model.Score{{s}}}); err != nil {
		t.Error(err)
	} else if e := (model.Evaluation{}); json.Unmarshal(text, &e) != nil || e.Scores[0][0] != s {
		t.Errorf("%s does not come back", text)
	}
	for _, text := range []string{
		`{}`, `{"n":1,"weight":1,"rss":0,"mean":0}`, `{"n":0,"weight":1,"rss":0,"mean":0,"squares":0}`,
		`{"n":2,"weight":0,"rss":0,"mean":0,"squares":0}`,
		`{"n":-1,"weight":1,"rss":0,"mean":0,"squares":0}`, `{"n":1,"weight":1,"rss":-1,"mean":0,"squares":0}`,
		`{"n":null,"weight":1,"rss":1,"mean":0,"squares":0}`, `7`,
	} {
		back := s
		if err := json.Unmarshal([]byte(text), &back); !errors.Is(err, model.ErrInput) || back != s {
			t.Errorf("%s is read: %v", text, err)
		}
	}
}

// TestScoreUnderflow checks the brackets for targets whose squares are near the end of the range of float64. The exact
// R² of predictions of 0 is 1 − Σy²/Σ(y − ȳ)².
func TestScoreUnderflow(t *testing.T) {
	for _, unit := range []float64{1e-160, 3e-162, 1e-150} {
		for _, rows := range [][]float64{{4, -5}, {4, -4, -3}, {1, 2, 2, 1}, {-7, -7, -8}} {
			var s model.Score
			sum, squares := 0.0, 0.0
			for _, y := range rows {
				s.Add(y*unit, 0)
				sum += y
				squares += y * y
			}
			exact := 1 - squares/(squares-sum*sum/float64(len(rows)))
			r2 := s.R2Bracket()
			if math.IsNaN(r2.Lo) && math.IsNaN(r2.Hi) {
				continue // the deviations underflow to 0, and R² is unknown
			}
			if !(r2.Lo <= exact+1e-9*math.Abs(exact) && exact-1e-9*math.Abs(exact) <= r2.Hi) {
				t.Errorf("%v in units of %g: R² is %v, the bracket %v", rows, unit, exact, r2)
			}
		}
	}
}
