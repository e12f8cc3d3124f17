package report

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// Kinds are what can be drawn.
var Kinds = []string{"path", "spectrum", "convergence"}

// A Drawable is what a file has that can be drawn; nil is what it doesn't have.
type Drawable struct {
	Name     string
	path     *gammaPath
	traces   []*Trace
	spectrum *fd.Spectrum
}

// A gammaPath is what is known at each of several γ, summed over the targets.
type gammaPath struct {
	gamma         []float64
	gcv, rss, dim []ridge.Interval
	cv, loo       []ridge.Interval // nil where there was no cross-validation, or no row was left out
	targets       int
	choice        *choice // nil: the γ were asked for
}

// OfSummary is what can be drawn of a sketch in a file.
func OfSummary(name string, sum *ridge.Summary) (*Drawable, error) {
	d := &Drawable{Name: name}
	if sum.Rows() == 0 {
		return d, nil
	}
	var err error
	if d.spectrum, err = sum.Sketch().Spectrum(); err != nil {
		return nil, err
	}
	const points = 50
	choice, err := choose.Gamma(sum, choose.Grid(sum, points))
	if err != nil {
		return nil, err
	}
	d.path, err = pathOf(name, describe(choice, wording{}), nil)
	return d, err
}

// OfText is what can be drawn of a report of fit --json, or of a model.
func OfText(name string, text []byte) (*Drawable, error) {
	var file struct {
		Choice *choice        `json:"choice"`
		Fits   []model.Record `json:"fits"`
		Models []struct {
			Certificate model.Record `json:"certificate"`
		} `json:"models"`
		Certificate *model.Record `json:"certificate"` // of the only model
		Trace       []*Trace      `json:"trace"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, badinput.Errorf("%s is no report of fit --json, solve --json or a model: %w", name, err)
	}
	for _, m := range file.Models {
		file.Fits = append(file.Fits, m.Certificate)
	}
	if file.Choice == nil && file.Fits == nil && file.Certificate == nil {
		return nil, badinput.Errorf("%s is no report of fit --json, solve --json or a model", name)
	}
	for _, t := range file.Trace {
		if t == nil || len(t.Points) == 0 {
			return nil, badinput.Errorf("%s: the trace has no points", name)
		}
	}
	path, err := pathOf(name, file.Choice, file.Fits)
	return &Drawable{Name: name, path: path, traces: file.Trace}, err
}

// pathOf returns the path of a choice, or of fits if there was no choice, in the order of γ. It is nil
// for less than two γ.
func pathOf(name string, choice *choice, fits []model.Record) (*gammaPath, error) {
	var points []point
	if choice != nil {
		points = slices.Clone(choice.Path)
	} else {
		for _, f := range fits {
			points = append(points, point{Record: f})
		}
	}
	if len(points) < 2 {
		return nil, nil
	}
	slices.SortStableFunc(points, func(a, b point) int { return int(math.Copysign(1, a.Gamma-b.Gamma)) })
	first := &points[0]
	p := &gammaPath{targets: len(first.Certificates), choice: choice}
	for i := range points {
		x := &points[i]
		if !x.isLike(first) {
			return nil, badinput.Errorf("%s: what it says of gamma %v is not complete", name, x.Gamma)
		}
		var gcv, rss []ridge.Interval
		for _, c := range x.Certificates {
			gcv, rss = append(gcv, c.GCV), append(rss, c.RSS)
		}
		p.gamma = append(p.gamma, x.Gamma)
		p.gcv, p.rss, p.dim = append(p.gcv, sum(gcv)), append(p.rss, sum(rss)), append(p.dim, sum(brackets{x.EffectiveDimension}))
		if x.CV != nil {
			p.cv = append(p.cv, sum(x.CV))
		}
		if x.LOO != nil {
			p.loo = append(p.loo, sum(x.LOO))
		}
	}
	return p, nil
}

// brackets are those of the targets.
type brackets = perTarget[ridge.Interval]

// sum returns the bracket of the sum. An end that is not finite is no end, as it is in JSON.
func sum(b brackets) ridge.Interval {
	var v ridge.Interval
	for _, t := range b {
		v.Lo, v.Hi = v.Lo+finiteOr(t.Lo, -1), v.Hi+finiteOr(t.Hi, 1)
	}
	return v
}

// finiteOr returns x, or the infinity of this sign if x is not finite.
func finiteOr(x float64, sign int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(sign)
	}
	return x
}

// kinds are what can be drawn of it.
func (d *Drawable) kinds() []string {
	var out []string
	if d.path != nil {
		out = append(out, "path")
	}
	if d.spectrum != nil {
		out = append(out, "spectrum")
	}
	if d.traces != nil {
		out = append(out, "convergence")
	}
	return out
}

func (d *Drawable) panels(kind string) ([]chart.Panel, error) {
	switch kind {
	case "path":
		var out []chart.Panel
		for _, p := range d.path.panels() {
			out = append(out, p.Panel)
		}
		return out, nil
	case "spectrum":
		return []chart.Panel{spectrumPanel(d.spectrum, nil)}, nil
	case "convergence":
		return []chart.Panel{convergencePanel(d.traces)}, nil
	}
	return nil, errors.New("no such kind: " + kind)
}

// hints say where a kind is to be found.
var hints = map[string]string{
	"path":        ": it takes fit --json with several gamma or auto, or a sketch",
	"spectrum":    ": it takes a sketch",
	"convergence": ": it takes what fit --json or solve --json printed of cg, galerkin or newton",
}

// ChooseKind settles what to draw: the kind asked for, or the only one that all files hold.
func ChooseKind(asked string, all []*Drawable) (string, error) {
	possible := slices.Clone(Kinds)
	for _, d := range all {
		kinds := d.kinds()
		if asked != "" && !slices.Contains(kinds, asked) {
			return "", badinput.Errorf("--kind: %s holds no %s%s", d.Name, asked, hints[asked])
		}
		if len(kinds) == 0 {
			return "", badinput.Errorf("%s holds nothing to draw: no path of several gamma, no refining passes, no sketch", d.Name)
		}
		possible = slices.DeleteFunc(possible, func(k string) bool { return !slices.Contains(kinds, k) })
	}
	switch {
	case asked != "":
		return asked, nil
	case len(possible) == 0:
		return "", badinput.Errorf("the files hold nothing of one kind")
	case len(possible) > 1:
		return "", badinput.Errorf("--kind: say which to draw, %s", strings.Join(possible, " or "))
	}
	return possible[0], nil
}

// alone is the size of the only panel of a chart, in points.
var alone = [2]float64{440, 250}

// Draw draws one kind of all, side by side.
func Draw(kind string, all []*Drawable) (*chart.Figure, error) {
	f := &chart.Figure{Looks: looks}
	for _, d := range all {
		panels, err := d.panels(kind)
		if err != nil {
			return nil, err
		}
		if len(all) > 1 {
			for i := range panels {
				panels[i].Title = strings.TrimPrefix(panels[i].Title+", "+filepath.Base(d.Name), ", ")
			}
		}
		f.Columns = max(f.Columns, len(panels))
		f.Panels = append(f.Panels, panels...)
	}
	switch {
	case f.Columns == 1 && len(all) == 1:
		f.Width, f.Height = alone[0], alone[1]
	case f.Columns == 1:
		f.Columns = min(3, len(all))
	}
	return f, nil
}
