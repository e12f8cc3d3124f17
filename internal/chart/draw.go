package chart

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points.
const (
	panelWidth  = 224 // a panel with its title and labels
	panelHeight = 176 // default
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
	return text.Style{Color: Black, Font: typeface(size), Handler: handler}
}

// A drawing is a Figure with its computed layout. It can be drawn on any canvas.
type drawing struct {
	*Figure
	plots         []*plot.Plot // one for each panel
	rows, columns int
	legend        []entry
	width, height vg.Length
}

// An entry is one entry of the legend.
type entry struct {
	label string
	line  draw.LineStyle
	glyph draw.GlyphStyle
	area  color.Color // fills the area behind the line; nil means no area
}

// layOut creates the plots of the figure f and computes their layout.
func layOut(f *Figure) (*drawing, error) {
	columns := min(f.Columns, len(f.Panels))
	if columns < 1 {
		return nil, errors.New("chart: no panels")
	}
	d := &drawing{
		Figure:  f,
		rows:    (len(f.Panels) + columns - 1) / columns,
		columns: columns,
	}
	for i := range f.Panels {
		p, err := d.panel(&f.Panels[i])
		if err != nil {
			return nil, fmt.Errorf("chart: panel %d, %s: %w", i+1, f.Panels[i].Title, err)
		}
		d.plots = append(d.plots, p)
	}

	width := vg.Length(cmp.Or(f.Width, panelWidth))
	height := vg.Length(cmp.Or(f.Height, panelHeight)) -
		labelLine +
		d.captionHeight()
	d.width = vg.Length(columns)*width + 2*margin
	d.height = vg.Length(d.rows)*height +
		2*margin +
		d.titleHeight() +
		6 +
		d.legendHeight()
	return d, nil
}

// titleHeight returns the height of the figure's title, or 0 if there is none.
func (d *drawing) titleHeight() vg.Length {
	if d.Title == "" {
		return 0
	}
	return titleLine
}

// captionHeight returns the height that a panel needs for its title, or 0 if no panel has a title.
func (d *drawing) captionHeight() vg.Length {
	if !slices.ContainsFunc(d.Panels, func(p Panel) bool { return p.Title != "" }) {
		return 0
	}
	return labelLine
}

// panel returns the plot of a panel, and adds its lines and marks to the legend.
func (d *drawing) panel(panel *Panel) (*plot.Plot, error) {
	if panel.YMin != 0 || panel.YMax != 0 {
		if panel.LogY && !(0 < panel.YMin) {
			return nil, fmt.Errorf("the range %v to %v of a logarithmic axis must be positive", panel.YMin, panel.YMax)
		}
		if _, _, flat := spread(panel.YMin, panel.YMax, panel.LogY); flat {
			return nil, fmt.Errorf("the range %v to %v of an axis is empty or too small", panel.YMin, panel.YMax)
		}
	}
	p := plot.New()
	p.TextHandler = handler
	p.Add(grid())
	for _, m := range panel.Marks {
		if err := d.mark(p, m); err != nil {
			return nil, err
		}
	}
	for i := range panel.Lines {
		if err := d.line(p, panel, &panel.Lines[i]); err != nil {
			return nil, err
		}
	}
	axis(&p.X, float64(panel.LogX), 0, 0)
	if panel.WholeX && panel.LogX == 0 {
		p.X.Tick.Marker = wholeTicks{}
	}
	base := 0.0
	if panel.LogY {
		base = 10
	}
	axis(&p.Y, base, panel.YMin, panel.YMax)
	return p, nil
}

