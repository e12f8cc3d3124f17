package table_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// write writes a file into a folder of the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSpecErrors checks that wrong fields are refused, with their names as fields and never as flags.
func TestSpecErrors(t *testing.T) {
	rows := write(t, "rows.csv", "a,b,y\n1,2,3\n4,5,7\n2,2,9\n")
	plan := write(t, "plan.json", "{")
	for _, c := range []struct {
		field table.Field
		wrong func(*table.Spec)
	}{
		{"Data", func(s *table.Spec) { s.Data = nil }},
		{"Data", func(s *table.Spec) { s.Data = []string{rows, "-"} }},
		{"Format", func(s *table.Spec) { s.Format = "pdf" }},
		{"Delimiter", func(s *table.Spec) { s.Delimiter = "1" }},
		{"Header", func(s *table.Spec) { s.Header = "perhaps" }},
		{"Decimal", func(s *table.Spec) { s.Decimal = ";" }},
		{"SkipRows", func(s *table.Spec) { s.SkipRows = []string{"3:2"} }},
		{"Comment", func(s *table.Spec) { s.Comment = "//" }},
		{"Escape", func(s *table.Spec) { s.Escape = "/" }},
		{"FirstIndex", func(s *table.Spec) { s.FirstIndex = "2" }},
		{"NFeatures", func(s *table.Spec) { s.NFeatures = -1 }},
		{"NFeatures", func(s *table.Spec) { s.NFeatures = 2 }},
		{"Rows", func(s *table.Spec) { s.Rows = "0:2" }},
		{"Rows", func(s *table.Spec) { s.Part, s.Rows = "0/2", "1:2" }},
		{"Transposed", func(s *table.Spec) { s.Transposed, s.Dates = true, []string{"a"} }},
		{"Transposed", func(s *table.Spec) { s.Transposed, s.Data = true, []string{"-"} }},
		{"Part", func(s *table.Spec) { s.Part = "2/2" }},
		{"Part", func(s *table.Spec) { s.Part, s.Transposed = "0/2", true }},
		{"Prepare", func(s *table.Spec) { s.Prepare = plan }},
		{"Prepare", func(s *table.Spec) { s.Prepare, s.Data = "auto", []string{"-"} }},
		{"OneHot", func(s *table.Spec) { s.Prepare, s.OneHot = "auto", []string{"a"} }},
		{"Missing", func(s *table.Spec) { s.Missing = []string{"mode"} }},
		{"MissingTarget", func(s *table.Spec) { s.MissingTarget = "fill" }},
		{"MinShare", func(s *table.Spec) { s.MinShare = 1 }},
		{"MinShare", func(s *table.Spec) { s.MinShare = 0.1 }},
		{"Standardize", func(s *table.Spec) { s.Standardize = "yes" }},
		{"Standardize", func(s *table.Spec) { s.Standardize, s.Missing = table.ScaleAll, []string{"median"} }},
		{"Features", func(s *table.Spec) { s.Features = "rbf:3" }},
		{"Penalty", func(s *table.Spec) { s.Penalty, s.Features = rows, "poly:2" }},
		{"Bands", func(s *table.Spec) { s.Bands = []string{"1=0"} }},
		{"Bands", func(s *table.Spec) { s.Bands = []string{"c=1"} }},
		{"Unpenalized", func(s *table.Spec) { s.Unpenalized = []string{"c"} }},
		{"Unpenalized", func(s *table.Spec) { s.Unpenalized, s.Bands = []string{"a"}, []string{"1=2"} }},
		{"Holdout", func(s *table.Spec) { s.Holdout = 1 }},
		{"Holdout", func(s *table.Spec) { s.Holdout, s.Part = 0.5, "0/2" }},
		{"Classes", func(s *table.Spec) { s.Classes, s.Part = true, "0/2" }},
		{"ClassWeight", func(s *table.Spec) { s.ClassWeight = "balanced" }},
		{"ClassWeight", func(s *table.Spec) { s.Classes, s.ClassWeight = true, "equal" }},
	} {
		s := table.Spec{Data: []string{rows}, Target: []string{"y"}}
		c.wrong(&s)
		_, err := table.Open(t.Context(), s, table.Env{})
		e, ok := errors.AsType[*table.SpecError](err)
		switch {
		case !ok || e.Field != c.field || !errors.Is(err, engine.ErrInput):
			t.Errorf("%s: %v", c.field, err)
		case strings.Contains(err.Error(), "--") || strings.Contains(err.Error(), "%!"):
			t.Errorf("%s: %q does not name fields", c.field, err)
		}
	}
}

