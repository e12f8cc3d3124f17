// Package report tells of a finished fit: as text, as JSON, as a page, in charts. It is made
// of values that say what was asked for, what was read, what was found and what it took.
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
	Traces []*Trace // how refining went, see [Traces]
	// Remedies are what would help where the tolerance was missed, see FindRemedies.
	Remedies []string
	Cost     Cost
	Written  Written
	HeldOut  *HeldOut // nil: no rows were held out

	after []float64 // the penalty that was put on the sketch, once it is in the preparation
}

// Asked is what the fit was to be.
type Asked struct {
	Command   string // how to run it again
	Program   string // the version of the program
	Tol       float64
	Intercept bool
}

// Data is what was read.
type Data struct {
	Name        string // the files, or the sketch
	Format      string
	Targets     []string // their names, where they have any
	Nonzeros    int64
	Preparation model.Preparation
	Before      []float64     // what the rows were penalised by as they came, nil for nothing
	Encoded     *Encoded      // what was made of the columns as they came; nil: nothing
	Bands       []choose.Band // the groups of columns that a penalty was given by, or is chosen for
}

// Cost is what the fit took.
type Cost struct {
	PreparingReads  int // of the data, before the method's own
	Reads           int // in all
	Sketched, Total time.Duration
	Backend, Kernel string
	Ranks           []Rank // nil: one process alone
}

// Written are the files that were written, "" for none.
type Written struct{ Model, Page string }

// Size is m, 0 without a sketch.
func (f *Fit) Size() int {
	if f.Found.Summary == nil {
		return 0
	}
	cfg := f.Found.Summary.Config()
	return min(cfg.Size, cfg.Dim)
}

// lanes says in how many lanes the rows were sketched; "" where it was one.
func (f *Fit) lanes() string {
	if s := f.Found.Summary; s != nil && s.Config().Lanes > 1 {
		return fmt.Sprintf(" in %d lanes", s.Config().Lanes)
	}
	return ""
}

// scatter says that AᵀA itself was kept, and in place of what; "" where a sketch was.
func (f *Fit) scatter() string {
	s := f.Found.Summary
	if s == nil || !s.Sketch().Scatter() {
		return ""
	}
	cfg := s.Config()
	return fmt.Sprintf("AᵀA itself is kept: %d features are no more than the buffer of a sketch of %d", cfg.Dim, cfg.Size)
}

// Lost says that the iteration diverged, and that nothing is certified of the relative error of
// what it began with: there is nothing to keep.
func (f *Fit) Lost() bool {
	return !slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool {
		return s.Status != ridge.Diverged || slices.ContainsFunc(s.Targets, func(o ridge.Target) bool { return o.Proves() })
	})
}

// Short is why the solution that is certified to the least of all is not certified to the
// tolerance.
func (f *Fit) Short() ridge.Status {
	if _, at, _ := f.worst(); at.Status.Err() != nil {
		return at.Status
	}
	return f.Found.Status // the worst is zero, of which no relative error can be certified
}

// Unsolved says at which γ there is no solution, "" where there is one at all.
func (f *Fit) Unsolved() string {
	var gammas []string
	for _, g := range f.Found.Unsolved() {
		gammas = append(gammas, fmt.Sprint(g))
	}
	if len(gammas) == 0 {
		return ""
	}
	return "there is no solution at gamma " + strings.Join(gammas, ", ") + ", where the system is numerically singular"
}

// Shortfall says, of a fit that is not certified to the tolerance, what is certified and what was
// asked for; "" where it is, but for γ without a solution.
func (f *Fit) Shortfall() string {
	if !slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool { return s.Status.Err() != nil }) {
		return ""
	}
	if f.Short() == ridge.Unproved {
		return f.unproved()
	}
	worst, at, target := f.worst()
	certified := "no relative error is certified"
	switch {
	case math.IsInf(worst, 1):
	case worst >= 1:
		certified = fmt.Sprintf("no relative error below 1 is certified (%s)", AtMost(worst, 3))
	default:
		certified = fmt.Sprintf("a relative error of %s is certified", AtMost(worst, 3))
	}
	where := ""
	if f.several() {
		where = fmt.Sprintf(" at gamma %.6g for target %d", at.Gamma, target+1)
	}
	return fmt.Sprintf("tolerance not reached: %s%s, --tol %g asks for less", certified, where, f.Asked.Tol)
}

// worst is the largest relative error that is certified, and where.
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
