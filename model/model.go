// Package model keeps a fit of ridge regression: weights, their certificate, and how rows
// are prepared for them. [New] makes a model of [ridge.Solution], [Read] and
// [Model.Write] move it from and to a file, [Model.At] chooses one γ of several, and
// [Model.Predictor] predicts for a [dataset.Source] or a matrix, on request with proved
// intervals.
//
// # The file
//
// A model is one object of JSON, version 2; docs/model.md says more, and evaluates one in Python:
//
//	fdridge_model     2, the version of the format
//	n, d              rows of the fit, and features that it was of, computed ones where
//	                  there are any
//	size              rows of the sketch, 0 where there was none
//	backend, tol      what computed it, and the relative error that was asked for
//	intercept_fitted  whether an intercept was fitted
//	columns, target   the header of the data, targets included, and which was the target
//	preparation       inputs, the number of columns; names, of the columns; encoding, a
//	                  [dataset.Encoding] that makes these columns of those of the file, {inputs, names,
//	                  missing, means, categories}, where there is one; scaling, {mean,
//	                  scale}; features, {components, gamma, seed}, of [dataset.Fourier];
//	                  polynomial, {degree}: what is done to the columns, in this order
//	feature_names     the names of polynomial features, in the order of the weights
//	folded_scaling    {mean, scale} of columns that were scaled for the fit, where coef and
//	                  intercept are in the units of the file: predict from unscaled columns
//	penalty           a [Penalty], where columns had one; folded_scaling has it already
//	models            a list of an object for each γ, of one γ too
//
// In version 1, which is read, the object of a single γ was no list: its fields stood beside these.
// Of each γ there are
//
//	gamma             γ
//	coef, intercept   the weights and the intercept
//	tss               ‖b‖², centred where an intercept was fitted
//	certificate       a [Record]; where the tolerance was not reached its converged is false and
//	                  its status says why: round-off, pass-limit, diverged or unproved
//	fitted            {coef, intercept} of the scaled columns, where there is a
//	                  folded_scaling; what the certificate is about
//
// What there is for each target is the bare value for one target, and a list for several:
//
//	one target      "coef": [1, 2],             "intercept": 3,      "error_bound": 1e-9
//	two targets     "coef": [[1, 2], [4, 5]],   "intercept": [3, 6], "error_bound": [1e-9, 2e-9]
//
// A bracket is [lo, hi]; a number of the certificate that is not finite is null.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// A Model is a saved fit for one γ or several.
type Model struct {
	Rows      int64 // of the fit
	Features  int   // that the fit was of, computed ones where there are any
	Size      int   // of the sketch, 0 without
	Backend   string
	Tol       float64 // the relative error that was asked for
	Intercept bool    // one was fitted
	Header
	Preparation Preparation
	Terms       []string // names of what the weights are of, nil where they have none
	// Folded is the scaling of the columns that the weights were fitted to, where the weights
	// are in the units of the file. A summary of columns that were scaled in another way is
	// not one of the fit.
	Folded  *dataset.Scaling
	Penalty *Penalty // on record, nil where columns had none; Folded has it already
	Fits    []Fit    // one for each γ
}

// A Header is what a model keeps of that of the file.
type Header struct {
	Columns []string // in its order, targets included
	Target  string   // as the user named it
}

// A Fit is the weights for one γ, and its record. Without computed features the weights are
// in the units of the file.
type Fit struct {
	Gamma       float64              `json:"gamma"`
	Coef        PerTarget[[]float64] `json:"coef"`          // t×d
	Intercept   PerTarget[float64]   `json:"intercept"`     // t
	TSS         PerTarget[float64]   `json:"tss,omitempty"` // t, ‖b‖², centred where an intercept was fitted; nil: unknown
	Certificate Certificate          `json:"certificate,omitzero"`
	Fitted      *Fitted              `json:"fitted,omitempty"`
}

