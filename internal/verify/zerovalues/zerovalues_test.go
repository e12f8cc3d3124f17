package zerovalues

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
	"github.com/fdridge/fdridge/ridge/window"
	"github.com/fdridge/fdridge/table"
)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestZeroValues: no method of a zero value panics, and zero values that are unusable are refused.
func TestZeroValues(t *testing.T) {
	be := must(engine.Default())(t)
	one := must(dataset.FromDense(2, 1, 1, []float64{1, 2}, []float64{1, 2}))(t)
	two := must(dataset.FromDense(3, 2, 1, []float64{1, 2, 3, 5, 4, 4}, []float64{1, 2, 3}))(t)
	ofOne := must(ridge.Summarize(t.Context(), one, ridge.SummaryConfig{Size: 1}, nil))(t)
	ofTwo := must(ridge.Summarize(t.Context(), two, ridge.SummaryConfig{Size: 2}, nil))(t)
	fit := func(sum *ridge.Summary) *ridge.Solution { return must(sum.Fit(1))(t) }
	sketch := must(fd.New(fd.Config{Dim: 2, Size: 1}))(t)
	block := dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}}
	row := Interface[mat.Matrix](mat.NewDense(1, 2, []float64{1, 2}))
	reader := func(text string) any { return Interface[io.Reader](strings.NewReader(text)) }
	for _, p := range []Package{
		{
			Dirs: []string{"fd"},
			Types: []any{new(fd.Sketch), new(fd.Config), new(fd.Driver), new(fd.Bound), new(fd.Spectrum), new(fd.NonFiniteError),
				new(fd.RangeError), new(fd.FormatError)},
			Arguments: func() []any {
				return []any{
					1, 0.5, []float64{1, 2}, []byte{1}, sketch, &engine.CSR{Rows: 1, Cols: 2, RowPtr: []int{0, 1}, ColIdx: []int32{1},
						Val: []float64{3}},
					func(int, engine.Matrix) {}, row, reader("\x01"),
				}
			},
			Refuse: []any{new(fd.Sketch)}, Input: fd.ErrInput,
		},
		{
			Dirs: []string{"dataset"},
			Types: []any{
				new(dataset.Block), new(dataset.Buffer), new(dataset.Cache), new(dataset.ChangedError), new(dataset.Fourier),
				new(dataset.Holdout), new(dataset.InputError), new(dataset.OnceError), new(dataset.Pipe), new(dataset.Polynomial),
				new(dataset.Range), new(dataset.Remark), new(dataset.RowCountError), new(dataset.RowMap), new(dataset.Scaling),
				new(dataset.Share), new(dataset.SourceError), new(dataset.Stamp),
				new(dataset.Stream), new(dataset.Taken), new(dataset.Waits),
			},
			Arguments: func() []any {
				return []any{
					0, int64(1), 1.0, []float64{1}, []byte("a"), "a", []string{"a"}, true, func() {}, block,
					dataset.Stamp{Size: 1, ModTime: time.Unix(1, 0)}, new(engine.CSR), Interface[dataset.Source](one), row,
				}
			},
			Refuse: []any{new(dataset.Cache), new(dataset.Stream), new(dataset.Taken)}, Input: dataset.ErrInput,
			MayPass: []string{"Err", "Close", "Valid"},
		},
		{
			Dirs: []string{"table"},
			Types: []any{
				new(table.Cache), new(table.Doubt), new(table.Env), new(table.Field), new(table.Fitted),
				new(table.Parts), new(table.Penalised), new(table.Rows), new(table.Spec), new(table.SpecError), new(table.Table),
			},
			Arguments: func() []any {
				return []any{
					true, 0.5, new(model.Preparation), map[string]dataset.Stamp{}, []*ridge.Solution{}, fdridge.Options{},
					func(table.Field) string { return "" }, reader(""), engine.ErrInput, table.Env{},
				}
			},
			Refuse: []any{new(table.Table)}, Input: engine.ErrInput, MayPass: []string{"Evaluate", "EvaluateClasses"},
		},
		{
			Dirs: []string{"dataset/prepare"},
			Types: []any{new(prepare.Cells), new(prepare.Column), new(prepare.Encoding), new(prepare.Lexicon),
				new(prepare.Missing), new(prepare.RowEncoder), new(prepare.Tally), new(prepare.Text)},
			Arguments: func() []any {
				return []any{
					0, int64(1), 1.0, []float64{1}, []byte("a"), "a", []string{"a"}, true, prepare.EncodeOptions{},
					prepare.LearnOptions{}, new(prepare.Cells), new(prepare.Learnt), prepare.SeparateTargets, new(prepare.Text),
					func(context.Context, []float64) error { return nil }, Interface[dataset.Source](one),
				}
			},
			Refuse: []any{new(prepare.RowEncoder)}, Input: dataset.ErrInput,
			MayPass: []string{"Valid"},
		},
		{
			Dirs: []string{"ridge", ".", "ridge/choose", "ridge/plan", "ridge/columns", "ridge/reason"},
			Types: []any{
				new(ridge.Summary), new(ridge.Solution), new(ridge.Target), new(fdridge.Result), new(ridge.Predictor),
				new(choose.CVResult), new(choose.GammaChoice), new(choose.TargetChoice), new(ridge.Outcome),
				new(choose.Choice), new(choose.BandChoice), new(choose.BandTrial), new(choose.Criterion), new(ridge.Certificate),
				new(ridge.Interval), new(ridge.Jackknife), new(plan.Plan), new(ridge.NotConvergedError), new(ridge.SizeError),
				new(choose.FoldsError), new(choose.HeldOut), new(ridge.GammaError), new(ridge.ScaleError), new(ridge.SingularError),
				new(ridge.SummaryConfig), new(ridge.Factorization), new(ridge.SpectrumCache), new(ridge.StandardErrors),
				new(ridge.Method), new(ridge.Identity), new(fdridge.Stage), new(fdridge.Options), new(fdridge.OptionError),
				new(plan.Remedy), new(ridge.Status), new(reason.Rule), new(reason.Reason), new(columns.Projection),
				new(columns.Map), new(columns.DependentError), new(ridge.RowDiagnostics),
			},
			Arguments: func() []any {
				return []any{
					1.0, 3, int64(3), []float64{1, 2}, []byte{1}, []choose.Band{{Name: "1", Columns: []int{0}}},
					ridge.CG, plan.Config{}, ofTwo, ofTwo.Config(),
					block, fit(ofTwo), []ridge.Interval{{}}, ridge.Interval{},
					func(int64) {}, true, fdridge.Options{NoIntercept: true},
					ridge.SolveOptions{}, ridge.LeaveOneOutOptions{}, ridge.DiagnoseOptions{},
					func(*ridge.RowDiagnostics) error { return nil }, reason.DirectIsCheaper, "cg",
					[]*ridge.Solution{fit(ofTwo)}, []choose.Candidate{{Fit: fit(ofTwo),
						Scores: []ridge.Interval{{Lo: 1, Hi: 2}}}}, ridge.Converged, []int32{0}, time.Unix(1, 0),
					[]time.Time{time.Unix(1, 0)},
					func(int) string { return "a" }, Interface[dataset.Source](two), Interface[ridge.Reducer](nil), row, reader(
						"\x01",
					), new(ridge.ProjectionBounds), ridge.RowErrors{}, columns.Options{}, new(choose.GammaChoice),
				}
			},
			Refuse: []any{new(ridge.Summary)}, Input: ridge.ErrInput,
			MayPass: []string{"ReadFrom", "UnmarshalBinary"}, // which make something of a zero value
			Except: map[string]string{
				"Identity.Solve": "it is called by iterations, with as many systems as there are gradients and gamma",
			},
		},
		{
			Dirs:  []string{"ridge/window"},
			Types: []any{new(window.Window), new(window.Fading), new(window.TimeError), new(window.Policy)},
			Arguments: func() []any {
				return []any{[]float64{1, 2}, []byte{1}, block, time.Unix(1, 0), []time.Time{time.Unix(1, 0)}, row, reader("\x01")}
			},
			Refuse: []any{new(window.Window), new(window.Fading)}, Input: ridge.ErrInput,
			MayPass: []string{"ReadFrom", "UnmarshalBinary", "SetMeta"}, // which make something of a zero value
		},
		{
			Dirs: []string{"model"},
			Types: []any{
				new(model.Model), new(model.PerTarget[float64]),
				new(model.FormatError), new(model.VersionError), new(model.GammaError), new(model.PreparationError),
				new(model.CertificateError),
				new(model.SummaryError), new(model.OverflowError), new(model.ShortfallError), new(model.Evaluation),
				new(model.Number),
				new(model.CoverageRowsError), new(model.Calibration),
				new(model.Preparation), new(model.Predictor), new(model.Certificate), new(model.Record), new(model.Fit),
				new(model.Score),
			},
			Arguments: func() []any {
				of := fit(ofOne)
				return []any{
					1, int64(1), 1.0, true, "a", []float64{1}, []byte("{}"), []string{"1"}, ofOne, of, []*ridge.Solution{of},
					&of.Targets[0], new(model.Fit), model.Preparation{}, Interface[model.Intervals](model.ExactIntervals{}),
					model.Score{}, []ridge.Interval{{}}, new(prepare.Encoding), prepare.EncodeOptions{},
					dataset.Share{}, Interface[prepare.Link](nil), Interface[dataset.Features](dataset.Polynomial{Degree: 2}),
					Interface[dataset.Source](one),
					Interface[mat.Matrix](mat.NewDense(1, 1, []float64{1})), reader("{}"),
				}
			},
		},
	} {
		t.Run(p.Dirs[0], func(t *testing.T) {
			own := p.Arguments
			p.Arguments = func() []any {
				return append(own(), Interface(t.Context()), Interface(be), Interface(io.EOF), Interface(io.Discard))
			}
			if err := p.complete("../../.."); err != nil {
				t.Error(err)
			}
			for _, err := range p.failures() {
				t.Error(err)
			}
		})
	}
}
