package cell

import "testing"

// TestNumber: what is a number, what is none and why, and what is missing.
func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, "-2e3": -2000, "True": 1, "FALSE": 0, "0": 0} {
		if v, ok := Number([]byte(text)); !ok || v != want {
			t.Errorf("%q is %v, %v; want %v", text, v, ok, want)
		}
	}
	for text, want := range map[string]Fault{
		"": Gap, "NA": Gap, "n/a": Gap, "<NA>": Gap, "?": Gap, "null": Gap, "None": Gap, ".": Gap,
		"inf": NotFinite, "NaN": NotFinite, "-Infinity": NotFinite, "1e999": TooLarge, "red": NoNumber, "1_000": NoNumber,
		"0x10": NoNumber, "tRUE": NoNumber, "nano": NoNumber,
	} {
		if v, ok := Number([]byte(text)); ok {
			t.Errorf("%q is %v", text, v)
		}
		if got := Why([]byte(text)); got != want {
			t.Errorf("%q is refused for %v, want %v", text, got, want)
		}
		if Missing([]byte(text)) != (want == Gap || text == "NaN") {
			t.Errorf("%q is missing: %v", text, Missing([]byte(text)))
		}
	}
}
