package main

import (
	"strings"
	"testing"
)

// TestUnderflowAtZero checks that at gamma = 0 columns whose products underflow are called so, and not constant, and
// that constant and dependent columns are not.
func TestUnderflowAtZero(t *testing.T) {
	writeAll(t, map[string]string{
		"tiny.csv":      "a,b,y\n1e-170,1,1\n2e-170,2,2\n3e-170,5,3\n4e-170,1,5\n",
		"small.csv":     "a,b,y\n1e-120,1,1\n2e-120,2,2\n3e-120,5,3\n4e-120,1,5\n",
		"constant.csv":  "a,b,y\n3,1,1\n3,2,2\n3,5,3\n3,1,5\n",
		"dependent.csv": "a,b,y\n2,1,1\n4,2,2\n10,5,3\n2,1,5\n",
	})
	for data, want := range map[string]string{
		"tiny.csv":      "at gamma = 0 the coefficients are not known (the products of a underflow, because its values are too small); multiply such columns by a power of 10",
		"constant.csv":  "at gamma = 0 the solution is not unique (a is constant)",
		"dependent.csv": "at gamma = 0 the solution is not unique (b equals 0.5·a + a constant)",
	} {
		code, out, stderr := call("fit", "--data", data, "--target", "y", "--gamma", "0")
		if code != short || !strings.Contains(stderr, want) ||
			strings.Contains(out, "underflow") != (data == "tiny.csv") {
			t.Errorf("%s: exit %d, %s\n%s", data, code, stderr, out)
		}
	}
	code, _, stderr := call("fit", "--data", "small.csv", "--target", "y", "--gamma", "0")
	if strings.Contains(stderr, "underflow") {
		t.Errorf("small.csv: exit %d, %s", code, stderr)
	}
}
