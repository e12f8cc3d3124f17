package classes

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// Decide returns the class of a row. y holds the predictions of its targets. If there are several, Decide returns
// the first class with the largest prediction. If there is one target, it returns class 1 if the prediction is
// positive, otherwise class 0.
func Decide(y []float64) int {
	best := 0
	if len(y) == 1 {
		if y[0] > 0 {
			best = 1
		}
		return best
	}
	for k, v := range y {
		if v > y[best] {
			best = k
		}
	}
	return best
}

// Margin returns the largest prediction minus the second largest. If y has only one prediction, Margin returns its
// absolute value.
func Margin(y []float64) float64 {
	if len(y) == 1 {
		return math.Abs(y[0])
	}
	best := Decide(y)
	second := math.Inf(-1)
	for k, v := range y {
		if k != best {
			second = math.Max(second, v)
		}
	}
	return y[best] - second
}

// Proves reports whether the exact solution certainly chooses class k. intervals contain its predictions. The
// choice is proved if the lower end of the interval of class k is above the upper ends of all other classes.
func Proves(intervals []ridge.Interval, k int) bool {
	return isLargest(intervals, k, true)
}

// Allows reports whether the exact solution may choose class k. intervals contain its predictions. It returns false
// if they prove that the exact solution chooses another class.
func Allows(intervals []ridge.Interval, k int) bool {
	return isLargest(intervals, k, false)
}

// isLargest reports whether class k has the largest prediction. If always is true, this must hold for all values
// inside the intervals; otherwise for some values. Without intervals, isLargest returns !always.
func isLargest(intervals []ridge.Interval, k int, always bool) bool {
	if len(intervals) == 0 {
		return !always
	}
	of := func(k int) ridge.Interval { return intervals[k] }
	classes := len(intervals)
	if classes == 1 { // the predictions of the two classes are −y and y
		classes = 2
		of = func(k int) ridge.Interval {
			v := intervals[0]
			if k == 0 {
				return ridge.Interval{Lo: -v.Hi, Hi: -v.Lo}
			}
			return intervals[0]
		}
	}
	for j := range classes {
		switch {
		case j == k:
		case always && !(of(k).Lo > of(j).Hi), !always && of(k).Hi < of(j).Lo:
			return false
		}
	}
	return true
}

// A Score counts right and wrong decisions. A decision assigns a row to a class. Every row of positive
// weight counts once. Rows of weight 0 are left out.
type Score struct {
	Rows int64 `json:"rows"`
	// Confusion[i][j] is the number of rows that belong to class i and are assigned to class j.
	Confusion [][]int64 `json:"confusion"`
	// Unknown counts rows with a label that no training row has. A decision about such a row counts as wrong.
	Unknown int64 `json:"unknown"`
	// Proved counts the rows whose assigned class is proved to be the choice of the exact solution.
	Proved int64 `json:"proved"`
	// Right[i] counts the rows of class i that the exact solution certainly assigns to class i. Possible[i] counts
	// the rows of class i that the exact solution may assign to class i.
	Right    []int64 `json:"right"`
	Possible []int64 `json:"possible"`
}

// NewScore returns a Score without rows.
func (c *Classes) NewScore() *Score {
	k := len(c.Labels)
	s := &Score{
		Confusion: make([][]int64, k),
		Right:     make([]int64, k),
		Possible:  make([]int64, k),
	}
	for i := range s.Confusion {
		s.Confusion[i] = make([]int64, k)
	}
	return s
}

// Add adds the decision about one row. The argument truth is the class of the row, or −1 for an unknown label. The
// argument y holds the predictions of the targets for this row. The argument intervals is nil, or holds an interval
// for each target that contains the prediction of the exact solution.
func (s *Score) Add(truth int, y []float64, intervals []ridge.Interval) {
	s.Rows++
	at := Decide(y)
	if Proves(intervals, at) {
		s.Proved++
	}
	if truth < 0 {
		s.Unknown++
		return
	}
	s.Confusion[truth][at]++
	if Proves(intervals, truth) {
		s.Right[truth]++
	}
	if Allows(intervals, truth) {
		s.Possible[truth]++
	}
}

// AddEncoded adds the decisions about the rows of b, whose targets are the ±1 of [Classes.Encode]. The argument y
// and intervals hold the predictions of row 0 for every target, then the predictions of row 1, and so on.
func (s *Score) AddEncoded(b dataset.Block, y []float64, intervals []ridge.Interval) {
	for i, t := 0, len(b.Y)/b.N; i < b.N; i++ {
		if b.Weight(i) > 0 {
			from, to := i*t, (i+1)*t
			s.Add(Decide(b.Y[from:to]), y[from:to], intervals[from:to])
		}
	}
}

