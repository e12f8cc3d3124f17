package fdridge

import (
	"context"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/columns"
)

// This file has the values that the steps of a fit hand on. Each step takes values and returns a new one:
//
//	options → request → job → evidence → choice → solved → Result

// A request is a fit as the caller asked for it. It never changes.
type request struct {
	opts      Options        // every field has its value
	asksLOO   bool           // the caller asked for leave-one-out errors
	once      bool           // the rows can be read only once
	labelled  dataset.Source // the rows before Options.Classes.Encode; nil without classes
	firstGrid []float64      // the default candidates of the first block of targets; nil for the first block
}

// A job is a request with the rows that it solves for. It is a value: a step that changes something returns another
// job.
type job struct {
	*request
	data
	by    choose.Criterion // the criterion that chooses γ
	trace *trace
}

// data describes the rows of a fit, before and after the change of columns. It is a value.
type data struct {
	before  dataset.Source // the rows before the change; nil for a summary without rows
	src     dataset.Source // the rows after the change; nil without rows, and as long as the change is not learned
	columns *columns.Map
	factors []float64          // Options.Penalty of the columns after the change; nil means 1
	bands   *choose.BandChoice // the penalties of Options.Bands; nil without bands, and before they are chosen
	n       int64              // number of rows, -1 if it is unknown
	d, t    int                // numbers of columns after the change, and of targets
	sparse  bool               // the first rows are sparse; set only by job.count
}

// A goal is the relative error to prove for the columns after the change.
type goal struct {
	tol   float64 // at most Options.Tol
	isLow bool    // tighten has lowered it
}

// A trace holds the steps that a fit has made so far.
type trace struct{ steps []Step }

// record adds a step to the trace.
func (j job) record(s Step) {
	j.trace.steps = append(j.trace.steps, s)
}

// evidence holds the result of the first pass: a summary, factors, or both.
type evidence interface {
	// choose returns the γ to solve for. It may make passes that add evidence.
	choose(ctx context.Context) (choice, error)
}

// A choice holds the γ to solve for.
type choice struct {
	gammas  []float64
	gamma   *choose.GammaChoice  // how the γ was chosen for all targets; nil if it was not
	each    *choose.TargetChoice // how the γ of each target was chosen; nil if it was not
	leftOut decisions
	from    solver // the evidence, with all that the choice has added
}

// A solver solves by the evidence.
type solver interface {
	solve(ctx context.Context, c choice) (solved, error)
}

// solved holds the solutions for the columns after the change.
type solved struct {
	job
	method  ridge.Method
	fits    []*ridge.Solution
	status  ridge.Status
	summary *ridge.Summary // nil for a direct method
	spread  float64        // Result.ColumnSpread
	// leastGamma is the smallest power of ten that reaches the tolerance as γ, if columns are dependent at γ = 0; else
	// 0.
	leastGamma float64
}

// decisions holds leave-one-out decisions at each γ that was tried. It is empty without classes.
type decisions map[float64]*classes.Score
