package report

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestRowPicture: each finite row is drawn once for each target, worst rows are named in the panel of their target, and
// the caption counts the rows.
func TestRowPicture(t *testing.T) {
	row := func(number int64, leverage, first, second float64) DiagnosedRow {
		return DiagnosedRow{Row: number, Leverages: []float64{leverage, leverage / 2}, LeftOut: []float64{first, second}}
	}
	worst := func(target int, estimate DiagnosedRow) WorstRow {
		return WorstRow{Row: estimate.Row, Target: target, Estimate: estimate}
	}
	a, b, c := row(1, 0.01, -3, 2), row(2, 0.5, 1, 9), row(3, 0.02, 4, 0)
	infinite, nan := row(4, math.Inf(1), 0, 0), row(5, 0.1, math.NaN(), 0)
	p := &RowPicture{
		Rows: 70, Targets: 2, IsExact: true,
		Worst:  []WorstRow{worst(2, b), worst(1, c)},
		Sample: []DiagnosedRow{a, c, infinite, nan},
	}
	f := p.Figure()
	const title = "3 of 70 rows: the 2 worst, and others chosen at random; numbers count from 1"
	if f.Title != title || len(f.Panels) != 2 {
		t.Fatalf("%q, %d panels", f.Title, len(f.Panels))
	}
	for j, want := range []struct {
		x, y   []float64
		name   string
		wx, wy float64
	}{
		{x: []float64{0.01, 0.5}, y: []float64{-3, 1}, name: "3", wx: 0.02, wy: 4},
		{x: []float64{0.005, 0.01}, y: []float64{2, 0}, name: "2", wx: 0.25, wy: 9},
	} {
		lines := f.Panels[j].Lines
		if !slices.Equal(lines[0].X, want.x) || !slices.Equal(lines[0].Y, want.y) || lines[0].Names != nil {
			t.Errorf("target %d: %+v", j+1, lines[0])
		}
		w := lines[1]
		if !slices.Equal(w.X, []float64{want.wx}) || !slices.Equal(w.Y, []float64{want.wy}) ||
			!slices.Equal(w.Names, []string{want.name}) {
			t.Errorf("target %d: %+v", j+1, w)
		}
		if f.Panels[j].LogX != 10 || strings.Contains(f.Panels[j].Y, "estimated") {
			t.Errorf("%+v", f.Panels[j])
		}
	}
	if left := f.LeftOut(); len(left) > 0 {
		t.Errorf("%v cannot be drawn", left)
	}
}

// TestRowPictureCaption: the caption tells a sample from all rows, and the axis one of estimates from exact ones.
func TestRowPictureCaption(t *testing.T) {
	rows := []DiagnosedRow{
		{1, []float64{0}, []float64{3}}, {2, []float64{0.5}, []float64{1}}, {3, []float64{0.3}, []float64{math.Inf(1)}},
	}
	worst := []WorstRow{{Row: 1, Target: 1, Estimate: rows[0]}}
	const sampled = "2 of 9 rows: the 1 worst, and others chosen at random; numbers count from 1"
	for _, c := range []struct {
		p    RowPicture
		want string
	}{
		{RowPicture{Rows: 2, Worst: worst, Sample: rows[:2]}, "all 2 rows; numbers count from 1"},
		{RowPicture{Rows: 3, Worst: worst, Sample: rows}, "2 of 3 rows: those with finite estimates; numbers count from 1"},
		{RowPicture{Rows: 9, Sample: rows}, "2 of 9 rows, chosen at random"},
		{RowPicture{Rows: 9, Worst: worst, Sample: rows[1:]}, sampled},
		{RowPicture{Rows: 9, Worst: worst, Sample: rows}, sampled},
	} {
		c.p.Targets = 1
		f := c.p.Figure()
		if f.Title != c.want {
			t.Errorf("%q, want %q", f.Title, c.want)
		}
		if p := f.Panels[0]; p.LogX != 0 || !strings.Contains(p.Y, "estimated") {
			t.Errorf("%q: a leverage of 0 on an axis with base %d, %q", c.want, p.LogX, p.Y)
		}
	}
}
