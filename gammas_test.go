package fdridge_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestWrongGamma: the error about a γ that no method supports names the value and the rule, not a method.
func TestWrongGamma(t *testing.T) {
	src, err := dataset.FromDense(3, 1, 1, []float64{1, 2, 3}, []float64{1, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []ridge.Method{ridge.Auto, ridge.OneShot, ridge.CG, ridge.Exact, ridge.QR} {
		for want, gamma := range map[string]float64{"gamma = -1, but": -1, "gamma = NaN, but": math.NaN(), "gamma = +Inf, but": math.Inf(1)} {
			for _, opts := range []fdridge.Options{{Gammas: []float64{gamma}}, {Candidates: []float64{1, gamma}}} {
				opts.Method = method
				_, err := fdridge.Fit(context.Background(), src, opts)
				if !errors.Is(err, ridge.ErrInput) || !strings.Contains(err.Error(), want) ||
					!strings.Contains(err.Error(), "must be finite and not negative") {
					t.Errorf("method %v: %v, want %q", method, err, want)
				}
			}
		}
	}
}
