package model

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge"
)

// An Evaluation is how solutions do on rows, such as those that were held out of their fit.
type Evaluation struct {
	Scores [][]Score // of each solution, for each target
	// Points are some of the rows, spread over all of them, to be drawn: as they were observed and as
	// each solution predicts, target by target.
	Points []Point
	rows   int64 // seen
	every  int64 // of which each that is a multiple of it is a point
}

// A Point is a row as it was observed, for each target, and as it is predicted: for solution i and target j
// at i·t + j.
type Point struct {
	Observed, Predicted []float64
}

// mostPoints is how many points an evaluation keeps at most, and mostNumbers how many predictions.
const (
	mostPoints  = 2000
	mostNumbers = 1 << 20
)

// Evaluate makes a pass over rows that are prepared as those of the fit were, predicts for them by all
// solutions at once, and compares with the targets. Rows of other dimensions than the solutions are
// [ErrShape]; a prediction beyond float64 is an *[OverflowError].
func Evaluate(ctx context.Context, src dataset.Source, solutions []*ridge.Solution) (*Evaluation, error) {
	ctx = background.IfNil(ctx)
	if src == nil || len(solutions) == 0 {
		return nil, fmt.Errorf("%w: an evaluation needs rows and solutions", errShape)
	}
	_, d, t := src.Dims()
	for _, s := range solutions {
		if k, want := s.Dims(); k != t || want != d {
			return nil, fmt.Errorf("%w: rows of %d features and %d targets, a solution of %d and %d", errShape, d, t, want, k)
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
				if err := predictRow(s, yhat[k*t:(k+1)*t], b, i, d); err != nil {
					return nil, err
				}
			}
			observed := b.Y[i*t : (i+1)*t]
			for k, v := range yhat {
				if !isFinite(v) {
					return nil, &OverflowError{b.First + int64(i)}
				}
				e.Scores[k/t][k%t].AddWeighted(b.Weight(i), observed[k%t], v)
			}
			if b.Weight(i) > 0 {
				e.keep(observed, yhat)
			}
		}
	}
	return e, nil
}

// predictRow predicts for row i of a block.
func predictRow(s *ridge.Solution, yhat []float64, b dataset.Block, i, d int) error {
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(i)
		return s.PredictSparse(yhat, idx, val)
	}
	return s.PredictRow(yhat, b.X[i*d:(i+1)*d])
}

// keep takes a row for a point where it is its turn.
func (e *Evaluation) keep(observed, yhat []float64) {
	if e.rows++; (e.rows-1)%e.every != 0 || len(yhat) > mostNumbers {
		return
	}
	e.Points = append(e.Points, Point{append([]float64(nil), observed...), append([]float64(nil), yhat...)})
	e.thin()
}

// thin leaves out every other point while there are too many.
func (e *Evaluation) thin() {
	for len(e.Points) > mostPoints || len(e.Points) > 1 && len(e.Points)*len(e.Points[0].Predicted) > mostNumbers {
		for i := range (len(e.Points) + 1) / 2 {
			e.Points[i] = e.Points[2*i]
		}
		e.Points = e.Points[:(len(e.Points)+1)/2]
		e.every *= 2
	}
}

// sent is an Evaluation as shares send it.
type sent struct {
	Rows                       int64
	Weight, RSS, Mean, Squares []float64
	Counts                     []int64
	Points                     []Point
}

// Pool makes the evaluation that of the rows of all shares. Every share makes this call, and all come
// to the same bits.
func (e *Evaluation) Pool(ctx context.Context, share dataset.Share, link dataset.Link) error {
	ctx = background.IfNil(ctx)
	if share.Whole() {
		return nil
	}
	own := sent{Rows: e.rows, Points: e.Points}
	for _, scores := range e.Scores {
		for _, s := range scores {
			own.Counts, own.Weight, own.RSS = append(own.Counts, s.rows), append(own.Weight, s.weight), append(own.RSS, s.rss)
			own.Mean, own.Squares = append(own.Mean, s.mean), append(own.Squares, s.squares)
		}
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(own); err != nil {
		return err
	}
	all := &Evaluation{Scores: make([][]Score, len(e.Scores)), every: 1}
	for i := range all.Scores {
		all.Scores[i] = make([]Score, len(e.Scores[i]))
	}
	for root := range share.Size {
		b, err := link.Broadcast(ctx, root, text.Bytes())
		if err != nil {
			return err
		}
		var of sent
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&of); err != nil {
			return err
		}
		if len(of.Counts) != len(own.Counts) {
			return fmt.Errorf("%w: %d scores of one share, %d of another", errShape, len(of.Counts), len(own.Counts))
		}
		k := 0
		for _, scores := range all.Scores {
			for j := range scores {
				scores[j].Join(Score{of.Counts[k], of.Weight[k], of.RSS[k], of.Mean[k], of.Squares[k]})
				k++
			}
		}
		all.rows += of.Rows
		all.Points = append(all.Points, of.Points...)
	}
	all.thin()
	*e = *all
	return nil
}
