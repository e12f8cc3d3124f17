package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A marker is a polygon around a point, by the places of its corners in radii, or
// a circle; filled in the line's colour or, hollow, in white.
type marker struct {
	corners []vg.Point
	circle  vg.Length // its radius, where there are no corners
	hollow  bool
}

// polygon has n corners at distance r; turn, a part of the full turn, is where the first is.
func polygon(n int, turn, r float64) *marker {
	m := &marker{}
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * (turn + float64(i)/float64(n)))
		m.corners = append(m.corners, vg.Point{X: vg.Length(r * cos), Y: vg.Length(r * sin)})
	}
	return m
}

// Markers. The disc is larger than the square: one shows behind the other.
var (
	Disc     = &marker{circle: 1.12}
	Square   = polygon(4, 0.125, 1.15)
	Diamond  = polygon(4, 0, 1.3)
	Triangle = polygon(3, 0.25, 1.4)
	Cross    = crossing{}
)

// Hollow is a marker filled in white: Disc, Square, Diamond or Triangle.
func Hollow(m *marker) draw.GlyphDrawer { return &marker{m.corners, m.circle, true} }

// DrawGlyph implements [draw.GlyphDrawer].
func (m *marker) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	for i, q := range m.corners {
		q = at.Add(q.Scale(sty.Radius))
		if i == 0 {
			p.Move(q)
		} else {
			p.Line(q)
		}
	}
	if m.corners == nil {
		r := m.circle * sty.Radius
		p.Move(at.Add(vg.Point{X: r}))
		p.Arc(at, r, 0, 2*math.Pi)
	}
	p.Close()
	if m.hollow {
		c.SetColor(color.White)
	}
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 0.8})
	c.Stroke(p)
}

// A crossing is the marker ×.
type crossing struct{}

// DrawGlyph implements [draw.GlyphDrawer].
func (crossing) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 1.3})
	for _, up := range []vg.Length{-1, 1} {
		var p vg.Path
		p.Move(at.Add(vg.Point{X: -sty.Radius, Y: -up * sty.Radius}))
		p.Line(at.Add(vg.Point{X: sty.Radius, Y: up * sty.Radius}))
		c.Stroke(p)
	}
}
