package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestRate: the speed of a pass and the time that is left of it.
func TestRate(t *testing.T) {
	if r := rateOf(250, 1000, 10, 5); r.left != 15 || r.bytes != 4000 {
		t.Errorf("%+v", r)
	}
	if r := rateOf(250, -1, 10, 0); r.left != -1 || r.bytes != 0 {
		t.Errorf("%+v", r)
	}
}

// TestProgressHolds: the progress does not promise too much.
func TestProgressHolds(t *testing.T) {
	var w bytes.Buffer
	NewProgress(&w, "json").passes(10, 1)(ridge.Progress{Pass: 3, RelativeError: 0.0101})
	if !strings.Contains(w.String(), `"pass 3, error ≤ 0.011"`) {
		t.Error(w.String())
	}
}
