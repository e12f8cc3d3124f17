package dataset_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/zerovalues"
)

// TestZeroValues: no method of a zero value panics, and a pass over a source that was not made is an error.
func TestZeroValues(t *testing.T) {
	src, err := dataset.FromDense(2, 1, 1, []float64{1, 2}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	zerovalues.Check(t, zerovalues.Package{
		Types: []any{
			new(dataset.Block), new(dataset.Buffer), new(dataset.Cache), new(dataset.Cells), new(dataset.ChangedError), new(dataset.Encoding), new(dataset.Fourier),
			new(dataset.Holdout), new(dataset.InputError), new(dataset.Lexicon), new(dataset.Missing), new(dataset.OnceError), new(dataset.Pipe), new(dataset.Polynomial),
			new(dataset.Range), new(dataset.RowEncoder), new(dataset.RowMap), new(dataset.Scaling), new(dataset.Share), new(dataset.SourceError), new(dataset.Stamp),
			new(dataset.Stream), new(dataset.Taken), new(dataset.Tally), new(dataset.Waits),
		},
		Arguments: func() []any {
			return []any{
				0, int64(1), 1.0, []float64{1}, []byte("a"), "a", []string{"a"}, true, func() {}, dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}},
				dataset.EncodeOptions{}, dataset.LearnOptions{}, dataset.Stamp{Size: 1, ModTime: time.Unix(1, 0)}, new(engine.CSR), new(dataset.Learnt), new(dataset.Tally),
				zerovalues.Interface[context.Context](t.Context()), zerovalues.Interface[dataset.Source](src), zerovalues.Interface(be), zerovalues.Interface(io.EOF),
				zerovalues.Interface[mat.Matrix](mat.NewDense(1, 2, []float64{1, 2})),
			}
		},
		Refuse: []any{new(dataset.Cache), new(dataset.Stream), new(dataset.Taken), new(dataset.RowEncoder)}, Input: dataset.ErrInput,
		MayPass: []string{"Err", "Close", "Valid"},
	})
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
