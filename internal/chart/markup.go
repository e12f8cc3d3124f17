package chart

import (
	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// markup is a text handler that draws superscripts from the plain characters they
// raise, for the fonts have no raised minus, and Greek letters in italics.
type markup struct{ text.Plain }

// Size and height of a superscript, of the font's size, and the size of Greek letters, whose font
// has smaller ones.
const (
	raisedSize   = 0.75
	raisedHeight = 0.4
	greekSize    = 1.15
)

// A run is a part of a line in one font.
type run struct {
	text   string
	raised bool
	greek  bool // in italics with serifs, of which no γ looks like a y
}

// font is that of the run, in a line of some font.
func (r run) font(f font.Font) font.Font {
	if r.raised {
		f.Size *= raisedSize
	}
	if r.greek {
		f.Variant, f.Style = "Serif", xfont.StyleItalic
		f.Size *= greekSize
	}
	return f
}

// split divides a line into runs.
func split(line string) []run {
	runs := []run{{}}
	for _, c := range line {
		plain, raised := superscripts[c]
		if raised {
			c = plain
		}
		greek := 'α' <= c && c <= 'ω'
		if r := &runs[len(runs)-1]; raised != r.raised || greek != r.greek {
			if r.text == "" {
				runs = runs[:0]
			}
			runs = append(runs, run{raised: raised, greek: greek})
		}
		runs[len(runs)-1].text += string(c)
	}
	return runs
}

// Box implements [text.Handler]. Every line has room for a superscript, so that
// those with and without one stand on the same level.
func (m markup) Box(txt string, fnt font.Font) (width, height, depth vg.Length) {
	for _, r := range split(txt) {
		w, h, d := m.Plain.Box(r.text, r.font(fnt))
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
	for _, r := range split(txt) {
		f, y := r.font(sty.Font), at.Y
		if r.raised {
			y += sty.Font.Size * raisedHeight
		}
		face := m.Fonts.Lookup(f, f.Size)
		c.FillString(face, vg.Point{X: at.X, Y: y}, r.text)
		at.X += face.Width(r.text)
	}
}