// line adds a line to a plot and to the legend. If line.High is not nil, the area between the line and line.High is
// filled.
func (d *drawing) line(p *plot.Plot, panel *Panel, line *Line) error {
	look, ok := d.Looks[line.Method]
	if !ok {
		return fmt.Errorf("method %q has no look", line.Method)
	}
	e := entry{
		label: cmp.Or(line.Label, line.Method),
		line:  strokeOf(look),
	}
	if line.Dashed {
		e.line.Width = 0.9
		e.line.Dashes = []vg.Length{1, 1.6}
	} else if look.Marker != nil && !line.Plain {
		e.glyph = draw.GlyphStyle{
			Color:  look.Color,
			Radius: glyph,
			Shape:  look.Marker,
		}
	}
	if line.Loose {
		e.line.Width = 0
		e.glyph.Radius = glyph / 2
	}
	if line.High != nil {
		e.area = faint(look.Color)
	}
	d.explain(e)
	for _, a := range areas(panel, line) {
		b := &plotter.Polygon{XYs: []plotter.XYs{a}, Color: e.area}
		p.Add(bare{b, b})
	}
	for _, values := range [][]float64{line.Y, line.High} {
		for _, run := range runs(panel, line.X, values) {
			if !line.Loose {
				l := &plotter.Line{XYs: run, LineStyle: e.line}
				p.Add(bare{l, l})
			}
			if e.glyph.Shape != nil {
				m := &plotter.Scatter{XYs: run, GlyphStyle: e.glyph}
				p.Add(bare{m, m})
			}
		}
	}
	if line.Names != nil {
		p.Add(names{panel, line})
	}
	return nil
}

// strokeOf returns the style of lines with the given look.
func strokeOf(look Look) draw.LineStyle {
	return draw.LineStyle{
		Color:  look.Color,
		Width:  lineWidth,
		Dashes: look.Dashes,
	}
}

// mark adds a mark, which is a vertical line or a shaded range, to a plot and to the legend.
func (d *drawing) mark(p *plot.Plot, m Mark) error {
	look, ok := d.Looks[m.Method]
	if !ok {
		return fmt.Errorf("method %q has no look", m.Method)
	}
	e := entry{label: cmp.Or(m.Label, m.Method)}
	if m.Lo == m.Hi {
		e.line = strokeOf(look)
	} else {
		e.area = faint(look.Color)
	}
	d.explain(e)
	p.Add(upright{m, e})
	return nil
}

// explain adds an entry to the legend, unless the legend already has an entry with this label.
func (d *drawing) explain(e entry) {
	if !slices.ContainsFunc(d.legend, func(o entry) bool { return o.label == e.label }) {
		d.legend = append(d.legend, e)
	}
}

// upright draws a mark over the full height of a panel. The range of the x axis does not change, even if the mark
// is outside of this range.
type upright struct {
	Mark
	entry
}

// Plot implements [plot.Plotter].
func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	lo := max(u.Lo, p.X.Min)
	hi := min(u.Hi, p.X.Max)
	if !(lo <= hi) {
		return
	}
	left, right := x(lo), x(hi)
	if u.area != nil {
		c.FillPolygon(u.area, []vg.Point{
			{X: left, Y: c.Min.Y},
			{X: right, Y: c.Min.Y},
			{X: right, Y: c.Max.Y},
			{X: left, Y: c.Max.Y},
		})
		return
	}
	c.StrokeLine2(u.line, left, c.Min.Y, left, c.Max.Y)
}

// bare is a plotter that does not tell package plot the sizes of its markers. Otherwise package plot would leave
// room for the markers between the data and the axis.
type bare struct {
	plot.Plotter
	plot.DataRanger
}

// drawable reports whether x can be shown on an axis. log tells whether the axis is logarithmic.
func drawable(x float64, log bool) bool {
	return !math.IsNaN(x) &&
		!math.IsInf(x, 0) &&
		(x > 0 || !log)
}

// spans divides the indices i < n with isFine(i) into ranges of consecutive indices. A range [a, b] contains a but
// not b.
func spans(n int, isFine func(i int) bool) [][2]int {
	var out [][2]int
	gap := true
	for i := range n {
		switch {
		case !isFine(i):
			gap = true
		case gap:
			out = append(out, [2]int{i, i + 1})
			gap = false
		default:
			out[len(out)-1][1] = i + 1
		}
	}
	return out
}

// runs returns the points (x, y) that can be drawn. A point that cannot be drawn interrupts the line, so that
// another list begins after it.
func runs(panel *Panel, x, y []float64) []plotter.XYs {
	var out []plotter.XYs
	isFine := func(i int) bool {
		return drawable(x[i], panel.LogX != 0) &&
			drawable(y[i], panel.LogY)
	}
	for _, s := range spans(len(y), isFine) {
		var run plotter.XYs
		for i := s[0]; i < s[1]; i++ {
			run = append(run, plotter.XY{X: x[i], Y: y[i]})
		}
		out = append(out, run)
	}
	return out
}

