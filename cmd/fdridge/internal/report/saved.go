package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A Saved is a saved model that the command show prints.
type Saved struct {
	Name  string // file name
	Model *model.Model
	Top   int // maximum number of coefficients that the text lists for a fit; 0: all
}

// A savedRecord is the object that show --json prints.
type savedRecord struct {
	Model       string            `json:"model"`
	N           int64             `json:"n"`
	D           int               `json:"d"`
	Size        int               `json:"size"`
	Backend     string            `json:"backend"`
	Tol         number            `json:"tol"`
	Intercept   bool              `json:"intercept_fitted"`
	Classes     []string          `json:"classes,omitempty"`
	Preparation model.Preparation `json:"preparation"`
	Scaled      bool              `json:"scaled"` // the columns were scaled for the fit
	Penalty     *model.Penalty    `json:"penalty,omitempty"`
	Fits        []savedFit        `json:"fits"` // one for each γ and target
}

// A savedFit holds the coefficients for one target and one penalty γ, in the units of the file.
type savedFit struct {
	Gamma        number             `json:"gamma"`
	Target       string             `json:"target"`
	Method       string             `json:"method,omitempty"`
	Status       string             `json:"status,omitempty"` // name of the status, or the reason for stopping in words
	Passes       int                `json:"passes,omitempty"`
	Error        number             `json:"relative_error_bound"`      // of the coefficients of scaled columns
	CoefError    number             `json:"coef_relative_error_bound"` // of the coefficients below
	R2           ridge.Interval     `json:"r2_bracket"`
	Dimension    ridge.Interval     `json:"effective_dimension"`
	GCV          ridge.Interval     `json:"gcv"`
	Intercept    savedCoefficient   `json:"intercept"`
	Coefficients []savedCoefficient `json:"coefficients"`

	order []int // indices of the coefficients, largest absolute value first in the units of the fit
}

// A savedCoefficient is a coefficient with a bound on its error. If no bound is known, Bound is null in JSON.
type savedCoefficient struct {
	Name  string `json:"name"`
	Value number `json:"value"`
	Bound number `json:"bound"`
}

// unknown is the interval of all numbers. It stands for a value that the model does not contain.
var unknown = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}

// record returns the JSON form of the model.
func (s *Saved) record() *savedRecord {
	m := s.Model
	out := &savedRecord{
		Model:       s.Name,
		N:           m.Rows,
		D:           m.Features,
		Size:        m.Size,
		Backend:     m.Backend,
		Tol:         number(m.Tol),
		Intercept:   m.Intercept,
		Classes:     m.Classes,
		Preparation: m.Preparation,
		Scaled:      m.Folded != nil || m.Preparation.Scaling != nil,
		Penalty:     m.Penalty,
	}
	for i := range m.Fits {
		for j := range m.Fits[i].Coef {
			out.Fits = append(out.Fits, s.fit(&m.Fits[i], j))
		}
	}
	return out
}

// fit returns the coefficients and error bounds for target j of the fit f. If the certificate of f is missing or
// invalid, all bounds are infinite.
func (s *Saved) fit(f *model.Fit, j int) savedFit {
	m := s.Model
	out := savedFit{
		Gamma:     number(f.GammaOf(j)),
		Target:    TargetName(m, j),
		Error:     number(math.Inf(1)),
		R2:        unknown,
		Dimension: unknown,
		GCV:       unknown,
		Intercept: savedCoefficient{"(intercept)", number(f.Intercept[j]), number(math.Inf(1))},
	}
	_, relative := m.CoefficientError(f, j)
	out.CoefError = number(relative)
	within := math.Inf(1)
	if r, err := f.Certificate.Record(); err == nil {
		out.Method = r.Method.String()
		out.Status = cmp.Or(nameStatus(r.Status), r.Stop)
		out.Passes = r.Passes
		out.Dimension = r.EffectiveDimension
		if j < len(r.Certificates) {
			c := r.Certificates[j]
			out.Error = number(c.RelativeErrorBound)
			out.GCV = c.GCV
			out.Intercept.Bound = number(c.InterceptBound)
			if f.Fitted != nil { // otherwise the certificate may belong to other coefficients
				within = c.ErrorBound
			}
		}
		if j < len(r.R2Bracket) {
			out.R2 = r.R2Bracket[j]
		}
	}
	fitted := f.Coef[j]
	if f.Fitted != nil && m.Folded != nil {
		fitted = f.Fitted.Coef[j]
	}
	free := 0 // number of columns without penalty seen so far
	for i, x := range f.Coef[j] {
		scale := 1.0
		if m.Folded != nil {
			scale = m.Folded.Scale[i]
		}
		_, bound := divide(fitted[i], within, scale)
		if m.Unpenalized(i) {
			bound = math.Inf(1)
			if f.UnpenalizedBounds != nil {
				bound = f.UnpenalizedBounds[j][free]
			}
			free++
		}
		out.Coefficients = append(out.Coefficients, savedCoefficient{featureName(m.Terms, i), number(x), number(bound)})
		out.order = append(out.order, i)
	}
	slices.SortStableFunc(
		out.order,
		func(a, b int) int {
			return cmp.Compare(math.Abs(fitted[b]), math.Abs(fitted[a]))
		},
	)
	return out
}

