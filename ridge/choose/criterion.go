package choose

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// A Criterion is a score by which the penalty γ is chosen.
type Criterion int

const (
	// Auto selects [LOO] if the rows can be read again for the choice, and [GCV] otherwise.
	Auto Criterion = iota
	// GCV is the score of generalised cross-validation, n·RSS/(n − df)², see [LeastGCV]. The exact solution for n
	// rows has the sum of squared residuals RSS and df degrees of freedom. The score is summed over all targets.
	GCV
	// LOO is the mean squared leave-one-out error of the exact solution, see [ridge.LeaveOneOut], summed over all
	// targets. scikit-learn's RidgeCV uses this score by default.
	LOO
	// CV is the mean squared error in a cross-validation with folds, see [CrossValidate], summed over all targets.
	CV
	// Accuracy and BalancedAccuracy are scores of a classification. Each row is classified by the exact solution of
	// all other rows. The score is an error rate: 1 minus the accuracy or balanced accuracy, rounded to float64.
	// [GammaChoice.ByErrorRate] chooses by this error rate.
	Accuracy
	BalancedAccuracy
	// MarginalLikelihood is the negative logarithm of the marginal likelihood, see [ridge.Marginal]. For each
	// target, the noise variance is the value that maximises the likelihood. With an intercept or columns without
	// penalty, the score uses the restricted likelihood (REML). The score is summed over all targets.
	MarginalLikelihood
)

// criteria is the table of all criteria. To add a criterion, add a row to this table. The search, the names of
// flags, JSON and Python, and the words of reports all use the row.
var criteria = [...]definition{
	Auto: {name: "auto"},
	GCV: {
		name: "gcv",
		scores: func(e *Evidence) []Score {
			return scoresOf(e.Fit, func(o *ridge.Target) ridge.Interval { return o.GCV })
		},
		each:  EachScore,
		words: Words{Score: "GCV"},
	},
	LOO: {
		name:   "loo",
		needs:  Needs{Pass: true},
		scores: func(e *Evidence) []Score { return e.Errors },
		words: Words{
			Score:   "leave-one-out error",
			Field:   "loo",
			Axis:    "squared error of a left-out row",
			Caption: "Each row is predicted by the exact fit to the others.",
			Legend:  "leave-one-out: mean squared error of predicting each row by the exact fit to all other rows.",
		},
	},
	CV: {
		name:   "cv",
		needs:  Needs{Folds: true},
		scores: func(e *Evidence) []Score { return e.Errors },
		words: Words{
			Score:   "cross-validated error",
			Field:   "cv",
			Axis:    "squared error of a held-out row",
			Caption: "Each row is predicted by the fit without its fold.",
			Legend:  "cross-validated: mean squared error of predicting each row by the fit without its fold.",
		},
	},
	Accuracy: {
		name:   "accuracy",
		needs:  Needs{Pass: true, Labels: true},
		scores: func(e *Evidence) []Score { return errorRate(e.Decisions.Accuracy()) },
		among:  LOO,
		words: Words{
			Score:   "leave-one-out error rate",
			Field:   "error_rate",
			Axis:    "share of wrong decisions",
			Caption: "The exact fit to the others decides about each row.",
			Legend: "leave-one-out error rate: 1 minus the accuracy of deciding about each row by the exact fit to " +
				"all other rows.",
		},
	},
	BalancedAccuracy: {
		name:   "balanced-accuracy",
		needs:  Needs{Pass: true, Labels: true},
		scores: func(e *Evidence) []Score { return errorRate(e.Decisions.Balanced()) },
		among:  LOO,
		words: Words{
			Score:   "balanced error rate",
			Field:   "error_rate",
			Axis:    "mean share of wrong decisions in a class",
			Caption: "The exact fit to the others decides about each row.",
			Legend: "balanced error rate: 1 minus the balanced accuracy of deciding about each row by the exact fit to " +
				"all other rows.",
		},
	},
	MarginalLikelihood: evidence,
}

// A definition is a row of the table criteria.
type definition struct {
	name  string
	needs Needs
	// scores returns one score for each target. If the criterion is an error rate, it returns one score for all
	// targets.
	scores func(e *Evidence) []Score
	// each, if not nil, computes scores from a summary without solving. It returns the score of target j at
	// gammas[i] as element j·len(gammas) + i.
	each func(sum *ridge.Summary, gammas []float64) ([]ridge.Interval, error)
	// among is Auto unless the criterion is an error rate of a classification. For an error rate, among is the
	// criterion by which a search finds the candidates. The error rate then decides between these candidates.
	among       Criterion
	isLogarithm bool // the score is a logarithm, so differences of scores matter, not ratios
	refines     bool // γ between the best γ of a default grid and its neighbours are tried, too; see refine
	words       Words
}

