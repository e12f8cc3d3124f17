package report

import (
	"math"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A Trace holds the error bounds for one target and one penalty γ, after each pass that refined the solution.
type Trace struct {
	Gamma  number  `json:"gamma"`
	Target int     `json:"target"` // counted from 1
	Tol    number  `json:"tol"`
	Points []Point `json:"points"` // one for each pass
	// Predicted is the number of passes that the method needs at most to reach the tolerance, counted from the pass
	// of Points[0]. It follows from the error bound of the sketch. It holds for the error in the norm of the matrix
	// AᵀA + γI, where A has the rows. If Predicted is 0, no number can be predicted.
	Predicted int `json:"predicted_passes"`
}

// A Point is the state of an iterative method after one pass over the rows.
type Point struct {
	Pass          int    `json:"pass"`           // number of the pass, not counting the pass of the sketch
	RelativeError number `json:"relative_error"` // bound on ‖x − x*‖/‖x*‖
	Proved        bool   `json:"proved"`         // computed from a measured gradient, not from a recurrence
}

// Traces collects a trace for each target and penalty γ while a fit is refined.
type Traces struct {
	tol float64
	all []*Trace
}

// NewTraces returns an empty collection. tol is the tolerance of the fit.
func NewTraces(tol float64) *Traces { return &Traces{tol: tol} }

// Observe adds the error bound of an iterate to its trace. It can be used as the field Observe of
// [fdridge.Options].
func (t *Traces) Observe(i ridge.Iterate) {
	at := Point{i.Pass, number(i.RelativeError), i.Measured}
	for _, one := range t.all {
		if one.Gamma != number(i.Gamma) || one.Target != i.Target+1 {
			continue
		}
		if one.Points[len(one.Points)-1].Pass < i.Pass { // a γ may occur twice
			one.Points = append(one.Points, at)
		}
		return
	}
	t.all = append(t.all, &Trace{
		Gamma:  number(i.Gamma),
		Target: i.Target + 1,
		Tol:    number(t.tol),
		Points: []Point{at},
	})
}

// Of returns the collected traces. If the method of the result found is iterative, Of also sets the predicted
// number of passes of each trace.
func (t *Traces) Of(found *fdridge.Result) ([]*Trace, error) {
	if !found.Method.Iterates() {
		return t.all, nil
	}
	for _, one := range t.all {
		first := float64(one.Points[0].RelativeError)
		if math.IsInf(first, 1) {
			continue
		}
		if first <= t.tol {
			one.Predicted = 1
			continue
		}
		var err error
		one.Predicted, err = plan.PredictedPasses(
			found.Summary,
			float64(one.Gamma),
			t.tol/first,
			found.Method,
		)
		if err != nil {
			return nil, err
		}
	}
	return t.all, nil
}
