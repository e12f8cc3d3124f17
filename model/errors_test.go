package model_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// small is a summary of a few rows, and a fit of them.
func small(t *testing.T, gamma float64, intercept bool) (*ridge.Summary, *model.Model) {
	t.Helper()
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: intercept})
	check(t, err)
	check(
		t,
		sum.Append(
			mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 7, 6, 9}),
			mat.NewDense(4, 1, []float64{1, 2, 3, 5}),
			nil,
		),
	)
	fit, err := sum.Fit(gamma)
	check(t, err)
	m, err := model.New(model.Preparation{}, []*ridge.Solution{fit}, model.Details{Intercept: intercept, Size: 2})
	check(t, err)
	return sum, m
}

// as says that err is an E.
func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// TestErrors: what a caller may want to tell apart is told by the error's kind.
func TestErrors(t *testing.T) {
	read := func(text string) error {
		_, err := model.Read(strings.NewReader(text))
		return err
	}
	damaged, fine := as[*model.FormatError], func(err error) bool { return err == nil }
	const version2 = `{"fdridge_model":2,"models":[{"coef":[1,2],"intercept":0}],`
	for text, ok := range map[string]func(error) bool{
		"":                    damaged,
		"[]":                  damaged,
		`{"fdridge_model":6}`: as[*model.VersionError],
		`{"fdridge_model":0}`: as[*model.VersionError],
		`{"fdridge_model":2}`: damaged,
		`{"fdridge_model":2,"coef":[1,2],"intercept":0,"preparation":{"inputs":2}}`:                damaged,
		version2 + `"gamma":1,"preparation":{"inputs":2}}`:                                         damaged,
		version2 + `"preparation":{"inputs":2,"rotated":true}}`:                                    damaged,
		version2 + `"preparation":{"inputs":2,"scaling":{"squared":1}}}`:                           damaged,
		version2 + `"preparation":{"inputs":2},"written_by":"somebody"}`:                           fine,
		`{"fdridge_model":1,"coef":[1,2],"intercept":0,"preparation":{"inputs":2,"rotated":true}}`: fine,
		`{"fdridge_model":1}`: damaged,
		`{"fdridge_model":1,"models":[{"coef":[[1],[2]],"intercept":[1,2]}],"preparation":{"inputs":2}}`: damaged,
		`{"fdridge_model":1,"coef":[1,null],"intercept":0,"preparation":{"inputs":2}}`:                   damaged,
		`{"fdridge_model":1,"gamma":-1,"coef":[1,2],"intercept":0,"preparation":{"inputs":2}}`:           damaged,
		`{"fdridge_model":1,"coef":[1,2],"intercept":0,"preparation":{"inputs":2,"names":["a"]}}`:        damaged,
		`{"fdridge_model":1,"coef":[1,2],"intercept":0,"preparation":{"inputs":2}}`:                      fine,
	} {
		if err := read(text); !ok(err) {
			t.Errorf("%s: %v (%T)", text, err, err)
		}
	}

	sum, m := small(t, 1, true)
	_, plain := small(t, 1, false)
	predictor := func(m *model.Model, by model.Intervals) error {
		_, err := m.Predictor(by)
		return err
	}
	two := *m
	two.Fits = append(two.Fits[:1:1], two.Fits[0])
	old := *plain
	old.Fits = []model.Fit{plain.Fits[0]}
	old.Fits[0].Fitted = nil
	none := *plain
	none.Fits = []model.Fit{plain.Fits[0]}
	none.Fits[0].Certificate = model.Certificate{}
	_, noGamma := m.At(7)
	for name, c := range map[string]struct {
		err error
		ok  func(error) bool
	}{
		"another gamma":  {noGamma, as[*model.GammaError]},
		"several gammas": {predictor(&two, model.ExactIntervals{}), as[*model.GammaError]},
		"an old model": {predictor(&old, model.ExactIntervals{}),
			func(err error) bool { return errors.Is(err, model.ErrUnrecorded) }},
		"no certificate": {predictor(&none, model.ExactIntervals{}), as[*model.CertificateError]},
		"another preparation": {predictor(m,
			model.ExactIntervals{Summary: sum, Preparation: &model.Preparation{Inputs: 3}}),
			func(err error) bool { return as[*model.SummaryError](err) && errors.Is(err, model.ErrPreparation) }},
		"other rows": {predictor(plain, model.ExactIntervals{Summary: sum}),
			func(err error) bool { return as[*model.SummaryError](err) && errors.Is(err, ridge.ErrOtherRows) }},
		"other rows, an old model": {predictor(&old, model.ExactIntervals{Summary: sum}),
			func(err error) bool { return as[*model.SummaryError](err) && errors.Is(err, ridge.ErrOtherRows) }},
		"its rows": {predictor(m, model.ExactIntervals{Summary: sum}),
			func(err error) bool { return err == nil }},
	} {
		if !c.ok(c.err) {
			t.Errorf("%s: %v (%T)", name, c.err, c.err)
		}
	}

	wide, err := dataset.FromDense(1, 3, 0, make([]float64, 3), nil)
	check(t, err)
	if _, err := m.Prepare(wide); !as[*model.PreparationError](err) || !errors.Is(err, model.ErrShape) {
		t.Errorf("other rows are prepared: %v", err)
	}
	fourier := model.Preparation{Inputs: 2} // which makes as many features of any columns
	fourier.Expand(dataset.Fourier{Components: 2, Gamma: 1})
	if _, err := fourier.Apply(wide, nil); !as[*model.PreparationError](err) || !errors.Is(err, model.ErrShape) {
		t.Errorf("features of other rows: %v", err)
	}
	for _, err := range m.Predict(t.Context(), wide) {
		if !as[*model.PreparationError](err) {
			t.Errorf("other rows: %v", err)
		}
	}
	huge, err := model.Read(
		strings.NewReader(`{"fdridge_model":1,"coef":[0,1e308],"intercept":0,"preparation":{"inputs":2}}`),
	)
	check(t, err)
	if _, err := huge.PredictMatrix(mat.NewDense(2, 2, []float64{0, 0, 0, 2})); !as[*model.OverflowError](err) {
		t.Errorf("an overflow: %v", err)
	}
	nan := &ridge.Solution{
		Outcome: ridge.Outcome{Gamma: 1},
		Targets: []ridge.Target{{Coef: []float64{1, 2}, Intercept: math.NaN()}},
	}
	if _, err := model.New(model.Preparation{}, []*ridge.Solution{nan}, model.Details{}); err == nil ||
		errors.Is(err, model.ErrShape) {
		t.Errorf("an unknown intercept: %v", err)
	}
	unknown := &ridge.Solution{
		Outcome: ridge.Outcome{Gamma: 1},
		Targets: []ridge.Target{
			{Coef: []float64{1, 2}, ComputedTSS: math.NaN(), Certificate: ridge.Certificate{ErrorBound: math.Inf(1)}},
		},
	}
	if u, err := model.New(model.Preparation{}, []*ridge.Solution{unknown}, model.Details{}); err != nil ||
		u.Fits[0].TSS != nil ||
		u.Write(new(bytes.Buffer)) != nil {
		t.Errorf("an unknown ‖b‖²: %v", err)
	}
	plainFit := func(gamma, intercept float64, rows int64) *ridge.Solution {
		return &ridge.Solution{
			Outcome: ridge.Outcome{Gamma: gamma, Rows: rows},
			Targets: []ridge.Target{{Coef: []float64{1, 2}, Intercept: intercept}},
		}
	}
	for name, c := range map[string]struct {
		prep model.Preparation
		fits []*ridge.Solution
		is   error
	}{
		"one name of two": {model.Preparation{Inputs: 2, Names: []string{"a"}}, []*ridge.Solution{plainFit(1, 0, 3)},
			model.ErrShape},
		"three names of two": {model.Preparation{Inputs: 2, Names: []string{"a", "b", "c"}},
			[]*ridge.Solution{plainFit(1, 0, 3)}, model.ErrShape},
		"other rows":          {model.Preparation{}, []*ridge.Solution{plainFit(1, 0, 3), plainFit(2, 0, 4)}, model.ErrShape},
		"a nil solution":      {model.Preparation{}, []*ridge.Solution{nil}, model.ErrShape},
		"gamma = -1":          {model.Preparation{}, []*ridge.Solution{plainFit(-1, 0, 3)}, model.ErrInput},
		"gamma = NaN":         {model.Preparation{}, []*ridge.Solution{plainFit(math.NaN(), 0, 3)}, model.ErrInput},
		"an intercept unsaid": {model.Preparation{}, []*ridge.Solution{plainFit(1, 5, 3)}, model.ErrInput},
	} {
		if _, err := model.New(c.prep, c.fits, model.Details{}); !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	named := *plain
	named.Preparation.Names = []string{"a"}
	if err := named.Write(new(bytes.Buffer)); !errors.Is(err, model.ErrShape) {
		t.Errorf("one name of two is written: %v", err)
	}
	unwritable := *plain
	unwritable.Fits = []model.Fit{plain.Fits[0]}
	unwritable.Fits[0].Gamma = math.NaN()
	if err := unwritable.Write(new(bytes.Buffer)); !errors.Is(err, model.ErrInput) {
		t.Errorf("gamma = NaN is written: %v", err)
	}
	for name, err := range map[string]error{
		"Read(nil)":    func() error { _, err := model.Read(nil); return err }(),
		"Prepare(nil)": func() error { _, err := plain.Prepare(nil); return err }(),
		"a zero predictor": func() error {
			_, _, err := new(model.Predictor).PredictMatrix(mat.NewDense(1, 1,
				nil))
			return err
		}(),
		"a zero model": func() error { _, err := new(model.Model).Predictor(nil); return err }(),
	} {
		if !errors.Is(err, model.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := plain.Predictor(model.JackknifeIntervals{}); !errors.Is(err, model.ErrInput) {
		t.Errorf("intervals that follow from nothing: %v", err)
	}
	made, err := plain.Predictor(nil)
	check(t, err)
	for _, p := range []*model.Predictor{new(model.Predictor), made} {
		for _, err := range p.Predict(t.Context(), nil) {
			if !errors.Is(err, model.ErrShape) {
				t.Errorf("of no rows: %v", err)
			}
		}
	}
	if n, d := new(model.Predictor).Dims(); n != 0 || d != 0 {
		t.Errorf("a zero predictor is %d×%d", n, d)
	}
	if err := new(model.Model).Write(new(bytes.Buffer)); !errors.Is(err, model.ErrShape) {
		t.Errorf("a model of nothing: %v", err)
	}
	if _, err := model.New(model.Preparation{}, nil, model.Details{}); !errors.Is(err, model.ErrShape) {
		t.Errorf("no solutions: %v", err)
	}
	if _, err := model.New(model.Preparation{Inputs: 5},
		[]*ridge.Solution{{Outcome: ridge.Outcome{Gamma: 1}, Targets: []ridge.Target{{Coef: []float64{1, 2}}}}},
		model.Details{}); !errors.Is(err, model.ErrShape) {
		t.Errorf("other inputs: %v", err)
	}
}

// TestCertificates: the certificates of a model equal the certificates of its solutions, before the model is written
// and after it is read.
func TestCertificates(t *testing.T) {
	sum, m := small(t, 1, true)
	fit, err := sum.Fit(1)
	check(t, err)
	var text bytes.Buffer
	check(t, m.Write(&text))
	again, err := model.Read(&text)
	check(t, err)
	for _, m := range []*model.Model{m, again} {
		got, err := m.Fits[0].Certificates()
		check(t, err)
		want := fit.Targets[0].Certificate
		want.TSS = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		record, err := m.Fits[0].Certificate.Record()
		check(t, err)
		if record.Stop != fit.Status.String() || record.Certificates[0].ErrorBound != want.ErrorBound ||
			!record.Converged {
			t.Errorf("%+v", record)
		}
	}
}

// TestPredictStops: who wants no more predictions gets none, nor an error.
func TestPredictStops(t *testing.T) {
	_, m := small(t, 1, true)
	src, err := dataset.FromDense(3, 2, 1, []float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9})
	check(t, err)
	n := 0
	for one, err := range m.Predict(t.Context(), src) {
		check(t, err)
		if one.Row != int64(n) || len(one.Observed) != 1 || one.Observed[0] != float64(7+n) || one.Intervals != nil {
			t.Errorf("%+v", one)
		}
		n++
		if n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
