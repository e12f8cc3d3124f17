package chart

import (
	"bytes"
	"fmt"
	"regexp"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// An svgCanvas is an SVG canvas that records the width of each string it draws. The widths are written to the SVG,
// because a viewer may not have the font.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString implements [vg.Canvas].
func (c *svgCanvas) FillString(face font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

var (
	textElement = regexp.MustCompile(`<text `)
	fontFamily  = regexp.MustCompile(`font-family:Liberation (Sans|Serif)`)
	// likeFonts maps Sans and Serif to common fonts whose letters are as wide as in Liberation Sans and Liberation
	// Serif.
	likeFonts = map[string]string{"Sans": "Arial,Helvetica,sans-serif", "Serif": "Times New Roman,Times,serif"}
)

// svg returns the start tag of an svg element, and the elements in it. Each string has the attribute textLength, so
// that it has the same width in any font.
func (d *drawing) svg() (header, body []byte, err error) {
	c := &svgCanvas{Canvas: vgsvg.New(d.width, d.height)}
	d.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, nil, err
	}
	next := 0
	text := textElement.ReplaceAllFunc(b.Bytes(), func([]byte) []byte {
		width := c.widths[next].Points()
		next++
		return fmt.Appendf(nil, `<text xml:space="preserve" textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, width)
	})
	text = fontFamily.ReplaceAllFunc(text, func(name []byte) []byte {
		_, variant, _ := bytes.Cut(name, []byte("Liberation "))
		return fmt.Appendf(nil, "%s,%s", name, likeFonts[string(variant)])
	})
	start := bytes.Index(text, []byte("<svg"))
	start += bytes.IndexByte(text[start:], '>') + 1
	return text[:start], text[start:], nil
}
