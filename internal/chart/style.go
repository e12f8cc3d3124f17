package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Look is the style of a line.
type Look struct {
	Color  color.Color
	Marker draw.GlyphDrawer // nil means no marker
	Dashes []vg.Length      // nil means a solid line
}

// Colour-blind people can tell these colours apart. Most are by M. Okabe and K. Ito, "Color Universal Design"
// (2008), and three are by P. Tol.
var (
	Black     = color.RGBA{0x00, 0x00, 0x00, 0xff}
	Blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Vermilion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Green     = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	Orange    = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	Sky       = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
	Pink      = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	Purple    = color.RGBA{0x88, 0x2e, 0x9e, 0xff}
	Grey      = color.RGBA{0x66, 0x66, 0x66, 0xff}
	lightGrey = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
	Olive     = color.RGBA{0x80, 0x7a, 0x1c, 0xff}
)

// Dash patterns.
var (
	ShortDash = []vg.Length{2, 2}
	LongDash  = []vg.Length{6, 2.5}
)

// faint returns a translucent version of a colour, for filling an area.
func faint(c color.Color) color.Color {
	solid := color.NRGBAModel.Convert(c).(color.NRGBA)
	solid.A = 0x38
	return solid
}

// A marker is a polygon around a point, or a circle if it has no corners. The unit of length is the radius that the
// style gives. The marker is filled with the line's colour, or with white if hollow is true.
type marker struct {
	corners []vg.Point
	circle  vg.Length // radius of the circle
	hollow  bool
}

// polygon returns a marker with n corners at distance r from the centre. The first corner is at an angle of turn
// times 360 degrees.
func polygon(n int, turn, r float64) *marker {
	m := &marker{}
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * (turn + float64(i)/float64(n)))
		m.corners = append(m.corners, vg.Point{
			X: vg.Length(r * cos),
			Y: vg.Length(r * sin),
		})
	}
	return m
}

// These are the shapes of markers. The corners of Square lie outside Disc, and the middles of its sides lie inside
// Disc. So each can be seen if it is behind the other.
var (
	Disc     = &marker{circle: 1.12}
	Square   = polygon(4, 0.125, 1.15)
	Diamond  = polygon(4, 0, 1.3)
	Triangle = polygon(3, 0.25, 1.4)
	Cross    = crossing{}
)

// Hollow returns a copy of the marker m that is filled with white. m is Disc, Square, Diamond or Triangle.
func Hollow(m *marker) draw.GlyphDrawer {
	return &marker{m.corners, m.circle, true}
}

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

// A crossing draws the marker ×.
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
