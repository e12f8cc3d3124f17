package chart

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

var looks = map[string]Look{
	"a": {Color: Blue, Marker: Disc},
	"b": {Color: Vermilion, Marker: Hollow(Square), Dashes: LongDash},
	"c": {Color: Black},
}

// example is a figure with values that no logarithmic axis can show.
func example() *Figure {
	x := []float64{1, 2, 4, 8, 16}
	return &Figure{
		Title: "an example", Columns: 2, Looks: looks,
		Panels: []Panel{
			{Title: "left", X: "γ", Y: "‖x⁽ᵗ⁾ − x*‖", LogX: 2, LogY: true, Lines: []Line{
				{Method: "a", X: x, Y: []float64{1, 0, 1e-3, math.Inf(1), 1e-6}},
				{Method: "a", X: x, Y: []float64{1, 1e-2, 1e-4, 1e-6, 1e-8}, Label: "predicted", Dashed: true},
				{Method: "b", X: x, Y: []float64{1, math.NaN(), -1, 1e-5, 1e-7}},
			}},
			{
				Title: "right",
				X:     "t",
				Lines: []Line{{Method: "b", X: []float64{0, 1, 2, 3, 4}, Y: []float64{0, -1, 5, 2, 2}}},
			},
			{Title: "no numbers", LogY: true, Lines: []Line{{Method: "b", X: []float64{1}, Y: []float64{0}}}},
			{
				Title: "bracket", LogX: 2, LogY: true,
				Lines: []Line{
					{Method: "c", X: x, Y: []float64{1, 2, 3, 0, 5}, High: []float64{2, 3, math.Inf(1), 5, 6}},
				},
				Marks: []Mark{
					{Method: "a", Lo: 2, Hi: 100, Label: "range"},
					{Method: "a", Lo: 4, Hi: 4, Label: "at"},
					{Method: "a", Lo: 64, Hi: 64, Label: "outside"},
				},
			},
			{Title: "given range", LogY: true, YMin: 1e-8, YMax: 1, Lines: []Line{{Method: "b", X: x, Y: x}}},
		},
	}
}

func parseXML(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %.400s", err, text)
		}
	}
}

// TestSave: each format can be read by what it is for.
func TestSave(t *testing.T) {
	var picture, svg bytes.Buffer
	if err := example().Save(&picture, "png"); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&picture)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X < 900 || size.Y < 900 {
		t.Errorf("the picture has %v pixels", size)
	}
	if err := example().Save(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	parseXML(t, svg.String())
	n := strings.Count(svg.String(), "<text ")
	if n < 30 || n != strings.Count(svg.String(), ` textLength="`) ||
		n != strings.Count(svg.String(), ",sans-serif")+strings.Count(svg.String(), ",serif") {
		t.Errorf("%d texts, some without a width or a font that every viewer has", n)
	}
	for _, want := range []string{"an example", "predicted", "bracket", "outside", "fill-opacity"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the svg says nothing of %q", want)
		}
	}
}

// TestInline: the element stands in a page that sets its colours, and holds no
// colour of its own for text and ground.
func TestInline(t *testing.T) {
	text, err := example().Inline("wide", `a "<quoted>" label`)
	if err != nil {
		t.Fatal(err)
	}
	parseXML(t, text)
	if !strings.HasPrefix(text, `<svg class="wide" viewBox=`) || !strings.HasSuffix(strings.TrimSpace(text), "</svg>") {
		t.Errorf("%.100s", text)
	}
	for _, not := range []string{"#FFFFFF", "#000000", "#DDDDDD", "http", "<quoted>"} {
		if strings.Contains(text, not) {
			t.Errorf("the element holds %q", not)
		}
	}
}

// TestLeftOut: every point that cannot be drawn is told.
func TestLeftOut(t *testing.T) {
	left := example().LeftOut()
	if len(left) != 7 || left[0] != (Point{"left", "a", 2, 0}) || left[6].Panel != "bracket" ||
		!math.IsInf(left[6].Y, 1) {
		t.Errorf("%+v", left)
	}
}

