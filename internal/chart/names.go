package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// names draws the name of each point of a line beside the point. If possible, a name does not overlap other names,
// and lies inside the axes.
type names struct {
	panel *Panel
	line  *Line
}

// Plot implements [plot.Plotter].
func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sty := textStyle(8)
	height := sty.Height("0")
	var taken []vg.Rectangle
	for i, name := range n.line.Names {
		if !drawable(n.line.X[i], n.panel.LogX != 0) ||
			!drawable(n.line.Y[i], n.panel.LogY) {
			continue
		}
		at := vg.Point{
			X: x(n.line.X[i]),
			Y: y(n.line.Y[i]),
		}
		size := vg.Point{X: sty.Width(name), Y: height}
		box := place(at, size, c.Rectangle, taken)
		taken = append(taken, box)
		c.FillText(sty, box.Min, name)
	}
}

// place returns a box of the given size beside the point at. It tries boxes to the right and to the left, at the
// same height and up to two lines higher or lower. It returns the first box that is inside and overlaps no taken
// box. If there is none, it returns the first box it tried.
func place(at, size vg.Point, inside vg.Rectangle, taken []vg.Rectangle) vg.Rectangle {
	const gap = 2 * glyph
	var first vg.Rectangle
	for _, lines := range []vg.Length{0, 1, -1, 2, -2} {
		for _, left := range []vg.Length{at.X + gap, at.X - gap - size.X} {
			low := vg.Point{
				X: left,
				Y: at.Y - size.Y/2 + lines*size.Y,
			}
			box := vg.Rectangle{Min: low, Max: low.Add(size)}
			if first == (vg.Rectangle{}) {
				first = box
			}
			isInside := box.Min.X >= inside.Min.X &&
				box.Max.X <= inside.Max.X &&
				box.Min.Y >= inside.Min.Y &&
				box.Max.Y <= inside.Max.Y
			if isInside &&
				!slices.ContainsFunc(taken, func(o vg.Rectangle) bool {
					return overlap(box, o)
				}) {
				return box
			}
		}
	}
	return first
}

// overlap reports whether two boxes have a common area.
func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X &&
		b.Min.X < a.Max.X &&
		a.Min.Y < b.Max.Y &&
		b.Min.Y < a.Max.Y
}
