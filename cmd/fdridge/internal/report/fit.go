// Package report writes a finished fit, a plan or a saved model. It writes text, JSON, HTML pages and charts.
package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A Fit is a finished fit.
type Fit struct {
	Asked  Asked
	Data   Data
	Found  *fdridge.Result
	Traces []*Trace // progress of the refinement, see [Traces]
	// Remedies are command-line flags that may help if the fit missed its tolerance. FindRemedies sets this field.
	Remedies []string
	Cost     Cost
	Written  Written
	HeldOut  *HeldOut          // nil: no rows were held out, or a classification
	Classes  *Classes          // nil: no classification
	Coverage []*model.Coverage // intervals for new observations, for each solution; nil: none

	StandardErrors   [][]ridge.StandardErrors // for each solution and target; nil: none
	NoStandardErrors string                   // why there are none, although they were asked for; "": no reason

	after []float64 // penalty that AsFitted has moved into the preparation; nil: none
}

// Asked holds the settings of the fit.
type Asked struct {
	Command   string // command line that repeats the fit
	Program   string // version of the program
	Tol       float64
	Intercept bool
}

// Data describes the rows.
type Data struct {
	Name        string // names of the files of the rows, or of the sketch
	Format      string
	Targets     []string // names of the targets, if known
	Nonzeros    int64
	Preparation model.Preparation
	Before      []float64     // penalty included in the sketch; nil: none
	Encoded     *Encoded      // encoding of the columns; nil: none
	Bands       []choose.Band // groups of columns with a given or chosen penalty
}

// Cost holds the computing time of a fit and its number of passes over the rows.
type Cost struct {
	PreparingReads  int // number of passes for the preparation
	Reads           int // total number of passes
	Sketched, Total time.Duration
	Backend, Kernel string
	Ranks           []Rank // one record for each process of an MPI job; nil: a single process
}

// Written holds the names of the output files: the model, the HTML page, the predictions and the sketch. A name is
// empty if this file was not written.
type Written struct{ Model, Page, Predictions, Sketch string }

// Size returns the number of rows of the sketch, or 0 if the fit used no sketch.
func (f *Fit) Size() int {
	if f.Found.Summary == nil {
		return 0
	}
	cfg := f.Found.Summary.Config()
	return min(cfg.Size, cfg.Dim)
}

// sketchBound returns a bound on the norm ‖AᵀA − BᵀB‖. A is the matrix of the rows of the fit, and B is the
// sketch that --save-sketch writes. The bound used for a solution can be smaller, because a later pass may compute
// AᵀA.
func (f *Fit) sketchBound() float64 {
	s, err := f.Found.Summary.Spectrum()
	if err != nil { // an error here would already have ended the fit
		return math.Inf(1)
	}
	return s.Bound.FD()
}

// hasLaterGram reports whether a pass after the sketch computed the Gram matrix AᵀA of the rows. The solutions then
// use this matrix.
func (f *Fit) hasLaterGram() bool {
	return f.Found.Choice != nil && f.Found.Choice.Whole && f.describeGram() == ""
}

// holdsGram is the text for a fit that stored the Gram matrix AᵀA of the rows instead of a sketch.
const holdsGram = "AᵀA is stored instead of a sketch"

// describeGram says that the Gram matrix AᵀA of the rows was stored instead of a sketch, and why. It returns ""
// if a sketch was stored.
func (f *Fit) describeGram() string {
	s := f.Found.Summary
	if s == nil || !s.Sketch().Scatter() {
		return ""
	}
	return fmt.Sprintf("%s, because %d features are few", holdsGram, s.Config().Dim)
}

// Lost reports whether the fit has no result to write. This is so if the iterations diverged for every γ and no
// error bound is proved.
func (f *Fit) Lost() bool {
	return !slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool {
		return s.Status != ridge.Diverged ||
			slices.ContainsFunc(s.Targets, func(o ridge.Target) bool { return o.Proves() })
	})
}

// Short returns why the fit missed its tolerance. It is the status of the solution with the largest bound on the
// relative error. If this solution did not miss the tolerance, it is the status of the whole fit.
func (f *Fit) Short() ridge.Status {
	if _, at, _ := f.worst(); at.Status.Err() != nil {
		return at.Status
	}
	return f.Found.Status // worst chose a zero solution, whose relative error is undefined
}

// Unsolved lists the penalties γ that have no solution. It returns "" if every γ has a solution.
func (f *Fit) Unsolved() string {
	var gammas []string
	for _, g := range f.Found.Unsolved() {
		gammas = append(gammas, fmt.Sprint(g))
	}
	if len(gammas) == 0 {
		return ""
	}
	return "no solution at gamma " + strings.Join(gammas, ", ") + ": the system is numerically singular"
}

// Shortfall states by how much the fit missed its tolerance: the proved error and the tolerance. It returns "" if
// every solution reached the tolerance.
func (f *Fit) Shortfall() string {
	if !slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool {
		return s.Status.Err() != nil
	}) {
		return ""
	}
	switch f.Short() {
	case ridge.Unproved:
		return f.listUnproved()
	case ridge.MinimumNorm:
		if s := f.dependentFit(); underflows(s) {
			return fmt.Sprintf(
				"at gamma = 0 the coefficients are not known (%s); multiply such columns by a power of 10",
				f.describeDependences(s),
			)
		}
		return fmt.Sprintf(
			"at gamma = 0 the solution is not unique (%s); the minimum-norm solution has no proved error bound",
			f.describeDependences(f.dependentFit()),
		)
	}
	worst, at, target := f.worst()
	where := ""
	if f.hasSeveralFits() {
		where = " at " + f.nameOf(at, target)
	}
	if f.Data.Preparation.Reversible() != nil {
		where = " of the coefficients of scaled columns" + where
	}
	return fmt.Sprintf(
		"tolerance not reached: the proved bound on the relative error%s is %s, --tol is %g",
		where,
		bound(worst),
		f.Asked.Tol,
	)
}

// worst returns the largest bound on a relative error, and the solution and target that have this bound.
func (f *Fit) worst() (worst float64, at *ridge.Solution, target int) {
	worst = -1
	for _, s := range f.Found.Solutions {
		for j := range s.Targets {
			if e := s.Targets[j].RelativeErrorBound; !(e <= worst) {
				worst, at, target = e, s, j
			}
		}
	}
	return worst, at, target
}