// Pool replaces each count in scores by its sum over all processes. The function reduce overwrites its argument
// with the sum over all processes.
func Pool(
	ctx context.Context,
	reduce func(ctx context.Context, sums []float64) error,
	scores ...*Score,
) error {
	var counts []*int64
	for _, s := range scores {
		counts = append(counts, &s.Rows, &s.Unknown, &s.Proved)
		for _, list := range slices.Concat(s.Confusion, [][]int64{s.Right, s.Possible}) {
			for k := range list {
				counts = append(counts, &list[k])
			}
		}
	}
	sums := make([]float64, len(counts))
	for i, v := range counts {
		sums[i] = float64(*v)
	}
	if err := reduce(ctx, sums); err != nil {
		return err
	}
	for i, v := range counts {
		*v = int64(sums[i])
	}
	return nil
}

// Accuracy returns the accuracy in two forms. The result value is the fraction of rows with a right decision. The
// result bracket is an interval that contains this fraction for the decisions of the exact solution. Both are NaN
// if there are no rows.
func (s *Score) Accuracy() (value float64, bracket ridge.Interval) {
	right := ridge.Interval{}
	n := float64(s.Rows)
	for k := range s.Confusion {
		value += float64(s.Confusion[k][k])
		right.Lo += float64(s.Right[k])
		right.Hi += float64(s.Possible[k])
	}
	return value / n, ridge.Interval{Lo: right.Lo / n, Hi: right.Hi / n}
}

// Balanced returns the balanced accuracy in two forms. value is for the decisions that were added. bracket is an
// interval that contains the balanced accuracy of the exact solution. The balanced accuracy is a mean over all
// classes that have rows: for each class, the fraction of its rows with a right decision.
//
// Each number is computed exactly and then rounded to the nearest float64, so that equal accuracies give equal
// results.
func (s *Score) Balanced() (value float64, bracket ridge.Interval) {
	mean := func(right func(k int) int64) float64 {
		sum, classes := new(big.Rat), int64(0)
		for k, row := range s.Confusion {
			n := int64(0)
			for _, v := range row {
				n += v
			}
			if n > 0 {
				classes++
				sum.Add(sum, big.NewRat(right(k), n))
			}
		}
		if classes == 0 {
			return math.NaN()
		}
		v, _ := sum.Quo(sum, big.NewRat(classes, 1)).Float64()
		return v
	}
	value = mean(func(k int) int64 { return s.Confusion[k][k] })
	return value, ridge.Interval{
		Lo: mean(func(k int) int64 { return s.Right[k] }),
		Hi: mean(func(k int) int64 { return s.Possible[k] }),
	}
}

// Evaluate makes a pass over src and returns the score of each solution in fits. The argument src must have the
// target of [Learn], and the features of the fit, prepared in the same way. If a solution has no certificate, its
// Score proves nothing.
func (c *Classes) Evaluate(
	ctx context.Context,
	src dataset.Source,
	fits []*ridge.Solution,
) ([]*Score, error) {
	scores := make([]*Score, len(fits))
	by := make([]*ridge.Predictor, len(fits))
	for i, f := range fits {
		scores[i] = c.NewScore()
		if p, err := f.Predictor(); err == nil { // else f has no certificate
			by[i] = p
		}
	}
	_, d, _ := src.Dims()
	t := c.Targets()
	y := make([]float64, t)
	var intervals []ridge.Interval
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for k, f := range fits {
			intervals = make([]ridge.Interval, b.N*t)
			if by[k] != nil {
				if err := by[k].Predict(intervals, b); err != nil {
					return nil, err
				}
			}
			for i := range b.N {
				if b.Weight(i) == 0 {
					continue
				}
				if b.Sparse != nil {
					idx, val := b.Sparse.Row(i)
					err = f.PredictSparse(y, idx, val)
				} else {
					err = f.PredictRow(y, b.X[i*d:(i+1)*d])
				}
				if err != nil {
					return nil, err
				}
				its := intervals[i*t : (i+1)*t]
				if by[k] == nil {
					its = nil
				}
				scores[k].Add(c.Of(b.Y[i]), y, its)
			}
		}
	}
	return scores, nil
}
