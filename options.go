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
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/plan"
)

// Options are the options of [Fit]. A field that is zero has its documented default.
type Options struct {
	// Gammas are the values of γ to solve for. If there are none, Fit chooses γ.
	Gammas []float64
	// Candidates are the values among which γ is chosen. Repeated values count once. The default grid depends on
	// Select, see [choose.Gamma], [choose.AroundGCV] and [choose.CrossValidate].
	Candidates []float64
	// Select is the criterion that chooses γ. The default is the first criterion in this list that applies:
	//   - cross-validation, if Folds is given
	//   - leave-one-out errors, which usually need one more pass
	//   - GCV
	//
	// Leave-one-out errors apply only if they can be computed. They do not apply to the method OneShot, to bands with
	// chosen penalties, to an infinite GammaTol, or if 0 is a candidate.
	Select choose.Criterion
	// Folds is the number of folds of cross-validation, at least 2. The default is 5 if Select is cross-validation.
	Folds int
	// GammaTol is the accepted relative difference between the score of the chosen γ and the best score. Fit may make
	// more passes to reach GammaTol. The default is 0.01. With +Inf, Fit makes no such passes.
	GammaTol float64

	// PerTarget gives each target a γ of its own. Gammas must then contain one γ for each target, or none. Some defaults
	// differ:
	//
	//   - Candidates is [choose.EachGrid] for GCV, and [choose.Grid] of 25 γ for other criteria.
	//   - Select is GCV, or CV if Folds is given.
	//   - Size is the smallest size that loses no information, if such a sketch takes at most 1 GiB.
	//
	// Fit reads the rows again for each block of targets. The sums of a block take at most 512 MiB and at most MaxBytes/8.
	// All blocks share the spectrum of the sketch and the candidates. Result.Summary is the summary of the last block.
	PerTarget bool
	// Block, if not nil, is called with the solution for each γ, and with PerTarget for each block of targets. The number
	// of the first target of the block is first, counted from 0; without PerTarget, a block has all targets. After the
	// call, the coefficients of s are set to nil, so that memory holds the coefficients of one block at a time. The Result
	// of Fit has no coefficients. An error of Block ends the fit.
	Block func(first int, s *ridge.Solution) error

	// Rounding describes features whose entries were rounded before Fit reads them, for example by dataset.Standardize. It
	// has one number for each feature, see [dataset.Scaling.Rounding]. All bounds are then about the exact entries. The
	// default is that the entries are exact. Fit itself counts the rounding that Penalty and Bands cause.
	Rounding []float64

	// Penalty holds a factor pⱼ ≥ 0 for each feature j: the penalty term is γ·Σ pⱼxⱼ². Observe, Summarized and
	// Result.Summary refer to columns divided by √pⱼ. pⱼ = 0 has the same effect as listing j in Unpenalized.
	Penalty []float64
	// Unpenalized lists columns without penalty, counted from 0. There may be at most [columns.MaxColumns]. Their
	// coefficients are fitted by least squares, like an intercept. Fit first projects the other columns and the
	// targets onto the orthogonal complement of these columns; see [columns.Map].
	//
	// The projection needs one more pass, and all later passes read dense rows. The other columns must have a positive
	// penalty. With a dual method, the default of Select is GCV, and leave-one-out errors are bracketed by a sketch.
	// With Folds, the rows outside of each fold are fitted anew.
	// Observe and Summarized see the projected rows, but the summary of KeepSummary is of all columns.
	Unpenalized []int
	// Bands are groups of columns with a common penalty. Columns outside all bands have penalty 1. If a band has no
	// given penalty, Fit chooses the penalty by GCV, together with γ or at the given Gammas; see [choose.Bands]. If
	// Select is another criterion, γ is then chosen again, with the chosen penalties. Penalty multiplies the penalties
	// of Bands.
	Bands []choose.Band

	// Classes requests a classification. The rows must then have one target, with the labels that [classes.Learn] has
	// read. Fit replaces this target by targets of ±1; see [classes.Classes]. With a Reducer, use [classes.LearnShared].
	Classes *classes.Classes

	// Method is the method of the fit. Default: the choice of [plan.Choose].
	Method ridge.Method
	// NoIntercept omits the intercept. By default each target has an intercept, which is not penalised.
	NoIntercept bool
	// Tol is the relative error that Fit must prove for every γ and target. Default 1e-8.
	Tol float64
	// MaxPasses is the largest number of passes that refine the solutions. Default 500.
	MaxPasses int

	// Size is m, the number of rows of the sketch. Default 256.
	Size int
	// Lanes is the number of sketches that are built in parallel; see [ridge.SummaryConfig]. The default
	// depends on the machine.
	Lanes int
	// KeepSummary requests Result.Summary. Direct methods are then excluded, because they build no summary.
	KeepSummary bool

	// Backend does the linear algebra. Default: engine.Default().
	Backend engine.Backend
	// MaxBytes limits the memory of a direct method, of cross-validation, and of a pass that chooses γ.
	// Default 8 GiB.
	MaxBytes uint64

	// Observe, Journal and Reducer have the same meaning as in [ridge.SolveOptions].
	Observe func(ridge.Iterate)
	Journal ridge.Journal
	Reducer ridge.Reducer
	// Progress, if not nil, is called after every block of rows. In the stages Sketching and Reading, only
	// p.Rows and p.Pass are set.
	Progress func(s Stage, p ridge.Progress)
	// Chosen, if not nil, is called with the method before the first pass. An error ends the fit.
	Chosen func(ridge.Method) error
	// Merge, if not nil, returns the summary of the rows of all workers, given the summary of the rows of this worker.
	// With Folds it is called for each fold. A fit with a Reducer requires Merge or Summarize.
	Merge func(ctx context.Context, own *ridge.Summary) (*ridge.Summary, error)
	// Gather, if not nil, returns the messages of all workers, in the same order on every worker. A fit with a Reducer
	// requires Gather for Unpenalized.
	Gather func(ctx context.Context, own []byte) ([][]byte, error)
	// Summarize, if not nil, replaces [ridge.Summarize] and Merge. It returns the summary of the rows of all workers,
	// given the rows of this worker. With Folds it is called for the rows of each fold, in a pass of its own.
	Summarize func(
		ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, progress func(rows int64),
	) (*ridge.Summary, error)
	// Summarized, if not nil, is called with the summary of all rows. An error ends the fit.
	Summarized func(*ridge.Summary) error
}

