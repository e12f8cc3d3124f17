package dataset_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

var errOutage = errors.New("broken")

// broken is a source of one row, of d features and t targets, and then an error.
func broken(d, t int) dataset.Source {
	return dataset.NewStream(-1, d, t, false, func() (dataset.Reader, error) { return &brokenReader{d: d, t: t}, nil })
}

type brokenReader struct {
	d, t int
	read bool
}

func (r *brokenReader) Close() error { return nil }

func (r *brokenReader) Read(b *dataset.Buffer, _ int) error {
	if r.read {
		return errOutage
	}
	r.read = true
	b.X, b.Y = append(b.X, make([]float64, r.d)...), append(b.Y, make([]float64, r.t)...)
	b.EndRow()
	return nil
}

func zeros(t *testing.T, n, d int) dataset.Source {
	t.Helper()
	src, err := dataset.FromDense(n, d, 0, make([]float64, n*d), nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// last is the error that a pass over a source ends with.
func last(src dataset.Source, err error) error {
	if err != nil {
		return err
	}
	for _, err = range src.Blocks(context.Background()) {
	}
	return err
}

// TestErrors: what is refused, or ends a pass, and how it is called.
func TestErrors(t *testing.T) {
	sparse, err := dataset.FromCSR(&engine.CSR{Rows: 1, Cols: 1, RowPtr: []int{0, 0}}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := []float64{math.NaN()}
	const unfit, unequal = "dataset: ", "dataset: dimensions disagree: "
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"Concat of none":        {last(dataset.Concat()), unfit + "no sources"},
		"Rows, none":            {last(dataset.Rows(zeros(t, 3, 1), 2, 2)), unfit + "rows 3 to 2 are not a valid range"},
		"Rows before the first": {last(dataset.Rows(zeros(t, 3, 1), -1, 2)), unfit + "rows 0 to 2 are not a valid range"},
		"Part of the uncounted": {last(dataset.Part(broken(1, 0), dataset.Share{Rank: 1, Size: 2})), unfit + "the rows cannot be divided into 2 parts: their number is unknown"},
		"dense targets":         {last(dataset.FromDense(1, 1, 1, []float64{1}, nan)), "y:1:1: NaN is not finite"},
		"targets of sparse":     {last(dataset.FromCSR(&engine.CSR{Rows: 1, Cols: 1, RowPtr: []int{0, 0}}, 1, nan)), "y:1:1: NaN is not finite"},
		"Zip with sparse":       {last(dataset.Zip(zeros(t, 1, 1), sparse)), unfit + "the targets are sparse; they must be dense"},
		"Zip, features break":   {last(dataset.Zip(broken(1, 0), zeros(t, 9, 1))), "broken"},
		"Zip, targets break":    {last(dataset.Zip(zeros(t, 9, 1), broken(1, 0))), "broken"},
		"Zip, more targets":     {last(dataset.Zip(short(1), broken(1, 0))), "broken"},
		"Zip, one row too few":  {last(dataset.Zip(zeros(t, 1, 1), short(0))), unequal + "1 rows of features, 0 of targets"},
		"too few weights":       {last(dataset.Weigh(zeros(t, 1, 1), short(0))), unequal + "1 rows of features, 0 of weights"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%s: %v, want %q", name, c.err, c.want)
		}
		if strings.HasPrefix(c.want, unfit) != errors.Is(c.err, dataset.ErrShape) {
			t.Errorf("%s: is it ErrShape? %v", name, c.err)
		}
	}
	src := zeros(t, 3, 1)
	if all, err := dataset.Part(src, dataset.Share{}); err != nil || all != src {
		t.Errorf("the whole share: %v, %v", all, err)
	}
}

// short is a source of n rows that aren't counted beforehand.
func short(n int) dataset.Source {
	return dataset.NewStream(-1, 1, 0, false, func() (dataset.Reader, error) { return &shortReader{n}, nil })
}

type shortReader struct{ left int }

func (r *shortReader) Close() error { return nil }

func (r *shortReader) Read(b *dataset.Buffer, _ int) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	b.X = append(b.X, 1)
	b.EndRow()
	return nil
}

// TestBrokenSum: a sum over shares that fails, whichever it is, ends StandardizeShare.
func TestBrokenSum(t *testing.T) {
	x, err := dataset.FromDense(2, 2, 0, []float64{1, 2, 3, 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for good := range 6 {
		sums := 0
		_, _, err := dataset.StandardizeShare(
			t.Context(),
			x,
			dataset.Share{Size: 1},
			func(context.Context, []float64) error {
				sums++
				if sums == good+1 {
					return errOutage
				}
				return nil
			},
		)
		if want := good < 5; errors.Is(err, errOutage) != want || !want && err != nil {
			t.Errorf("after %d sums: %v", good, err)
		}
	}
}

// TestFailingSkip: a pass that begins amid rows which cannot be left out ends in the
// reason.
func TestFailingSkip(t *testing.T) {
	s := dataset.NewStream(9, 1, 0, false, func() (dataset.Reader, error) { return skipless{}, nil })
	s.BlockRows = 2
	var err error
	for _, err = range s.BlocksFrom(t.Context(), 5) {
	}
	if !errors.Is(err, errOutage) {
		t.Error(err)
	}
}

type skipless struct{ dataset.Reader }

func (skipless) Close() error             { return nil }
func (skipless) Skip(int64) (bool, error) { return false, errOutage }

// TestBadTuning: a setting of the environment that is wrong is an error wherever the
// rows of a block follow from it. The process reads it once, so this is another one.
func TestBadTuning(t *testing.T) {
	const variable = "FDRIDGE_GRADIENT_ROWS"
	if os.Getenv(variable) == "" {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), exe, "-test.run=^TestBadTuning$")
		child.Env = append(os.Environ(), variable+"=many")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	one := zeros(t, 1, 1)
	refused := func(what string, err error) {
		if err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("memory", last(one, nil))
	refused("stream", last(broken(1, 0), nil))
	refused("polynomials", last(dataset.Polynomial{Degree: 2}.Apply(one, nil)))
	refused("Fourier", last(dataset.Fourier{Components: 1, Gamma: 1}.Apply(one, nil)))
	refused("scaling", last((&dataset.Scaling{Mean: []float64{1}, Scale: []float64{1}}).Apply(one)))
}
