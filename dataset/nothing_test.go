package dataset_test

import (
	"errors"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestNoSource: a nil source, matrix or scaling is an error of shapes, ErrShape.
func TestNoSource(t *testing.T) {
	ctx := t.Context()
	one, err := dataset.FromDense(1, 1, 1, []float64{1}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	scaling := &dataset.Scaling{Mean: []float64{0}, Scale: []float64{1}}
	for name, call := range map[string]func() (dataset.Source, error){
		"Standardize":      func() (dataset.Source, error) { s, _, err := dataset.Standardize(ctx, nil); return s, err },
		"Weigh":            func() (dataset.Source, error) { return dataset.Weigh(nil, one) },
		"Weigh by nothing": func() (dataset.Source, error) { return dataset.Weigh(one, nil) },
		"TargetAsWeight":   func() (dataset.Source, error) { return dataset.TargetAsWeight(nil) },
		"Zip":              func() (dataset.Source, error) { return dataset.Zip(nil, one) },
		"Zip with nothing": func() (dataset.Source, error) { return dataset.Zip(one, nil) },
		"Concat":           func() (dataset.Source, error) { return dataset.Concat(one, nil) },
		"Rows":             func() (dataset.Source, error) { return dataset.Rows(nil, 0, 1) },
		"Every":            func() (dataset.Source, error) { return dataset.Every(nil, 2) },
		"Part":             func() (dataset.Source, error) { return dataset.Part(nil, dataset.Share{}) },
		"Cut":              func() (dataset.Source, error) { return dataset.Cut(nil, 0, 0) },
		"FromCSR":          func() (dataset.Source, error) { return dataset.FromCSR(nil, 0, nil) },
		"a scaling":        func() (dataset.Source, error) { return scaling.Apply(nil) },
		"no scaling":       func() (dataset.Source, error) { return (*dataset.Scaling)(nil).Apply(one) },
		"Fourier": func() (dataset.Source, error) {
			return dataset.Fourier{Components: 1, Gamma: 1}.Apply(nil, nil)
		},
		"Polynomial": func() (dataset.Source, error) { return dataset.Polynomial{Degree: 2}.Apply(nil, nil) },
	} {
		if src, err := call(); src != nil || !errors.Is(err, dataset.ErrShape) {
			t.Errorf("%s: %v, %v", name, src, err)
		}
	}
}
