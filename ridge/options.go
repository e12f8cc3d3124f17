package ridge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
)

// Options say what [Fit] is to do; the zero value of every field is the documented
// default.
type Options struct {
	// Gammas are the γ to solve for, all together. None: one is chosen.
	Gammas []float64
	// Candidates are what γ is chosen of where Gammas has none; default: the grid of
	// [Summary.ChooseGamma] or, with Folds, of [CrossValidation].
	Candidates []float64
	// Select is what γ is chosen by: by default GCV or, with Folds, cross-validation.
	Select Criterion
	// Folds, at least 2, is that of cross-validation, which the pass that sketches makes;
	// default 5 where Select asks for it.
	Folds int
	// GammaTol is how far above the best of the candidates the score of the γ chosen may be,
	// relatively. As long as the sketch leaves open that it is more, and further passes can
	// be made, they are spent on the choice before γ is refined, where that is worth while:
	// see [Fit]. Default 0.01; +Inf spends none. [GammaChoice] says what was reached.
	GammaTol float64

	// Penalty is p > 0 for each feature: γ·Σ pⱼxⱼ² in place of γ‖x‖². [Fit] divides columns by √pⱼ
	// before it reads the rows, [FitSummary] afterwards, see [Summary.Penalize]. Solutions then have a
	// Penalty, too: it says what their certificates are about, rows whose entries are these quotients,
	// rounded. What Observe is shown, and the summaries in
	// Summarized and in the Result, are of the scaled columns.
	Penalty []float64
	// Bands say the same for groups of columns; those in none have 1. The penalties of bands that
	// have none are chosen, together with γ, by [Summary.ChooseBands], where there are no Gammas; as long as
	// the sketch leaves open that one of those tried is better by more than GammaTol, as for γ, a
	// pass is spent on that. See Result.Bands.
	Bands []Band

	// Method is what is to run: one of "one-shot", "cg", "galerkin", "chebyshev", "newton",
	// "cholesky", "qr", "tridiagonal", "dual", "dual-cg", and "exact", which is Cholesky or, from
	// four γ on, Tridiagonal, and QR where a γ is 0 or the system is found to be numerically
	// singular; for fewer rows than features it is Dual, or at one γ, of sparse rows, DualCG
	// where that is sooner. Default: what [ChooseMethod] chooses.
	Method    string
	Intercept bool    // fit an intercept for each target, unpenalised
	Tol       float64 // relative error to certify, for every γ and target; default 1e-8, of a direct method what one pass certifies, if that is anything
	MaxPasses int     // bounds the passes that refine; default 500
	PlainFD   bool    // Ĥ, and the one-shot solution, of FD in place of RFD

	// Size is m, the rows of the sketch; default 256.
	Size int
	// Error, below 1, has m chosen, by a pass that sketches every tenth row, so that the
	// one-shot solution at the least γ is expected to have this relative error. Where Size is
	// given too it is taken for what an earlier Fit chose, and no such pass is made.
	Error  float64
	Shrink fd.Driver  // how the sketch shrinks; default fd.Gram
	Store  fd.Storage // what the sketch keeps; default AᵀA where that is no larger than its buffer
	Lanes  int        // sketches that are fed side by side; default what the dispatcher chooses, see [SummaryConfig]
	// KeepSummary says that Result.Summary is wanted: no direct method is chosen, they make none.
	KeepSummary bool

	Backend engine.Backend // nil is engine.Default()
	// Once says that the rows can be read once. [Fit] says so itself of a source that is so, see
	// [dataset.Once]; it is for [ChooseMethod].
	Once     bool
	MaxBytes uint64 // most memory that a direct method, the folds or a pass for the choice of γ may take; default 8 GiB. Another method is chosen rather than a direct one that takes more

	// Observe, Journal and Reducer are those of [SolveOptions].
	Observe func(Iterate)
	Journal Journal
	Reducer Reducer
	// Progress, if not nil, is called after every block that was read. In stages other than
	// [Refining] only p.Rows says anything.
	Progress func(s Stage, p Progress)
	// Summarize, if not nil, makes a summary in place of [Summarize], for [Piloting],
	// [Sketching] or, with a Reducer, [Choosing]. With a Reducer it is needed, and makes that of all workers' rows.
	Summarize func(ctx context.Context, s Stage, src dataset.Source, cfg SummaryConfig, progress func(rows int64)) (*Summary, error)
	// Summarized, if not nil, is shown the summary of all rows before it is used, so that it
	// can be kept whatever follows. An error ends the fit.
	Summarized func(*Summary) error
}

// A Stage is one of the passes of [Fit].
type Stage int

const (
	Piloting  Stage = iota // finding the size of the sketch, by every tenth row
	Sketching              // making the summary
	Reading                // for a direct method
	Refining               // by an iteration
	Choosing               // γ, where the sketch alone leaves it open
)

var stageNames = [...]string{"pilot", "sketching", "reading", "refining", "choosing gamma"}

func (s Stage) String() string {
	if s < 0 || int(s) >= len(stageNames) {
		return fmt.Sprintf("Stage(%d)", int(s))
	}
	return stageNames[s]
}

// chooses says that γ is to be chosen.
func (o *Options) chooses() bool { return len(o.Gammas) == 0 }

