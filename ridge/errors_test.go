package ridge_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// TestErrorsAreOne: what one package returns the others' names tell.
func TestErrorsAreOne(t *testing.T) {
	_, err := dataset.FromDense(2, 2, 1, nil, nil)
	got := fmt.Sprint(err)
	if got != "dataset: dimensions disagree: x has 0 numbers for 2×2 features, y has 0 for 2×1 targets" {
		t.Error(got)
	}
	for name, is := range map[string]error{"fd": fd.ErrShape, "ridge": ridge.ErrShape, "dataset": dataset.ErrShape, "randsketch": randsketch.ErrShape} {
		if !errors.Is(err, is) || is != engine.ErrShape {
			t.Errorf("ErrShape of %s is %v", name, is)
		}
	}
	for name, is := range map[string]error{"fd": fd.ErrNoConvergence, "ridge": ridge.ErrNoConvergence, "randsketch": randsketch.ErrNoConvergence} {
		if errors.Is(err, is) || is != engine.ErrNoConvergence {
			t.Errorf("ErrNoConvergence of %s is %v", name, is)
		}
	}
}
