package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
)

// version is that of the file. In version 1 the fields of the fit for a single γ are at the top
// level, and there are no models.
const version = 2

// file is a [Model] as it is written.
type file struct {
	Version     int              `json:"fdridge_model"`
	Rows        int64            `json:"n"`
	Features    int              `json:"d"`
	Size        int              `json:"size"`
	Backend     string           `json:"backend"`
	Tol         Number           `json:"tol"`
	Intercept   bool             `json:"intercept_fitted"`
	Columns     []string         `json:"columns,omitempty"`
	Target      string           `json:"target,omitempty"`
	Preparation Preparation      `json:"preparation"`
	Terms       []string         `json:"feature_names,omitempty"`
	Folded      *dataset.Scaling `json:"folded_scaling,omitempty"`
	Penalty     *Penalty         `json:"penalty,omitempty"`
	Models      []Fit            `json:"models"`
}

// readFile is what a file of any version is read into.
type readFile struct {
	file
	// Preparation has that of the file for itself, see prepared.
	Preparation json.RawMessage `json:"preparation"`
	*Fit                        // of a single γ in version 1
}

// fits are those of a file, by its version.
func (f *readFile) fits() ([]Fit, error) {
	switch {
	case f.Fit != nil && f.Version > 1:
		return nil, errors.New("it has a fit beside its models, as version 1 did")
	case f.Fit != nil:
		return append(f.Models, *f.Fit), nil
	case len(f.Models) == 0:
		return nil, errors.New("it holds no weights")
	}
	return f.Models, nil
}

// prepared is the preparation of a file. From version 2 on one that has more than is known here is
// refused: rows would not be prepared as those of the fit were.
func (f *readFile) prepared() (p Preparation, err error) {
	if f.Preparation == nil {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader(f.Preparation))
	if f.Version > 1 {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("its preparation is none that this program knows: %w", err)
	}
	return p, nil
}

// A Number is a float64 in JSON, null where it is not finite.
type Number float64

// MarshalJSON writes the number, or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON reads what MarshalJSON wrote. A null is read as +∞: of the proved numbers
// only upper bounds can be infinite.
func (x *Number) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*x = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(x))
}

// PerTarget is a list of one value for each target, in JSON the bare value where there is
// one target.
type PerTarget[T any] []T

// MarshalJSON writes the list, or the value.
func (x PerTarget[T]) MarshalJSON() ([]byte, error) {
	if len(x) == 1 {
		return json.Marshal(x[0])
	}
	return json.Marshal([]T(x))
}

// UnmarshalJSON reads a list, or the value of one target. A null among float64, which
// would be read as zero, is refused.
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

// Numbers are x, for JSON.
func Numbers(x []float64) PerTarget[Number] {
	out := make(PerTarget[Number], len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}
