package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// A page is what the HTML report shows of a fit, all in words, tables and pictures.
type page struct {
	Title, Subject string
	Good           bool // converged, and the bound says something
	Verdict        string
	Facts          []fact
	Certificate    []string // sentences
	Advice         []string
	Fits           []pageFit

	Choice    string
	Paths     []picture
	Points    []pagePoint
	Spectrum  []picture
	Eta       string
	Passes    []picture
	Predicted string

	Weights  []pageWeights
	More     int    // fits whose weights are not shown
	Scaled   string // how the columns were scaled before the fit; empty: they were not
	Units    string // what order they have, where the columns were not scaled
	Features string // what the weights are of, where not of the file's columns

	Command, Version string
}

// A fact is a line of what ran.
type fact struct{ Name, Value string }

// A picture is a chart in the page and what is said below it.
type picture struct {
	SVG     template.HTML // made by chart, which escapes all text
	Caption string
}

// A pageFit is a row of the table of certificates.
type pageFit struct {
	Gamma, Target, Relative, Error, R2, Dimension, GCV, Stop string
	Passes                                                   int
}

// A pagePoint is a row of the table of the path.
type pagePoint struct {
	Gamma, GCV, RSS, Dimension string
	Chosen                     bool
}

// pageWeights are the largest weights of one target at one γ.
type pageWeights struct {
	Title, Intercept string
	Open             bool
	Rows             []pageWeight
	Others           int
}

// A pageWeight is x̂ⱼ ± its bound, in the units of the file and as fitted.
type pageWeight struct {
	Name, Weight, Bound, Scaled, ScaledBound string
	Sign                                     bool // proved: 0 is not within the bound
}

// writePage writes the HTML report, whole or not at all.
func (r *result) writePage(name string) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	return atomicfile.Write(name, func(w io.Writer) error { return pageTemplate.Execute(w, p) })
}

func (r *result) page() (*page, error) {
	rep := r.report()
	p := &page{Subject: r.data, Command: r.o.command, Version: version()}
	p.Title = fmt.Sprintf("Ridge fit of %s", r.data)
	if err := r.facts(p, &rep); err != nil {
		return nil, err
	}
	r.certify(p)
	if err := r.advise(p); err != nil {
		return nil, err
	}
	if err := r.drawPath(p, &rep); err != nil {
		return nil, err
	}
	if err := r.drawSpectrum(p); err != nil {
		return nil, err
	}
	if err := r.drawConvergence(p); err != nil {
		return nil, err
	}
	r.largest(p)
	return p, nil
}

// facts say what ran.
func (r *result) facts(p *page, rep *jsonReport) error {
	machine, err := engine.NewReport()
	if err != nil {
		return err
	}
	add := func(name, format string, args ...any) {
		p.Facts = append(p.Facts, fact{name, fmt.Sprintf(format, args...)})
	}
	add("Data", "%s (%s)", r.data, rep.Format)
	add("Size", "%d rows × %d features, %d %s", rep.N, rep.D, rep.Targets, plural(rep.Targets, "target"))
	switch centred := slices.ContainsFunc(r.fits[0].Targets, func(o ridge.Target) bool {
		_, b := r.prep.Unscale(o.Coef, o.Intercept)
		return b != 0
	}); {
	case r.intercept:
		add("Intercept", "fitted, not penalised")
	case centred:
		add("Intercept", "none fitted; that of the weights is what subtracting the columns' means makes")
	default:
		add("Intercept", "none")
	}
	method := rep.Method
	if rep.MethodReason != "" {
		method += " (" + rep.MethodReason + ")"
	}
	add("Method", "%s", method)
	if rep.Size > 0 {
		add("Sketch", "%d rows, %s", rep.Size, sketchKind(r.o.robust))
	}
	add("Data read", "%d %s", rep.Reads, plural(rep.Reads, "time"))
	if n := len(rep.Ranks); n > 0 {
		most, bytes := 0.0, int64(0)
		for _, k := range rep.Ranks {
			most, bytes = max(most, float64(k.Share)), max(bytes, k.Sent)
		}
		add("Ranks", "%d, each with its share of the rows; up to %s of a rank's time went into communicating, %s sent at most", n, percent(most), megabytes(bytes))
	}
	add("Time", "%s", secondsOf(float64(rep.TotalTime)))
	add("Memory", "%s at most", bytesOf(uint64(rep.PeakRSS)))
	add("Computed by", "%s (%s), %d %s of %s", rep.Backend, rep.Kernel, machine.GoMaxProcs, plural(machine.GoMaxProcs, "thread"), machine.CPU)
	return nil
}

