package dataset_test

import (
	"errors"
	"io"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestZeroValues: a pass over a source that was not made is an error. The test of package zerovalues calls
// all methods of zero values.
func TestZeroValues(t *testing.T) {
	// What was not made yields an error, and not none of any rows.
	ctx := t.Context()
	for what, src := range map[string]dataset.Source{"a stream": new(dataset.Stream), "a cache": new(dataset.Cache)} {
		if n, d, k := src.Dims(); n != 0 || d != 0 || k != 0 {
			t.Errorf("%s of nothing: %d, %d, %d", what, n, d, k)
		}
		for _, err := range src.Blocks(ctx) {
			if !errors.Is(err, dataset.ErrShape) {
				t.Errorf("%s of nothing: %v", what, err)
			}
		}
	}
	for what, p := range map[string]*dataset.Pipe{"the zero value": new(dataset.Pipe), "nil": dataset.NewPipe(ctx, "a pipe", nil)} {
		taken, err := p.Take()
		if err != nil {
			t.Fatal(err)
		}
		for of, r := range map[string]io.Reader{"the pass": taken, "a look": p.Look()} {
			if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, dataset.ErrInput) {
				t.Errorf("%s over a pipe of %s: %d bytes, %v", of, what, n, err)
			}
		}
		p.Stop()
	}
}

// TestSamplesRefused: targets by columns that are not of the stream's rows are an error.
func TestSamplesRefused(t *testing.T) {
	three, err := dataset.FromDense(1, 3, 0, []float64{1, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, columns := range map[int64]*dataset.Columns{2: {Features: three, Targets: three}, -1: {Features: three}, 3: nil} {
		s := dataset.NewStream(n, 1, 1, false, nil)
		s.Columns = columns
		if y, w, err := s.Samples(t.Context()); y != nil || w != nil || !errors.Is(err, dataset.ErrShape) {
			t.Errorf("of %d rows: %v, %v, %v", n, y, w, err)
		}
	}
}
