package choose_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// open is a choice without a proof: only its candidate is known.
var open = choose.Choice{Index: 1, Score: testkit.Unknown, Possible: []int{0, 1}, Excess: math.Inf(1)}

// sameText compares by the shortest texts of numbers that are theirs alone.
func sameText(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s comes back as\n%s, was\n%s", what, g, w)
	}
}

// TestChoiceJSON: how γ and penalties were chosen comes back to the bit, also where nothing is known.
func TestChoiceJSON(t *testing.T) {
	known := choose.Choice{Index: 2, Score: ridge.Interval{Lo: 1.0 / 3, Hi: 0.5}, Certain: true, Possible: []int{2}}
	for _, c := range []choose.Choice{
		known, open, choose.Least(nil, nil), choose.Least([]ridge.Interval{testkit.Unknown, {Lo: 0, Hi: math.Inf(1)}}, nil),
	} {
		back, text := testkit.Again(t, c)
		sameText(t, "a choice", back, c)
		if back.RelativeExcess() != c.RelativeExcess() {
			t.Errorf("%s: an excess of %v, was %v", text, back.RelativeExcess(), c.RelativeExcess())
		}
	}
	cv := &choose.CVResult{
		Gammas: []float64{0.1, 1},
		Fitted: [][]ridge.Interval{{{Lo: 1, Hi: 2}}, {testkit.Unknown}},
		Ridge:  [][]ridge.Interval{{testkit.Unknown}, {{Lo: 0, Hi: math.Inf(1)}}},
		Passes: 2, Summary: new(ridge.Summary),
	}
	back, text := testkit.Again(t, cv)
	cv.Summary = nil
	if strings.Contains(strings.ToLower(text), "summary") {
		t.Errorf("%s: a summary as JSON", text)
	}
	sameText(t, "a cross-validation", *back, *cv)
	choice := testkit.Must(cv.ChooseEach(false))(t)
	sameText(t, "the choice of one that was read", testkit.Must(back.ChooseEach(false))(t), choice)

	g := &choose.GammaChoice{
		Choice: open, By: choose.LOO,
		Path:   []*ridge.Solution{testkit.EveryField(ridge.PassLimit), testkit.EveryField(ridge.OnePass)},
		Scores: [][]ridge.Interval{{testkit.Unknown, {Lo: 1, Hi: 2}}, {{Lo: 3, Hi: math.Inf(1)}, testkit.Unknown}},
		CV:     cv,
		Passes: 3,
		Whole:  true,
		Spent:  []reason.Reason{{Rule: reason.GramCostsTooMuch, Numbers: []float64{math.Inf(1), 7}, Method: ridge.CG}},
	}
	read, text := testkit.Again(t, g)
	if !strings.Contains(text, `"by":"loo"`) || !strings.Contains(text, `"excess":null`) || read.Gamma() != g.Gamma() {
		t.Errorf("%s: read as gamma = %v, was %v", text, read.Gamma(), g.Gamma())
	}
	for i, f := range read.Path {
		sameText(t, "a solution of a path", *f, *g.Path[i])
	}
	sameText(t, "its cross-validation", *read.CV, *cv)
	read.Path, read.CV = g.Path, g.CV
	sameText(t, "a choice of gamma", *read, *g)

	b := choose.BandChoice{
		Bands:  []choose.Band{{Name: "first", Columns: []int{0, 2}, Penalty: 0.1}, {Columns: []int{1}}},
		Choice: open,
		AtEnd:  true,
		Passes: 4,
		Whole:  true,
		Spent:  []reason.Reason{{Rule: reason.GramCostsTooMuch, Numbers: []float64{math.Inf(1), 7}, Method: ridge.CG}},
		Tried: []choose.BandTrial{
			{Penalties: []float64{1, 0.1}, Gamma: math.NaN(), GCV: testkit.Unknown, Least: math.Inf(-1)},
			{Penalties: []float64{1e-8, 3}, Gamma: 1.0 / 3, GCV: ridge.Interval{Lo: 1, Hi: 2}, Least: 0.7},
		},
	}
	bands, _ := testkit.Again(t, b)
	sameText(t, "a choice of bands", bands, b)
}