// Fitted has, bit for bit, the weights that the certificate is about, where these are not
// the weights of the [Fit] itself. Models of earlier programs have none: it is not known
// whether their certificate is about their weights, and so they cannot narrow intervals.
type Fitted struct {
	Coef      PerTarget[[]float64] `json:"coef,omitempty"`      // of the scaled columns, where Coef is in the units of the file
	Intercept PerTarget[float64]   `json:"intercept,omitempty"` // to go with them
}

// Details are what a model says of a fit and its solutions don't know.
type Details struct {
	Intercept bool      // one was fitted
	Size      int       // of the sketch, 0 without
	Tol       float64   // the relative error that was asked for
	Passes    int       // reads of the data that preparing took
	Columns   []string  // of the data, targets included
	Target    string    // which of them was the target
	Before    []float64 // what the rows were penalised by as they came, which prep has already
	Bands     []Band    // by which a penalty was given, or which it was chosen for
}

// New makes a model of the solutions for one γ or several. prep is how their rows were
// prepared, the zero value for rows as they came. Where columns were scaled, and no features
// computed, the model has the weights for columns that are not scaled. It shares no memory
// with the solutions. No solution, a nil one, and solutions whose dimensions, or numbers of
// rows, are not those of each other and of the preparation, are [ErrShape]; so are names of
// another number than the columns. A γ that no ridge regression has, and an intercept that
// the details say is none, are [ErrInput]. Columns of solutions that have a Penalty were scaled by
// that besides. Weights that are not finite are an error. Solutions that
// are not certified to the tolerance, those of a *[ridge.NotConvergedError], are taken like any
// others: the model keeps their status, and its Err tells.
func New(prep Preparation, solutions []*ridge.Solution, about Details) (*Model, error) {
	if len(solutions) == 0 {
		return nil, fmt.Errorf("%w: a model needs a solution", errShape)
	}
	if slices.Contains(solutions, nil) {
		return nil, fmt.Errorf("%w: a solution is nil", errShape)
	}
	penalty, err := penaltyOf(solutions)
	if err != nil {
		return nil, err
	}
	if prep, err = prep.Penalize(penalty); err != nil {
		return nil, err
	}
	t, d := solutions[0].Dims()
	if prep.Inputs == 0 && prep.Expansion() == nil {
		prep.Inputs = d
	}
	m := &Model{
		Rows: solutions[0].Rows, Features: d, Size: about.Size, Backend: solutions[0].Backend, Tol: about.Tol,
		Intercept: about.Intercept, Header: Header{about.Columns, about.Target}, Preparation: prep,
	}
	if prep.unscales() {
		if len(prep.Scaling.Mean) != d || len(prep.Scaling.Scale) != d {
			return nil, fmt.Errorf("%w: a scaling of %d columns for %d weights", errShape, len(prep.Scaling.Mean), d)
		}
		m.Folded, m.Preparation.Scaling = prep.Scaling, nil
	}
	if penalty != nil || about.Before != nil {
		m.Penalty = &Penalty{Before: slices.Clone(about.Before), After: slices.Clone(penalty), Bands: about.Bands}
	}
	for _, f := range solutions {
		f = f.Fitted()
		if f.Rows != m.Rows && f.Rows != 0 && m.Rows != 0 { // 0: unknown
			return nil, fmt.Errorf("%w: solutions of %d rows and of %d", errShape, m.Rows, f.Rows)
		}
		if k, _ := f.Dims(); k != t || slices.ContainsFunc(f.Targets, func(o ridge.Target) bool { return len(o.Coef) != d }) {
			return nil, fmt.Errorf("%w: solutions of other dimensions than %d targets and %d features", errShape, t, d)
		}
		fit := newFit(prep, f, about.Passes)
		if err := m.valid(&fit); err != nil {
			return nil, fmt.Errorf("%w: %w", errShape, err)
		}
		if err := fit.finite(); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		if !isGamma(f.Gamma) {
			return nil, badinput.Errorf("model: a solution at gamma = %v", f.Gamma)
		}
		if !about.Intercept && slices.ContainsFunc(f.Targets, func(o ridge.Target) bool { return o.Intercept != 0 }) {
			return nil, badinput.Errorf("model: a solution has an intercept, Details.Intercept says that none was fitted")
		}
		m.Fits = append(m.Fits, fit)
	}
	m.Terms = m.Preparation.Terms()
	return m, nil
}