// TargetName returns the name of target j of a model, where j counts from 0. A model with more than two classes has
// a target for each class; target j then has the label of class j.
func TargetName(m *model.Model, j int) string {
	if len(m.Classes) > 2 {
		return labelName(m.Classes[j])
	}
	names := strings.Split(m.Target, ",")
	if m.Target == "" || len(names) != len(m.Fits[0].Coef) {
		return fmt.Sprintf("target %d", j+1)
	}
	name := strings.TrimSpace(names[j])
	if columns := m.Columns; len(columns) > 0 {
		switch name {
		case "first":
			return columns[0]
		case "last":
			return columns[len(columns)-1]
		}
	}
	return name
}

// WriteJSON writes one object with all coefficients.
func (s *Saved) WriteJSON(w io.Writer) error { return WriteJSON(w, s.record()) }

// WriteText writes the model as text, in lines of at most 100 characters.
func (s *Saved) WriteText(w io.Writer) error {
	w = errtext.Writer(w)
	rec := s.record()
	for _, line := range s.summary(rec) {
		if _, err := fmt.Fprintln(w, wrapText(line)); err != nil {
			return err
		}
	}
	t := &table{
		keys: 2,
		rows: [][]string{{"gamma", "target", "error ≤", "R²", "eff. dim.", "GCV", "method", "passes", "status"}},
	}
	for _, f := range rec.Fits {
		t.add(
			fmt.Sprintf("%.6g", float64(f.Gamma)),
			shorten(f.Target, 24),
			bound(float64(f.CoefError)),
			orNone(f.R2),
			orNone(f.Dimension),
			orNone(f.GCV),
			f.Method,
			fmt.Sprint(f.Passes),
			statusName(f.Status),
		)
	}
	fmt.Fprintln(w)
	t.write(w)
	fmt.Fprintln(w, "\n"+legend)
	for _, f := range rec.Fits {
		fmt.Fprintln(w)
		s.coefficientsTable(rec, &f).write(w)
		if hidden := len(f.Coefficients) - len(s.coefficientsToShow(&f)); hidden > 0 {
			scaled := ""
			if rec.Scaled {
				scaled = ", compared for the scaled columns,"
			}
			fmt.Fprintf(w, "%d smaller coefficients%s are not shown (--top 0 shows all)\n", hidden, scaled)
		}
	}
	return nil
}

// statusName returns the short name of a status. status may be the short name already, or a description in words.
func statusName(status string) string {
	for _, s := range []ridge.Status{ridge.Converged, ridge.ZeroSolution, ridge.OnePass, ridge.Factorized} {
		if status == s.String() {
			return nameStatus(s)
		}
	}
	return status
}

// orNone formats an interval as text. If both ends are infinite, the text is "none".
func orNone(v ridge.Interval) string {
	if math.IsInf(v.Lo, -1) && math.IsInf(v.Hi, 1) {
		return noBound
	}
	return formatFigure(v)
}

