package model

import (
	"math"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// rowNumbers are those of rows with missing values, which are told by the goroutine that encodes rows
// before whoever reads them gets to them.
type rowNumbers struct {
	mu   sync.Mutex
	rows []int64 // in order
}

func (r *rowNumbers) add(row int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// has reports whether a row is one of them. Rows are asked for in their order.
func (r *rowNumbers) has(row int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 || r.rows[0] != row {
		return false
	}
	if r.rows = r.rows[1:]; len(r.rows) == 0 {
		r.rows = nil
	}
	return true
}

// unknown is the prediction for row i of b, of which nothing can be said.
func (p *Predictor) unknown(b dataset.Block, i, t int, yhat []float64) Prediction {
	one := Prediction{Row: b.First + int64(i), Y: yhat, Observed: b.Y[i*t : (i+1)*t], Last: i == b.N-1}
	for j := range yhat {
		yhat[j] = math.NaN()
		if p.intervals != nil {
			one.Intervals = append(one.Intervals, ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)})
		}
	}
	return one
}
