package main

import (
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/model"
)

// arrowPredictions writes record batches.
type arrowPredictions struct {
	to     *arrow.Writer
	keys   *keyReader // nil: none
	row    []float64
	prompt bool
}

func (a *arrowPredictions) write(row *model.Prediction) error {
	a.row = a.row[:0]
	if a.keys != nil {
		key, err := a.keys.number()
		if err != nil {
			return err
		}
		a.row = append(a.row, key)
	}
	for j, v := range row.Y {
		a.row = append(a.row, v)
		if row.Intervals != nil {
			a.row = append(a.row, row.Intervals[j].Lo, row.Intervals[j].Hi)
		}
	}
	if err := a.to.Append(a.row); err != nil || !row.Last || !a.prompt {
		return err
	}
	return a.to.Flush()
}

func (a *arrowPredictions) end() error { return a.to.Close() }
