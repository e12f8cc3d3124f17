package main

import (
	"strings"
	"testing"

	"github.com/fdridge/fdridge/batch"
)

// TestRetiredSettings: a setting of a removed flag is ignored if it has the value that every run has
// now.
func TestRetiredSettings(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"--robust", "true", true}, {"--robust", "false", false}, {"--shrink", "gram", true}, {"--shrink", "svd", false}, {"--targets", "2", true}, {"--cv", "5", false},
	} {
		if got := isRetired(batch.Setting{Name: c.name, Value: c.value}); got != c.want {
			t.Errorf("%s %s: %v", c.name, c.value, got)
		}
	}
}

// TestTargetsCounted: the number of targets is that of the names, or of the columns of a file.
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