// LeastTol is the least tolerance that rounding weights to float64 keeps no fit from: they are
// off by up to 2⁻⁵³ of their norm then, and certified to an eighth more. A smaller one is
// certified where weights happen to be rounded well.
const LeastTol = 9 * 0x1p-56

// complete puts the folds and the criterion in agreement.
func (o *Options) complete() {
	if o.Folds != 0 {
		o.Select = ByCV
	} else if o.Select == ByCV {
		o.Folds = defaultFolds
	}
}

// gammaTol is GammaTol, or its default.
func (o *Options) gammaTol() float64 {
	if o.GammaTol == 0 {
		return defaultGammaTol
	}
	return o.GammaTol
}

// solved is how many γ there are to solve for.
func (o *Options) solved() int { return max(1, len(o.Gammas)) }

// The defaults of these options, and of those of the functions that Fit stands for.
const (
	defaultSize     = 256
	defaultTol      = 1e-8
	defaultGammaTol = 0.01
	defaultPasses   = 500
	defaultMaxBytes = 8 << 30
	defaultFolds    = 5
)

// maxBytes is MaxBytes, or its default.
func (o *Options) maxBytes() uint64 {
	if o.MaxBytes == 0 {
		return defaultMaxBytes
	}
	return o.MaxBytes
}

func (o *Options) size() int {
	if o.Size == 0 {
		return defaultSize
	}
	return o.Size
}

// check refuses what makes no sense before any row is read.
func (o *Options) check() error {
	switch {
	case o.Method != "" && !isMethod(o.Method):
		return badinput.Errorf("ridge: unknown method %q; there are %s", o.Method, strings.Join(methodNames(), ", "))
	case !(o.Tol >= 0) || o.MaxPasses < 0:
		return badinput.Errorf("ridge: Tol is %v and MaxPasses %d, both must be positive", o.Tol, o.MaxPasses)
	case o.Size < 0:
		return unfit("a sketch of %d rows", o.Size)
	case o.Lanes < 0 || o.Lanes > MaxLanes:
		return badinput.Errorf("ridge: Lanes is %d, must be positive and at most %d", o.Lanes, MaxLanes)
	case !(o.Error >= 0 && o.Error < 1):
		return badinput.Errorf("ridge: Error is %v, must be between 0 and 1", o.Error)
	case !(o.GammaTol >= 0):
		return badinput.Errorf("ridge: GammaTol is %v, must be positive", o.GammaTol)
	case o.Select < ByGCV || o.Select > ByCV:
		return badinput.Errorf("ridge: unknown criterion %v", o.Select)
	case o.Folds != 0 && o.Folds < 2:
		return unfit("%d folds, there must be two", o.Folds)
	case !o.chooses() && (o.Candidates != nil || o.Folds != 0 || o.Select != ByGCV):
		return badinput.Errorf("ridge: Candidates, Folds and Select choose gamma, but Gammas are given")
	case o.Folds != 0 && o.Select == ByLOO:
		return badinput.Errorf("ridge: leaving one out is not done by folds")
	case o.Select == ByLOO && o.Method == oneShotName:
		return badinput.Errorf("ridge: leave-one-out errors take a pass over the rows of their own, and one-shot makes none")
	case o.Select == ByLOO && slices.Contains(o.Candidates, 0):
		return &GammaError{0, "leave-one-out"}
	case o.Error > 0 && o.chooses():
		return badinput.Errorf("ridge: Error is that at a gamma, which has yet to be chosen")
	case (o.Folds != 0 || o.Select == ByCV) && (o.Reducer != nil || o.Journal != nil || o.Summarize != nil):
		return badinput.Errorf("ridge: cross-validation makes its own summaries, of the folds: it takes no Reducer, Journal or Summarize")
	case o.Reducer != nil && o.Summarize == nil:
		return badinput.Errorf("ridge: with a Reducer, Summarize has to make the summary of all workers' rows")
	}
	if err := o.checkPenalty(); err != nil {
		return err
	}
	if factors(o.Method) {
		if why := o.needsSketch(-1, 0); why != "" {
			return badinput.Errorf("ridge: %s, and %s makes none", why, o.Method)
		}
		if o.Error > 0 {
			return badinput.Errorf("ridge: Error chooses the size of a sketch, and %s makes none", o.Method)
		}
	}
	return nil
}

// checkGammas refuses γ that a method cannot take.
func (o *Options) checkGammas(method string) error {
	for _, g := range slices.Concat(o.Gammas, o.Candidates) {
		if factors(method) && g == 0 && method != Dual.String() && method != DualCG.String() {
			continue
		}
		if err := checkGamma(g, method); err != nil {
			return err
		}
	}
	return nil
}

// config is that of a summary of m rows.
func (o *Options) config(m int) SummaryConfig {
	return SummaryConfig{Size: m, Intercept: o.Intercept, Shrink: o.Shrink, Store: o.Store, Lanes: o.Lanes, Backend: o.Backend}
}

// progress is what tells Progress the rows read in a stage, nil where there is none.
func (o *Options) progress(s Stage) func(rows int64) {
	if o.Progress == nil {
		return nil
	}
	return func(rows int64) { o.Progress(s, Progress{Pass: 1, Rows: rows, RelativeError: math.Inf(1)}) }
}
