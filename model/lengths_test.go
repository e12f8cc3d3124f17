package model_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestLengths: Read refuses a model if the lengths of two of its lists disagree, or if a number cannot belong to a
// model.
func TestLengths(t *testing.T) {
	const whole = `{"fdridge_model": 3, "n": 5, "d": 2, "size": 0, "tol": 1e-8, "intercept_fitted": true,
		"preparation": {"inputs": 2, "names": ["a", "b"]}, "folded_scaling": {"mean": [1, 2], "scale": [3, 4]},
		"penalty": {"before": [1, 0], "after": [2, 1]}, "models": [
		{"gamma": 1, "gammas": [1, 2], "coef": [[1, 2], [3, 4]], "intercept": [5, 6], "tss": [7, 8],
		"fitted": {"coef": [[1, 2], [3, 4]], "intercept": [5, 6]}, "unpenalized_bounds": [[1], [2]]},
		{"gamma": 3, "coef": [[1, 2], [3, 4]], "intercept": [5, 6], "tss": [7, 8], "fitted": {"coef": [[1, 2], [3, 4]], "intercept": [5, 6]}}]}`
	if _, err := model.Read(strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"d": 2`, `"d": 3`, "3 features, but its preparation makes 2"},
		{`"d": 2`, `"d": -2`, "-2 features"},
		{`"n": 5`, `"n": -5`, "it has -5 rows"},
		{`"size": 0`, `"size": -1`, "a sketch of -1 rows"},
		{`"inputs": 2`, `"inputs": 0`, "2 names for 0 columns"},
		{`"names": ["a", "b"]`, `"names": ["a"]`, "1 names for 2 columns"},
		{`"names": ["a", "b"]`, `"scaling": {"mean": [1, 2], "scale": [3]}`, "a scaling of 2 means and 1 scales for 2 columns"},
		{`"names": ["a", "b"]`, `"scaling": {"mean": [1, 2], "scale": [3, 0]}`, "column 2 cannot be scaled"},
		{`"mean": [1, 2], "scale": [3, 4]`, `"mean": [1, 2], "scale": [3]`, "a scaling of 2 means and 1 scales for 2 columns"},
		{`"mean": [1, 2], "scale": [3, 4]`, `"mean": [1], "scale": [3, 4]`, "a scaling of 1 means and 2 scales for 2 columns"},
		{`"mean": [1, 2], "scale": [3, 4]`, `"mean": [1, 2], "scale": [3, -4]`, "column 2 cannot be scaled by mean 2 and scale -4"},
		{`"before": [1, 0]`, `"before": [1]`, "1 penalties for 2 columns"},
		{`"after": [2, 1]`, `"after": []`, "0 penalties for 2 columns"},
		{`"after": [2, 1]`, `"after": [2, -1]`, "penalty 2 is -1"},
		{`"inputs": 2`, `"inputs": 2, "polynomial": {"degree": 2}`, "2 features, but its preparation makes 5"},
		{`"inputs": 2`, `"inputs": 2, "polynomial": {"degree": 1}`, "coefficients of computed features"},
		{`"inputs": 2`, `"inputs": 2, "polynomial": {"degree": 1}, "features": {"components": 2, "gamma": 1}`, "two kinds of computed features"},
		{`"inputs": 2`, `"inputs": 2, "features": {"components": 2, "gamma": -1}`, "gamma of the Fourier features is -1"},
		{`"gammas": [1, 2]`, `"gammas": [1]`, "1 gammas contradict 2 targets"},
		{`"gammas": [1, 2]`, `"gammas": [2, 2]`, "contradict"},
		{`"coef": [[1, 2], [3, 4]], "intercept": [5, 6], "tss"`, `"coef": [[1, 2], [3]], "intercept": [5, 6], "tss"`, "1 weights for 2 features"},
		{`"coef": [[1, 2], [3, 4]], "intercept": [5, 6], "tss"`, `"coef": [[1, 2], [3, 4]], "intercept": [5], "tss"`, "2 lists of weights, 1 intercepts"},
		{`"coef": [[1, 2], [3, 4]], "intercept": [5, 6], "tss": [7, 8], "fitted": {"coef": [[1, 2], [3, 4]]`, `"coef": [1, 2], "intercept": 5, "fitted": {"coef": [1, 2]`, "fits of 2 targets and of 1"},
		{`"tss": [7, 8]`, `"tss": [7]`, "1 sums of squares for 2 targets"},
		{`"fitted": {"coef": [[1, 2], [3, 4]]`, `"fitted": {"coef": [[1, 2]]`, "the fitted coefficients have 1 lists"},
		{`"fitted": {"coef": [[1, 2], [3, 4]]`, `"fitted": {"coef": [[1, 2], [3, 4, 5]]`, "3 weights were fitted to 2 features"},
		{`"unpenalized_bounds": [[1], [2]]`, `"unpenalized_bounds": [[1]]`, "bounds of unpenalised columns for 1 of 2 targets"},
		{`"unpenalized_bounds": [[1], [2]]`, `"unpenalized_bounds": [[1], [2, 3]]`, "2 bounds for 1 columns without penalty"},
		{`"unpenalized_bounds": [[1], [2]]`, `"unpenalized_bounds": [[1], [-2]]`, "a bound of a column without penalty is -2"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		if text == whole {
			t.Fatalf("%s is not in the model", c.from)
		}
		_, err := model.Read(strings.NewReader(text))
		if _, ok := errors.AsType[*model.FormatError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

// TestLengthsOfCertificates: a certificate with other numbers of values than there are targets is an error of
// everything that needs it.
func TestLengthsOfCertificates(t *testing.T) {
	const head = `{"fdridge_model": 2, "preparation": {"inputs": 1}, "models": [{"gamma": 1, "coef": [2], "intercept": 0, "certificate": {"error_bound": 1, "energy_bound": 1, "objective": [0, 1]`
	for more, want := range map[string]bool{``: true, `, "rss": [[1, 2], [3, 4]]`: false, `, "r2_bracket": [[0, 1], [0, 1]]`: false, `, "r2_bracket": [0, 1]`: true} {
		m, err := model.Read(strings.NewReader(head + more + `}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		m.Proves()
		var file bytes.Buffer
		if err := m.WriteArrays(&file); (err == nil) != want {
			t.Errorf("%s: %v", more, err)
		}
		if !want {
			continue
		}
		again, err := model.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := again.Fits[0].Certificate.Record()
		if err != nil {
			t.Fatal(err)
		}
		if more == `` && r.R2Bracket[0] == (ridge.Interval{}) {
			t.Errorf("an R² that is not known is %v", r.R2Bracket[0])
		}
	}
}
