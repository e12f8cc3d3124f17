package fdridge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/reason"
)

// TestJSON: what is written comes back to the bit, whatever is infinite or not known, and with it
// a status by its name.
func TestJSON(t *testing.T) {
	for status := ridge.NotTerminated; status <= ridge.Diverged; status++ {
		f := testkit.EveryField(status)
		back, text := testkit.Again(t, f)
		// of floats the shortest text that is theirs alone
		if got, want := fmt.Sprintf("%+v", *back), fmt.Sprintf("%+v", *f); got != want {
			t.Errorf("%v comes back as\n%s, was\n%s", status, got, want)
		}
		name, err := status.MarshalText()
		if err != nil || !strings.Contains(text, `"status":"`+string(name)+`"`) {
			t.Errorf("%s does not name %v: %v", text, status, err)
		}
		r := &fdridge.Result{
			Solutions: []*ridge.Solution{f, testkit.EveryField(ridge.Converged)},
			Method:    ridge.CG,
			Status:    status,
			Passes:    9,
			Summary:   new(ridge.Summary),
			Trace: []fdridge.Step{
				{
					Stage:  fdridge.Reading,
					Method: ridge.Cholesky,
					Passes: 2,
					Reason: reason.Reason{Rule: reason.DirectIsCheaper, Numbers: []float64{0.1}, Method: ridge.CG},
					Err:    errors.New("not positive"),
				},
				{
					Stage:  fdridge.Choosing,
					Reason: reason.Reason{Rule: reason.GramIsHeld, Numbers: []float64{math.Inf(1)}},
				},
			},
		}
		res, text := testkit.Again(t, r)
		if got, want := fmt.Sprintf("%+v", *res.Solutions[0]), fmt.Sprintf("%+v", *f); got != want ||
			len(res.Solutions) != 2 {
			t.Errorf("the solution of a result comes back as\n%s, was\n%s", got, want)
		}
		if res.Method != r.Method || fmt.Sprint(res.Reason()) != fmt.Sprint(r.Reason()) || res.Status != status ||
			res.Passes != 9 ||
			fmt.Sprint(res.Trace) != fmt.Sprint(r.Trace) ||
			res.Summary != nil {
			t.Errorf("%s comes back as %+v", text, res)
		}
		if (res.Err() == nil) != (r.Err() == nil) || res.Err() != nil && !errors.Is(res.Err(), status.Err()) {
			t.Errorf("the error of %v comes back as %v", r.Err(), res.Err())
		}
	}
	// Values, too, as fields of a caller's own struct are.
	type answer struct {
		Fit  ridge.Solution
		Some ridge.Target
		Cert ridge.Certificate
	}
	f := testkit.EveryField(ridge.RoundOff)
	back, _ := testkit.Again(t, answer{*f, f.Targets[1], f.Targets[0].Certificate})
	if got, want := fmt.Sprintf("%+v", back),
		fmt.Sprintf("%+v", answer{*f, f.Targets[1], f.Targets[0].Certificate}); got != want {
		t.Errorf("fields come back as\n%s, were\n%s", got, want)
	}
}

// withoutUnstored returns f without the fields that JSON does not have.
func withoutUnstored(f *ridge.Solution) ridge.Solution {
	out := *f
	out.Targets = slices.Clone(f.Targets)
	for j := range out.Targets {
		out.Targets[j].Marginal = testkit.UnknownMarginal
		out.Targets[j].Weight, out.Targets[j].InterceptRounding = 0, 0
	}
	return out
}

// TestJSONOfFits: a fit that was read predicts and proves what the fit did.
func TestJSONOfFits(t *testing.T) {
	src := testkit.Table{X: [][]float64{{1, 2}, {3, 5}, {4, 4}, {7, 1}}, Y: [][]float64{{1, 0}, {2, 1}, {3, 5}, {9, 2}}}
	for _, method := range []ridge.Method{ridge.OneShot, ridge.CG, ridge.Cholesky, ridge.QR} {
		res := testkit.Must(
			fdridge.Fit(
				t.Context(),
				src,
				fdridge.Options{NoIntercept: true, Gammas: []float64{0.5, 2}, Size: 1, Method: method},
			),
		)(
			t,
		)
		back, _ := testkit.Again(t, res)
		for i, f := range back.Solutions {
			if got, want := fmt.Sprintf("%+v", *f), fmt.Sprintf("%+v", withoutUnstored(res.Solutions[i])); got != want {
				t.Errorf("%s: a fit comes back as\n%s, was\n%s", method, got, want)
			}
			p, q := testkit.Must(f.Predictor())(t), testkit.Must(res.Solutions[i].Predictor())(t)
			got, want := make([]ridge.Interval, 2), make([]ridge.Interval, 2)
			row := dataset.Block{N: 1, X: src.X[0]}
			err := errors.Join(p.Predict(got, row), q.Predict(want, row))
			if err != nil || got[0] != want[0] || got[1] != want[1] {
				t.Errorf("%s: what was read predicts %v, the fit %v: %v", method, got, want, err)
			}
		}
	}
}

