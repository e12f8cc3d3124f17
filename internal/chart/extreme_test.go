package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// extremes are numbers at the ends of what float64 holds, and some that are hardly apart.
var extremes = []float64{
	math.NaN(), math.Inf(-1), -math.MaxFloat64, -1e300, -1, -1e-300, -math.SmallestNonzeroFloat64, 0,
	math.SmallestNonzeroFloat64, 3 * math.SmallestNonzeroFloat64, 4 * math.SmallestNonzeroFloat64, 1e-310, 0x1p-1022, 1e-300, 1e-200, 1e-14,
	1, math.Nextafter(1, 2), 1 + 1e-8, 1e9, 1e16, 1e200, 1e307, math.Nextafter(1e307, 0), math.MaxFloat64, math.Inf(1),
}

// pointsOf is a figure of one panel with two points, and marks where they are.
func pointsOf(x0, x1, y0, y1 float64, kind uint8) *Figure {
	p := Panel{LogY: kind&1 != 0, WholeX: kind&2 != 0}
	if kind&4 != 0 {
		p.LogX = 10
	}
	x := []float64{x0, x1}
	p.Lines = []Line{
		{Method: "a", X: x, Y: []float64{y0, y1}},
		{Method: "c", X: x, Y: []float64{y0, y0}, High: []float64{y1, y1}},
	}
	p.Marks = []Mark{{Method: "b", Lo: x0, Hi: x0}, {Method: "b", Lo: x0, Hi: x1}}
	if kind&8 != 0 {
		p.YMin, p.YMax = y0, y1
	}
	return &Figure{Columns: 1, Looks: looks, Panels: []Panel{p}}
}

// checkDrawn checks that a figure is drawn, or refused for the range that it asks for, and that all
// coordinates of the drawing are finite.
func checkDrawn(t *testing.T, f *Figure, format string) {
	t.Helper()
	var out bytes.Buffer
	p := &f.Panels[0]
	if err := f.Save(&out, format); err != nil {
		if p.YMin == 0 && p.YMax == 0 {
			t.Errorf("%+v: %v", *p, err)
		}
		return
	}
	if text := out.String(); format == "svg" && (strings.Contains(text, "NaN") || strings.Contains(text, "Inf")) {
		t.Errorf("%+v: a coordinate is not finite", *p)
	}
	f.LeftOut()
}

// TestExtremeAxes: whatever the numbers are, they are drawn, or told to be left out.
func TestExtremeAxes(t *testing.T) {
	for i, a := range extremes {
		for j, b := range extremes {
			if (i+j)%3 == 0 { // enough of them
				checkDrawn(t, pointsOf(a, b, b, a, uint8(i*5+j)&15), "svg")
			}
		}
	}
}

// TestExtremeTicks: an axis of any two numbers has a range that is more than a point, its ticks are
// few, and two of them or more have a label.
func TestExtremeTicks(t *testing.T) {
	for _, lo := range extremes {
		for _, hi := range extremes {
			for kind := range 3 {
				base := 0.0
				if kind == 1 {
					base = 10
				}
				if !drawable(lo, base != 0) || !drawable(hi, base != 0) || lo > hi {
					continue
				}
				a := plot.New().X
				a.Min, a.Max = lo, hi
				axis(&a, base, 0, 0)
				if kind == 2 {
					a.Tick.Marker = wholeTicks{}
				}
				if !(a.Min < a.Max) || !(a.Min <= lo) || !(hi <= a.Max) || math.IsInf(a.Min, 0) ||
					math.IsInf(a.Max, 0) {
					t.Errorf("%v to %v, base %v: axis from %v to %v", lo, hi, base, a.Min, a.Max)
					continue
				}
				if v := a.Norm(a.Min); v != 0 {
					t.Errorf("%v to %v, base %v: begins at %v", lo, hi, base, v)
				}
				if v := a.Norm(a.Max); v != 1 {
					t.Errorf("%v to %v, base %v: ends at %v", lo, hi, base, v)
				}
				ticks := a.Tick.Marker.Ticks(a.Min, a.Max)
				labels := 0
				for _, tick := range ticks {
					if place := a.Norm(tick.Value); !(-1 <= place && place <= 2) {
						t.Errorf("%v to %v, base %v: a tick at %v", lo, hi, base, tick.Value)
					}
					if tick.Label != "" {
						labels++
					}
				}
				if labels < 2 && !(kind == 2 && hi-lo < 2) || len(ticks) > 700 {
					t.Errorf("%v to %v, base %v: %d ticks, %d with labels", lo, hi, base, len(ticks), labels)
				}
			}
		}
	}
}

func FuzzSave(f *testing.F) {
	f.Add(1e-200, 1e200, 5e-324, math.MaxFloat64, uint8(5))
	f.Add(1.0, 1e307, 0.0, 1.0, uint8(4))
	f.Fuzz(func(t *testing.T, x0, x1, y0, y1 float64, kind uint8) {
		checkDrawn(t, pointsOf(x0, x1, y0, y1, kind&15), "svg")
	})
}
