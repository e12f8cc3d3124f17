package model

import (
	"encoding/json"
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/jsonfields"
)

// A Score measures the errors of the predictions of one target. Add adds a row, AddWeighted a row with a sample
// weight. The zero value has no rows. For training rows, [ridge.Target.R2] returns a proved bracket of R².
type Score struct {
	rows    int64
	weight  float64 // Σw
	rss     float64 // Σw(y − ŷ)²
	mean    float64 // ȳ
	squares float64 // Σw(y − mean)², B. Welford, Technometrics 4, 1962
}

// Add adds one row with its observed and its predicted target.
func (s *Score) Add(observed, predicted float64) { s.AddWeighted(1, observed, predicted) }

// AddWeighted adds a row of weight w, or nothing if w is not positive.
func (s *Score) AddWeighted(w, observed, predicted float64) {
	if !(w > 0) {
		return
	}
	s.rows++
	s.weight += w
	s.rss += w * ((observed - predicted) * (observed - predicted))
	off := observed - s.mean
	s.mean += off * w / s.weight
	s.squares += w * (off * (observed - s.mean))
}

// Join adds the rows of o to s (T. Chan, G. Golub, R. LeVeque, 1979).
func (s *Score) Join(o Score) {
	if !(o.weight > 0) {
		return
	}
	total := s.weight + o.weight
	off := o.mean - s.mean
	s.squares += o.squares + off*off*(s.weight/total)*o.weight
	s.mean += off * (o.weight / total)
	s.rows, s.weight, s.rss = s.rows+o.rows, total, s.rss+o.rss
}

// Rows returns the number of rows.
func (s *Score) Rows() int64 { return s.rows }

// R2 returns 1 − Σw(y − ŷ)²/Σw(y − ȳ)², like scikit-learn's r2_score. It returns NaN if y is constant, if there are
// no rows, or if Σw(y − ȳ)² overflows.
func (s *Score) R2() float64 {
	if !(s.squares > 0) || math.IsInf(s.squares, 1) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

// RMSE returns the root mean squared error, √(Σw(y − ŷ)²/Σw), or NaN if there are no rows.
func (s *Score) RMSE() float64 { return math.Sqrt(s.rss / s.weight) }

// scoreJSON is the JSON form of a [Score].
type scoreJSON struct {
	Rows    int64  `json:"n"`
	R2      Number `json:"r2"`
	RMSE    Number `json:"rmse"`
	Weight  Number `json:"weight"`
	RSS     Number `json:"rss"`
	Mean    Number `json:"mean"`
	Squares Number `json:"squares"`
}

// MarshalJSON writes the number of rows n, r2, rmse, and the sums weight = Σw, rss = Σw(y − ŷ)², mean = ȳ and squares
// = Σw(y − ȳ)². Values that are not finite are null.
func (s Score) MarshalJSON() ([]byte, error) {
	return jsonfields.Value(scoreJSON{
		Rows: s.rows, R2: Number(s.R2()), RMSE: Number(s.RMSE()), Weight: Number(s.weight), RSS: Number(s.rss), Mean: Number(s.mean), Squares: Number(s.squares),
	})
}

// UnmarshalJSON reads the output of MarshalJSON. It restores the sums exactly, so that more rows or scores can be
// added. A null sum becomes NaN. If n or a sum is missing or inconsistent, the error is [ErrInput] and s is
// unchanged.
func (s *Score) UnmarshalJSON(text []byte) error {
	in := scoreJSON{Rows: -1, Weight: -1, RSS: -1, Mean: Number(math.NaN()), Squares: -1} // marks missing fields
	if err := json.Unmarshal(text, &in); err != nil {
		return badinput.Errorf("model: this is not a score: %w", jsonfields.Explain(err))
	}
	if in.Rows < 0 || in.Weight < 0 || in.RSS < 0 || math.IsNaN(float64(in.Mean)) || in.Squares < 0 {
		return badinput.Errorf("model: a score without its rows, or with a sum missing or negative")
	}
	if (in.Rows == 0) != (in.Weight == 0) {
		return badinput.Errorf("model: a score of %d rows of weight %v", in.Rows, in.Weight)
	}
	known := func(v Number) float64 {
		if math.IsInf(float64(v), 0) {
			return math.NaN()
		}
		return float64(v)
	}
	*s = Score{rows: in.Rows, weight: float64(in.Weight), rss: known(in.RSS), mean: known(in.Mean), squares: known(in.Squares)}
	return nil
}
