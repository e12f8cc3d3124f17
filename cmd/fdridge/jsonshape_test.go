package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// integers are the fields of JSON output with integers. All other numbers are floats.
var integers = strings.Fields(
	"fdridge_report n d targets size nnz reads peak_rss_bytes passes iterations rows lanes rows_left_out levels columns pass " +
		"stage_passes inputs count at_end proved target predicted_passes components seed degree threads workers " +
		"bytes rows_seen best",
)

// shapeOf lists the paths of the numbers in a JSON value, and whether they are integers. Elements of a list have the
// same path. It reports numbers that are integers although they are no counts.
func shapeOf(t *testing.T, text string) []string {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	seen := map[string]bool{}
	var walk func(path, name string, v any)
	walk = func(path, name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(path+"."+k, k, x)
			}
		case []any:
			for _, x := range v {
				walk(path+"[]", name, x)
			}
		case json.Number:
			isInteger := !strings.ContainsAny(v.String(), ".eE")
			if isInteger && !slices.Contains(integers, name) {
				t.Errorf("%s is the integer %s", path, v)
			}
			seen[path+fmt.Sprintf(" integer %v", isInteger)] = true
		}
	}
	walk("", "", v)
	// depends on the passes
	maps.DeleteFunc(seen, func(path string, _ bool) bool { return strings.HasPrefix(path, ".trace") })
	return slices.Sorted(maps.Keys(seen))
}

// TestShapeOfJSON: the JSON has the same shape for one target and for two, and floats are never written as integers.
// The rows have only whole numbers.
func TestShapeOfJSON(t *testing.T) {
	dir := t.TempDir()
	var one, two strings.Builder
	one.WriteString("a,b,y\n")
	two.WriteString("a,b,y,z\n")
	for i := range 40 {
		fmt.Fprintf(&one, "%d,%d,%d\n", i, i*i%7, 2*i+i%3)
		fmt.Fprintf(&two, "%d,%d,%d,%d\n", i, i*i%7, 2*i+i%3, 5-i%4)
	}
	files := []string{write(t, "one.csv", one.String()), write(t, "two.csv", two.String())}
	targets := []string{"y", "y,z"}
	commands := map[string][]string{
		"fit":         {"--gamma", "2", "--holdout", "0.25"},
		"several":     {"--gamma", "auto:1,2,4", "--method", "cg", "--size", "1", "--standardize"},
		"folds":       {"--gamma", "auto:1,2,4", "--cv", "2"},
		"leave out":   {"--gamma", "auto:1,2,4", "--select", "loo"},
		"unpenalized": {"--gamma", "2", "--unpenalized", "b"},
		"polynomial":  {"--gamma", "1", "--features", "poly:2"},
		"each":        {"--per-target", "--gamma", "auto"},
	}
	for name, flags := range commands {
		var shapes, models, shown, predicted [2][]string
		for k := range files {
			model := filepath.Join(dir, fmt.Sprint(name, k, ".json"))
			fit := slices.Concat(
				[]string{"fit", "--data", files[k], "--target", targets[k], "--json", "--out", model},
				flags,
			)
			shapes[k] = shapeOf(t, must(t, fit...))
			models[k] = shapeOf(t, strings.Replace(contents(t, model), `"fdridge_model": 5`, `"fdridge_report": 5`, 1))
			shown[k] = shapeOf(t, must(t, "show", "--json", model))
			predict := []string{"predict", "--json", "--model", model, "--data", files[k], "--target", targets[k]}
			if name == "fit" {
				predict = append(predict, "--interval", model)
			}
			predicted[k] = shapeOf(t, must(t, predict...))
		}
		for what, of := range map[string][2][]string{"fit": shapes, "model": models, "show": shown, "predict": predicted} {
			if !slices.Equal(of[0], of[1]) {
				t.Errorf(
					"%s, %s: one target\n%s\ntwo targets\n%s",
					name,
					what,
					strings.Join(of[0], "\n"),
					strings.Join(of[1], "\n"),
				)
			}
		}
	}
	shapeOf(t, must(t, "plan", "--data", files[0], "--target", "y", "--gamma", "2", "--json"))
}
