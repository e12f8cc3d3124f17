// Package chart draws figures, each a grid of diagrams with a common legend, as PNG or SVG.
package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg/vgimg"
)

// A Figure is a grid of diagrams (panels) with one common legend.
type Figure struct {
	Title   string  // title above the panels, or ""
	Columns int     // panels per row
	Width   float64 // width of a panel in points, including its title and labels; default 224
	Height  float64 // height of a panel in points; default 176
	Looks   map[string]Look
	Panels  []Panel
}

// A Panel is one diagram with its axes.
type Panel struct {
	Title, X, Y string
	LogX        int // 0 for a linear axis; otherwise the base of the ticks, 2 or 10
	LogY        bool
	WholeX      bool    // x is a count, so the ticks of a linear axis are at integers
	YMin, YMax  float64 // range of the y axis; 0, 0 means automatic
	Lines       []Line
	Marks       []Mark
}

// A Line is the curve of one method in one diagram.
type Line struct {
	Method string // key in Figure.Looks, so that a method looks the same in all panels
	X, Y   []float64
	High   []float64 // if not nil, the area between Y and High is filled
	Label  string    // text in the legend; default Method
	Dashed bool      // dotted and without markers, for a prediction
	Plain  bool      // without markers, for a line of many points
	Loose  bool      // only markers, without a line
	Names  []string  // if not nil, a text beside each point (X, Y)
}

// A Mark is a shaded range of the x axis from Lo to Hi. If Lo and Hi are equal, it is a vertical line.
type Mark struct {
	Method string // key in Figure.Looks
	Lo, Hi float64
	Label  string // text in the legend; default Method
}

// A Point is a point that cannot be drawn. A coordinate is infinite or NaN, or is not positive on a logarithmic
// axis.
type Point struct {
	Panel, Method string
	X, Y          float64
}

// LeftOut returns the points that Save does not draw.
func (f *Figure) LeftOut() []Point {
	var out []Point
	for _, p := range f.Panels {
		for _, l := range p.Lines {
			for _, values := range [][]float64{l.Y, l.High} {
				for i, y := range values {
					if !drawable(l.X[i], p.LogX != 0) || !drawable(y, p.LogY) {
						out = append(out, Point{p.Title, l.Method, l.X[i], y})
					}
				}
			}
		}
	}
	return out
}

// dpi is the resolution of a PNG in dots per inch.
const dpi = 160

// Save writes the figure to w in the format "png" or "svg". It returns the errors of w. It also returns an error
// for a figure without panels, a line whose method has no Look, or a logarithmic axis whose range is not positive.
func (f *Figure) Save(w io.Writer, format string) error {
	d, err := layOut(f)
	if err != nil {
		return err
	}
	switch format {
	case "png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi))}
		d.draw(c)
		_, err := c.WriteTo(w)
		return err
	case "svg":
		header, body, err := d.svg()
		if err != nil {
			return err
		}
		_, err = w.Write(append(header, body...))
		return err
	}
	return fmt.Errorf("chart: format %q is neither png nor svg", format)
}

// Inline returns the figure as an svg element for an HTML page. The page sets the colours: currentColor for black,
// --page for white and --grid for light grey. The argument label is the text for people who cannot see the figure.
// The argument class is the CSS class of the element, or "".
func (f *Figure) Inline(class, label string) (string, error) {
	d, err := layOut(f)
	if err != nil {
		return "", err
	}
	_, body, err := d.svg()
	if err != nil {
		return "", err
	}
	for _, colour := range [][2]string{{"#FFFFFF", "var(--page)"}, {"#000000", "currentColor"}, {"#DDDDDD", "var(--grid)"}} {
		body = bytes.ReplaceAll(body, []byte(colour[0]), []byte(colour[1]))
	}
	var quoted bytes.Buffer
	if err := xml.EscapeText(&quoted, []byte(label)); err != nil {
		return "", err
	}
	if class != "" {
		class = fmt.Sprintf("class=%q ", class)
	}
	return fmt.Sprintf("<svg %sviewBox=\"0 0 %.5g %.5g\" fill=\"currentColor\" role=\"img\" aria-label=\"%s\">%s", class, d.width.Points(), d.height.Points(), quoted.String(), body), nil
}
