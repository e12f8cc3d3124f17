package main

import (
	"strings"
	"testing"
)

// TestTargetsCounted: the number of targets equals the number of names in --target, or the number of columns of a file.
func TestTargetsCounted(t *testing.T) {
	rows, y := write(t, "named.csv", namedCSV(30)), write(t, "y.csv", strings.Repeat("1,2\n3,7\n4,5\n", 10))
	for target, want := range map[string]float64{"y": 1, "y,z": 2, y: 2} {
		args := []string{"fit", "--data", rows, "--target", target, "--gamma", "1"}
		if v := reported(t, args...); v["targets"] != want {
			t.Errorf("%s: %v targets", target, v["targets"])
		}
		if target == y {
			continue // beside a file of targets weights are a file, too
		}
		if v := reported(t, append(args, "--weights", "x4")...); v["targets"] != want {
			t.Errorf("%s, weighted: %v targets", target, v["targets"])
		}
	}
}
