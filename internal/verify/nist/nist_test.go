package nist

import (
	"math"
	"testing"
)

// TestRead: every problem has its rows, and the certified values leave the certified
// residuals.
func TestRead(t *testing.T) {
	rows := map[string]int{
		"Norris": 36, "Pontius": 40, "NoInt1": 11, "NoInt2": 3, "Filip": 82, "Longley": 16,
		"Wampler1": 21, "Wampler2": 21, "Wampler3": 21, "Wampler4": 21, "Wampler5": 21,
	}
	for _, name := range Names {
		s, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.X) != rows[name] || len(s.Y) != rows[name] {
			t.Errorf("%s: %d and %d rows, want %d", name, len(s.X), len(s.Y), rows[name])
		}
		rss, tss := 0.0, 0.0
		for i, x := range s.X {
			r, b := s.Y[i][0], s.Certified
			tss += r * r
			if s.Intercept {
				r, b = r-b[0], b[1:]
			}
			for j := range b {
				r -= b[j] * x[j]
			}
			rss += r * r
		}
		if !(math.Abs(rss-s.RSS) <= 1e-6*s.RSS+1e-20*tss) {
			t.Errorf("%s: the certified values leave an RSS of %g, want %g", name, rss, s.RSS)
		}
	}
	if len(rows) != len(Names) {
		t.Errorf("%d problems, want %d", len(Names), len(rows))
	}
}

// TestReadRefuses: no such problem, and texts that are none.
func TestReadRefuses(t *testing.T) {
	if _, err := Read("Nobody"); err == nil {
		t.Error("a problem that is not there was read")
	}
	for _, lines := range [][]string{nil, {"Data"}, {"Data (lines 2 to 1)"}, {"Data (lines 1 to 2)"}, {"Data (lines a to b)"}} {
		if got, err := find(lines, "Data"); err == nil {
			t.Errorf("%q: section %q", lines, got)
		}
	}
	for _, lines := range [][]string{nil, {"B0 1"}, {"B1 x"}, {"B1 1", "Residual 1 x 1"}} {
		if err := new(Set).values(lines); err == nil {
			t.Errorf("%q: taken for certified values", lines)
		}
	}
	for _, line := range []string{"1", "1 2 3", "1 x"} {
		if err := (&Set{Certified: make([]float64, 3)}).rows([]string{line}); err == nil {
			t.Errorf("%q: taken for a row", line)
		}
	}
}
