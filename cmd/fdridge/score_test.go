package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestScoreColumn: text and page show the score that chose γ, and its value lies in the bracket of the JSON.
func TestScoreColumn(t *testing.T) {
	for by, name := range map[string][2]string{"gcv": {"GCV", "GCV"}, "loo": {"leave-one-out", "leave-one-out error"}, "cv": {"cross-validated", "cross-validated error"}} {
		page := filepath.Join(t.TempDir(), "page.html")
		args := []string{
			"fit",
			"--data",
			housing,
			"--target",
			"last",
			"--standardize",
			"--select",
			by,
			"--report",
			page,
		}
		out := must(t, args...)
		v := reported(t, args...)
		var want []any
		for _, p := range v["choice"].(map[string]any)["path"].([]any) {
			if p := p.(map[string]any); p["gamma"] == v["gamma"] {
				want = p[by].([]any)[0].([]any)
			}
		}
		lines := strings.Split(out, "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, "gamma  ") || !strings.Contains(line, "training R²") {
				continue
			}
			heads, cells := strings.Fields(line), strings.Fields(lines[i+1])
			if heads[len(heads)-1] != name[0] {
				t.Errorf("%s: the table has %q", by, line)
			} else {
				holdsFigure(t, by, cells[len(cells)-1], ridge.Interval{Lo: want[0].(float64), Hi: want[1].(float64)})
			}
		}
		if n := strings.Count(parsePage(t, page).text, `<th scope="col">`+name[0]); n != 2 {
			t.Errorf("%s: %d tables of the page have the score", by, n)
		}
	}
}
