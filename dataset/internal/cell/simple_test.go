package cell

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkSimple compares Simple with Number and Evidence.
func checkSimple(t *testing.T, text string) (isSimple bool) {
	t.Helper()
	s := []byte(text)
	v, mark, ok := Simple(s)
	if !ok {
		return false
	}
	want, isNumber := Number(s)
	if !isNumber || math.Float64bits(v) != math.Float64bits(want) {
		t.Errorf("%q is %v; want %v, %v", text, v, want, isNumber)
	}
	if evidence := Evidence(s); mark != evidence {
		t.Errorf("%q has mark %d, want %d", text, mark, evidence)
	}
	return true
}

// TestSimple compares Simple with Number and Evidence on texts of the characters of numbers.
func TestSimple(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-1": true, "+1.5": true, "1.234": true, "1234.567": true, ".5": true, "5.": true, "0.123": true,
		"1e5": true, "1.234e2": true,
		"1.5E-3": true, "1e2": true, "1.e3": true, "-.123": true, "12.345e2": true,
		"": false, ".": false, "-": false, "1e": false, "1,5": false, "1.2.3": false, "1e999": false, "1 234": false,
		"5%": false, "NA": false, "1D+03": false,
		"True": false, "0x1p4": false, "1_0": false, "e5": false,
	} {
		if got := checkSimple(t, text); got != want {
			t.Errorf("%q is simple: %v", text, got)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	simple := 0
	for range 100000 {
		text := make([]byte, 1+random.IntN(9))
		for i := range text {
			text[i] = "0123456789012345678901234567890123456789..+-eE,"[random.IntN(47)]
		}
		if checkSimple(t, string(text)) {
			simple++
		}
	}
	if simple < 10000 {
		t.Errorf("only %d of the random texts are simple", simple)
	}
}

func FuzzSimple(f *testing.F) {
	f.Add("1.234e2")
	f.Fuzz(func(t *testing.T, text string) { checkSimple(t, text) })
}

// TestExponentIsNoUnit: 1e2 is a number without a unit, 5 m2 has one.
func TestExponentIsNoUnit(t *testing.T) {
	for text, want := range map[string]string{
		"1e2": "", "1.5E3": "", "1.d2": "", "5 m2": "m2", "5m3": "m3", "5 e2": "e2",
	} {
		u, _, ok := Notation{}.UnitOf([]byte(text))
		if ok != (want != "") || u.After != want {
			t.Errorf("%q has the unit %q, want %q", text, u.After, want)
		}
	}
}