// A Stage is a part of a fit that reads rows.
type Stage int

const (
	Sketching  Stage = iota // building a sketch of the rows
	Reading                 // reading the rows for a direct method
	Refining                // iterating to refine the solutions
	Choosing                // further passes to choose γ
	Projecting              // a pass to project out columns without penalty
)

var stageNames = [...]string{"sketching", "reading", "refining", "choosing gamma", "projecting"}

func (s Stage) String() string {
	if s < 0 || int(s) >= len(stageNames) {
		return fmt.Sprintf("Stage(%d)", int(s))
	}
	return stageNames[s]
}

// An OptionError reports options that are invalid or contradict each other. It matches [ridge.ErrInput].
type OptionError struct {
	Fields []string // names of the fields of Options
	Rule   string   // the rule that they violate
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("fdridge: %s: %s", strings.Join(e.Fields, ", "), e.Rule)
}

// Is reports whether target is [ridge.ErrInput].
func (e *OptionError) Is(target error) bool { return target == ridge.ErrInput }

// choosesGamma reports whether Fit chooses γ, because none is given.
func (o *Options) choosesGamma() bool { return len(o.Gammas) == 0 }

// choosesBands reports whether Fit chooses the penalties of some bands.
func (o *Options) choosesBands() bool {
	return slices.ContainsFunc(o.Bands, func(b choose.Band) bool { return b.Penalty == 0 })
}

// projects reports whether some columns have no penalty.
func (o *Options) projects() bool {
	return len(o.Unpenalized) > 0 ||
		slices.Contains(o.Penalty, 0)
}

// manyTargets or more targets keep all cores busy without parallel sketches.
const manyTargets = 512

