package model

import "math"

// A Score compares the predictions of one target with what was observed, row by row, each
// of weight one. Its zero value has seen no row. [ridge.Score] scores fits by one pass over
// rows, with their weights.
type Score struct {
	rows    int64
	rss     float64 // Σ(y − ŷ)²
	mean    float64 // of y
	squares float64 // Σ(y − mean)², B. Welford, Technometrics 4, 1962
}

// Add takes in one row: y as observed and as predicted.
func (s *Score) Add(observed, predicted float64) {
	s.rows++
	s.rss += (observed - predicted) * (observed - predicted)
	off := observed - s.mean
	s.mean += off / float64(s.rows)
	s.squares += off * (observed - s.mean)
}

// Rows is how many rows were added.
func (s *Score) Rows() int64 { return s.rows }

// R2 is 1 − Σ(y − ŷ)²/Σ(y − ȳ)², as scikit-learn's r2_score; NaN where y is constant, and
// of no rows.
func (s *Score) R2() float64 {
	if !(s.squares > 0) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

// RMSE is the root of the mean squared error, √(Σ(y − ŷ)²/n); NaN of no rows.
func (s *Score) RMSE() float64 { return math.Sqrt(s.rss / float64(s.rows)) }