// coefficientsToShow returns the indices of the coefficients to print. If there are more than s.Top, it returns the
// s.Top largest by absolute value, the largest first. Otherwise, or if s.Top is 0, it returns all in ascending
// order.
func (s *Saved) coefficientsToShow(f *savedFit) []int {
	if s.Top > 0 && len(f.order) > s.Top {
		return f.order[:s.Top]
	}
	return slices.Sorted(slices.Values(f.order))
}

// coefficientsTable returns a table of the coefficients of a fit. The first row is the intercept.
func (s *Saved) coefficientsTable(rec *savedRecord, f *savedFit) *table {
	heading := "coefficient"
	if len(rec.Fits) > 1 {
		heading = shorten(fmt.Sprintf("gamma = %.6g, %s", float64(f.Gamma), f.Target), nameWidth)
	}
	t := &table{keys: 1, rows: [][]string{{heading, "value", "±"}}}
	add := func(c savedCoefficient) {
		value, within := formatAround(float64(c.Value), float64(c.Bound))
		if within == noBound { // without a bound the stored value is printed in full
			value = fmt.Sprint(float64(c.Value))
		}
		t.add(shorten(c.Name, nameWidth), value, within)
	}
	if rec.Intercept || f.Intercept.Value != 0 {
		add(f.Intercept)
	}
	for _, i := range s.coefficientsToShow(f) {
		add(f.Coefficients[i])
	}
	return t
}

// summary returns lines that describe how the model was fitted and how rows are prepared for it.
func (s *Saved) summary(rec *savedRecord) []string {
	m := s.Model
	t := len(m.Fits[0].Coef)
	origin := fmt.Sprintf("backend %s, no sketch", rec.Backend)
	if rec.Size > 0 {
		origin = fmt.Sprintf("backend %s, sketch of %d rows", rec.Backend, rec.Size)
		keeps, err := (fd.Config{Dim: rec.D, Size: rec.Size}).Scatter()
		if err == nil && keeps {
			origin = fmt.Sprintf("backend %s, %s", rec.Backend, holdsGram)
		}
	}
	intercept := "no intercept"
	if rec.Intercept {
		intercept = "intercept fitted"
	}
	out := []string{
		fmt.Sprintf(
			"%s: fitted to %d rows × %d features, %d %s",
			rec.Model,
			rec.N,
			rec.D,
			t,
			plural(t, "target", "targets"),
		),
		fmt.Sprintf("%s, %s, tolerance %g", origin, intercept, m.Tol),
	}
	if m.Classes != nil {
		out = append(out, fmt.Sprintf("%d classes: %s", len(m.Classes), listLabels(m.Classes, nil)))
	}
	before := len(out)
	prep := &m.Preparation
	if e := prep.Encoding; e != nil {
		if e.Missing != "" {
			out = append(out, fmt.Sprintf("preparation: missing values: %s", e.Missing))
		}
		enc := &Encoded{Encoding: e}
		var words []string
		for _, c := range e.Categories {
			words = append(words, fmt.Sprintf("%s (%d levels)", errtext.Excerpt(enc.name(c.Column)), len(c.Levels)))
		}
		if words != nil {
			out = append(out, "preparation: one-hot encoding of "+strings.Join(words, ", "))
		}
	}
	switch {
	case m.Folded != nil:
		out = append(
			out,
			"preparation: the columns were scaled for the fit; the coefficients are in the units of the file",
		)
	case prep.Scaling != nil:
		out = append(out, "preparation: the columns are scaled")
	}
	if features := prep.Expansion(); features != nil {
		out = append(out, fmt.Sprintf("preparation: %s of %d columns", features, prep.Inputs))
	}
	if m.Penalty != nil {
		text := "preparation: the columns have penalties"
		for i, b := range m.Penalty.Bands {
			text += map[bool]string{true: ": ", false: ", "}[i == 0] + fmt.Sprintf(
				"%s = %s",
				b.Columns,
				chart.Digits(b.Penalty, 4),
			)
		}
		out = append(out, text)
	}
	if len(out) == before {
		out = append(out, "preparation: none")
	}
	return out
}
