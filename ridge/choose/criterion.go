package choose

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/badinput"
)

// A Criterion is a score by which γ is chosen. It is summed over all targets.
type Criterion int

const (
	// Auto selects LOO if the rows can be read again for the choice, and GCV otherwise.
	Auto Criterion = iota
	// GCV is generalised cross-validation, n·RSS(x*)/(n − df)², see [LeastGCV].
	GCV
	// LOO is the mean squared leave-one-out error of the exact solution, see [ridge.LeaveOneOut]. scikit-learn's RidgeCV
	// uses LOO by default.
	LOO
	// CV is cross-validation with folds, see [CrossValidate].
	CV
	// Accuracy and BalancedAccuracy are scores of a classification. Each row is classified by the exact solution of all
	// other rows. The score is 1 minus the accuracy or balanced accuracy, rounded to float64. See
	// [GammaChoice.ByErrorRate].
	Accuracy
	BalancedAccuracy
)

var criteria = [...]string{"auto", "gcv", "loo", "cv", "accuracy", "balanced-accuracy"}

// LeavesOut reports whether the score requires the leave-one-out predictions of all rows.
func (c Criterion) LeavesOut() bool { return c == LOO || c.Decides() }

// Decides reports whether the score counts correctly classified rows.
func (c Criterion) Decides() bool { return c == Accuracy || c == BalancedAccuracy }

func (c Criterion) String() string {
	if c < 0 || int(c) >= len(criteria) {
		return fmt.Sprintf("Criterion(%d)", int(c))
	}
	return criteria[c]
}

// ParseCriterion returns the criterion with the given name, or an error if there is none.
func ParseCriterion(name string) (Criterion, error) {
	for i, v := range criteria {
		if v == name {
			return Criterion(i), nil
		}
	}
	return 0, badinput.Errorf(
		"ridge: %q is not a criterion; use auto, gcv, loo, cv, accuracy or balanced-accuracy",
		name,
	)
}

// MarshalText returns the name, as String does. If the criterion is unknown, the error is [ridge.ErrInput].
func (c Criterion) MarshalText() ([]byte, error) {
	if c < 0 || int(c) >= len(criteria) {
		return nil, badinput.Errorf("ridge: %v is not a criterion", c)
	}
	return []byte(criteria[c]), nil
}

// UnmarshalText reads the output of MarshalText, see [ParseCriterion].
func (c *Criterion) UnmarshalText(text []byte) error {
	v, err := ParseCriterion(string(text))
	if err == nil {
		*c = v
	}
	return err
}