// TestAreas: a bracket is an area where both its ends can be drawn.
func TestAreas(t *testing.T) {
	p := &example().Panels[3]
	a := areas(p, &p.Lines[0])
	if len(a) != 2 || len(a[0]) != 4 || len(a[1]) != 2 || a[0][1].Y != 2 || a[0][2].Y != 3 || a[0][3].Y != 2 ||
		a[1][1].Y != 6 {
		t.Errorf("%v", a)
	}
}

// TestRefuses: what cannot be drawn is an error.
func TestRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Figure){
		"no look":           func(f *Figure) { f.Panels[1].Lines[0].Method = "nobody" },
		"no look of a mark": func(f *Figure) { f.Panels[3].Marks[0].Method = "nobody" },
		"no panels":         func(f *Figure) { f.Panels = nil },
		"no columns":        func(f *Figure) { f.Columns = 0 },
		"log from zero":     func(f *Figure) { f.Panels[4].YMin = 0 },
	} {
		f := example()
		spoil(f)
		for _, format := range []string{"png", "svg"} {
			if err := f.Save(io.Discard, format); err == nil {
				t.Errorf("%s: %s was drawn", name, format)
			}
		}
		if _, err := f.Inline("", ""); err == nil {
			t.Errorf("%s: was drawn inline", name)
		}
	}
	if err := example().Save(io.Discard, "gif"); err == nil || !strings.Contains(err.Error(), "gif") {
		t.Errorf("gif: %v", err)
	}
}

// axes are where the panels' data would be drawn.
func (d *drawing) axes(t *testing.T) []vg.Rectangle {
	t.Helper()
	c := draw.NewCanvas(vgsvg.New(d.width, d.height), d.width, d.height)
	tiles, _ := d.tiles(draw.Crop(c, margin, -margin, margin+d.legendHeight(), -margin-d.titleHeight()))
	var out []vg.Rectangle
	for i, tile := range tiles {
		out = append(out, d.plots[i].DataCanvas(tile).Rectangle)
	}
	return out
}

// TestLayout: the axes of all panels have one size and stand in line, and nothing
// reaches beyond the figure.
func TestLayout(t *testing.T) {
	f := example()
	f.Panels = slices.Concat(f.Panels[:2], f.Panels[:1])
	d, err := layOut(f)
	if err != nil {
		t.Fatal(err)
	}
	if d.rows != 2 || d.columns != 2 || len(d.legend) != 3 {
		t.Errorf("%d×%d panels, legend %v", d.rows, d.columns, d.legend)
	}
	axes := d.axes(t)
	for i, a := range axes {
		dx, dy := a.Size().X-axes[0].Size().X, a.Size().Y-axes[0].Size().Y
		if math.Abs(float64(dx)) > 0.5 || math.Abs(float64(dy)) > 0.5 {
			t.Errorf("axes %d are %v larger", i, []any{dx, dy})
		}
		if a.Min.X < 0 || a.Min.Y < d.legendHeight() || a.Max.X > d.width || a.Max.Y > d.height {
			t.Errorf("axes %d, %v, outside of %v×%v", i, a, d.width, d.height)
		}
	}
	if !(math.Abs(float64(axes[0].Min.Y-axes[1].Min.Y)) <= 0.5) ||
		!(math.Abs(float64(axes[0].Min.X-axes[2].Min.X)) <= 0.5) {
		t.Errorf("axes out of line: %v", axes)
	}
}

// TestNoTitles: a figure without titles leaves no room for them.
func TestNoTitles(t *testing.T) {
	f := example()
	f.Panels = f.Panels[:1]
	with, err := layOut(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Title, f.Panels[0].Title = "", ""
	without, err := layOut(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := with.height - without.height; !(math.Abs(float64(got-titleLine-labelLine)) <= 1e-9) {
		t.Errorf("the titles take %v points", got)
	}
}

// TestFaint: areas let the grid through.
func TestFaint(t *testing.T) {
	if c := faint(Blue).(color.NRGBA); c.A == 0 || c.A > 0x80 || c.B != Blue.B {
		t.Errorf("%v", c)
	}
}