// areas returns polygons that fill the area between line.Y and line.High. A point that cannot be drawn divides the
// area into two polygons.
func areas(panel *Panel, line *Line) []plotter.XYs {
	var out []plotter.XYs
	isFine := func(i int) bool {
		return drawable(line.X[i], panel.LogX != 0) &&
			drawable(line.Y[i], panel.LogY) &&
			drawable(line.High[i], panel.LogY)
	}
	for _, s := range spans(len(line.High), isFine) {
		var area plotter.XYs
		for i := s[0]; i < s[1]; i++ {
			area = append(area, plotter.XY{X: line.X[i], Y: line.Y[i]})
		}
		for i := s[1] - 1; i >= s[0]; i-- {
			area = append(area, plotter.XY{X: line.X[i], Y: line.High[i]})
		}
		out = append(out, area)
	}
	return out
}

// axis sets the style and the range of an axis. For a logarithmic axis, base is the base of the ticks; for a linear
// axis, base is 0. If lo and hi are 0, the range is the range of the data, slightly extended.
func axis(a *plot.Axis, base, lo, hi float64) {
	a.Tick.Label.Font = typeface(8.5)
	a.Tick.Label.Handler = handler
	a.Tick.Length = 4
	a.Padding = 0
	a.LineStyle.Width = 0.6
	a.Scale = linearScale{}
	a.Tick.Marker = linearTicks{}
	if base != 0 {
		a.Scale = logScale{}
		a.Tick.Marker = logTicks{base}
	}
	switch {
	case lo != 0 || hi != 0:
		a.Min, a.Max = lo, hi
	case !(a.Min <= a.Max): // there are no data
		a.Min, a.Max = 1, 10
	default:
		a.Min, a.Max, _ = spread(a.Min, a.Max, base != 0)
	}
}

// leastSpread is the smallest length of an axis relative to its values. Data in a smaller range are drawn as equal
// values, because ticks and positions have only about ten digits.
const leastSpread = 1e-9

// spread returns the range of an axis for finite data from lo to hi. For a logarithmic axis, lo and hi must be
// positive. The range extends three per cent beyond the data at each end, unless this would overflow. flat is true
// if lo and hi are too close for an axis.
func spread(lo, hi float64, log bool) (from, to float64, flat bool) {
	const room = 0.03
	if log {
		size := math.Log2(hi) - math.Log2(lo)
		factor := math.Exp2(room * size)
		flat = !(size > leastSpread) || math.IsInf(size, 0)
		if flat {
			factor = 2
		}
		from = max(lo/factor, math.SmallestNonzeroFloat64)
		to = min(hi*factor, math.MaxFloat64)
		return from, to, flat
	}
	size := hi/2 - lo/2 // half of the range, because the whole range may overflow
	largest := max(math.Abs(lo), math.Abs(hi))
	more := 2 * room * size
	flat = !(size > leastSpread*largest && size > leastRange) || math.IsInf(size, 0)
	if flat {
		more = max(1, leastSpread*1e3*largest)
	}
	from = max(lo-more, -math.MaxFloat64)
	to = min(hi+more, math.MaxFloat64)
	return from, to, flat
}

// leastRange is the smallest length of a linear axis. A shorter axis would have subnormal lengths, whose precision
// is too low.
const leastRange = 1e-290

// A linearScale is a [plot.LinearScale] that does not overflow.
type linearScale struct{}

// Normalize implements [plot.Normalizer].
func (linearScale) Normalize(lo, hi, x float64) float64 {
	return (x/2 - lo/2) / (hi/2 - lo/2)
}

// A logScale is a [plot.LogScale] that works for all positive numbers. It uses [math.Log2] because, on amd64,
// [math.Log] is wrong for subnormal numbers.
type logScale struct{}

// Normalize implements [plot.Normalizer].
func (logScale) Normalize(lo, hi, x float64) float64 {
	return (math.Log2(x) - math.Log2(lo)) / (math.Log2(hi) - math.Log2(lo))
}

// grid returns light lines at the ticks with labels.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	light := draw.LineStyle{Color: lightGrey, Width: 0.4}
	g.Horizontal, g.Vertical = light, light
	return g
}

// legendColumns returns the number of columns of the legend, and the common width of these columns.
func (d *drawing) legendColumns() (columns int, width vg.Length) {
	for _, e := range d.legend {
		w := textStyle(9.5).Width(e.label) + legendIcon + 18
		width = max(width, w)
	}
	columns = max(1, min(len(d.legend), int((d.width-2*margin)/max(width, 1))))
	rows := (len(d.legend) + columns - 1) / max(columns, 1)
	if rows > 0 {
		columns = (len(d.legend) + rows - 1) / rows // so that all rows but the last have the same length
	}
	return columns, width
}

