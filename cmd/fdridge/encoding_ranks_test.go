//go:build unix

package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// TestEncodedRanks: several ranks learn the same levels and means, and hold out the same rows, as one process. A run
// that resumes from a checkpoint learns the levels and means again.
func TestEncodedRanks(t *testing.T) {
	data, err := filepath.Abs(flats)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, missing := range []string{"mean", "drop"} {
		args := []string{
			"fit",
			"--data",
			data,
			"--target",
			"rent",
			"--onehot",
			"district,heating",
			"--missing",
			missing,
			"--holdout",
			"0.25",
			"--coverage",
			"0.9",
			"--gamma",
			"2",
			"--method",
			"cg",
			"--tol",
			"1e-10",
			"--json",
		}
		alone := reported(t, append(args, "--out", "alone.json", "--lanes", "3")...)
		want := alone["holdout"].(map[string]any)
		for _, n := range []int{2, 3} {
			out := mustRanks(t, n, append(args, "--out", "ranks.json")...)
			if a, b := weights(t, "alone.json"), weights(t, "ranks.json"); !(apart(a, b) <= 1e-9) {
				t.Errorf("%s, %d ranks: weights are %g apart", missing, n, apart(a, b))
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			scores := got["holdout"].(map[string]any)
			a, b := first(want["fits"].([]any)[0].(map[string]any)["r2"]), first(
				scores["fits"].([]any)[0].(map[string]any)["r2"],
			)
			if scores["rows"] != want["rows"] || !(math.Abs(a-b) <= 1e-9) || got["n"] != alone["n"] {
				t.Errorf("%s, %d ranks: held out %v, alone %v", missing, n, scores, want)
			}
			if q, r := radius(alone), radius(got); !(math.Abs(q-r) <= 1e-7*q) {
				t.Errorf("%s, %d ranks: the radius of coverage is %v, alone %v", missing, n, r, q)
			}
			x, y := alone["encoding"].(map[string]any), got["encoding"].(map[string]any)
			if x["rows_left_out"] != y["rows_left_out"] || x["columns"] != y["columns"] {
				t.Errorf("%s, %d ranks: %v, alone %v", missing, n, y, x)
			}
		}
	}
	args := []string{
		"fit",
		"--data",
		data,
		"--target",
		"rent",
		"--onehot",
		"district,heating",
		"--missing",
		"mean",
		"--standardize",
		"--gamma",
		"2",
		"--method",
		"cg",
		"--size",
		"2",
		"--out",
		"m.json",
		"--lanes",
		"1",
	}
	must(t, args...)
	whole := weights(t, "m.json")
	code, _, _ := call(append(args, "--checkpoint", "ck", "--checkpoint-every", "1ns", "--max-passes", "1")...)
	if code != short {
		t.Fatalf("exit %d, of a run that is to be gone on with", code)
	}
	must(t, append(args, "--checkpoint", "ck", "--checkpoint-every", "1ns")...)
	if got := weights(t, "m.json"); !slices.Equal(got, whole) {
		t.Errorf("gone on with: %v, at once %v", got, whole)
	}
}

// radius returns the radius of coverage in a report.
func radius(report map[string]any) float64 {
	return first(report["coverage"].([]any)[0].(map[string]any)["radius"])
}
