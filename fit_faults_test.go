package fdridge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// ways are the ways to fit the rows of a source.
var ways = map[string]fdridge.Options{
	"one-shot": {NoIntercept: true, Gammas: []float64{1}, Size: 2, Method: ridge.OneShot},
	"cg":       {NoIntercept: true, Gammas: []float64{1}, Size: 2, Method: ridge.CG},
	"exact":    {NoIntercept: true, Gammas: []float64{1}, Method: ridge.Exact},
	"qr":       {NoIntercept: true, Gammas: []float64{1}, Method: ridge.QR},
	"folds":    {NoIntercept: true, Folds: 2, Size: 2, Method: ridge.OneShot},
}

// TestRowAtFault: whatever the method, an error names the row as the source counts it.
func TestRowAtFault(t *testing.T) {
	for name, opts := range ways {
		for _, value := range []float64{math.NaN(), 1e160} {
			p := testkit.Table{Block: 10}
			for i := range 60 {
				p.X = append(p.X, []float64{1, math.Sin(float64(i))})
				p.Y = append(p.Y, []float64{math.Cos(float64(i))})
			}
			p.X[40][1] = value
			_, err := fdridge.Fit(t.Context(), p, opts)
			row := -1
			if e, ok := errors.AsType[*fd.NonFiniteError](err); ok {
				row = e.Row
			}
			if e, ok := errors.AsType[*fd.RangeError](err); ok {
				row = e.Row
			}
			if row != 40 {
				t.Errorf("%s, %v in row 41: %v", name, value, err)
			}
		}
	}
}

// promising is a table whose Dims promise another number of rows.
type promising struct {
	testkit.Table
	n int64
}

func (p promising) Dims() (n int64, d, t int) {
	_, d, t = p.Table.Dims()
	return p.n, d, t
}

// counting is a table that knows how many rows it has once they were asked for.
type counting promising

func (c *counting) Dims() (n int64, d, t int) { return promising(*c).Dims() }

func (c *counting) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	c.n = int64(len(c.X))
	return c.Table.Blocks(ctx)
}

// TestRowsAsPromised: a source that yields another number of rows than its Dims promise is
// refused by every method, with both numbers.
func TestRowsAsPromised(t *testing.T) {
	p := testkit.Table{X: [][]float64{{1, 2}, {3, 4}, {5, 7}}, Y: [][]float64{{1}, {2}, {3}}}
	for name, opts := range ways {
		for _, n := range []int64{2, 5} {
			_, err := fdridge.Fit(t.Context(), promising{p, n}, opts)
			want := fmt.Sprintf("ridge: the source's Dims returned %d rows, but it yielded 3", n)
			if err == nil || err.Error() != want || !errors.Is(err, ridge.ErrShape) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := fdridge.Fit(t.Context(), promising{p, -1}, opts); err != nil {
			t.Errorf("%s, where nothing is promised: %v", name, err)
		}
	}
	// Nor does a summary go on over fewer rows than it has seen.
	sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 2})
	short := testkit.Table{X: p.X[:2], Y: p.Y[:2]}
	for name, src := range map[string]dataset.Source{"known": short, "after a pass": &counting{short, -1}} {
		if err := sum.Continue(t.Context(), src, nil); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("over fewer rows, %s: %v", name, err)
		}
	}
	if err := sum.Continue(t.Context(), p, nil); err != nil || sum.Rows() != 3 {
		t.Errorf("over its own rows: %v, %d rows", err, sum.Rows())
	}
}

// TestFaultsAreInput: options, starts and weights that make no sense are ErrInput, and the
// error says what is wrong.
func TestFaultsAreInput(t *testing.T) {
	p := testkit.Table{X: [][]float64{{1, 2}, {3, 4}, {5, 7}}, Y: [][]float64{{1}, {2}, {3}}}
	sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 2, Intercept: true})
	solve := func(opts ridge.SolveOptions) error {
		_, err := ridge.Solve(t.Context(), p, sum, 1, opts)
		return err
	}
	alone := func(f *ridge.Solution) error { _, err := f.Predictor(); return err }
	bare := &ridge.Solution{Outcome: ridge.Outcome{Gamma: 1}, Targets: []ridge.Target{{Coef: []float64{1}}}}
	weighed := p
	weighed.W = []float64{1, -1, 1}
	for want, err := range map[string]error{
		"Tol":         solve(ridge.SolveOptions{Tol: -1}),
		"Start":       solve(ridge.SolveOptions{Start: mat.NewDense(1, 2, []float64{1, math.NaN()})}),
		"Method(99)":  solve(ridge.SolveOptions{Method: 99}),
		"decay by 2":  sum.Decay(2),
		"certificate": alone(bare),
		"row 2 has the weight -1": func() error {
			_, err := fdridge.Fit(t.Context(), weighed, fdridge.Options{NoIntercept: true, Gammas: []float64{1}})
			return err
		}(),
		"the methods are auto, ": func() error { _, err := ridge.ParseMethod("lsqr"); return err }(),
		"Fourier features":       func() error { _, err := dataset.Fourier{}.Apply(p, nil); return err }(),
		"polynomial features ":   func() error { _, err := dataset.Polynomial{}.Apply(p, nil); return err }(),
	} {
		if !errors.Is(err, ridge.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
