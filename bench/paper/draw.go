package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points: a panel with its title and labels, a line of these, the figure's
// title, the legend, the margin, lines and markers.
const (
	panelWidth  = 224
	panelHeight = 176
	labelLine   = 15
	titleLine   = 24
	legendLine  = 17
	legendIcon  = 30
	margin      = 9
	lineWidth   = 1.4
	glyph       = 2.6
)

var handler = markup{text.Plain{Fonts: font.DefaultCache}}

func typeface(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func textStyle(size vg.Length) text.Style {
	return text.Style{Color: black, Font: typeface(size), Handler: handler}
}

// A drawing is a figure ready to be drawn on any canvas.
type drawing struct {
	title         string
	panels        []Panel
	plots         []*plot.Plot // of the panels
	rows, columns int
	legend        []entry
	width, height vg.Length
	leftOut       []point
}

// An entry is a line of the legend.
type entry struct {
	label string
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// A point is one that cannot be drawn: zero, negative or not finite on a
// logarithmic axis.
type point struct {
	Panel, Method string
	X, Y          float64
}

// layOut makes the plots of a figure.
func layOut(f *Figure) (*drawing, error) {
	columns := min(f.Columns, len(f.Panels))
	if columns < 1 {
		return nil, fmt.Errorf("paper: figure %d has no panels", f.Number)
	}
	d := &drawing{
		title: fmt.Sprintf("Figure %d. %s", f.Number, f.Title), panels: f.Panels,
		rows: (len(f.Panels) + columns - 1) / columns, columns: columns,
	}
	for i := range f.Panels {
		p, err := d.panel(&f.Panels[i])
		if err != nil {
			return nil, fmt.Errorf("paper: figure %d, %s: %w", f.Number, f.Panels[i].Title, err)
		}
		d.plots = append(d.plots, p)
	}
	d.width = vg.Length(columns)*panelWidth + 2*margin
	d.height = vg.Length(d.rows)*panelHeight + 2*margin + titleLine + 6 + d.legendHeight()
	return d, nil
}

// panel makes the plot of a panel and adds its lines to the legend.
func (d *drawing) panel(panel *Panel) (*plot.Plot, error) {
	if panel.LogY && (panel.YMin != 0 || panel.YMax != 0) && !(0 < panel.YMin && panel.YMin < panel.YMax) {
		return nil, fmt.Errorf("range %v to %v on a logarithmic axis", panel.YMin, panel.YMax)
	}
	p := plot.New()
	p.TextHandler = handler
	p.Add(grid())
	for _, line := range panel.Lines {
		l, ok := styles[line.Method]
		if !ok {
			return nil, fmt.Errorf("method %q has no style", line.Method)
		}
		e := entry{label: line.Label, line: draw.LineStyle{Color: l.color, Width: lineWidth, Dashes: l.dashes}}
		if e.label == "" {
			e.label = line.Method
		}
		if line.Dashed {
			e.line.Width, e.line.Dashes = 0.9, []vg.Length{1, 1.6}
		} else if l.marker != nil {
			e.glyph = draw.GlyphStyle{Color: l.color, Radius: glyph, Shape: l.marker}
		}
		if !slices.ContainsFunc(d.legend, func(o entry) bool { return o.label == e.label }) {
			d.legend = append(d.legend, e)
		}
		for _, run := range d.drawable(panel, &line) {
			l := &plotter.Line{XYs: run, LineStyle: e.line}
			p.Add(bare{l, l})
			if e.glyph.Shape != nil {
				m := &plotter.Scatter{XYs: run, GlyphStyle: e.glyph}
				p.Add(bare{m, m})
			}
		}
	}
	axis(&p.X, float64(panel.LogX), 0, 0)
	base := 0.0
	if panel.LogY {
		base = 10
	}
	axis(&p.Y, base, panel.YMin, panel.YMax)
	return p, nil
}

// bare is a plotter that asks for no room for its markers and strokes, which plot
// makes between the data and the axis, in some panels alone.
type bare struct {
	plot.Plotter
	plot.DataRanger
}

// drawable divides the points of a line into runs without gaps and takes note of
// those left out.
func (d *drawing) drawable(panel *Panel, line *Line) []plotter.XYs {
	fine := func(x float64, log bool) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) && (x > 0 || !log) }
	var runs []plotter.XYs
	gap := true
	for i, x := range line.X {
		y := line.Y[i]
		if !fine(x, panel.LogX != 0) || !fine(y, panel.LogY) {
			d.leftOut = append(d.leftOut, point{panel.Title, line.Method, x, y})
			gap = true
			continue
		}
		if gap {
			runs = append(runs, nil)
			gap = false
		}
		last := &runs[len(runs)-1]
		*last = append(*last, plotter.XY{X: x, Y: y})
	}
	return runs
}

