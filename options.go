package fdridge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// Options are the options of [Fit]. The zero value of every field is the documented default.
type Options struct {
	// Gammas are the γ to solve for, all together. If there are none, γ is chosen.
	Gammas []float64
	// Candidates are the γ to choose from. Default: the grid of [choose.Gamma] or, with Folds, of [choose.CrossValidate].
	Candidates []float64
	// Select is the criterion that chooses γ. Default: GCV, or cross-validation if Folds is given.
	Select choose.Criterion
	// Folds is the number of folds of cross-validation, at least 2. Default: 5 if Select is cross-validation.
	Folds int
	// GammaTol accepts a γ whose score is within this fraction of the best. Further passes are spent on the choice as long as more
	// is left open. Default 0.01; +Inf spends none.
	GammaTol float64

	// Penalty is a factor p > 0 for each feature: γ·Σ pⱼxⱼ² takes the place of γ‖x‖². The fit runs in columns divided by
	// √pⱼ, and its solutions are scaled back. Observe, Summarized and Result.Summary show the scaled columns.
	Penalty []float64
	// Bands are groups of columns with a common penalty; columns in no band have 1. Penalties that are not given are chosen
	// together with γ, see [choose.Bands].
	Bands []choose.Band

	// Method is the method to run. Default: the one that [plan.Choose] chooses.
	Method ridge.Method
	// NoIntercept fits no intercept. By default each target has one, which is not penalised.
	NoIntercept bool
	// Tol is the relative error to certify for every γ and target. Default 1e-8.
	Tol float64
	// MaxPasses is the largest number of passes that refine. Default 500.
	MaxPasses int

	// Size is m, the number of rows of the sketch. Default 256.
	Size int
	// Lanes is the number of sketches that are fed side by side, see [ridge.SummaryConfig]. Default: chosen for the machine.
	Lanes int
	// KeepSummary asks for Result.Summary, so that no direct method is chosen.
	KeepSummary bool

	// Backend computes. Default: engine.Default().
	Backend engine.Backend
	// MaxBytes is the largest memory that a direct method, the folds, or a pass for the choice of γ may take. Default 8 GiB.
	MaxBytes uint64

	// Observe, Journal and Reducer are those of [ridge.SolveOptions].
	Observe func(ridge.Iterate)
	Journal ridge.Journal
	Reducer ridge.Reducer
	// Progress, if not nil, is called after every block. In stages other than Refining and Choosing only p.Rows and p.Pass are set.
	Progress func(s Stage, p ridge.Progress)
	// Summarize, if not nil, replaces [ridge.Summarize]. It is required with a Reducer, and then returns the summary of the rows of all
	// workers.
	Summarize func(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, progress func(rows int64)) (*ridge.Summary, error)
	// Summarized, if not nil, is called with the summary of all rows before it is used. An error ends the fit.
	Summarized func(*ridge.Summary) error
}

// A Stage is a part of a fit.
type Stage int

const (
	Sketching Stage = iota // making the summary
	Reading                // reading the rows for a direct method
	Refining               // iterating
	Choosing               // choosing γ by further passes
)

var stageNames = [...]string{"sketching", "reading", "refining", "choosing gamma"}

func (s Stage) String() string {
	if s < 0 || int(s) >= len(stageNames) {
		return fmt.Sprintf("Stage(%d)", int(s))
	}
	return stageNames[s]
}

// An OptionError reports options that contradict each other or make no sense. It is [ridge.ErrInput].
type OptionError struct {
	Fields []string // of Options
	Rule   string   // the rule that they break
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("fdridge: %s: %s", strings.Join(e.Fields, ", "), e.Rule)
}

// Is reports that it is [ridge.ErrInput].
func (e *OptionError) Is(target error) bool { return target == ridge.ErrInput }

// chooses reports whether γ is to be chosen.
func (o *Options) chooses() bool { return len(o.Gammas) == 0 }

// choosesBands reports whether penalties are to be chosen.
func (o *Options) choosesBands() bool {
	return slices.ContainsFunc(o.Bands, func(b choose.Band) bool { return b.Penalty == 0 })
}

// fill gives every field its value.
func (o *Options) fill() error {
	if o.chooses() {
		o.Gammas = nil
	}
	if o.Folds != 0 && o.Select == choose.GCV {
		o.Select = choose.CV
	} else if o.Folds == 0 && o.Select == choose.CV {
		o.Folds = choose.DefaultFolds
	}
	if o.GammaTol == 0 {
		o.GammaTol = choose.DefaultTol
	}
	if o.Tol == 0 {
		o.Tol = ridge.DefaultTol
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = ridge.DefaultMaxPasses
	}
	if o.Size == 0 {
		o.Size = plan.DefaultSize
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = ridge.DefaultMaxBytes
	}
	if o.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return err
		}
		o.Backend = be
	}
	return nil
}

// Check returns an *[OptionError] for options that make no sense, whatever the rows.
func (o *Options) Check() error {
	for _, r := range optionRules {
		if r.broken(o) {
			return &OptionError{r.fields, r.rule}
		}
	}
	for i, p := range o.Penalty {
		if !(p > 0) || math.IsInf(p, 0) {
			return &OptionError{[]string{"Penalty"}, fmt.Sprintf("the penalty of column %d is %v, must be positive: nothing can be proved of a column that is not penalised", i+1, p)}
		}
	}
	for _, g := range slices.Concat(o.Gammas, o.Candidates) {
		if err := o.takes(g); err != nil {
			return err
		}
	}
	return nil
}

