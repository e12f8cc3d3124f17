package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

//go:embed page.html.tmpl
var pageText string

// pageTemplate returns the template of the HTML page. The template is parsed at the first call, because most runs
// write no page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"typeset": typeset}).Parse(pageText))
})

// plain matches the word gamma and numbers with an exponent. It does not match inside a word or inside a list of
// flag values.
var plain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^-\w.:,])(?:gamma\b|(-?\d[\d.]*)e([+-]\d+))`)
})

// typeset replaces the word gamma by γ and exponents by powers of ten. It writes "gamma = 1.5e-05" as "γ =
// 1.5·10⁻⁵".
func typeset(text string) string {
	return plain().ReplaceAllStringFunc(text, func(found string) string {
		parts := plain().FindStringSubmatch(found)
		exp, err := strconv.Atoi(parts[3])
		switch {
		case err != nil: // the word
			return parts[1] + "γ"
		case parts[2] == "1":
			return parts[1] + "10" + chart.Superscript(exp)
		}
		return parts[1] + parts[2] + "·10" + chart.Superscript(exp)
	})
}

// A page holds what the HTML report shows.
type page struct {
	Title       string
	Verdict     verdict
	Ran         []fact
	Prepared    *table // nil: no pass examined the columns
	NotShown    int    // number of columns that Prepared leaves out
	Certificate certificateSection
	Confusion   *table // nil: no classification, or many classes
	HeldOut     heldOutSection
	Path        pathSection
	Spectrum    *spectrumSection    // nil: no sketch
	Convergence *convergenceSection // nil: the method does not iterate
	Weights     weightsSection
	Command     string
	Version     string
}

// A fact is a line of the section "What ran" of the HTML page, with a name and a value. The text report prints such
// values without their names.
type fact struct{ Name, Value string }

// Names of the facts about scores.
const (
	heldOutFact = "Held out"
	newRowsFact = "New rows"
	classesFact = "Classes"
)

// isScore reports whether the text report prints the fact next to the scores of the fit.
func (x fact) isScore() bool {
	return x.Name == heldOutFact || x.Name == newRowsFact || x.Name == classesFact
}

// WritePage writes the HTML page.
func (f *Fit) WritePage(w io.Writer) error {
	rec := f.record()
	p := &page{
		Title:       fmt.Sprintf("Ridge fit of %s", f.Data.Name),
		Verdict:     f.verdict(rec),
		Certificate: f.certificate(rec),
		Weights:     f.weights(),
		Confusion:   f.Classes.confusion(),
		Command:     f.Asked.Command,
		Version:     f.Asked.Program,
	}
	machine, err := engine.NewReport()
	if err != nil {
		return err
	}
	p.Ran = slices.Concat([]fact{{"Data", fmt.Sprintf("%s (%s)", f.Data.Name, rec.Format)}}, f.facts(rec), []fact{
		{"Intercept", f.describeIntercept()},
		{"Threads", fmt.Sprintf("%d of %s", machine.GoMaxProcs, machine.CPU)},
	})
	if n := len(rec.Ranks); n > 0 {
		most := 0.0
		bytes := int64(0)
		for _, k := range rec.Ranks {
			most = max(most, float64(k.Share))
			bytes = max(bytes, k.Sent)
		}
		p.Ran = append(
			p.Ran,
			fact{
				"Ranks",
				fmt.Sprintf(
					"%d, each with a share of the rows; each rank spent at most %s of its time on communication and sent at most %s",
					n,
					percent(most),
					megabytes(bytes),
				),
			},
		)
	}
	if rec.Encoding != nil && rec.Encoding.Prepared != nil {
		p.Prepared, p.NotShown = preparedTable(rec.Encoding.Prepared, 1000)
	}
	p.HeldOut, err = f.heldOutInPage(rec)
	if err != nil {
		return err
	}
	p.Path, err = f.path(rec)
	if err != nil {
		return err
	}
	p.Spectrum, err = f.spectrum()
	if err != nil {
		return err
	}
	p.Convergence, err = f.convergence()
	if err != nil {
		return err
	}
	return pageTemplate().Execute(errtext.Writer(w), p)
}

// describeIntercept states whether the fit has an intercept, and how it was obtained: fitted, or from the means of
// the columns.
func (f *Fit) describeIntercept() string {
	centred := func(o ridge.Target) bool {
		_, b := f.Data.Preparation.Unscale(o.Coef, o.Intercept)
		return b != 0
	}
	switch {
	case f.Asked.Intercept:
		return "fitted, not penalised"
	case slices.ContainsFunc(f.Found.Solutions[0].Targets, centred):
		return "not fitted; the intercept of the coefficients comes from subtracting the means of the columns"
	}
	return "none"
}

// targetName returns the name of target j, where j counts from 0. Targets without names are called "target 1",
// "target 2", and so on.
func (f *Fit) targetName(j int) string {
	if j < len(f.Data.Targets) {
		return f.Data.Targets[j]
	}
	return fmt.Sprintf("target %d", j+1)
}

// nameOf returns a text that identifies the fit of target j in solution s. The text contains the penalty γ and, if
// there are several targets, the name of the target.
func (f *Fit) nameOf(s *ridge.Solution, j int) string {
	name := fmt.Sprintf("gamma = %.6g", s.GammaOf(j))
	if len(s.Targets) > 1 {
		name += ", " + errtext.Excerpt(f.targetName(j))
	}
	return name
}

func percent(share float64) string {
	return chart.Digits(100*share, 2) + " %"
}