// complete returns the options with a value in every field, for rows of d features and t targets. n is the number of
// rows, or -1.
func (o Options) complete(canReread bool, n int64, d, t int) (Options, error) {
	if o.choosesGamma() {
		o.Gammas = nil
	}
	o.Candidates = distinct(o.Candidates)
	if o.Select.Needs().Folds && o.Folds == 0 {
		o.Folds = choose.DefaultFolds
	}
	if o.Select == choose.Auto {
		o.Select = o.defaultCriterion(canReread)
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
	if o.PerTarget && o.Lanes == 0 && t >= manyTargets {
		o.Lanes = 1
	}
	switch {
	case o.Size != 0:
	case o.PerTarget:
		o.Size = plan.LosslessSize(n, d)
	default:
		o.Size = plan.DefaultSize
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = ridge.DefaultMaxBytes
	}
	var err error
	o.Backend, err = engine.OrDefault(o.Backend)
	return o, err
}

// defaultCriterion returns the default of Select.
func (o *Options) defaultCriterion(canReread bool) choose.Criterion {
	switch {
	case o.Folds != 0:
		return choose.CV
	case !canReread, o.PerTarget, o.Method == ridge.OneShot, o.choosesBands(), math.IsInf(o.GammaTol, 1):
		return choose.GCV
	case slices.Contains(o.Candidates, 0):
		return choose.GCV
	}
	return choose.LOO
}

// distinct returns values without repetitions, in the same order. A repeated candidate would count rows twice, and
// would never be proved to be the only best one.
func distinct(values []float64) []float64 {
	if len(values) == 0 {
		return values
	}
	var out []float64
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Check returns an *[OptionError] if the options are invalid for every possible set of rows.
func (o *Options) Check() error {
	for _, r := range optionRules {
		if r.violated(o) {
			return &OptionError{r.fields, r.rule}
		}
	}
	for i, p := range o.Penalty {
		if !(p >= 0) || math.IsInf(p, 0) {
			return &OptionError{
				[]string{"Penalty"},
				fmt.Sprintf("the penalty of column %d is %v, must be 0 or positive", i+1, p),
			}
		}
	}
	for _, g := range slices.Concat(o.Gammas, o.Candidates) {
		if err := o.checkGamma(g); err != nil {
			return err
		}
	}
	return nil
}

// checkGamma returns an error if the options do not allow γ.
func (o *Options) checkGamma(gamma float64) error {
	if o.Select.Needs().Pass && gamma == 0 {
		return &ridge.GammaError{Gamma: 0, Method: "leave-one-out"}
	}
	if o.Method == ridge.Auto && gamma == 0 && !o.choosesGamma() {
		return nil
	}
	if o.Method == ridge.Auto {
		return ridge.OneShot.Takes(gamma)
	}
	return o.Method.Takes(gamma)
}

// An optionRule is a rule that valid options do not violate.
type optionRule struct {
	fields   []string
	rule     string
	violated func(o *Options) bool
}

var optionRules = []optionRule{
	{[]string{"Tol"}, "must be positive", func(o *Options) bool { return !(o.Tol >= 0) }},
	{[]string{"MaxPasses"}, "must be positive", func(o *Options) bool {
		return o.MaxPasses < 0
	}},
	{[]string{"Size"}, "must be positive", func(o *Options) bool { return o.Size < 0 }},
	{
		[]string{"Lanes"},
		fmt.Sprintf("must be from 1 to %d", ridge.MaxLanes),
		func(o *Options) bool { return o.Lanes < 0 || o.Lanes > ridge.MaxLanes },
	},
	{[]string{"GammaTol"}, "must be positive", func(o *Options) bool {
		return !(o.GammaTol >= 0)
	}},
	{
		[]string{"Method"},
		"unknown method",
		func(o *Options) bool { return !slices.Contains(ridge.Methods(), o.Method) },
	},
	{
		[]string{"Select"},
		"unknown criterion",
		func(o *Options) bool { return !o.Select.IsValid() },
	},
	{
		[]string{"Folds"},
		"there must be at least two folds",
		func(o *Options) bool { return o.Folds != 0 && o.Folds < 2 },
	},
	{
		[]string{"Gammas", "Candidates", "Folds", "Select"},
		"gammas are given, so that there is nothing to choose",
		func(o *Options) bool {
			return !o.choosesGamma() &&
				(o.Candidates != nil || o.Folds != 0 || o.Select != choose.Auto)
		},
	},
	{
		[]string{"Folds", "Select"},
		"only cross-validation has folds",
		func(o *Options) bool {
			return o.Folds != 0 &&
				o.Select != choose.Auto &&
				!o.Select.Needs().Folds
		},
	},
	{
		[]string{"Reducer", "Merge"},
		"with a Reducer, Merge or Summarize must return the summary of the rows of all workers",
		func(o *Options) bool {
			return o.Reducer != nil && o.Merge == nil && o.Summarize == nil
		},
	},
	{
		[]string{"Reducer", "Method"},
		"a direct method, which gamma = 0 needs, runs on one machine",
		func(o *Options) bool {
			return o.Reducer != nil && (o.Method.IsDirect() || o.solvesZero())
		},
	},
	{
		[]string{"PerTarget", "Select"},
		"an accuracy scores the decision between all classes, at one gamma",
		func(o *Options) bool { return o.PerTarget && o.Select.Needs().Labels },
	},
	{
		[]string{"Reducer", "Gather"},
		"with a Reducer and columns without penalty, Gather must return the messages of all workers",
		func(o *Options) bool {
			return o.Reducer != nil && o.Gather == nil && o.projects()
		},
	},
	{
		[]string{"Select", "Classes"},
		"an accuracy is a score of a classification",
		func(o *Options) bool { return o.Select.Needs().Labels && o.Classes == nil },
	},
}

// solvesZero reports whether Gammas contains 0 and no method is given.
func (o *Options) solvesZero() bool {
	return o.Method == ridge.Auto &&
		slices.Contains(o.Gammas, 0)
}

func (o *Options) crossValidates() bool {
	return o.Folds != 0 || o.Select.Needs().Folds
}