// Needs describes what a criterion needs besides the solutions and their certified bounds.
type Needs struct {
	Pass   bool // a pass that predicts each row by the exact solution of all other rows
	Folds  bool // the squared errors of folds
	Labels bool // the labels of a classification
}

// Words are the texts about a criterion.
type Words struct {
	Score   string // the name of the score
	Field   string // the JSON member with the scores of a γ; "" if its certificates contain them
	Axis    string // the label of a chart's axis
	Caption string // the sentence below a chart
	Legend  string // the sentence below the table of the text report
}

// A Score holds a bracket of a score, and an estimate inside the bracket. If Estimate is NaN, the estimate is the
// midpoint.
type Score struct {
	Bracket  ridge.Interval
	Estimate float64
}

// Evidence holds the results at one value of the penalty γ from which the scores are computed.
type Evidence struct {
	Fit *ridge.Solution // the solution at one γ; nil if the criterion takes only Errors
	// Errors holds the mean squared error of each target when every row is predicted by a solution of other rows.
	// It is nil unless the criterion needs such predictions (leave-one-out errors or folds).
	Errors []Score
	// Decisions counts right decisions when each row is classified by the solution of all other rows. It is nil if
	// the rows have no labels.
	Decisions Decisions
}

// Decisions are the scores of a classification. Each score has an estimate and a bracket. Package ridge/classes
// implements Decisions.
type Decisions interface {
	Accuracy() (float64, ridge.Interval)
	Balanced() (float64, ridge.Interval)
}

// Criteria returns all criteria except Auto.
func Criteria() []Criterion {
	out := make([]Criterion, 0, len(criteria)-1)
	for c := GCV; c.IsValid(); c++ {
		out = append(out, c)
	}
	return out
}

// IsValid reports whether c is Auto or a criterion.
func (c Criterion) IsValid() bool {
	return c >= 0 && int(c) < len(criteria)
}

// of returns the row of c in the table of criteria. For an unknown criterion, it returns the row of Auto.
func (c Criterion) of() *definition {
	if !c.IsValid() {
		c = Auto
	}
	return &criteria[c]
}

// Needs returns the evidence that c needs.
func (c Criterion) Needs() Needs { return c.of().needs }

// Words returns the texts about c.
func (c Criterion) Words() Words { return c.of().words }

// IsErrorRate reports whether the criterion is an error rate of a classification. An error rate is one score for
// all targets together.
func (c Criterion) IsErrorRate() bool { return c.of().among != Auto }

// scoresOf returns a score for each target of the solution f.
func scoresOf(f *ridge.Solution, bracket func(o *ridge.Target) ridge.Interval) []Score {
	var out []Score
	for j := range f.Targets {
		out = append(out, middle(bracket(&f.Targets[j])))
	}
	return out
}

// errorRate returns 1 minus a share of right decisions.
func errorRate(value float64, right ridge.Interval) []Score {
	return []Score{{
		Bracket:  ridge.Interval{Lo: 1 - right.Hi, Hi: 1 - right.Lo},
		Estimate: 1 - value,
	}}
}

func (c Criterion) String() string {
	if !c.IsValid() {
		return fmt.Sprintf("Criterion(%d)", int(c))
	}
	return c.of().name
}

// ParseCriterion returns the criterion with the given name, or an error if no criterion has this name.
func ParseCriterion(name string) (Criterion, error) {
	for i := range criteria {
		if criteria[i].name == name {
			return Criterion(i), nil
		}
	}
	return 0, errtext.BadInput("ridge: %q is not a criterion; use %s", name, Names(" or "))
}

// Names returns the names of all criteria, separated by commas. Before the last name, the text last replaces the
// comma, for example " or ".
func Names(last string) string {
	var names []string
	for i := range criteria {
		names = append(names, criteria[i].name)
	}
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + last + names[end]
}

// MarshalText returns the name of c, like String. If c is unknown, the error is [ridge.ErrInput].
func (c Criterion) MarshalText() ([]byte, error) {
	if !c.IsValid() {
		return nil, errtext.BadInput("ridge: %v is not a criterion", c)
	}
	return []byte(c.of().name), nil
}

// UnmarshalText reads the output of MarshalText, see [ParseCriterion].
func (c *Criterion) UnmarshalText(text []byte) error {
	v, err := ParseCriterion(string(text))
	if err == nil {
		*c = v
	}
	return err
}
