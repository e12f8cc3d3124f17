package main

import (
	"slices"

	"github.com/fdridge/fdridge/internal/chart"
)

// pick returns the curve of the runs that are wanted against P.
func pick(runs []run, want func(run) bool, y func(run) float64) (x, ys []float64) {
	for _, r := range runs {
		if want(r) {
			x, ys = append(x, float64(r.ranks)), append(ys, y(r))
		}
	}
	return x, ys
}

// palette gives the labels of lines their looks, in order.
func palette(labels ...string) map[string]chart.Look {
	looks := []chart.Look{
		{Color: chart.Black, Marker: chart.Disc}, {Color: chart.Blue, Marker: chart.Square}, {Color: chart.Vermilion, Marker: chart.Diamond},
		{Color: chart.Green, Marker: chart.Triangle}, {Color: chart.Orange, Marker: chart.Hollow(chart.Disc)}, {Color: chart.Purple, Marker: chart.Hollow(chart.Square)},
	}
	out := map[string]chart.Look{}
	for i, l := range labels {
		out[l] = looks[i%len(looks)]
	}
	return out
}

// scalingFigure draws weak and strong scaling, and what is not work.
func scalingFigure(runs []run) *chart.Figure {
	var names []string
	for _, w := range networks {
		names = append(names, w.Name)
	}
	f := &chart.Figure{Columns: 3, Looks: palette(names...), Panels: []chart.Panel{
		{Title: "Weak scaling", X: "ranks P", Y: "seconds", LogX: 2},
		{Title: "Strong scaling", X: "ranks P", Y: "seconds", LogX: 2, LogY: true},
		{Title: "Strong: share of time not working", X: "ranks P", Y: "share", LogX: 2, YMax: 1},
	}}
	for i, kind := range []string{"weak", "strong", "strong"} {
		for _, w := range names {
			want := func(r run) bool { return r.kind == kind && r.network == w && r.slowness == slownesses[0].name }
			y := func(r run) float64 { return r.seconds }
			if i == 2 {
				y = func(r run) float64 { return r.idle }
			}
			line := chart.Line{Method: w}
			line.X, line.Y = pick(runs, want, y)
			f.Panels[i].Lines = append(f.Panels[i].Lines, line)
		}
	}
	return f
}

// stragglerFigure draws weak scaling with uneven ranks, over even ones.
func stragglerFigure(runs []run) *chart.Figure {
	var names []string
	for _, s := range slownesses {
		names = append(names, s.name)
	}
	f := &chart.Figure{Columns: 2, Looks: palette(names...), Panels: []chart.Panel{
		{Title: "Time of the job", X: "ranks P", Y: "seconds", LogX: 2},
		{Title: "Share of time not working", X: "ranks P", Y: "share", LogX: 2, YMax: 1},
	}}
	for i, y := range []func(run) float64{func(r run) float64 { return r.seconds }, func(r run) float64 { return r.idle }} {
		for _, s := range names {
			line := chart.Line{Method: s}
			line.X, line.Y = pick(runs, func(r run) bool { return r.kind == "weak" && r.network == networks[1].Name && r.slowness == s }, y)
			f.Panels[i].Lines = append(f.Panels[i].Lines, line)
		}
	}
	return f
}

// etaFigure draws η of merged sketches, the true error and the bound, over ‖A‖²_F.
func etaFigure(all []merging) *chart.Figure {
	labels := []string{"η, tree", "η, chain", "‖K − BᵀB‖₂, tree", "a-priori bound"}
	f := &chart.Figure{Columns: 2, Looks: palette(labels...)}
	var names []string
	for _, m := range all {
		if !slices.Contains(names, m.data) {
			names = append(names, m.data)
		}
	}
	for _, name := range names {
		panel := chart.Panel{Title: name, X: "parts P", Y: "over ‖A‖²", LogX: 2}
		for i, y := range []func(merging) float64{
			func(m merging) float64 { return m.eta }, func(m merging) float64 { return m.eta },
			func(m merging) float64 { return m.error }, func(m merging) float64 { return m.bound },
		} {
			order := "tree"
			if i == 1 {
				order = "chain"
			}
			line := chart.Line{Method: labels[i], Plain: i == 3, Dashed: i == 3}
			for _, m := range all {
				if m.data == name && (m.order == order || m.parts == 1) {
					line.X, line.Y = append(line.X, float64(m.parts)), append(line.Y, y(m))
				}
			}
			panel.Lines = append(panel.Lines, line)
			if i == 3 {
				panel.YMax = 1.1 * line.Y[0]
			}
		}
		f.Panels = append(f.Panels, panel)
	}
	return f
}

// sizeFigure draws the predicted time against m, for spectra and γ.
func sizeFigure(s site) *chart.Figure {
	labels := []string{"λ ~ 1/j, γ = mean", "λ ~ 1/j, γ = mean/100", "λ ~ 1/j², γ = mean", "λ ~ 1/j², γ = mean/100"}
	f := &chart.Figure{Columns: 2, Looks: palette(labels...)}
	for _, j := range []job{{n: 1e9, d: 1e4, t: 1, q: 1, ranks: 256}, {n: 1e8, d: 1e5, t: 1, q: 1, ranks: 1024}} {
		panel := chart.Panel{Title: "n = " + chart.Digits(j.n, 1) + ", d = " + chart.Digits(j.d, 1) + ", P = " + count(float64(j.ranks)), X: "sketch size m", Y: "seconds", LogX: 2, LogY: true}
		i := 0
		for _, power := range []float64{1, 2} {
			for _, gamma := range []float64{1, 0.01} {
				r := s.compare(j, decay{power}, gamma)
				panel.Lines = append(panel.Lines, chart.Line{Method: labels[i], X: sizes[:len(r.bySize)], Y: r.bySize})
				i++
			}
		}
		f.Panels = append(f.Panels, panel)
	}
	return f
}
