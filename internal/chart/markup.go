package chart

import (
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// markup is a text handler that draws superscripts from the plain characters they
// raise, for the fonts have no raised minus.
type markup struct{ text.Plain }

// Size and height of a superscript, of the font's size.
const (
	raisedSize   = 0.75
	raisedHeight = 0.4
)

// split divides a line into runs, every second of them a superscript.
func split(line string) []string {
	runs := []string{""}
	for _, c := range line {
		plain, raised := superscripts[c]
		if raised != (len(runs)%2 == 0) {
			runs = append(runs, "")
		}
		if raised {
			c = plain
		}
		runs[len(runs)-1] += string(c)
	}
	return runs
}

// Box implements [text.Handler]. Every line has room for a superscript, so that
// those with and without one stand on the same level.
func (m markup) Box(txt string, fnt font.Font) (width, height, depth vg.Length) {
	for i, run := range split(txt) {
		f := fnt
		if i%2 == 1 {
			f.Size *= raisedSize
		}
		w, h, d := m.Plain.Box(run, f)
		width, height, depth = width+w, max(height, h), max(depth, d)
	}
	return width, height * 1.2, depth
}

// Draw implements [text.Handler] for text of one line.
func (m markup) Draw(c vg.Canvas, txt string, sty text.Style, at vg.Point) {
	width, height, depth := m.Box(txt, sty.Font)
	c.Push()
	defer c.Pop()
	c.SetColor(sty.Color)
	c.Translate(at)
	c.Rotate(sty.Rotation)
	// The baseline: the box reaches from YAlign = 0 at its bottom up.
	at = vg.Point{X: vg.Length(sty.XAlign) * width, Y: vg.Length(sty.YAlign)*(height+depth) + depth}
	for i, run := range split(txt) {
		size, y := sty.Font.Size, at.Y
		if i%2 == 1 {
			size, y = size*raisedSize, y+size*raisedHeight
		}
		face := m.Fonts.Lookup(sty.Font, size)
		c.FillString(face, vg.Point{X: at.X, Y: y}, run)
		at.X += face.Width(run)
	}
}
