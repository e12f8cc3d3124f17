package model

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// An Evaluation compares the predictions of solutions with the targets of rows, for example of held-out rows.
type Evaluation struct {
	Scores [][]Score // for each solution and target
	// Points holds the predictions for some rows at equal distances, for a plot. The distance grows with the number
	// of rows, so that the number of points stays limited.
	Points []Point
	rows   int64 // number of rows compared so far
	every  int64 // distance in rows between two points
}

// A Point holds the targets of one row and the predictions for this row. If there are t targets, Predicted[i·t+j]
// is the prediction of target j by solution i.
type Point struct {
	Observed, Predicted []float64
}

// maxPoints limits the points of an evaluation, and maxNumbers limits the predictions in all its points.
const (
	maxPoints  = 2000
	maxNumbers = 1 << 20
)

// Evaluate makes one pass over src and compares the predictions of all solutions with the targets in src. The rows
// of src must be prepared like the rows of the fit. If dimensions differ, the error is [ErrShape]. If a prediction
// overflows, the error is an *[OverflowError].
func Evaluate(
	ctx context.Context,
	src dataset.Source,
	solutions []*ridge.Solution,
) (*Evaluation, error) {
	if src == nil || len(solutions) == 0 {
		return nil, fmt.Errorf("%w: an evaluation needs rows and solutions", errShape)
	}
	_, d, t := src.Dims()
	for _, s := range solutions {
		if k, want := s.Dims(); k != t || want != d {
			return nil, fmt.Errorf(
				"%w: rows of %d features and %d targets, a solution of %d and %d",
				errShape,
				d,
				t,
				want,
				k,
			)
		}
	}
	e := &Evaluation{Scores: make([][]Score, len(solutions)), every: 1}
	for i := range e.Scores {
		e.Scores[i] = make([]Score, t)
	}
	yhat := make([]float64, len(solutions)*t)
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range b.N {
			for k, s := range solutions {
				row := yhat[k*t : (k+1)*t]
				if err := predictRow(s, row, b, i, d); err != nil {
					return nil, err
				}
			}
			observed := b.Y[i*t : (i+1)*t]
			for k, v := range yhat {
				if !vec.IsFinite(v) {
					return nil, &OverflowError{b.First + int64(i)}
				}
				e.Scores[k/t][k%t].addRow(
					&solutions[k/t].Targets[k%t],
					b,
					i,
					observed[k%t],
					v,
				)
			}
			if b.Weight(i) > 0 {
				e.keep(observed, yhat)
			}
		}
	}
	return e, nil
}

// predictRow writes the predictions of s for row i of b to yhat. The row has d features.
func predictRow(s *ridge.Solution, yhat []float64, b dataset.Block, i, d int) error {
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(i)
		return s.PredictSparse(yhat, idx, val)
	}
	return s.PredictRow(yhat, b.X[i*d:(i+1)*d])
}

// keep counts a row. It also adds every e.every-th row to e.Points, unless the predictions for one row exceed
// maxNumbers.
func (e *Evaluation) keep(observed, yhat []float64) {
	e.rows++
	if (e.rows-1)%e.every != 0 || len(yhat) > maxNumbers {
		return
	}
	y := append([]float64(nil), observed...)
	predicted := append([]float64(nil), yhat...)
	e.Points = append(e.Points, Point{y, predicted})
	e.thin()
}

// thin removes every second point, and repeats this until the points are within their limits.
func (e *Evaluation) thin() {
	for len(e.Points) > maxPoints ||
		len(e.Points) > 1 && len(e.Points)*len(e.Points[0].Predicted) > maxNumbers {
		for i := range (len(e.Points) + 1) / 2 {
			e.Points[i] = e.Points[2*i]
		}
		e.Points = e.Points[:(len(e.Points)+1)/2]
		e.every *= 2
	}
}

// evaluationMessage is the form in which an Evaluation is sent to other processes.
type evaluationMessage struct {
	Rows   int64
	Sums   [][]float64 // as sums.numbers returns them
	Counts []int64
	Points []Point
}

// Pool combines the evaluations of several processes. Each process has evaluated a share of the rows. Every process
// must call Pool, and every process gets the same result.
func (e *Evaluation) Pool(ctx context.Context, share dataset.Share, link prepare.Link) error {
	if share.Whole() {
		return nil
	}
	own := evaluationMessage{Rows: e.rows, Points: e.Points}
	for _, scores := range e.Scores {
		for _, s := range scores {
			own.Counts = append(own.Counts, s.rows)
			own.Sums = append(own.Sums, s.numbers())
		}
	}
	all := &Evaluation{Scores: make([][]Score, len(e.Scores)), every: 1}
	for i := range all.Scores {
		all.Scores[i] = make([]Score, len(e.Scores[i]))
	}
	err := prepare.Exchange(ctx, share.Size, link, own, func(_ int, of evaluationMessage) error {
		if len(of.Counts) != len(own.Counts) {
			return fmt.Errorf("%w: one share has %d scores, another has %d", errShape, len(of.Counts), len(own.Counts))
		}
		k := 0
		for _, scores := range all.Scores {
			for j := range scores {
				scores[j].Join(Score{of.Counts[k], sumsOf(of.Sums[k])})
				k++
			}
		}
		all.rows += of.Rows
		all.Points = append(all.Points, of.Points...)
		return nil
	})
	if err != nil {
		return err
	}
	all.thin()
	*e = *all
	return nil
}
