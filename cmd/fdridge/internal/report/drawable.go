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
	"github.com/fdridge/fdridge/ridge"
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
	choice        *chosen
}

// A chosen is the γ taken, and the range of those that may have a smaller score.
type chosen struct {
	Gamma    float64    `json:"gamma"`
	Possible [2]float64 `json:"possible"`
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
	choice, err := sum.ChooseGamma(sum.Grid(points))
	if err != nil {
		return nil, err
	}
	d.path, err = pathIn(name, &fitRecord{Choice: describe(choice, wording{})})
	return d, err
}

// pathIn is the path of a record. It is read from the JSON that the record is written as, so that
// a page shows what plot draws of the same report: what is not finite, and so null, is infinite.
func pathIn(name string, rec *fitRecord) (*gammaPath, error) {
	text, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	d, err := OfText(name, text)
	if err != nil {
		return nil, err
	}
	return d.path, nil
}

// brackets are those of the targets.
type brackets = perTarget[ridge.Interval]

// sum is the bracket of the sum.
func sum(b brackets) ridge.Interval {
	var v ridge.Interval
	for _, t := range b {
		v.Lo, v.Hi = v.Lo+t.Lo, v.Hi+t.Hi
	}
	return v
}

// A pathText is what is known at one γ, in a report or a model.
type pathText struct {
	Gamma              float64  `json:"gamma"`
	EffectiveDimension brackets `json:"effective_dimension"`
	RSS                brackets `json:"rss"`
	GCV                brackets `json:"gcv"`
	CV                 brackets `json:"cv"`
	LOO                brackets `json:"loo"`
}

// complete tells that there is a bracket for each of so many targets, of the cross-validated
// and the leave-one-out error where the first one of the path has them.
func (p *pathText) complete(targets int, first *pathText) bool {
	alike := func(a, b brackets) bool { return (a != nil) == (b != nil) && (a == nil || len(a) == targets) }
	return targets > 0 && len(p.GCV) == targets && len(p.RSS) == targets && len(p.EffectiveDimension) == 1 &&
		alike(p.CV, first.CV) && alike(p.LOO, first.LOO)
}

// OfText is what can be drawn of a report of fit --json, or of a model.
func OfText(name string, text []byte) (*Drawable, error) {
	var file struct {
		Choice *struct {
			chosen
			Path []pathText `json:"path"`
		} `json:"choice"`
		Fits   []pathText `json:"fits"`
		Models []struct {
			Certificate pathText `json:"certificate"`
		} `json:"models"`
		Certificate *pathText `json:"certificate"` // of the only model
		Trace       []*Trace  `json:"trace"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, badinput.Errorf("%s is no report of fit --json, solve --json or a model: %w", name, err)
	}
	points := file.Fits
	for _, m := range file.Models {
		points = append(points, m.Certificate)
	}
	var choice *chosen
	switch {
	case file.Choice != nil:
		points, choice = file.Choice.Path, &file.Choice.chosen
	case len(points) == 0 && file.Certificate == nil:
		return nil, badinput.Errorf("%s is no report of fit --json, solve --json or a model", name)
	}
	for _, t := range file.Trace {
		if t == nil || len(t.Points) == 0 {
			return nil, badinput.Errorf("%s: the trace has no points", name)
		}
	}
	d := &Drawable{Name: name, traces: file.Trace}
	if len(points) < 2 {
		return d, nil
	}
	var err error
	d.path, err = pathOf(name, points, choice)
	return d, err
}

// pathOf is the path over points, in the order of γ.
func pathOf(name string, points []pathText, choice *chosen) (*gammaPath, error) {
	slices.SortStableFunc(points, func(a, b pathText) int { return int(math.Copysign(1, a.Gamma-b.Gamma)) })
	p := &gammaPath{targets: len(points[0].GCV), choice: choice}
	for i := range points {
		x := &points[i]
		if !x.complete(p.targets, &points[0]) {
			return nil, badinput.Errorf("%s: what it says of gamma %v is not complete", name, x.Gamma)
		}
		p.gamma = append(p.gamma, x.Gamma)
		p.gcv = append(p.gcv, sum(x.GCV))
		if x.CV != nil {
			p.cv = append(p.cv, sum(x.CV))
		}
		if x.LOO != nil {
			p.loo = append(p.loo, sum(x.LOO))
		}
		p.rss = append(p.rss, sum(x.RSS))
		p.dim = append(p.dim, x.EffectiveDimension[0])
	}
	return p, nil
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
	"convergence": ": it takes what fit --json or solve --json printed of cg, galerkin, chebyshev or newton",
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