func (d *drawing) legendHeight() vg.Length {
	columns, _ := d.legendColumns()
	return vg.Length((len(d.legend)+columns-1)/columns) * legendLine
}

// draw draws the figure on a canvas.
func (d *drawing) draw(canvas vg.CanvasSizer) {
	c := draw.New(canvas)
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	caption(c, vg.Point{X: c.Center().X, Y: c.Max.Y}, 11, 0, d.Title)
	tiles, room := d.tiles(draw.Crop(c, 0, 0, d.legendHeight()+6, -d.titleHeight()))
	for i, tile := range tiles {
		d.plots[i].Draw(tile)
		axes := d.plots[i].DataCanvas(tile)
		middle := axes.Center()
		above := vg.Point{
			X: middle.X,
			Y: axes.Max.Y + room.Max.Y + labelLine,
		}
		below := vg.Point{
			X: middle.X,
			Y: axes.Min.Y - room.Min.Y + 2,
		}
		beside := vg.Point{
			X: axes.Min.X - room.Min.X - labelLine,
			Y: middle.Y,
		}
		caption(c, above, 10, 0, d.Panels[i].Title)
		caption(c, below, 9.5, 0, d.Panels[i].X)
		caption(c, beside, 9.5, math.Pi/2, d.Panels[i].Y)
	}
	d.drawLegend(c)
}

// caption draws a line of text. The middle of the text's upper edge is at the point at.
func caption(c draw.Canvas, at vg.Point, size vg.Length, rotation float64, line string) {
	sty := textStyle(size)
	sty.Rotation = rotation
	sty.XAlign = text.XCenter
	sty.YAlign = text.YTop
	c.FillText(sty, at, line)
}

// tiles divides the canvas c into one tile for each panel. The axes of all panels are aligned and have the same
// size. Titles and axis labels are outside the tiles. room holds the largest distances between a tile and its axes.
//
// Package chart draws the labels itself. If package plot drew them, it would place the label of a logarithmic axis
// off centre. plot.Align would then make panels of unequal size.
func (d *drawing) tiles(c draw.Canvas) (tiles []draw.Canvas, room vg.Rectangle) {
	grid := draw.Tiles{
		Rows: d.rows,
		Cols: d.columns,
		PadX: 8,
		PadY: 4,
	}
	for i, p := range d.plots {
		tile := draw.Crop(
			grid.At(c, i%d.columns, i/d.columns),
			labelLine,
			0,
			labelLine,
			-d.captionHeight(),
		)
		tiles = append(tiles, tile)
		axes := p.DataCanvas(tile)
		low := axes.Min.Sub(tile.Min)
		high := tile.Max.Sub(axes.Max)
		room.Min = vg.Point{
			X: max(room.Min.X, low.X),
			Y: max(room.Min.Y, low.Y),
		}
		room.Max = vg.Point{
			X: max(room.Max.X, high.X),
			Y: max(room.Max.Y, high.Y),
		}
	}
	for i, p := range d.plots {
		want := draw.Crop(tiles[i], room.Min.X, -room.Max.X, room.Min.Y, -room.Max.Y)
		// The margins of package plot for tick labels depend slightly on the size of the tile. Therefore the tile
		// is adjusted several times.
		for range 4 {
			axes := p.DataCanvas(tiles[i])
			low := want.Min.Sub(axes.Min)
			high := want.Max.Sub(axes.Max)
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
		y := c.Min.Y +
			d.legendHeight() -
			(vg.Length(i/columns)+0.5)*legendLine
		if e.area != nil {
			c.FillPolygon(
				e.area,
				[]vg.Point{
					{X: x, Y: y - glyph},
					{X: x + legendIcon, Y: y - glyph},
					{X: x + legendIcon, Y: y + glyph},
					{X: x, Y: y + glyph},
				},
			)
		}
		c.StrokeLine2(e.line, x, y, x+legendIcon, y)
		c.DrawGlyph(e.glyph, vg.Point{X: x + legendIcon/2, Y: y})
		c.FillText(sty, vg.Point{X: x + legendIcon + 5, Y: y}, e.label)
	}
}
