package main

import (
	"math"

	"github.com/fdridge/fdridge/ridge"
)

// A trace is how refining went at one γ for one target.
type trace struct {
	Gamma  number  `json:"gamma"`
	Target int     `json:"target"` // from 1
	Tol    number  `json:"tol"`
	Points []point `json:"points"` // a pass each
	// Predicted is in how many passes, the first point's included, the sketch's bound
	// says that the error in the norm of H shrinks by as much as it has to from the
	// first point on; 0 says that it predicts nothing.
	Predicted int `json:"predicted_passes"`
}

// A point is where an iteration stood after a pass over the data, the sketch's not
// counted.
type point struct {
	Pass          int    `json:"pass"`
	RelativeError number `json:"relative_error"` // a bound on ‖x − x*‖/‖x*‖
	Proved        bool   `json:"proved"`         // of a gradient that was measured, not carried along
}

// observe notes an iterate.
func (r *result) observe(i ridge.Iterate) {
	at := point{i.Pass, number(i.RelativeError), i.Measured}
	for _, t := range r.traces {
		if t.Gamma != number(i.Gamma) || t.Target != i.Target+1 {
			continue
		}
		if t.Points[len(t.Points)-1].Pass < i.Pass { // a γ may be given twice
			t.Points = append(t.Points, at)
		}
		return
	}
	r.traces = append(r.traces, &trace{Gamma: number(i.Gamma), Target: i.Target + 1, Tol: number(r.o.tol), Points: []point{at}})
}

// predict adds to the traces what the sketch's bound says of the method, with the
// Hessian of Robust Frequent Directions; of the plain one it says nothing.
func (r *result) predict(sum *ridge.Summary, m ridge.Method) error {
	if !r.o.robust {
		return nil
	}
	for _, t := range r.traces {
		first := float64(t.Points[0].RelativeError)
		if math.IsInf(first, 1) {
			continue
		}
		if first <= r.o.tol {
			t.Predicted = 1
			continue
		}
		var err error
		if t.Predicted, err = sum.PredictedPasses(float64(t.Gamma), r.o.tol/first, m); err != nil {
			return err
		}
	}
	return nil
}