// axis styles an axis, logarithmic where base is not 0, and gives it some room
// beyond the data where its range is automatic.
func axis(a *plot.Axis, base, lo, hi float64) {
	a.Tick.Label.Font, a.Tick.Label.Handler = typeface(8.5), handler
	a.Tick.Length, a.Padding, a.LineStyle.Width = 4, 0, 0.6
	if base != 0 {
		a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{base}
	}
	const room = 0.03
	switch {
	case lo != 0 || hi != 0:
		a.Min, a.Max = lo, hi
	case !(a.Min <= a.Max): // no data
		a.Min, a.Max = 1, 10
	case base == 0:
		more := room * (a.Max - a.Min)
		if more == 0 {
			more = 1
		}
		a.Min, a.Max = a.Min-more, a.Max+more
	default:
		factor := math.Pow(a.Max/a.Min, room)
		if factor == 1 {
			factor = 2
		}
		a.Min, a.Max = a.Min/factor, a.Max*factor
	}
}

// grid draws light lines at labelled ticks.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	light := draw.LineStyle{Color: lightGrey, Width: 0.4}
	g.Horizontal, g.Vertical = light, light
	return g
}

// legendColumns divides the legend into rows that fit, of equal columns.
func (d *drawing) legendColumns() (columns int, width vg.Length) {
	for _, e := range d.legend {
		w := textStyle(9.5).Width(e.label) + legendIcon + 18
		width = max(width, w)
	}
	columns = max(1, min(len(d.legend), int((d.width-2*margin)/max(width, 1))))
	rows := (len(d.legend) + columns - 1) / max(columns, 1)
	if rows > 0 {
		columns = (len(d.legend) + rows - 1) / rows // even rows
	}
	return columns, width
}

func (d *drawing) legendHeight() vg.Length {
	columns, _ := d.legendColumns()
	return vg.Length((len(d.legend)+columns-1)/columns) * legendLine
}

// draw draws the title above, the panels, and the legend below.
func (d *drawing) draw(canvas vg.CanvasSizer) {
	c := draw.New(canvas)
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	caption(c, vg.Point{X: c.Center().X, Y: c.Max.Y}, 11, 0, d.title)
	tiles, room := d.tiles(draw.Crop(c, 0, 0, d.legendHeight()+6, -titleLine))
	for i, tile := range tiles {
		d.plots[i].Draw(tile)
		axes := d.plots[i].DataCanvas(tile)
		middle := axes.Center()
		caption(c, vg.Point{X: middle.X, Y: axes.Max.Y + room.Max.Y + labelLine}, 10, 0, d.panels[i].Title)
		caption(c, vg.Point{X: middle.X, Y: axes.Min.Y - room.Min.Y + 2}, 9.5, 0, d.panels[i].X)
		caption(c, vg.Point{X: axes.Min.X - room.Min.X - labelLine, Y: middle.Y}, 9.5, math.Pi/2, d.panels[i].Y)
	}
	d.drawLegend(c)
}

// caption writes a line whose top is centred at a point.
func caption(c draw.Canvas, at vg.Point, size vg.Length, rotation float64, line string) {
	sty := textStyle(size)
	sty.Rotation, sty.XAlign, sty.YAlign = rotation, text.XCenter, text.YTop
	c.FillText(sty, at, line)
}

// tiles divides c into one tile for each panel, inside the room for its title and
// labels, such that all axes have the same size and stand in line; room is the
// widest margin between a tile and its axes. The labels are ours because plot finds
// the middle of a logarithmic axis in the wrong place, and plot.Align then leaves
// panels uneven.
func (d *drawing) tiles(c draw.Canvas) (tiles []draw.Canvas, room vg.Rectangle) {
	grid := draw.Tiles{Rows: d.rows, Cols: d.columns, PadX: 8, PadY: 4}
	for i, p := range d.plots {
		tile := draw.Crop(grid.At(c, i%d.columns, i/d.columns), labelLine, 0, labelLine, -labelLine)
		tiles = append(tiles, tile)
		axes := p.DataCanvas(tile)
		low, high := axes.Min.Sub(tile.Min), tile.Max.Sub(axes.Max)
		room.Min = vg.Point{X: max(room.Min.X, low.X), Y: max(room.Min.Y, low.Y)}
		room.Max = vg.Point{X: max(room.Max.X, high.X), Y: max(room.Max.Y, high.Y)}
	}
	for i, p := range d.plots {
		want := draw.Crop(tiles[i], room.Min.X, -room.Max.X, room.Min.Y, -room.Max.Y)
		// The margins that plot leaves for labels depend a little on the tile.
		for range 4 {
			axes := p.DataCanvas(tiles[i])
			low, high := want.Min.Sub(axes.Min), want.Max.Sub(axes.Max)
			tiles[i] = draw.Crop(tiles[i], low.X, high.X, low.Y, high.Y)
		}
	}
	return tiles, room
}

func (d *drawing) drawLegend(c draw.Canvas) {
	columns, width := d.legendColumns()
	left := c.Center().X - vg.Length(columns)*width/2
	sty := textStyle(9.5)
	sty.YAlign = text.YCenter
	for i, e := range d.legend {
		x := left + vg.Length(i%columns)*width
		y := c.Min.Y + d.legendHeight() - (vg.Length(i/columns)+0.5)*legendLine
		c.StrokeLine2(e.line, x, y, x+legendIcon, y)
		c.DrawGlyph(e.glyph, vg.Point{X: x + legendIcon/2, Y: y})
		c.FillText(sty, vg.Point{X: x + legendIcon + 5, Y: y}, e.label)
	}
}