// TestIdentity checks that each field is part of the identity, and that a default written out is not.
func TestIdentity(t *testing.T) {
	seen := map[string]string{table.Spec{}.Identity(): "no field"}
	fields := reflect.TypeFor[table.Spec]()
	for i := range fields.NumField() {
		var s table.Spec
		switch f := reflect.ValueOf(&s).Elem().Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.Kind() == reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.CanInt():
			f.SetInt(1)
		default:
			f.SetFloat(0.5)
		}
		name := fields.Field(i).Name
		if other := seen[s.Identity()]; other != "" {
			t.Errorf("%s has the identity of %s, %s", name, other, s.Identity())
		}
		seen[s.Identity()] = name
	}
	same := table.Spec{
		Format: "auto", Header: "auto", FirstIndex: "auto", Standardize: table.ScaleNone, Missing: []string{"refuse"},
	}
	if same.Identity() != (table.Spec{}).Identity() {
		t.Errorf("defaults are part of the identity: %s", same.Identity())
	}
}

// TestHoldOut checks that each row is either fitted or held out, and that the held-out rows are scored.
func TestHoldOut(t *testing.T) {
	rows := write(t, "rows.csv", "a,b,y\n1,2,3\n4,5,7\n2,2,9\n8,1,2\n3,3,5\n")
	s := table.Spec{Data: []string{rows}, Target: []string{"y"}, Holdout: 0.4}
	open, err := table.Open(t.Context(), s, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	n, d, k := open.Source.Dims()
	held, _, _ := open.Held.Dims()
	if n+held != 5 && n >= 0 || d != 2 || k != 1 {
		t.Errorf("%d and %d rows of %d features, %d targets", n, held, d, k)
	}
	fit, err := open.Fit(t.Context(), fdridge.Options{Gammas: []float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	s.Rows = "2:5"
	some, err := table.Open(t.Context(), s, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if all, part := targets(t, open.Held), targets(t, some.Held); !slices.Equal(all[len(all)-len(part):], part) ||
		len(all)-len(part) > 1 || len(part) == 0 {
		t.Errorf("of all rows %v are held out, of all but the first %v", all, part)
	}
	if fit.HeldOut == nil || fit.Model.Rows+fit.HeldOut.Scores[0][0].Rows() != 5 {
		t.Errorf("%d rows were fitted, %v held out", fit.Model.Rows, fit.HeldOut)
	}
}

// TestCalibrate checks that intervals for new observations come from the held-out rows, in the units of the file.
func TestCalibrate(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i*i%17, 1000*(i*i*i%13), i*i*i%101)
	}
	s := table.Spec{Data: []string{write(t, "rows.csv", text.String())}, Target: []string{"y"}, Holdout: 0.3}
	s.Standardize = table.ScaleAll
	open, err := table.Open(t.Context(), s, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := open.Fit(t.Context(), fdridge.Options{Gammas: []float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := open.Calibrate(t.Context(), fit.Result.Solutions, true, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	of, err := found.Coverages()
	if err != nil {
		t.Fatal(err)
	}
	p, err := fit.Model.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	var residuals []float64
	for row, err := range p.Predict(t.Context(), open.Held) {
		if err != nil {
			t.Fatal(err)
		}
		residuals = append(residuals, math.Abs(row.Observed[0]-row.Y[0]))
	}
	slices.Sort(residuals)
	n := len(residuals)
	k := (8*(n+1) + 9) / 10
	if got := float64(of[0].Radius[0]); of[0].Rows != int64(n) || math.Abs(got-residuals[k-1]) > 1e-9*got {
		t.Errorf("%d rows and the radius %v, must be %d and %v", of[0].Rows, got, n, residuals[k-1])
	}
	s.Holdout = 0
	open, err = table.Open(t.Context(), s, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = open.Calibrate(t.Context(), fit.Result.Solutions, true, 0.8)
	if e, ok := errors.AsType[*table.SpecError](err); !ok || e.Field != "Holdout" {
		t.Errorf("without held-out rows: %v", err)
	}
}

// TestFittedStandardErrors: the rows of the fit give the standard errors in the units of the file, as a fit without
// scaling with the same penalties does. Scaled rows are refused, because they are not the rows that are asked for.
func TestFittedStandardErrors(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i*i%17, 1000*(i*i*i%13), i*i*i%101)
	}
	s := table.Spec{Data: []string{write(t, "rows.csv", text.String())}, Target: []string{"y"}}
	var found [2]ridge.StandardErrors
	for i, standardize := range []string{"", "true"} {
		s.Standardize = standardize
		fit, err := table.Fit(t.Context(), s, fdridge.Options{Gammas: []float64{1e-9}}, table.Env{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := fit.StandardErrors(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found[i] = all[0][0]
		_, err = fit.Model.StandardErrors(t.Context(), fit.Table.Source, fit.Result.Solutions)
		if scaled := standardize != ""; errors.Is(err, ridge.ErrOtherRows) != scaled {
			t.Errorf("scaled %v: %v", scaled, err)
		}
	}
	for j, v := range found[0].Sampling { // γ is so small that the scaling does not matter
		if w := found[1].Sampling[j]; math.Abs(v.Mid()/w.Mid()-1) > 1e-6 {
			t.Errorf("column %d: %v, and %v with scaling", j, v, w)
		}
	}
	if _, err := new(table.Fitted).StandardErrors(t.Context()); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("without a fit: %v", err)
	}
}

// TestCover checks that a model of Fit gets the intervals of its held-out rows for each γ, and that an error leaves
// the model as it was.
func TestCover(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i*i%17, 1000*(i*i*i%13), i*i*i%101)
	}
	s := table.Spec{Data: []string{write(t, "rows.csv", text.String())}, Target: []string{"y"}, Holdout: 0.3}
	opts := fdridge.Options{Gammas: []float64{1, 1e6}}
	fit, err := table.Fit(t.Context(), s, opts, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	err = fit.Cover(t.Context(), 0.999)
	if _, ok := errors.AsType[*model.CoverageRowsError](err); !ok {
		t.Errorf("too few rows: %v", err)
	}
	if err := fit.Cover(t.Context(), 1); !errors.Is(err, model.ErrInput) {
		t.Errorf("a level of 1: %v", err)
	}
	for i, f := range fit.Model.Fits {
		if f.Coverage != nil {
			t.Errorf("fit %d has intervals after an error", i)
		}
	}
	if err := fit.Cover(t.Context(), 0.8); err != nil {
		t.Fatal(err)
	}
	for i := range fit.Model.Fits {
		one := *fit.Model
		one.Fits = fit.Model.Fits[i : i+1]
		p, err := one.Predictor(model.CoverageIntervals{})
		if err != nil {
			t.Fatal(err)
		}
		rows, covered := 0, 0
		for row, err := range p.Predict(t.Context(), fit.Table.Held) {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			if v, y := row.Intervals[0], row.Observed[0]; v.Lo <= y && y <= v.Hi {
				covered++
			}
		}
		// The residuals of the held-out rows are distinct. So the radius covers exactly k of them.
		if k := (8*(rows+1) + 9) / 10; covered != k {
			t.Errorf("fit %d: the intervals contain %d of %d held-out targets, must be %d", i, covered, rows, k)
		}
	}
	s.Holdout = 0
	fit, err = table.Fit(t.Context(), s, opts, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	err = fit.Cover(t.Context(), 0.8)
	if e, ok := errors.AsType[*table.SpecError](err); !ok || e.Field != "Holdout" {
		t.Errorf("without held-out rows: %v", err)
	}
}

// targets returns the targets of all rows.
func targets(t *testing.T, src dataset.Source) (out []float64) {
	t.Helper()
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b.Y...)
	}
	return out
}

// TestPredictWrong checks the errors about rows that do not belong to the model.
func TestPredictWrong(t *testing.T) {
	rows := write(t, "rows.csv", "a,b,y\n1,2,3\n4,5,7\n2,2,9\n8,1,2\n3,3,5\n")
	wide := write(t, "wide.csv", "1,2,3\n4,5,6\n")
	text := write(t, "text.csv", "a,b\n1,2\n4,x\n")
	s := table.Spec{Data: []string{rows}, Target: []string{"y"}}
	fit, err := table.Fit(t.Context(), s, fdridge.Options{Gammas: []float64{1}}, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		wide: "has 3 features, the model has 2; if the target is among them, use Target; " +
			"the file has no header with the names of the model: a, b",
		text: "text.csv:3:3",
	} {
		var found error
		for _, err := range table.Predict(t.Context(), fit.Model, table.Spec{Data: []string{path}}, nil, table.Env{}) {
			found = err
		}
		if found == nil || !strings.Contains(found.Error(), want) || !errors.Is(found, engine.ErrInput) {
			t.Errorf("%v, want %q", found, want)
		}
	}
}

// TestSave checks that a saved model is read again, in both forms.
func TestSave(t *testing.T) {
	rows := write(t, "rows.csv", "a,b,y\n1,2,3\n4,5,7\n2,2,9\n8,1,2\n3,3,5\n")
	s := table.Spec{Data: []string{rows}, Target: []string{"y"}, Standardize: table.ScaleAll}
	fit, err := table.Fit(t.Context(), s, fdridge.Options{Gammas: []float64{1}}, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.json", "m.npz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := fit.Model.Save(path); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(m.Fits[0].Coef, fit.Model.Fits[0].Coef) || !m.Preparation.Equals(fit.Model.Preparation) {
			t.Errorf("%s: %v, saved %v", name, m.Fits, fit.Model.Fits)
		}
	}
	if _, err := model.Load(rows); err == nil || !strings.Contains(err.Error(), "rows.csv") {
		t.Errorf("a csv file is a model: %v", err)
	}
}

// TestCheckpoint checks that an interrupted Fit continues from its checkpoint, and refuses another Spec.
func TestCheckpoint(t *testing.T) {
	flats, err := filepath.Abs(filepath.Join("..", "testdata", "flats.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := table.Spec{Data: []string{flats}, Target: []string{"rent"}, Prepare: "auto", Holdout: 0.2}
	opts := fdridge.Options{Gammas: []float64{3}, Size: 2, Lanes: 1, Method: ridge.CG, Tol: 1e-11}
	whole, err := table.Fit(t.Context(), s, opts, table.Env{})
	if err != nil {
		t.Fatal(err)
	}
	env := table.Env{Checkpoint: filepath.Join(t.TempDir(), "ck")}
	short := opts
	short.MaxPasses = 2
	first, err := table.Fit(t.Context(), s, short, env)
	if _, missed := errors.AsType[*ridge.NotConvergedError](err); !missed || first == nil || first.Model.Err() == nil {
		t.Fatalf("after two passes: %v, %v", first, err)
	}
	other := s
	other.Columns = []string{"-floor"}
	if _, err := table.Fit(t.Context(), other, opts, env); err == nil ||
		!strings.Contains(err.Error(), `Columns was "", is "-floor"`) {
		t.Errorf("other rows: %v", err)
	}
	resumed, err := table.Fit(t.Context(), s, opts, env)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(resumed.Model.Fits, whole.Model.Fits) {
		t.Errorf("resumed %v, at once %v", resumed.Model.Fits, whole.Model.Fits)
	}
	if left, err := filepath.Glob(env.Checkpoint + "*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
