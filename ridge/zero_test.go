package ridge_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/zerovalues"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestZeroValues: no method of a zero value panics, and of what rows are added to every one that can
// err does, by ErrInput.
func TestZeroValues(t *testing.T) {
	src := table{x: [][]float64{{1, 2}, {3, 5}, {4, 4}}, y: [][]float64{{1}, {2}, {3}}}
	sum := summarize(t, src, ridge.SummaryConfig{Size: 2})
	zerovalues.Check(t, zerovalues.Package{
		Types: []any{
			new(ridge.Summary), new(ridge.Solution), new(ridge.Target), new(fdridge.Result), new(ridge.Predictor), new(choose.CVResult), new(choose.GammaChoice),
			new(choose.Choice), new(choose.BandChoice), new(choose.BandTrial), new(choose.Criterion), new(ridge.Certificate),
			new(ridge.Interval), new(plan.Plan), new(ridge.NotConvergedError), new(ridge.SizeError),
			new(choose.FoldsError), new(ridge.GammaError), new(ridge.ScaleError), new(ridge.SingularError), new(ridge.SummaryConfig), new(ridge.Factorization),
			new(ridge.Method), new(ridge.Identity), new(fdridge.Stage), new(plan.Remedy), new(ridge.Status), new(ridge.Rule), new(ridge.Reason),
		},
		Arguments: func() []any {
			return []any{
				1.0, 3, int64(3), []float64{1, 2}, []byte{1}, []choose.Band{{Name: "1", Columns: []int{0}}}, ridge.CG, plan.Config{}, sum, sum.Config(),
				dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}}, must(sum.Fit(1))(t), []ridge.Interval{{}}, func(int64) {}, true, fdridge.Options{NoIntercept: true}, ridge.SolveOptions{}, ridge.DirectIsCheaper, "cg", []*ridge.Solution{must(sum.Fit(1))(t)}, []choose.Candidate{{Fit: must(sum.Fit(1))(t), Scores: []ridge.Interval{{Lo: 1, Hi: 2}}}}, ridge.Converged, []int32{0}, time.Unix(1, 0), []time.Time{time.Unix(1, 0)},
				zerovalues.Interface[context.Context](t.Context()), zerovalues.Interface[dataset.Source](src), zerovalues.Interface[mat.Matrix](mat.NewDense(1, 2, []float64{1, 2})),
				zerovalues.Interface(io.EOF), zerovalues.Interface[io.Writer](io.Discard), zerovalues.Interface[io.Reader](bytes.NewReader([]byte{1})),
			}
		},
		Refuse: []any{new(ridge.Summary)}, Input: ridge.ErrInput,
		MayPass: []string{"ReadFrom", "UnmarshalBinary"}, // which make something of a zero value
		Except:  map[string]string{"Identity.Solve": "it is called by iterations, with as many systems as there are gradients and gamma"},
	})
	if size := new(ridge.Summary).BinarySize(); size != 0 {
		t.Errorf("the zero Summary, which cannot be written, is %d bytes", size)
	}
	// Those that read make it one like any other.
	read := new(ridge.Summary)
	if err := read.UnmarshalBinary(marshal(t, sum)); err != nil || read.Rows() != sum.Rows() {
		t.Errorf("a zero Summary reads %d rows of %d: %v", read.Rows(), sum.Rows(), err)
	}
	if none := new(ridge.Summary); none.Sketch() != nil || none.Rows() != 0 || none.Config() != (ridge.SummaryConfig{}) {
		t.Errorf("the zero Summary has %d rows and the configuration %+v", none.Rows(), none.Config())
	}
}
