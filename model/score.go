package model

import (
	"encoding/json"
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// A Score compares the predictions of one target with what was observed, row by row; Add counts each
// once, AddWeighted so many times. Its zero value has seen no row. Certified brackets of R² for the
// rows of the fit itself are in [ridge.Target.R2].
type Score struct {
	rows    int64
	weight  float64 // of all rows
	rss     float64 // Σw(y − ŷ)²
	mean    float64 // of y
	squares float64 // Σw(y − mean)², B. Welford, Technometrics 4, 1962
}

// Add takes in one row: y as observed and as predicted.
func (s *Score) Add(observed, predicted float64) { s.AddWeighted(1, observed, predicted) }

// AddWeighted takes in a row of weight w > 0; one of none is left out.
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

// Join takes in the rows of another score, as if they had been added behind those of this one (T. Chan,
// G. Golub, R. LeVeque, 1979).
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

// Rows is how many rows were added.
func (s *Score) Rows() int64 { return s.rows }

// R2 is 1 − Σw(y − ŷ)²/Σw(y − ȳ)², as scikit-learn's r2_score; NaN where y is constant, of no
// rows, and where Σw(y − ȳ)² exceeds the range of float64.
func (s *Score) R2() float64 {
	if !(s.squares > 0) || math.IsInf(s.squares, 1) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

// RMSE is the root of the mean squared error, √(Σw(y − ŷ)²/Σw); NaN of no rows.
func (s *Score) RMSE() float64 { return math.Sqrt(s.rss / s.weight) }

// scoreJSON is a [Score] as it is written.
type scoreJSON struct {
	Rows    int64  `json:"n"`
	R2      Number `json:"r2"`
	RMSE    Number `json:"rmse"`
	Weight  Number `json:"weight"`
	RSS     Number `json:"rss"`
	Mean    Number `json:"mean"`
	Squares Number `json:"squares"`
}

// MarshalJSON writes what the methods return, n (the rows), r2 and rmse, and the sums that these follow
// from: weight = Σw, rss = Σw(y − ŷ)², mean = ȳ and squares = Σw(y − ȳ)². What is not finite is null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{
		Rows: s.rows, R2: Number(s.R2()), RMSE: Number(s.RMSE()), Weight: Number(s.weight), RSS: Number(s.rss), Mean: Number(s.mean), Squares: Number(s.squares),
	})
}

// UnmarshalJSON reads what MarshalJSON writes: n and the sums, to the bit, of which r2 and rmse follow,
// so that rows can be added, and scores joined, as before. Sums that are null are beyond float64: nothing
// is known of them. Where n or a sum is missing, or they are those of no rows, it is [ErrInput],
// and s is as it was.
func (s *Score) UnmarshalJSON(text []byte) error {
	in := scoreJSON{Rows: -1, Weight: -1, RSS: -1, Mean: Number(math.NaN()), Squares: -1} // as if all were missing
	if err := json.Unmarshal(text, &in); err != nil {
		return badinput.Errorf("model: this is not a score: %w", err)
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