// TestChoiceJSONOfFit: a sketch of one row of rows that all point elsewhere leaves any factor open,
// and what is chosen by it is written all the same.
func TestChoiceJSONOfFit(t *testing.T) {
	const d = 12
	var src testkit.Table
	for i := range 60 {
		row := make([]float64, d)
		row[i%d], row[i*i%d] = 9, -7
		src.X, src.Y = append(src.X, row), append(src.Y, []float64{float64(i*i%7 - 3)})
	}
	gammas := []float64{1e-9, 1e-8}
	cfg := ridge.SummaryConfig{Size: 1, ShrinkRows: 1}
	sum := testkit.Summarize(t, src, cfg)
	choice := testkit.Must(choose.Gamma(sum, gammas))(t)
	if !math.IsInf(choice.RelativeExcess(), 1) {
		t.Fatalf("%+v, this test is of one that is not known", *choice)
	}
	back, _ := testkit.Again(t, choice)
	if back.Gamma() != choice.Gamma() || !math.IsInf(back.RelativeExcess(), 1) {
		t.Errorf(
			"gamma = %v, to %v: was %v, to %v",
			back.Gamma(),
			back.RelativeExcess(),
			choice.Gamma(),
			choice.RelativeExcess(),
		)
	}
	cv := testkit.Must(choose.CrossValidate(t.Context(), src, cfg, choose.CrossValidation{Folds: 2, Gammas: gammas}))(t)
	byCV := testkit.Must(cv.ChooseGamma(false))(t).Choice
	read, _ := testkit.Again(t, byCV)
	sameText(t, "the choice of a cross-validation", read, byCV)
	bands := testkit.Must(
		choose.Bands(
			t.Context(),
			sum,
			choose.BandOptions{Bands: []choose.Band{{Columns: []int{0}}, {Columns: []int{1}}}, Candidates: gammas},
		),
	)(
		t,
	)
	same, _ := testkit.Again(t, bands)
	sameText(t, "the choice of bands", *same, *bands)
}

// TestChoiceJSONRefused: what cannot be asked anything is refused, what is left out is not known.
func TestChoiceJSONRefused(t *testing.T) {
	for text, want := range map[string]error{
		`{"path":[null]}`: ridge.ErrShape,
		`{"path":[{"gamma":1}],"scores":[[[1,2]],[[1,2]]]}`: ridge.ErrShape,
		`{"by":"luck"}`:                    ridge.ErrInput,
		`{"cv":{"gammas":[1],"ridge":[]}}`: ridge.ErrShape,
		`{"cv":{"gammas":[null]}}`:         ridge.ErrInput,
		`{"score":[1]}`:                    nil,
		`{"index":"one"}`:                  nil,
	} {
		c := choose.GammaChoice{Passes: 7}
		err := json.Unmarshal([]byte(text), &c)
		if err == nil || want != nil && !errors.Is(err, want) || c.Passes != 7 {
			t.Errorf("%s: %v, must be %v, and leaves %+v", text, err, want, c)
		}
	}
	var b choose.BandChoice
	for _, text := range []string{`{"tried":[{"penalties":[null]}]}`, `{"tried":1}`, `{"choice":[]}`} {
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if _, err := json.Marshal(choose.GammaChoice{By: 99}); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("a criterion that there is not: %v", err)
	}
	var c choose.Choice
	nothing := choose.Choice{Index: -1, Score: testkit.Unknown, Estimate: math.Inf(1), Excess: math.Inf(1)}
	if err := json.Unmarshal([]byte(`{}`), &c); err != nil {
		t.Error(err)
	}
	sameText(t, "nothing", c, nothing)
	for _, text := range []string{`{}`, `{"choice":null}`} {
		if err := json.Unmarshal([]byte(text), &b); err != nil || b.Choice.Index != -1 {
			t.Errorf("%s: a choice of %d, %v", text, b.Choice.Index, err)
		}
	}
	// Old texts, by the names of the fields in Go, are read.
	if err := json.Unmarshal(
		[]byte(`{"Index":2,"Score":[1,2],"Certain":true,"Possible":[2],"Excess":0}`), &c,
	); err != nil ||
		c.Index != 2 ||
		!c.Certain ||
		c.Excess != 0 {
		t.Errorf("%+v: %v", c, err)
	}
}