// newFit is a solution with its weights for rows as they came, where prep only scales
// columns.
func newFit(prep Preparation, f *ridge.Solution, passes int) Fit {
	record := NewRecord(f, &prep, passes)
	out := Fit{Gamma: f.Gamma, Certificate: Certificate{record: &record}, Fitted: &Fitted{}}
	known := true // ‖b‖², of every target
	for j := range f.Targets {
		o := &f.Targets[j]
		known = known && isFinite(o.ComputedTSS)
		coef, b := prep.Unscale(o.Coef, o.Intercept)
		out.TSS = append(out.TSS, o.ComputedTSS)
		out.Coef = append(out.Coef, coef)
		out.Intercept = append(out.Intercept, b)
		if prep.unscales() {
			out.Fitted.Coef = append(out.Fitted.Coef, slices.Clone(o.Coef))
			out.Fitted.Intercept = append(out.Fitted.Intercept, o.Intercept)
		}
	}
	if !known {
		out.TSS = nil
	}
	return out
}

// Write writes the model, the same bytes for the same fit. One without fits, or with names of
// another number than its columns, is [ErrShape]; a γ that is not finite is [ErrInput].
func (m *Model) Write(w io.Writer) error {
	if len(m.Fits) == 0 {
		return fmt.Errorf("%w: a model without a fit", errShape)
	}
	for i := range m.Fits {
		if err := m.valid(&m.Fits[i]); err != nil {
			return fmt.Errorf("%w: %w", errShape, err)
		}
		if g := m.Fits[i].Gamma; !isGamma(g) {
			return badinput.Errorf("model: a fit at gamma = %v", g)
		}
	}
	f := file{
		Version: version, Rows: m.Rows, Features: m.Features, Size: m.Size, Backend: m.Backend, Tol: Number(m.Tol),
		Intercept: m.Intercept, Columns: m.Columns, Target: m.Target, Preparation: m.Preparation, Folded: m.Folded, Penalty: m.Penalty, Models: m.Fits,
	}
	if m.Preparation.Polynomial != nil {
		f.Terms = m.Terms
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(f)
}

// Read reads what Write wrote, to the end of r. A text that is no model, or whose parts
// contradict each other, is a *[FormatError], one of another version than 1 and 2 a *[VersionError].
func Read(r io.Reader) (*Model, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: no reader of a model", errShape)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var f readFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, &FormatError{err}
	}
	if f.Version < 1 || f.Version > version {
		return nil, &VersionError{f.Version}
	}
	fits, err := f.fits()
	if err != nil {
		return nil, &FormatError{err}
	}
	prep, err := f.prepared()
	if err != nil {
		return nil, &FormatError{err}
	}
	m := &Model{
		Rows: f.Rows, Features: f.Features, Size: f.Size, Backend: f.Backend, Tol: float64(f.Tol),
		Intercept: f.file.Intercept, Header: Header{f.Columns, f.Target}, Preparation: prep, Terms: f.Terms, Folded: f.Folded, Penalty: f.Penalty, Fits: fits,
	}
	if m.Preparation.Polynomial == nil { // whose terms may be many more than the text is long
		m.Terms = m.Preparation.Terms()
	}
	for i := range m.Fits {
		err := m.valid(&m.Fits[i])
		if err == nil {
			err = m.Fits[i].finite()
		}
		if g := m.Fits[i].Gamma; err == nil && !isGamma(g) {
			err = fmt.Errorf("gamma is %v", g)
		}
		if err != nil {
			return nil, &FormatError{err}
		}
	}
	return m, nil
}

