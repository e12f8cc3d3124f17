package report

import (
	"math"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A Trace is how refining went at one γ for one target.
type Trace struct {
	Gamma  number  `json:"gamma"`
	Target int     `json:"target"` // from 1
	Tol    number  `json:"tol"`
	Points []Point `json:"points"` // a pass each
	// Predicted is in how many passes, the first point's included, the sketch's bound
	// says that the error in the norm of H shrinks by as much as it has to from the
	// first point on; 0 says that it predicts nothing.
	Predicted int `json:"predicted_passes"`
}

// A Point is where an iteration stood after a pass over the data, the sketch's not
// counted.
type Point struct {
	Pass          int    `json:"pass"`
	RelativeError number `json:"relative_error"` // a bound on ‖x − x*‖/‖x*‖
	Proved        bool   `json:"proved"`         // of a gradient that was measured, not carried along
}

// Traces note how refining goes.
type Traces struct {
	tol float64
	all []*Trace
}

// NewTraces returns traces of a fit to a relative error of tol.
func NewTraces(tol float64) *Traces { return &Traces{tol: tol} }

// Observe notes an iterate, for [fdridge.Options].
func (t *Traces) Observe(i ridge.Iterate) {
	at := Point{i.Pass, number(i.RelativeError), i.Measured}
	for _, one := range t.all {
		if one.Gamma != number(i.Gamma) || one.Target != i.Target+1 {
			continue
		}
		if one.Points[len(one.Points)-1].Pass < i.Pass { // a γ may be given twice
			one.Points = append(one.Points, at)
		}
		return
	}
	t.all = append(t.all, &Trace{Gamma: number(i.Gamma), Target: i.Target + 1, Tol: number(t.tol), Points: []Point{at}})
}

// Of returns the traces of the fit that was found, nil where it was not refined, with what
// the sketch's bound predicts of the method.
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
		if one.Predicted, err = plan.PredictedPasses(found.Summary, float64(one.Gamma), t.tol/first, found.Method); err != nil {
			return nil, err
		}
	}
	return t.all, nil
}
