package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Letters are the outlines of letters that the pictures of one page share: the first picture
// with a letter holds its outline, all refer to it. The zero value has none yet.
type Letters struct{ written map[string]bool }

// An outlined is an SVG whose text is drawn as the outlines of its letters: the layout is made
// with the widths of one font, which who looks at the picture need not have.
type outlined struct {
	*vgsvg.Canvas
	shared  *Letters
	refer   string // the attribute of a use element that refers to an outline
	strings []placed
}

// A placed string stands at a point of the coordinates that were set when it was drawn.
type placed struct {
	face font.Face
	at   vg.Point
	text string
}

// FillString implements [vg.Canvas]. The text that the library writes holds the place of the
// outlines that svg puts there.
func (o *outlined) FillString(face font.Face, at vg.Point, text string) {
	o.strings = append(o.strings, placed{face, at, text})
	o.Canvas.FillString(face, at, text)
}

// textElement is how the library writes a string.
var textElement = regexp.MustCompile(`<text [^>]*>[^<]*</text>`)

// svg is the picture: what stands before its elements, and these. Text is black, as all of a
// figure is.
func (o *outlined) svg() (header, body []byte, err error) {
	var b bytes.Buffer
	if _, err := o.WriteTo(&b); err != nil {
		return nil, nil, err
	}
	text := b.Bytes()
	at := textElement.FindAllIndex(text, -1)
	if len(at) != len(o.strings) {
		return nil, nil, fmt.Errorf("chart: %d strings were drawn, the svg has %d", len(o.strings), len(at))
	}
	start := bytes.Index(text, []byte("<svg"))
	start += bytes.IndexByte(text[start:], '>') + 1
	var outlines, drawn bytes.Buffer
	end := start
	for i, place := range at {
		drawn.Write(text[end:place[0]])
		if err := o.draw(o.strings[i], &outlines, &drawn); err != nil {
			return nil, nil, err
		}
		end = place[1]
	}
	drawn.Write(text[end:])
	return text[:start], fmt.Appendf(nil, "\n<defs>%s</defs>%s", outlines.Bytes(), drawn.Bytes()), nil
}

// draw writes a string as references to the outlines of its letters, and those outlines that no
// earlier picture of the page has.
func (o *outlined) draw(s placed, outlines, drawn *bytes.Buffer) error {
	var buf sfnt.Buffer
	f := s.face.Face
	unit := fixed.Int26_6(f.UnitsPerEm()) // one pixel of 26.6 bits to a unit of the font
	scale := s.face.Font.Size.Points() / float64(unit)
	fmt.Fprintf(drawn, `<g transform="translate(%.5g,%.5g) scale(%.5g,%.5g)" role="img" aria-label="`, s.at.X.Points(), s.at.Y.Points(), scale, -scale)
	if err := xml.EscapeText(drawn, []byte(s.text)); err != nil {
		return err
	}
	drawn.WriteString(`">`)
	var x fixed.Int26_6
	var last sfnt.GlyphIndex
	for i, letter := range s.text {
		g, err := f.GlyphIndex(&buf, letter)
		if err != nil {
			return err
		}
		if i > 0 {
			kern, err := f.Kern(&buf, last, g, unit, xfont.HintingNone)
			if err != nil && err != sfnt.ErrNotFound {
				return err
			}
			x += kern
		}
		segments, err := f.LoadGlyph(&buf, g, unit, nil)
		if err != nil {
			return err
		}
		if len(segments) > 0 { // a space has none
			id := fmt.Sprintf("letter-%s%d", map[bool]string{true: "i"}[s.face.Font.Style == xfont.StyleItalic], g)
			if !o.shared.written[id] {
				o.shared.written[id] = true
				fmt.Fprintf(outlines, "<path id=%q d=%q/>\n", id, pathOf(segments))
			}
			fmt.Fprintf(drawn, `<use %s="#%s" x="%d"/>`, o.refer, id, x)
		}
		advance, err := f.GlyphAdvance(&buf, g, unit, xfont.HintingNone)
		if err != nil {
			return err
		}
		x, last = x+advance, g
	}
	drawn.WriteString("</g>")
	return nil
}

// pathOf writes an outline in whole units of the font, each point relative to the one where the
// segment begins.
func pathOf(segments sfnt.Segments) string {
	var d []byte
	var from fixed.Point26_6
	for _, s := range segments {
		op, points := byte('m'), 1
		switch s.Op {
		case sfnt.SegmentOpLineTo:
			op = 'l'
		case sfnt.SegmentOpQuadTo:
			op, points = 'q', 2
		case sfnt.SegmentOpCubeTo:
			op, points = 'c', 3
		}
		d = append(d, op)
		for i, p := range s.Args[:points] {
			if q := p.Sub(from); i == 0 {
				d = fmt.Appendf(d, "%d,%d", q.X, q.Y)
			} else {
				d = fmt.Appendf(d, " %d,%d", q.X, q.Y)
			}
		}
		from = s.Args[points-1]
	}
	return string(d)
}
