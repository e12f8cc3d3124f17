package adversary

import "testing"

// TestSmaller: genes that do not matter go, those that do stay.
func TestSmaller(t *testing.T) {
	g := Genome{
		Seed:      77,
		Rows:      20,
		Cols:      5,
		Targets:   2,
		Top:       3.25,
		Repeat:    9,
		Intercept: true,
		Block:     16,
		Parts:     3,
		Size:      4,
		Shrink:    2,
		Tol:       -8,
		Passes:    60,
		Folds:     3,
		Level:     7.3,
		LevelRows: 1,
	}
	got := Smaller(g, func(g Genome) bool { return g.Intercept && g.Cols >= 2 && g.Level > 6 })
	if !got.Intercept || got.Cols != 2 || !(got.Level > 6) || got.Rows != 1 || got.Parts != 1 || got.LevelRows != 0 ||
		got.Seed != 0 {
		t.Errorf("%v", got)
	}
}
