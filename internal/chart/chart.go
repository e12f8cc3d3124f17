// Package chart draws grids of panels with one legend, on linear and logarithmic
// axes, as PNG and SVG.
package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Figure is a grid of panels with one legend.
type Figure struct {
	Title   string  // above; none where it is empty
	Columns int     // panels per row
	Width   float64 // of a panel in points, with its title and labels; default 224
	Height  float64 // likewise; default 176
	Looks   map[string]Look
	Panels  []Panel
}

// A Panel is one set of axes.
type Panel struct {
	Title, X, Y string
	LogX        int // 0 linear, otherwise the base of its ticks, 2 or 10
	LogY        bool
	WholeX      bool    // x counts something: the ticks of a linear axis are whole numbers
	YMin, YMax  float64 // 0, 0: automatic
	Lines       []Line
	Marks       []Mark
}

// A Line is one method in one panel.
type Line struct {
	Method string // key of Figure.Looks: the same look in all panels
	X, Y   []float64
	High   []float64 // not nil: the line is the bracket from Y to High, an area
	Label  string    // in the legend; default Method
	Dashed bool      // a prediction: dotted, without markers
	Plain  bool      // without markers, for many points
	Loose  bool      // markers alone: points that no line joins
}

// A Mark is a place on the x axis: an upright line or, where Lo < Hi, a range.
type Mark struct {
	Method string // key of Figure.Looks
	Lo, Hi float64
	Label  string // in the legend; default Method
}

// A Point is one that cannot be drawn: zero, negative or not finite on a
// logarithmic axis, or not finite.
type Point struct {
	Panel, Method string
	X, Y          float64
}

// LeftOut are the points that Save does not draw.
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

// dpi is the resolution of a PNG.
const dpi = 160

// Save draws the figure as "png" or "svg". Errors: those of w; a figure without
// panels, a line without a look, a logarithmic axis from zero.
func (f *Figure) Save(w io.Writer, format string) error {
	d, err := layOut(f)
	if err != nil {
		return err
	}
	switch format {
	case "png":
		return d.to(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi))}, w)
	case "svg":
		header, body, err := d.svg("xlink:href", &Letters{}) // as files are read by programs of any age
		if err != nil {
			return err
		}
		_, err = w.Write(append(header, body...))
		return err
	}
	return fmt.Errorf("chart: format %q is neither png nor svg", format)
}

// Inline is the figure as an svg element to stand in a page of HTML, whose pictures share their
// letters. Black, white and light grey become colours of the page: currentColor, --page and --grid.
// The label describes the figure to those who cannot see it. The element has a class, if one is given.
func (f *Figure) Inline(class, label string, shared *Letters) (string, error) {
	d, err := layOut(f)
	if err != nil {
		return "", err
	}
	_, body, err := d.svg("href", shared)
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

func (d *drawing) to(c vg.CanvasWriterTo, w io.Writer) error {
	d.draw(c)
	_, err := c.WriteTo(w)
	return err
}

// svg is the drawing as what stands before the elements of an SVG, and these.
func (d *drawing) svg(refer string, shared *Letters) (header, body []byte, err error) {
	if shared.written == nil {
		shared.written = map[string]bool{}
	}
	c := &outlined{Canvas: vgsvg.New(d.width, d.height), shared: shared, refer: refer}
	d.draw(c)
	return c.svg()
}
