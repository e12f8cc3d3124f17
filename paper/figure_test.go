package paper

import "testing"

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0x1p-8: "2⁻⁸", 1: "1", 2: "2", 1024: "2¹⁰", 10: "10", 0.3: "0.3",
	} {
		if got := power(x); got != want {
			t.Errorf("power(%v) = %q, want %q", x, got, want)
		}
	}
	if got := span(3, 1, 2); got != "1.0 to 3.0" {
		t.Errorf("span: %q", got)
	}
	if got := span(1.001, 1); got != "1.0" {
		t.Errorf("span of numbers that look alike: %q", got)
	}
}
