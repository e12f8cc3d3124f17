package model

import "math"

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

// R2 is 1 − Σw(y − ŷ)²/Σw(y − ȳ)², as scikit-learn's r2_score; NaN where y is constant, and
// of no rows.
func (s *Score) R2() float64 {
	if !(s.squares > 0) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

// RMSE is the root of the mean squared error, √(Σw(y − ŷ)²/Σw); NaN of no rows.
func (s *Score) RMSE() float64 { return math.Sqrt(s.rss / s.weight) }
