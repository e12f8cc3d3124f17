package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestNames: the name of each point that can be drawn is in the picture, and no other.
func TestNames(t *testing.T) {
	f := &Figure{Columns: 1, Looks: looks, Panels: []Panel{{
		LogX: 10,
		Lines: []Line{{
			Method: "a", Loose: true,
			X:     []float64{1e-3, 1e-2, 0, 1e-1},
			Y:     []float64{-5, 3, 1, math.NaN()},
			Names: []string{"first", "second", "zero", "nan"},
		}},
	}}}
	var svg bytes.Buffer
	if err := f.Save(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for name, isDrawn := range map[string]bool{"first": true, "second": true, "zero": false, "nan": false} {
		if strings.Contains(svg.String(), ">"+name+"</text>") != isDrawn {
			t.Errorf("%s: drawn %v", name, !isDrawn)
		}
	}
}

// TestPlace: names of near points do not overlap, and names at the edges stay inside.
func TestPlace(t *testing.T) {
	inside := vg.Rectangle{Max: vg.Point{X: 100, Y: 100}}
	size := vg.Point{X: 20, Y: 8}
	var taken []vg.Rectangle
	for _, at := range []vg.Point{
		{X: 50, Y: 50}, {X: 51, Y: 50}, {X: 50, Y: 52}, {X: 99, Y: 99}, {X: 1, Y: 1}, {X: 99, Y: 95},
	} {
		box := place(at, size, inside, taken)
		if box.Min.X < 0 || box.Min.Y < 0 || box.Max.X > 100 || box.Max.Y > 100 || box.Size() != size {
			t.Errorf("the name of %v is at %v", at, box)
		}
		for _, o := range taken {
			if overlap(box, o) {
				t.Errorf("the name of %v at %v overlaps %v", at, box, o)
			}
		}
		taken = append(taken, box)
	}
	crowd := []vg.Rectangle{inside}
	if box := place(vg.Point{X: 50, Y: 50}, size, inside, crowd); box.Min.X <= 50 || box.Min.X > 60 {
		t.Errorf("without room, the name is at %v", box)
	}
}