// TestJSONRefused: what is no solution is refused, and what is left out promises nothing.
func TestJSONRefused(t *testing.T) {
	for text, want := range map[string]error{
		`{"gamma":-1,"targets":[{"coef":[1]}]}`:                                   ridge.ErrInput,
		`{"gamma":1,"targets":[{"coef":[1,null]}]}`:                               ridge.ErrInput,
		`{"gamma":1,"targets":[{"coef":[1]},{"coef":[1,2]}]}`:                     ridge.ErrShape,
		`{"gamma":1,"penalty":[1,2],"targets":[{"coef":[1],"scaled_coef":[1]}]}`:  ridge.ErrShape,
		`{"gamma":1,"penalty":[1],"targets":[{"coef":[1]}]}`:                      ridge.ErrShape,
		`{"gamma":1,"targets":[{"coef":[1],"scaled_coef":[1]}]}`:                  ridge.ErrShape,
		`{"gamma":1,"penalty":[null],"targets":[{"coef":[1],"scaled_coef":[1]}]}`: ridge.ErrInput,
		`{"gamma":1,"status":"done","targets":[{"coef":[1]}]}`:                    ridge.ErrInput,
		`{"gamma":1,"targets":[{"coef":[1],"certificate":{"rss":[1]}}]}`:          nil,
		`{"gamma":"one"}`:                         nil,
		`{"targets":[{"certificate":{"gcv":7}}]}`: nil,
		`{"targets":[{"coef":"x"}]}`:              nil,
	} {
		f := ridge.Solution{Outcome: ridge.Outcome{Gamma: 3}}
		err := json.Unmarshal([]byte(text), &f)
		if err == nil || want != nil && !errors.Is(err, want) || f.Gamma != 3 {
			t.Errorf("%s: %v, must be %v, and leaves γ = %v", text, err, want, f.Gamma)
		}
	}
	var r fdridge.Result
	if err := json.Unmarshal([]byte(`{"solutions":[null]}`), &r); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a result of a null: %v", err)
	}
	for _, text := range []string{
		`{"trace":1}`, `{"trace":[{"stage":"waiting"}]}`, `{"trace":[{"stage":"reading","reason":{"rule":"luck"}}]}`,
		`{"status":"done"}`,
	} {
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if _, err := json.Marshal(&ridge.Solution{Targets: []ridge.Target{{Coef: []float64{math.NaN()}}}}); err == nil {
		t.Error("a weight that is NaN is written")
	}
	var f ridge.Solution
	if err := json.Unmarshal([]byte(`{"gamma":1,"targets":[{"coef":[2]}]}`), &f); err != nil {
		t.Fatal(err)
	}
	o := f.Targets[0]
	c := o.Certificate
	if !math.IsInf(c.ErrorBound, 1) || !math.IsInf(
		c.RelativeErrorBound, 1,
	) || !math.IsInf(c.EnergyBound, 1) || !math.IsInf(c.InterceptBound, 1) ||
		c.Objective != testkit.Unknown || c.TSS != testkit.Unknown || c.RSS != testkit.Unknown || c.GCV != testkit.Unknown ||
		f.EffectiveDimension != testkit.Unknown ||
		!math.IsInf(f.Shrinkage, 1) ||
		!math.IsInf(f.Contraction, 1) {
		t.Errorf("without a certificate there is %+v", f)
	}
	if !math.IsNaN(o.Intercept) || !math.IsNaN(o.ComputedTSS) || !math.IsNaN(o.GradientNorm) {
		t.Errorf("what is not known is %v, %v, %v", o.Intercept, o.ComputedTSS, o.GradientNorm)
	}
	// An interval of NaN, which says nothing, comes back as one that does.
	nan := ridge.Interval{Lo: math.NaN(), Hi: math.NaN()}
	if back, _ := testkit.Again(t, nan); back != testkit.Unknown {
		t.Errorf("%v comes back as %v", nan, back)
	}
}