// valid checks that the dimensions of a fit agree.
func (m *Model) valid(w *Fit) error {
	p := m.Preparation
	if len(w.Coef) == 0 || len(w.Coef) != len(w.Intercept) {
		return fmt.Errorf("%d lists of weights, %d intercepts", len(w.Coef), len(w.Intercept))
	}
	if len(w.TSS) > len(w.Coef) {
		return fmt.Errorf("%d sums of squares for %d targets", len(w.TSS), len(w.Coef))
	}
	if err := p.valid(); err != nil {
		return err
	}
	want := p.Inputs
	if p.Expansion() != nil {
		want = m.Features
	}
	if p.Features != nil && p.Features.Components != m.Features {
		return fmt.Errorf("%d Fourier features for %d weights", p.Features.Components, m.Features)
	}
	if p.Names != nil && len(p.Names) != p.Inputs {
		return fmt.Errorf("%d names for %d columns", len(p.Names), p.Inputs)
	}
	if p.Scaling != nil && (len(p.Scaling.Mean) != p.Inputs || len(p.Scaling.Scale) != p.Inputs) {
		return fmt.Errorf("a scaling of %d columns for %d", len(p.Scaling.Mean), p.Inputs)
	}
	if err := m.Penalty.valid(p.Inputs); err != nil {
		return err
	}
	for _, c := range w.Coef {
		if len(c) != want || want < 1 {
			return fmt.Errorf("%d weights for %d features", len(c), want)
		}
	}
	return w.Fitted.valid(m.Features, len(w.Coef), m.Folded != nil)
}

// finite refuses weights that are no numbers.
func (w *Fit) finite() error {
	for j, c := range w.Coef {
		for _, v := range c {
			if !isFinite(v) {
				return fmt.Errorf("a weight is %v", v)
			}
		}
		if b := w.Intercept[j]; !isFinite(b) {
			return fmt.Errorf("an intercept is %v", b)
		}
	}
	return nil
}

// valid checks the dimensions of fitted weights, for d features and t targets.
func (f *Fitted) valid(d, t int, folded bool) error {
	if f == nil {
		return nil
	}
	scaled := 0 // targets with weights of scaled columns
	if folded {
		scaled = t
	}
	if len(f.Coef) != scaled || len(f.Intercept) != scaled {
		return fmt.Errorf("of what was fitted there are %d lists of weights and %d intercepts for %d targets", len(f.Coef), len(f.Intercept), t)
	}
	for _, c := range f.Coef {
		if len(c) != d {
			return fmt.Errorf("%d weights were fitted to %d features", len(c), d)
		}
	}
	return nil
}

// isGamma is false for what no ridge regression is regularised by.
func isGamma(v float64) bool { return v >= 0 && isFinite(v) }

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Gammas returns the γ that there are fits for.
func (m *Model) Gammas() []float64 {
	out := make([]float64, len(m.Fits))
	for i := range m.Fits {
		out[i] = m.Fits[i].Gamma
	}
	return out
}

// At returns a model with only the fit for γ, which it shares with m: the first, of several. Where m has no fit for
// γ the error is a *[GammaError].
func (m *Model) At(gamma float64) (*Model, error) {
	i := slices.IndexFunc(m.Fits, func(f Fit) bool { return f.Gamma == gamma })
	if i < 0 {
		return nil, &GammaError{gamma, m.Gammas()}
	}
	one := *m
	one.Fits = m.Fits[i : i+1 : i+1]
	return &one, nil
}

// Weights returns a row [intercept, weights…] for each γ and, within it, each target.
func (m *Model) Weights() *mat.Dense {
	var out mat.Dense
	row := 0
	for i := range m.Fits {
		w := &m.Fits[i]
		for j, c := range w.Coef {
			if out.IsEmpty() {
				out = *mat.NewDense(len(m.Fits)*len(w.Coef), 1+len(c), nil)
			}
			out.SetRow(row, append([]float64{w.Intercept[j]}, c...))
			row++
		}
	}
	return &out
}