func sketchKind(robust bool) string {
	if robust {
		return "Robust Frequent Directions"
	}
	return "Frequent Directions"
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// targetName is what a target is called, from 0.
func (r *result) targetName(j int) string {
	if j < len(r.targetNames) {
		return r.targetNames[j]
	}
	return fmt.Sprintf("target %d", j+1)
}

// of names a fit among several.
func (r *result) of(f *ridge.Solution, j int) string {
	s := "γ = " + chart.Digits(f.Gamma, 4)
	if len(f.Targets) > 1 {
		s += ", " + r.targetName(j)
	}
	return s
}

// poor is the relative error above which a page says what to do about it.
const poor = 0.01

// useless is the one from which on it hardly says anything.
const useless = 0.5

// worst is the largest relative error that is certified.
func (r *result) worst() (worst float64, at *ridge.Solution, target int) {
	worst = -1
	for _, f := range r.fits {
		for j := range f.Targets {
			if e := f.Targets[j].RelativeErrorBound; !(e <= worst) {
				worst, at, target = e, f, j
			}
		}
	}
	return worst, at, target
}

// certify puts the certificates in words and in a table.
func (r *result) certify(p *page) {
	worst, at, target := r.worst()
	several := len(r.fits)*len(at.Targets) > 1
	p.Good = r.failure == nil && worst <= poor
	switch {
	case r.failure != nil:
		p.Verdict = fmt.Sprintf("Not converged: %s.", r.failure.Status)
	case worst == 0:
		p.Verdict = "The weights are proved to be the exact ridge solution of these data."
	case worst < useless:
		p.Verdict = fmt.Sprintf("The weights are proved to be within %s, relative, of the exact ridge solution of these data.", atMost(worst, 2, typeset))
		if several {
			p.Verdict = strings.Replace(p.Verdict, "The weights", "All weights", 1)
		}
	default:
		p.Verdict = "The weights are not proved to be near the exact ridge solution of these data."
	}
	switch {
	case math.IsInf(worst, 1):
		p.Certificate = append(p.Certificate, "There is no bound on the relative error, for the exact weights may be zero for all that is known.")
	case !(worst < useless):
		p.Certificate = append(p.Certificate, fmt.Sprintf("The bound on the relative error ‖x̂ − x*‖/‖x*‖ is %s: the exact weights x* may be about as far from the x̂ at hand as they are long.", bound(worst)))
	}
	if several {
		p.Certificate = append(p.Certificate, fmt.Sprintf("The bound is that of the worst, %s; the table has all.", r.of(at, target)))
	}
	if r.sum == nil {
		p.Certificate = append(p.Certificate, "No sketch was made: a direct factorisation solved the problem, and the bound is that of round-off.")
	} else {
		p.Certificate = append(p.Certificate,
			fmt.Sprintf("In place of the %d rows A a sketch B of %d rows was kept. Along no direction does it miss more than η = %s of the sum of squares: ‖AᵀA − BᵀB‖ ≤ η.%s",
				r.fits[0].Rows, r.size, bound(r.fits[0].Shrinkage), r.share(r.fits[0].Shrinkage)),
			"η against γ is what counts: the smaller their ratio, the nearer is the solution of one pass and the fewer passes refine it.")
	}
	p.Certificate = append(p.Certificate, "Every bound holds for the exact solution x* of the data as they were read, round-off included. It says how well the ridge problem was solved, not how well the model predicts.")
	for _, f := range r.fits {
		for j := range f.Targets {
			v := &f.Targets[j]
			p.Fits = append(p.Fits, pageFit{
				Gamma: chart.Digits(f.Gamma, 4), Target: r.targetName(j), Relative: bound(v.RelativeErrorBound), Error: bound(v.ErrorBound),
				R2: within(v.R2()), Dimension: within(f.EffectiveDimension), GCV: within(v.GCV), Stop: f.Status.String(), Passes: f.Passes + r.scans,
			})
		}
	}
}

// share says how large η is against ‖A‖², where that is not zero.
func (r *result) share(shrinkage float64) string {
	whole := r.sum.Sketch().Bound().Frobenius2
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf(" That is about %s of the sum over all directions, %s.", percent(shrinkage/whole), chart.Digits(whole, 3))
}

func percent(share float64) string { return chart.Digits(100*share, 2) + " %" }

// advise says what to do about a bound that is poor.
func (r *result) advise(p *page) error {
	worst, at, _ := r.worst()
	if r.failure != nil {
		p.Advice = append(p.Advice,
			"If the iteration was still getting better, see the convergence below, allow more passes: --max-passes.",
			"A larger sketch, --size, makes each pass count for more.",
			"If it stands still above --tol, round-off is the limit for these data: --standardize, a larger γ or a larger --tol help.")
		return nil
	}
	if worst <= poor {
		return nil
	}
	if r.sum == nil {
		p.Advice = append(p.Advice, "The problem is close to singular: --standardize or a larger γ make it better conditioned.")
		return nil
	}
	if r.method == "one-shot" {
		p.Advice = append(p.Advice, "Refine it by passes over the rows: fdridge fit --method cg, or fdridge solve with the sketch and --data.")
	}
	proved, estimated, err := r.sum.SizeFor(poor, at.Gamma)
	if err != nil { // round-off alone is more than that at this γ
		p.Advice = append(p.Advice, "No size of sketch proves more in one pass: "+err.Error()+".")
		return nil
	}
	p.Advice = append(p.Advice, fmt.Sprintf("Or take a larger sketch: --size %d is estimated to bring the bound to %s for γ = %s, --size %d is proved to; fdridge plan weighs this against other methods.",
		estimated, percent(poor), chart.Digits(at.Gamma, 4), proved))
	return nil
}

// draw makes a picture of each panel, which so may stand side by side or not.
func draw(panels []chart.Panel, captions ...string) ([]picture, error) {
	var out []picture
	for i, panel := range panels {
		title := panel.Title
		panel.Title = ""
		f := chart.Figure{Columns: 1, Looks: plotLooks, Panels: []chart.Panel{panel}}
		svg, err := f.Inline(title + ": " + panel.Y + " against " + panel.X)
		if err != nil {
			return nil, err
		}
		caption := strings.ToUpper(title[:1]) + title[1:] + "."
		if captions[i] != "" {
			caption += " " + captions[i]
		}
		if n := len(f.LeftOut()); n > 0 {
			caption += fmt.Sprintf(" %d values that are zero or not finite are not drawn.", n)
		}
		out = append(out, picture{template.HTML(svg), caption})
	}
	return out, nil
}

// sentence says what was chosen and whether that is certain.
func (c *choice) sentence() string {
	gamma := chart.Digits(float64(c.Gamma), 4)
	if c.Certain {
		return fmt.Sprintf("γ = %s has the least %s of the %d tried, for certain.", gamma, c.score(), len(c.Path))
	}
	return fmt.Sprintf("γ = %s was chosen of %d: its %s, between %s and %s, has the least upper end. The sketch leaves open any γ from %s to %s; %s would narrow that.",
		gamma, len(c.Path), c.score(), atLeast(c.Score.Lo, 3, typeset), bound(c.Score.Hi),
		atLeast(float64(c.Possible[0]), 4, typeset), atMost(float64(c.Possible[1]), 4, typeset), c.narrower)
}

// drawPath draws what γ was chosen from, or the several that were asked for, as
// plot does of the report.
func (r *result) drawPath(p *page, rep *jsonReport) error {
	p.Choice = fmt.Sprintf("γ = %s was asked for; --gamma auto would choose one.", chart.Digits(r.fits[0].Gamma, 4))
	if rep.Choice != nil {
		p.Choice = rep.Choice.sentence() + " GCV is generalised cross-validation, n·RSS/(n − df)², an estimate of the squared error on new rows."
	} else if len(r.fits) > 1 {
		p.Choice = fmt.Sprintf("The %d γ were asked for; --gamma auto would choose one.", len(r.fits))
	}
	text, err := json.Marshal(rep)
	if err != nil {
		return err
	}
	drawn, err := parsePlottable(r.data, text)
	if err != nil || drawn.path == nil {
		return err
	}
	captions := []string{"The area is where the value is proved to be at each γ; where it leaves the picture it goes on.", "Of the fits at hand.", "How many free parameters the penalty leaves."}
	if drawn.path.cv != nil {
		captions = append([]string{"Each row by the fit without its fold."}, captions...)
	}
	if p.Paths, err = draw(drawn.path.panels(), captions...); err != nil {
		return err
	}
	path := drawn.path
	for i, g := range path.gamma {
		p.Points = append(p.Points, pagePoint{
			chart.Digits(g, 4), within(path.gcv[i]), within(path.rss[i]), within(path.dim[i]), path.choice != nil && path.choice.Gamma == g,
		})
	}
	return nil
}

func (r *result) drawSpectrum(p *page) error {
	if r.sum == nil {
		p.Eta = "There is none: the method keeps no sketch."
		return nil
	}
	s, err := r.sum.Sketch().Spectrum()
	if err != nil {
		return err
	}
	if len(s.Sigma2) == 0 {
		p.Eta = "It is empty: every column is constant or zero."
		return nil
	}
	var gammas []float64
	for _, f := range r.fits {
		gammas = append(gammas, f.Gamma)
	}
	above := 0
	for _, v := range s.Sigma2 {
		if v > s.Bound.FD() {
			above++
		}
	}
	p.Eta = fmt.Sprintf("Of the %d directions that the sketch keeps, %d have a σ² above η. What lies well above η is seen for sure; a γ well above η makes the rest not matter.", len(s.Sigma2), above)
	p.Spectrum, err = draw([]chart.Panel{spectrumPanel(s, gammas)}, "")
	return err
}

func (r *result) drawConvergence(p *page) error {
	if r.traces == nil {
		p.Predicted = "The method makes no refining passes."
		return nil
	}
	slowest := slices.MaxFunc(r.traces, func(a, b *trace) int { return len(a.Points) - len(b.Points) })
	passes := "passes"
	if len(slowest.Points) == 1 {
		passes = "pass"
	}
	p.Predicted = fmt.Sprintf("The slowest, γ = %s, took %d %s.", chart.Digits(float64(slowest.Gamma), 4), len(slowest.Points), passes)
	switch {
	case slowest.Predicted > 0:
		p.Predicted += fmt.Sprintf(" The sketch's bound predicted %d at most, and one more to verify.", slowest.Predicted)
	case !r.o.robust:
		p.Predicted += " Of plain Frequent Directions nothing is predicted."
	default:
		p.Predicted += " The sketch's bound predicted nothing here: η is too large against γ, or the bound of the first pass is infinite."
	}
	bounded := func(x point) bool { return !math.IsInf(float64(x.RelativeError), 1) }
	if !slices.ContainsFunc(r.traces, func(t *trace) bool { return slices.ContainsFunc(t.Points, bounded) }) {
		p.Predicted += " After no pass there was a bound on the relative error."
		return nil
	}
	var err error
	p.Passes, err = draw([]chart.Panel{convergencePanel(r.traces)}, "Certified after each pass over the rows; at first there may be no finite bound.")
	return err
}

// Limits of what a page shows of the weights.
const (
	mostWeights = 20
	mostTables  = 12
)

// largest lists the largest weights of each target and γ, by what they are in the
// units that were fitted: those of scaled columns can be compared.
func (r *result) largest(p *page) {
	scale := func(int) float64 { return 1 }
	if r.prep.Scaling != nil {
		p.Scaled = "Columns were scaled before the fit; the weights of the scaled columns, by which they are ordered, can be compared with one another."
		if r.prep.Expansion() == nil {
			scale = func(i int) float64 { return r.prep.Scaling.Scale[i] }
		}
	}
	if r.prep.Scaling == nil && r.prep.Expansion() == nil {
		p.Units = "Each is in the target's units per unit of its column, so that their order depends on those; with --standardize it does not."
	}
	if f := r.prep.Expansion(); f != nil {
		p.Features = fmt.Sprintf("The weights are of the features that %s made of the %d columns of the file.", f, r.prep.Inputs)
	}
	names := r.prep.Terms()
	for _, f := range r.fits {
		for j := range f.Targets {
			if len(p.Weights) == mostTables {
				p.More++
				continue
			}
			p.Weights = append(p.Weights, r.weightTable(f, j, scale, names, len(p.Weights) == 0))
		}
	}
}

func (r *result) weightTable(f *ridge.Solution, j int, scale func(int) float64, names []string, open bool) pageWeights {
	coef := f.Targets[j].Coef
	order := make([]int, len(coef))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(coef[a]), math.Abs(coef[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	_, intercept := r.prep.Unscale(coef, f.Targets[j].Intercept)
	t := pageWeights{Title: r.of(f, j), Open: open, Others: max(0, len(coef)-mostWeights)}
	if r.intercept || intercept != 0 {
		t.Intercept = chart.Digits(intercept, 6)
	}
	e := f.Targets[j].ErrorBound
	for _, i := range order[:len(coef)-t.Others] {
		s := scale(i)
		w := pageWeight{Name: featureName(names, i), Sign: math.Abs(coef[i]) > e}
		w.Weight, w.Bound = plusMinus(coef[i]/s, e/s)
		w.Scaled, w.ScaledBound = plusMinus(coef[i], e)
		t.Rows = append(t.Rows, w)
	}
	return t
}

// featureName is feature i's own where it has one, otherwise its number.
func featureName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint(i + 1)
}

// invocation is a command line with all flags that were given, as a shell takes it.
func invocation(cmd *cobra.Command, args []string) string {
	words := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		words = append(words, quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.Type() != "bool":
			words = append(words, "--"+f.Name, quote(f.Value.String()))
		case f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"=false")
		}
	})
	return strings.Join(words, " ")
}

// quote makes one word of text for a shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:,=+@%-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
