package report

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// Kinds are the kinds of charts.
var Kinds = []string{"path", "spectrum", "convergence"}

// A Drawable holds the charts of one file.
type Drawable struct {
	Name   string
	charts map[string][]chart.Panel // panels by kind of chart; a kind without data is absent
}

// newDrawable returns a Drawable whose charts show scores against the penalty γ. The scores belong to the
// candidates of choice or, if choice is nil, to the given fits. name is the name of the file.
func newDrawable(name string, choice *choice, fits []model.Record) (*Drawable, error) {
	d := &Drawable{name, map[string][]chart.Panel{}}
	path, err := pathOf(name, choice, fits)
	if path != nil {
		for _, p := range path.panels() {
			d.charts["path"] = append(d.charts["path"], p.Panel)
		}
	}
	return d, err
}

// A gammaPath holds scores of solutions with several penalties γ, summed over the targets. Each score is an
// interval that contains the exact score.
type gammaPath struct {
	gamma         []float64
	gcv, rss, dim []ridge.Interval
	scores        []ridge.Interval // brackets of the score named by; nil: only GCV
	by            string
	targets       int
	choice        *choice // nil: the γ was given by the user
}

// OfSummary returns the charts that can be drawn of a saved sketch. name is the name of its file.
func OfSummary(name string, sum *ridge.Summary) (*Drawable, error) {
	if sum.Rows() == 0 {
		return &Drawable{Name: name}, nil
	}
	spectrum, err := sum.Sketch().Spectrum()
	if err != nil {
		return nil, err
	}
	const points = 50
	choice, err := choose.Gamma(sum, choose.Grid(sum, points))
	if err != nil {
		return nil, err
	}
	d, err := newDrawable(name, describe(choice, wording{}), nil)
	if err == nil {
		d.charts["spectrum"] = []chart.Panel{spectrumPanel(spectrum, nil)}
	}
	return d, err
}

// OfModel returns the charts that can be drawn of a saved model. name is the name of its file. An error is returned
// if a certificate of the model cannot be read.
func OfModel(name string, m *model.Model) (*Drawable, error) {
	var fits []model.Record
	for i := range m.Fits {
		r, err := m.Fits[i].Certificate.Record()
		if e, ok := errors.AsType[*model.CertificateError](err); ok {
			return nil, errtext.BadInput("%s: the certificate cannot be read: %w", name, e.Err)
		}
		if err != nil {
			return nil, err
		}
		fits = append(fits, *r)
	}
	return newDrawable(name, nil, fits)
}

// OfReport returns the charts that can be drawn of a JSON report, written by fit or solve. text is the report, and
// name is the name of its file.
func OfReport(name string, text []byte) (*Drawable, error) {
	var file struct {
		Choice *choice        `json:"choice"`
		Fits   []model.Record `json:"fits"`
		Trace  []*Trace       `json:"trace"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, errtext.BadInput(
			"%s is not a report of fit --json or solve --json, nor a model: %w",
			name,
			jsonfields.Explain(err),
		)
	}
	if file.Choice == nil && file.Fits == nil {
		return nil, errtext.BadInput("%s is not a report of fit --json or solve --json, nor a model", name)
	}
	for _, t := range file.Trace {
		if t == nil || len(t.Points) == 0 {
			return nil, errtext.BadInput("%s: the trace has no points", name)
		}
		if t.Target < 1 {
			return nil, errtext.BadInput("%s: the trace is about target %d; targets count from 1", name, t.Target)
		}
	}
	d, err := newDrawable(name, file.Choice, file.Fits)
	if len(file.Trace) > 0 {
		d.charts["convergence"] = []chart.Panel{convergencePanel(file.Trace, new(Fit).targetName)}
	}
	return d, err
}

// pathOf collects scores in ascending order of the penalty γ. They belong to the candidates of choice or, if choice
// is nil, to the given fits. pathOf returns nil for fewer than two γ. Error messages contain name, the name of the
// file.
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
	slices.SortStableFunc(points, func(a, b point) int {
		return int(math.Copysign(1, a.Gamma-b.Gamma))
	})
	first := &points[0]
	p := &gammaPath{targets: len(first.Certificates), choice: choice, by: "gcv"}
	if choice != nil {
		p.by = choice.By
	}
	for i := range points {
		x := &points[i]
		if !x.isLike(first, criterionOf(p.by)) {
			return nil, errtext.BadInput("%s: the fields at gamma %v are incomplete", name, x.Gamma)
		}
		var gcv, rss []ridge.Interval
		for _, c := range x.Certificates {
			gcv, rss = append(gcv, c.GCV), append(rss, c.RSS)
		}
		p.gamma = append(p.gamma, x.Gamma)
		p.gcv = append(p.gcv, sumOf(gcv))
		p.rss = append(p.rss, sumOf(rss))
		p.dim = append(p.dim, sumOf(brackets{x.EffectiveDimension}))
		if x.scores != nil {
			p.scores = append(p.scores, sumOf(x.scores))
		}
	}
	return p, nil
}

// brackets holds one interval for each target. Each interval contains the exact value.
type brackets = perTarget[ridge.Interval]

// sumOf returns the sum of the intervals. If an end of an interval is not finite, this end of the sum is infinite.
func sumOf(b brackets) ridge.Interval {
	var v ridge.Interval
	for _, t := range b {
		v.Lo += finiteOr(t.Lo, -1)
		v.Hi += finiteOr(t.Hi, 1)
	}
	return v
}

// finiteOr returns x if x is finite, otherwise the infinity with the given sign.
func finiteOr(x float64, sign int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(sign)
	}
	return x
}

// hints maps each kind of chart to a text that says which files contain the data for it.
var hints = map[string]string{
	"path":        "; use fit --json with several gammas or auto, or a sketch",
	"spectrum":    "; use a sketch",
	"convergence": "; use fit --json or solve --json with cg, galerkin or newton",
}

// ChooseKind returns the kind of chart to draw for all files. If requested is not empty, it is this kind, and every
// file must have it. Otherwise the files must have exactly one kind of chart in common.
func ChooseKind(requested string, all []*Drawable) (string, error) {
	possible := slices.Clone(Kinds)
	for _, d := range all {
		if requested != "" && d.charts[requested] == nil {
			return "", errtext.BadInput("--kind: %s has no %s%s", d.Name, requested, hints[requested])
		}
		if len(d.charts) == 0 {
			return "", errtext.BadInput(
				"%s has nothing to draw: neither a path of several gammas, nor refining passes, nor a sketch",
				d.Name,
			)
		}
		possible = slices.DeleteFunc(possible, func(k string) bool {
			return d.charts[k] == nil
		})
	}
	switch {
	case requested != "":
		return requested, nil
	case len(possible) == 0:
		return "", errtext.BadInput("the files have no kind of chart in common")
	case len(possible) > 1:
		return "", errtext.BadInput("--kind: choose one, %s", strings.Join(possible, " or "))
	}
	return possible[0], nil
}

// panelSize is the width and height in points of a figure with one panel.
var panelSize = [2]float64{440, 250}

// Draw returns a figure with one kind of chart for every file. If the files have several panels each, every file
// fills a row of the figure. Otherwise a row has up to three files.
func Draw(kind string, all []*Drawable) *chart.Figure {
	f := &chart.Figure{Looks: looks}
	for _, d := range all {
		panels := d.charts[kind]
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
		f.Width, f.Height = panelSize[0], panelSize[1]
	case f.Columns == 1:
		f.Columns = min(3, len(all))
	}
	return f
}
