package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/classes"
)

// version is the version of the file format that Write writes, and the highest version that Read reads. In versions
// 1 to 4, a field with a value for each target is a single value if there is one target, otherwise a list. In
// version 1, a file for a single γ has no list "models"; the fields of its fit are at the top level.
const version = 5

// file is the JSON form of a [Model].
type file struct {
	Version   int    `json:"fdridge_model"`
	Rows      int64  `json:"n"`
	Features  int    `json:"d"`
	Size      int    `json:"size"`
	Backend   string `json:"backend"`
	Tol       Number `json:"tol"`
	Intercept bool   `json:"intercept_fitted"`
	header
	Preparation Preparation      `json:"preparation"`
	Terms       []string         `json:"feature_names,omitempty"`
	Folded      *dataset.Scaling `json:"folded_scaling,omitempty"`
	Penalty     *Penalty         `json:"penalty,omitempty"`
	Classes     []string         `json:"classes,omitempty"`
	Models      []Fit            `json:"models"`
}

// header is the JSON form of a [Header].
type header struct {
	Columns []string `json:"columns,omitempty"`
	Target  string   `json:"target,omitempty"`
}

// readFile is the JSON form of a model in any version of the file format.
type readFile struct {
	file
	// Preparation is decoded by the method preparation.
	Preparation json.RawMessage `json:"preparation"`
	*Fit                        // the fit for a single γ in version 1
}

// fits returns the fits in a file of any version of the file format.
func (f *readFile) fits() ([]Fit, error) {
	switch {
	case f.Fit != nil && f.Version > 1:
		return nil, errors.New("it has a fit beside its models, as only version 1 may")
	case f.Fit != nil:
		return append(f.Models, *f.Fit), nil
	case len(f.Models) == 0:
		return nil, errors.New("it has no coefficients")
	}
	return f.Models, nil
}

// preparation decodes how the rows were prepared. From version 2 of the file format on, an unknown field is an
// error, because ignoring it would prepare rows differently.
func (f *readFile) preparation() (p Preparation, err error) {
	if f.Preparation == nil {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader(f.Preparation))
	if f.Version > 1 {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("this program does not know its preparation: %w", jsonfields.Explain(err))
	}
	return p, nil
}

// A Number is a float64 for JSON. If it is not finite, its JSON is null.
type Number float64

// MarshalJSON writes the number or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return jsonfields.AppendFloat(nil, float64(x)), nil
}

// UnmarshalJSON reads a number. It reads null as +∞, because null stands for an upper bound that is infinite.
func (x *Number) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*x = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(x))
}

// PerTarget is a list with a value for each target. Its JSON is a list. Up to version 4 of the model file, the JSON
// was the single value if there was one target.
type PerTarget[T any] []T

// MarshalJSON writes the list.
func (x PerTarget[T]) MarshalJSON() ([]byte, error) {
	return jsonfields.Value([]T(x))
}

// UnmarshalJSON reads a list, or the single value that versions 1 to 4 of the model file have for one target. If T
// is float64 or []float64, null is an error.
func (x *PerTarget[T]) UnmarshalJSON(text []byte) error {
	var one T
	switch any(one).(type) {
	case float64, []float64:
		if bytes.Contains(text, []byte("null")) {
			return errors.New("a weight is null")
		}
	}
	if json.Unmarshal(text, &one) == nil {
		*x = PerTarget[T]{one}
		return nil
	}
	var list []T
	err := json.Unmarshal(text, &list)
	*x = list
	return err
}

// Numbers converts x for JSON.
func Numbers(x []float64) PerTarget[Number] {
	out := make(PerTarget[Number], len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}

// isGamma reports whether v is valid as a ridge penalty: finite and not negative.
func isGamma(v float64) bool { return v >= 0 && vec.IsFinite(v) }

// checkClasses returns an error if two class labels are equal, or if their number does not match the t targets.
func (m *Model) checkClasses(t int) error {
	if k := len(m.Classes); m.Classes != nil && (k < 2 || t != classes.Targets(k)) {
		return fmt.Errorf("%d classes for %d targets", k, t)
	}
	for k, label := range m.Classes {
		if slices.Contains(m.Classes[:k], label) {
			return fmt.Errorf("two classes with the label %q", errtext.Excerpt(label))
		}
	}
	return nil
}
