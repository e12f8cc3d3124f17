package model_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestErrReportsShortfall: a model reports, for each γ and for the worst γ, the shortfall of its solutions. A model
// that is read from a file reports the same.
func TestErrReportsShortfall(t *testing.T) {
	src, err := dataset.FromDense(4, 2, 2, []float64{1, 10, 2, 30, 3, 20, 4, 50}, []float64{1, 2, 2, 5, 3, 3, 5, 9})
	if err != nil {
		t.Fatal(err)
	}
	const tol = 1e-9
	lossy := func(
		ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, progress func(int64),
	) (*ridge.Summary, error) {
		cfg.Store = fd.StoreRows // AᵀA of two features would fit in the sketch
		return ridge.Summarize(ctx, src, cfg, progress)
	}
	res, err := fdridge.Fit(
		t.Context(),
		src,
		fdridge.Options{
			NoIntercept: true,
			Gammas:      []float64{1e9, 0.1, 10},
			Method:      ridge.Newton,
			Size:        1,
			Summarize:   lossy,
			MaxPasses:   4,
			Tol:         tol,
		},
	)
	if !errors.Is(err, ridge.ErrPassLimit) || res.Solutions[0].Status != ridge.Converged {
		t.Fatalf("%v: %v at γ = 1e9", err, res.Solutions[0].Status)
	}
	made, err := model.New(model.Preparation{}, res.Solutions, model.Details{Tol: tol})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := made.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	if strings.Count(text, `"status"`) != 2 || strings.Count(text, `"status": "pass-limit"`) != 2 {
		t.Errorf("the statuses in\n%s", text)
	}
	read, err := model.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*model.Model{made, read} {
		worst := 0.0
		for _, s := range res.Solutions {
			one, err := m.At(s.Gamma)
			if err != nil {
				t.Fatal(err)
			}
			short, missed := errors.AsType[*model.ShortfallError](one.Err())
			if missed != (s.Status != ridge.Converged) {
				t.Errorf("γ = %v, %v: %v", s.Gamma, s.Status, one.Err())
			}
			if !missed {
				continue
			}
			most := max(s.Targets[0].RelativeErrorBound, s.Targets[1].RelativeErrorBound)
			worst = max(worst, most)
			if short.Gamma != s.Gamma || short.Certified != most ||
				s.Targets[short.Target].RelativeErrorBound != most ||
				short.Tol != tol ||
				short.Status != s.Status ||
				!errors.Is(short, s.Status.Err()) ||
				errors.Is(short, model.ErrInput) {
				t.Errorf("γ = %v: %+v of %v", s.Gamma, short, most)
			}
		}
		if short, _ := errors.AsType[*model.ShortfallError](m.Err()); short == nil || short.Certified != worst {
			t.Errorf("of all: %v, want %v", m.Err(), worst)
		}
	}

	for name, c := range map[string]struct {
		damaged string
		want    float64 // certified; NaN: nothing is known
	}{
		"no bound":            {strings.ReplaceAll(text, `"relative_error_bound"`, `"none"`), math.Inf(1)},
		"an unknown status":   {strings.ReplaceAll(text, "pass-limit", "new"), math.NaN()},
		"of an older program": {strings.ReplaceAll(text, `"status"`, `"none"`), math.NaN()},
	} {
		m, err := model.Read(strings.NewReader(c.damaged))
		if err != nil {
			t.Fatal(err)
		}
		short, missed := errors.AsType[*model.ShortfallError](m.Err())
		if missed != !math.IsNaN(c.want) || missed && short.Certified != c.want {
			t.Errorf("%s: %v", name, m.Err())
		}
	}
}
