package choose

import (
	"fmt"

	"github.com/fdridge/fdridge/internal/badinput"
)

// A Criterion is what γ is chosen by. All are summed over the targets.
type Criterion int

const (
	// GCV is generalised cross-validation, n·RSS(x*)/(n − df)², see [LeastGCV].
	GCV Criterion = iota
	// LOO is the mean squared error for a row of the exact solution of all other rows,
	// which is what scikit-learn's RidgeCV chooses by, see [ridge.LeaveOneOut].
	LOO
	// CV is cross-validation with some folds, see [CrossValidate].
	CV
)

var criteria = [...]string{"gcv", "loo", "cv"}

func (c Criterion) String() string {
	if c < 0 || int(c) >= len(criteria) {
		return fmt.Sprintf("Criterion(%d)", int(c))
	}
	return criteria[c]
}

// ParseCriterion returns the criterion of that name: "gcv", "loo" or "cv". Other names are an
// error.
func ParseCriterion(name string) (Criterion, error) {
	for i, v := range criteria {
		if v == name {
			return Criterion(i), nil
		}
	}
	return 0, badinput.Errorf("ridge: %q is no criterion; there are gcv, loo and cv", name)
}

// MarshalText writes the name, "gcv", "loo" or "cv". A criterion without one is [ridge.ErrInput].
func (c Criterion) MarshalText() ([]byte, error) {
	if c < 0 || int(c) >= len(criteria) {
		return nil, badinput.Errorf("ridge: %v is no criterion", c)
	}
	return []byte(criteria[c]), nil
}

// UnmarshalText reads what MarshalText writes, see [ParseCriterion].
func (c *Criterion) UnmarshalText(text []byte) error {
	v, err := ParseCriterion(string(text))
	if err == nil {
		*c = v
	}
	return err
}
