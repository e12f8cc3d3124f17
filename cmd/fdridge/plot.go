package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// plotKinds are what plot can draw.
var plotKinds = []string{"path", "spectrum", "convergence"}

// plotOptions are the flags of plot.
type plotOptions struct{ out, kind string }

func plotCommand() *cobra.Command {
	o := &plotOptions{}
	c := &cobra.Command{
		Use:   "plot FILE… --out CHART.png|CHART.svg",
		Short: "Draw the path over γ, a sketch's spectrum, or the convergence of a fit",
		Long: `Draws what fit --json or solve --json printed, a model of several γ that --out
wrote, or a sketch; of several files side by side.

path: GCV, training error and effective dimension against γ, each as the bracket
that is proved, with the γ chosen and those that the sketch leaves open.
spectrum: the squared singular values of a sketch beside its bound η.
convergence: the certified relative error after each pass beside what the sketch's
bound predicted before the first.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInput("plot needs a file: what fit --json printed, a model or a sketch")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(args, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "the picture to write, .png or .svg")
	c.Flags().StringVar(&o.kind, "kind", "", strings.Join(plotKinds, ", ")+" (default: what the files hold, where that is one of these)")
	return c
}

func (o *plotOptions) check(names []string) error {
	if o.out == "" {
		return badInput("--out: no file is named")
	}
	if ext := filepath.Ext(o.out); ext != ".png" && ext != ".svg" {
		return badInput("--out: %s must end in .png or .svg", o.out)
	}
	if o.kind != "" {
		if err := oneOf("kind", o.kind, plotKinds...); err != nil {
			return err
		}
	}
	return firstError(checkOut(o.out), distinct(names, named{"out", o.out}))
}

func (o *plotOptions) run(names []string, stdout io.Writer) error {
	all := make([]*plottable, len(names))
	for i, name := range names {
		var err error
		if all[i], err = readPlottable(name); err != nil {
			return err
		}
	}
	kind, err := chooseKind(o.kind, all)
	if err != nil {
		return err
	}
	f := &chart.Figure{Looks: plotLooks}
	for _, p := range all {
		panels, err := p.panels(kind)
		if err != nil {
			return err
		}
		if len(all) > 1 {
			for i := range panels {
				panels[i].Title = strings.TrimPrefix(panels[i].Title+", "+filepath.Base(p.name), ", ")
			}
		}
		f.Columns = max(f.Columns, len(panels))
		f.Panels = append(f.Panels, panels...)
	}
	if f.Columns == 1 {
		f.Columns = min(3, len(all))
	}
	if err := atomicfile.Write(o.out, func(w io.Writer) error { return f.Save(w, filepath.Ext(o.out)[1:]) }); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	note := ""
	if n := len(f.LeftOut()); n > 0 {
		note = fmt.Sprintf("; %d values are zero or not finite and not drawn", n)
	}
	_, err = fmt.Fprintf(stdout, "%s: %s of %s%s\n", o.out, kind, strings.Join(names, ", "), note)
	return err
}

// chooseKind settles what to draw: the kind asked for, or the only one that all
// files hold.
func chooseKind(asked string, all []*plottable) (string, error) {
	possible := slices.Clone(plotKinds)
	for _, p := range all {
		kinds := p.kinds()
		if asked != "" && !slices.Contains(kinds, asked) {
			return "", badInput("--kind: %s holds no %s%s", p.name, asked, plotHints[asked])
		}
		if len(kinds) == 0 {
			return "", badInput("%s holds nothing to draw: no path of several gamma, no refining passes, no sketch", p.name)
		}
		possible = slices.DeleteFunc(possible, func(k string) bool { return !slices.Contains(kinds, k) })
	}
	switch {
	case asked != "":
		return asked, nil
	case len(possible) == 0:
		return "", badInput("the files hold nothing of one kind")
	case len(possible) > 1:
		return "", badInput("--kind: say which to draw, %s", strings.Join(possible, " or "))
	}
	return possible[0], nil
}

// plotHints say where a kind is to be found.
var plotHints = map[string]string{
	"path":        ": it takes fit --json with several gamma or auto, or a sketch",
	"spectrum":    ": it takes a sketch",
	"convergence": ": it takes what fit --json or solve --json printed of cg, galerkin, chebyshev or newton",
}

// A plottable is a file's part that can be drawn; nil is what it doesn't have.
type plottable struct {
	name     string
	path     *gammaPath
	traces   []*trace
	spectrum *fd.Spectrum
	gammas   []float64 // to be marked in the spectrum
}

// A gammaPath is what is known at each of several γ, summed over the targets.
type gammaPath struct {
	gamma         []float64
	gcv, rss, dim []ridge.Interval
	cv            []ridge.Interval // nil where there was no cross-validation
	targets       int
	choice        *chosen
}

// A chosen is the γ taken, and the range of those that may have a smaller score.
type chosen struct {
	Gamma    float64    `json:"gamma"`
	Possible [2]float64 `json:"possible"`
}

// readPlottable reads a report or a model, or a sketch.
func readPlottable(name string) (*plottable, error) {
	text, err := readText(name)
	if err != nil {
		return nil, &inputError{err}
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return parsePlottable(name, text)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, &inputError{err}
	}
	sum, _, err := load(name, be)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor a sketch: %w", err)
	}
	p := &plottable{name: name}
	if sum.Rows() == 0 {
		return p, nil
	}
	if p.spectrum, err = sum.Sketch().Spectrum(); err != nil {
		return nil, err
	}
	const points = 50
	choice, err := sum.ChooseGamma(sum.Grid(points))
	if err != nil {
		return nil, err
	}
	record, err := json.Marshal(jsonReport{Choice: describe(choice)})
	if err != nil {
		return nil, err
	}
	drawn, err := parsePlottable(name, record)
	if err != nil {
		return nil, err
	}
	p.path = drawn.path
	return p, nil
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

// parsePlottable reads a report or a model.
func parsePlottable(name string, text []byte) (*plottable, error) {
	type at struct {
		Gamma              float64  `json:"gamma"`
		EffectiveDimension brackets `json:"effective_dimension"`
		RSS                brackets `json:"rss"`
		GCV                brackets `json:"gcv"`
		CV                 brackets `json:"cv"`
	}
	var file struct {
		Choice *struct {
			chosen
			Path []at `json:"path"`
		} `json:"choice"`
		Fits   []at `json:"fits"`
		Models []struct {
			Certificate at `json:"certificate"`
		} `json:"models"`
		Certificate *at      `json:"certificate"` // of the only model
		Trace       []*trace `json:"trace"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, badInput("%s is no report of fit --json, solve --json or a model: %w", name, err)
	}
	points := file.Fits
	for _, m := range file.Models {
		points = append(points, m.Certificate)
	}
	p := &plottable{name: name, traces: file.Trace}
	var choice *chosen
	switch {
	case file.Choice != nil:
		points, choice = file.Choice.Path, &file.Choice.chosen
	case len(points) == 0 && file.Certificate == nil:
		return nil, badInput("%s is no report of fit --json, solve --json or a model", name)
	}
	for _, t := range p.traces {
		if t == nil || len(t.Points) == 0 {
			return nil, badInput("%s: the trace has no points", name)
		}
	}
	if len(points) < 2 {
		return p, nil
	}
	cross := points[0].CV != nil
	slices.SortStableFunc(points, func(a, b at) int { return int(math.Copysign(1, a.Gamma-b.Gamma)) })
	p.path = &gammaPath{targets: len(points[0].GCV), choice: choice}
	for _, x := range points {
		if len(x.GCV) != p.path.targets || len(x.RSS) != p.path.targets || len(x.EffectiveDimension) != 1 || p.path.targets == 0 ||
			(x.CV != nil) != cross || (cross && len(x.CV) != p.path.targets) {
			return nil, badInput("%s: what it says of gamma %v is not complete", name, x.Gamma)
		}
		p.path.gamma = append(p.path.gamma, x.Gamma)
		p.path.gcv = append(p.path.gcv, sum(x.GCV))
		if x.CV != nil {
			p.path.cv = append(p.path.cv, sum(x.CV))
		}
		p.path.rss = append(p.path.rss, sum(x.RSS))
		p.path.dim = append(p.path.dim, x.EffectiveDimension[0])
	}
	return p, nil
}

// kinds are what can be drawn of it.
func (p *plottable) kinds() []string {
	var out []string
	if p.path != nil {
		out = append(out, "path")
	}
	if p.spectrum != nil {
		out = append(out, "spectrum")
	}
	if p.traces != nil {
		out = append(out, "convergence")
	}
	return out
}

func (p *plottable) panels(kind string) ([]chart.Panel, error) {
	switch kind {
	case "path":
		return p.path.panels(), nil
	case "spectrum":
		return []chart.Panel{spectrumPanel(p.spectrum, p.gammas)}, nil
	case "convergence":
		return []chart.Panel{convergencePanel(p.traces)}, nil
	}
	return nil, errors.New("no such kind: " + kind)
}
