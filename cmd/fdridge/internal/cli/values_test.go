package cli

import (
	"testing"
)

// TestParseNumber: a number that is not 0 is never read as 0, and underscores are refused.
func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "0.0": 0, "-0e5": 0, "0x0p1": 0, "1.5": 1.5, "5e-324": 5e-324, "0x1p-1074": 0x1p-1074,
	} {
		if v, err := ParseNumber(text); err != nil || v != want {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"1e-400", "0.01E-330", "0x1p-1090", "-2e-325", "1e400", "1_0", "", "x"} {
		if v, err := ParseNumber(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}
