package main

import (
	"strings"
	"testing"
)

// TestFormatHasAllRivals: the table of each kernel has the rates of all rivals, including rivals that did not run every
// job.
func TestFormatHasAllRivals(t *testing.T) {
	page := format(setting{commit: "abc", cpu: "CPU", cores: 2}, []measured{
		{"avx512", []row{
			{"a", "krows/s", map[string]float64{"purego": 30, "openblas": 20}, []string{"purego", "openblas"}},
			{"b", "γ/s", map[string]float64{"purego": 1, "numpy": 4}, []string{"purego", "numpy"}},
		}},
		{"avx2", []row{{"a", "krows/s", map[string]float64{"purego": 15}, []string{"purego"}}}},
	}, "DIGITS\n")
	for _, want := range []string{
		"| commit | abc |\n",
		"### Kernel avx512\n\n| job | unit | purego | openblas | numpy |\n|---|---|---|---|---|\n",
		"| a | krows/s | 30 | 20 (1.50) | |\n",
		"| b | γ/s | 1 | | 4 (0.25) |\n",
		"### Kernel avx2\n\n| job | unit | purego |\n|---|---|---|\n| a | krows/s | 15 |\n",
		"explains these tables.\n\nDIGITS\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
}