// takes returns an error if the method, the criterion or both cannot take a γ.
func (o *Options) takes(gamma float64) error {
	if o.Select == choose.LOO && gamma == 0 {
		return &ridge.GammaError{Gamma: 0, Method: "leave-one-out"}
	}
	if o.Method == ridge.Auto && gamma == 0 && !o.chooses() {
		return nil
	}
	if o.Method == ridge.Auto {
		return ridge.OneShot.Takes(gamma)
	}
	return o.Method.Takes(gamma)
}

// An optionRule is a rule that options must keep.
type optionRule struct {
	fields []string
	rule   string
	broken func(o *Options) bool
}

var optionRules = []optionRule{
	{[]string{"Tol"}, "must be positive", func(o *Options) bool { return !(o.Tol >= 0) }},
	{[]string{"MaxPasses"}, "must be positive", func(o *Options) bool { return o.MaxPasses < 0 }},
	{[]string{"Size"}, "must be positive", func(o *Options) bool { return o.Size < 0 }},
	{[]string{"Lanes"}, fmt.Sprintf("must be from 1 to %d", ridge.MaxLanes), func(o *Options) bool { return o.Lanes < 0 || o.Lanes > ridge.MaxLanes }},
	{[]string{"GammaTol"}, "must be positive", func(o *Options) bool { return !(o.GammaTol >= 0) }},
	{[]string{"Method"}, "unknown method", func(o *Options) bool { return !slices.Contains(ridge.Methods(), o.Method) }},
	{[]string{"Select"}, "unknown criterion", func(o *Options) bool { return o.Select < choose.GCV || o.Select > choose.CV }},
	{[]string{"Folds"}, "there must be at least two folds", func(o *Options) bool { return o.Folds != 0 && o.Folds < 2 }},
	{[]string{"Gammas", "Candidates"}, "candidates are for choosing gamma, but gammas are given", func(o *Options) bool { return !o.chooses() && o.Candidates != nil }},
	{[]string{"Gammas", "Folds"}, "folds choose gamma, but gammas are given", func(o *Options) bool { return !o.chooses() && o.Folds != 0 }},
	{[]string{"Gammas", "Select"}, "a criterion chooses gamma, but gammas are given", func(o *Options) bool { return !o.chooses() && o.Select != choose.GCV }},
	{[]string{"Folds", "Select"}, "leave-one-out makes no folds", func(o *Options) bool { return o.Folds != 0 && o.Select == choose.LOO }},
	{[]string{"Select", "Method"}, "leave-one-out errors take a pass over the rows, and one-shot makes none", func(o *Options) bool { return o.Select == choose.LOO && o.Method == ridge.OneShot }},
	{[]string{"Folds", "Method"}, "cross-validation chooses from sketches of the folds, and a direct method makes none", func(o *Options) bool { return o.crossValidates() && o.Method.IsDirect() }},
	{[]string{"Folds", "Reducer"}, "cross-validation keeps a sketch of each fold on one machine", func(o *Options) bool { return o.crossValidates() && o.Reducer != nil }},
	{[]string{"Folds", "Journal"}, "cross-validation keeps no checkpoint", func(o *Options) bool { return o.crossValidates() && o.Journal != nil }},
	{[]string{"Folds", "Summarize"}, "cross-validation makes its own summaries", func(o *Options) bool { return o.crossValidates() && o.Summarize != nil }},
	{[]string{"Reducer", "Summarize"}, "with a Reducer, Summarize has to return the summary of all workers' rows", func(o *Options) bool { return o.Reducer != nil && o.Summarize == nil }},
	{[]string{"Reducer", "Method"}, "a direct method runs on one machine", func(o *Options) bool { return o.Reducer != nil && o.Method.IsDirect() }},
	{[]string{"Journal", "Method"}, "a direct method keeps no checkpoint", func(o *Options) bool { return o.Journal != nil && o.Method.IsDirect() }},
	{[]string{"KeepSummary", "Method"}, "a direct method makes no sketch", func(o *Options) bool { return o.KeepSummary && o.Method.IsDirect() }},
	{[]string{"Bands", "Method"}, "penalties are chosen from a sketch, and a direct method makes none", func(o *Options) bool { return o.choosesBands() && o.Method.IsDirect() }},
	{[]string{"Gammas", "Method"}, "dual-cg does not know GCV: give gammas, or use dual", func(o *Options) bool { return o.chooses() && o.Method == ridge.DualCG }},
	{[]string{"Gammas", "Reducer"}, zeroIsDirect, func(o *Options) bool { return o.Reducer != nil && o.solvesZero() }},
	{[]string{"Gammas", "Journal"}, zeroIsDirect, func(o *Options) bool { return o.Journal != nil && o.solvesZero() }},
	{[]string{"Gammas", "KeepSummary"}, zeroIsDirect, func(o *Options) bool { return o.KeepSummary && o.solvesZero() }},
	{[]string{"Penalty", "Bands"}, "both give penalties", func(o *Options) bool { return o.Penalty != nil && o.Bands != nil }},
	{[]string{"Bands", "Gammas"}, "penalties are chosen together with gamma, but gammas are given", func(o *Options) bool { return o.choosesBands() && !o.chooses() }},
	{[]string{"Bands", "Select"}, "penalties are chosen by GCV", func(o *Options) bool { return o.choosesBands() && (o.crossValidates() || o.Select != choose.GCV) }},
}

const zeroIsDirect = "gamma = 0 takes a direct method, which keeps no sketch and no checkpoint, and runs on one machine"

// solvesZero reports whether γ = 0 is to be solved by whatever method takes it.
func (o *Options) solvesZero() bool { return o.Method == ridge.Auto && slices.Contains(o.Gammas, 0) }

func (o *Options) crossValidates() bool { return o.Folds != 0 || o.Select == choose.CV }
