package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/printable"
	"github.com/fdridge/fdridge/ridge"
)

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"bound": bound, "figure": figureInPage, "gamma": func(v float64) string { return chart.Digits(v, 4) },
}).Parse(pageText))

// A page is what the HTML report shows of a fit, all in words, tables and pictures: a value
// for each of its sections.
type page struct {
	Title       string
	Verdict     verdict
	Ran         []fact
	Certificate certificateSection
	HeldOut     *heldOutSection // nil: no rows were held out
	Path        pathSection
	Spectrum    spectrumSection
	Convergence convergenceSection
	Weights     weightsSection
	Command     string
	Version     string
}

// A fact is a line of what ran.
type fact struct{ Name, Value string }

// WritePage writes the HTML page.
func (f *Fit) WritePage(w io.Writer) error {
	rec := f.record()
	p := &page{
		Title:   fmt.Sprintf("Ridge fit of %s", f.Data.Name),
		Verdict: f.verdict(), Certificate: f.certificate(rec), Weights: f.weights(),
		Command: f.Asked.Command, Version: f.Asked.Program,
	}
	draws := &pen{}
	var err error
	if p.Ran, err = f.ran(rec); err != nil {
		return err
	}
	if p.HeldOut, err = f.heldOutInPage(rec, draws); err != nil {
		return err
	}
	if p.Path, err = f.path(rec, draws); err != nil {
		return err
	}
	if p.Spectrum, err = f.spectrum(draws); err != nil {
		return err
	}
	if p.Convergence, err = f.convergence(draws); err != nil {
		return err
	}
	return pageTemplate.Execute(printable.Writer(w), p)
}

// ran says what ran.
func (f *Fit) ran(rec *fitRecord) ([]fact, error) {
	machine, err := engine.NewReport()
	if err != nil {
		return nil, err
	}
	var out []fact
	add := func(name, format string, args ...any) {
		out = append(out, fact{name, fmt.Sprintf(format, args...)})
	}
	add("Data", "%s (%s)", f.Data.Name, rec.Format)
	add("Size", "%d rows × %d features, %d %s", rec.N, rec.D, rec.Targets, plural(rec.Targets, "target", "targets"))
	if rec.Encoding != nil {
		if text := rec.Encoding.missing(); text != "" {
			add("Missing values", "%s", text)
		}
		if text := rec.Encoding.categorical(); text != "" {
			add("Categorical columns", "%s", text)
		}
	}
	if rec.HeldOut != nil {
		add("Held out", "%s", rec.HeldOut.sentence())
	}
	add("Intercept", "%s", f.intercept())
	method := rec.Method.String()
	if rec.MethodReason != "" {
		method += " (" + rec.MethodReason + ")"
	}
	add("Method", "%s", method)
	if rec.Penalties != nil {
		add("Penalties", "%s", rec.Penalties)
	}
	if rec.Size > 0 {
		if kept := f.scatter(); kept != "" {
			add("Sketch", "%s%s", kept, f.lanes())
		} else {
			add("Sketch", "%d rows, Robust Frequent Directions%s", rec.Size, f.lanes())
		}
	}
	add("Data read", "%d %s", rec.Reads, plural(rec.Reads, "time", "times"))
	if n := len(rec.Ranks); n > 0 {
		most, bytes := 0.0, int64(0)
		for _, k := range rec.Ranks {
			most, bytes = max(most, float64(k.Share)), max(bytes, k.Sent)
		}
		add("Ranks", "%d, each with its share of the rows; up to %s of a rank's time went into communicating, %s sent at most", n, percent(most), megabytes(bytes))
	}
	add("Time", "%s", secondsOf(float64(rec.TotalTime)))
	add("Memory", "%s at most", bytesOf(uint64(rec.PeakRSS)))
	add("Computed by", "%s (%s), %d %s of %s", rec.Backend, rec.Kernel, machine.GoMaxProcs, plural(machine.GoMaxProcs, "thread", "threads"), machine.CPU)
	return out, nil
}

// intercept says where the intercept of the weights comes from.
func (f *Fit) intercept() string {
	centred := func(o ridge.Target) bool {
		_, b := f.Data.Preparation.Unscale(o.Coef, o.Intercept)
		return b != 0
	}
	switch {
	case f.Asked.Intercept:
		return "fitted, not penalised"
	case slices.ContainsFunc(f.Found.Solutions[0].Targets, centred):
		return "none fitted; that of the weights is what subtracting the columns' means makes"
	}
	return "none"
}

// targetName is what a target is called, from 0.
func (f *Fit) targetName(j int) string {
	if j < len(f.Data.Targets) {
		return f.Data.Targets[j]
	}
	return fmt.Sprintf("target %d", j+1)
}

// nameOf names the fit of one target at one γ.
func (f *Fit) nameOf(s *ridge.Solution, j int) string {
	name := "γ = " + chart.Digits(s.Gamma, 4)
	if len(s.Targets) > 1 {
		name += ", " + f.targetName(j)
	}
	return name
}

func percent(share float64) string { return chart.Digits(100*share, 2) + " %" }
