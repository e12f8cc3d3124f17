// Package model saves and loads fits of ridge regression. A model has the coefficients, their certificates, and the
// preparation of the rows. [New] makes a model from solutions, [Model.Write] saves it, and [Read] loads it.
// [Model.At] selects one γ of several. [Model.Predictor] predicts for a [dataset.Source] or a matrix, on request with
// proved intervals.
//
// # The file
//
// A model is a JSON object of version 5. Versions 1 to 4 are still read. docs/model.md describes it in full and
// evaluates one in Python.
//
//	fdridge_model     5, the version of the format
//	n, d              number of rows and of features of the fit, computed features included
//	size              number of rows of the sketch, 0 without a sketch
//	backend, tol      the backend that computed the fit, and the requested relative error
//	intercept_fitted  whether an intercept was fitted
//	columns, target   the header of the data, targets included, and the name of the target
//	preparation       how the rows were prepared, in this order:
//	                  encoding, {inputs, names, missing, means, categories}: a [prepare.Encoding], if any;
//	                  inputs, names: number and names of the columns after encoding;
//	                  scaling, {mean, scale};
//	                  features, {components, gamma, seed}: a [dataset.Fourier];
//	                  polynomial, {degree}
//	feature_names     names of polynomial features, in the order of the coefficients
//	folded_scaling    {mean, scale} of columns that were scaled for the fit. coef and intercept
//	                  are then in the units of the file: predict from unscaled columns
//	penalty           a [Penalty], if columns had one; folded_scaling includes it. 0 means no penalty (from version 3 on)
//	classes           a list of the labels of a classification. Two classes have one target, which is positive for
//	                  the second class; otherwise each class has a target
//	models            a list with an object for each γ
//
// In version 1, which is still read, a file for a single γ had the fields of such an object at the top level. Each
// object in models has
//
//	gamma             γ; with a γ for each target, the smallest of them
//	gammas            a list of the γ of each target, if they differ
//	coef, intercept   the coefficients and the intercept
//	tss               ‖b‖², centred if an intercept was fitted
//	certificate       a [Record]. If the tolerance was not reached, converged is false and status
//	                  has the reason: round-off, pass-limit, diverged or unproved
//	fitted            {coef, intercept} of the scaled columns, which the certificate is about,
//	                  if there is a folded_scaling
//	unpenalized_bounds  bounds on the errors of the coefficients of columns with penalty 0, in their order
//	coverage          a [Coverage], if intervals for new observations were computed from held-out rows
//
// A value for each target is a list, also for one target:
//
//	one target      "coef": [[1.0, 2.0]],               "intercept": [3.0],      "error_bound": [1e-9]
//	two targets     "coef": [[1.0, 2.0], [4.0, 5.0]],   "intercept": [3.0, 6.0], "error_bound": [1e-9, 2e-9]
//
// Versions 2 to 4 have the bare value for one target. From version 5 on, a float64 has a point or an exponent. A
// bracket is [lo, hi]. Numbers of the certificate that are not finite are null.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// A Model is a ridge regression that can be saved. It has a fit for one or more penalties γ.
type Model struct {
	Rows      int64 // number of rows of the fit
	Features  int   // number of features of the fit, computed features included
	Size      int   // number of rows of the sketch, 0 without a sketch
	Backend   string
	Tol       float64 // the requested relative error
	Intercept bool    // whether an intercept was fitted
	Header
	Preparation Preparation
	Terms       []string // names of the features that the coefficients belong to, nil without names
	// Folded is the scaling that the fit applied to the columns, if the coefficients in Fits were converted to
	// unscaled columns afterwards. Otherwise it is nil. If a sketch is used for prediction intervals, its rows must
	// be scaled by Folded.
	Folded  *dataset.Scaling
	Penalty *Penalty // the penalties of the columns, or nil; Folded includes them
	Fits    []Fit    // one for each γ
	// Classes holds the labels of a classification, see [classes.Classes]. It is nil for a regression.
	Classes []string
}

// A Header is the header of the data file.
type Header struct {
	Columns []string // in file order, targets included
	Target  string   // as named by the user
}

// A Fit holds the coefficients for one penalty γ, and the certificate, which has proved bounds on their errors. The
// coefficients belong to the columns of the file or, if the fit had computed features, to these features.
type Fit struct {
	Gamma float64 `json:"gamma"`
	// the γ of each target, if they differ, otherwise nil; if it is not nil, Gamma is the smallest of them
	Gammas    []float64            `json:"gammas,omitempty"`
	Coef      PerTarget[[]float64] `json:"coef"`      // t×d
	Intercept PerTarget[float64]   `json:"intercept"` // t
	// for each target b, its sum of squares ‖b‖², centred if an intercept was fitted; nil if unknown
	TSS         PerTarget[float64] `json:"tss,omitempty"`
	Certificate Certificate        `json:"certificate,omitzero"`
	Fitted      *Fitted            `json:"fitted,omitempty"`
	// UnpenalizedBounds holds bounds on the errors of the coefficients of columns without penalty. It has a list
	// for each target, in the order of the columns. It is nil if every column has a penalty or no bounds are
	// proved.
	UnpenalizedBounds PerTarget[[]float64] `json:"unpenalized_bounds,omitempty"`
	// Coverage holds the widths of prediction intervals for new observations, see [Model.Calibrate]. It is nil if
	// they were not computed.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// Fitted holds the coefficients of the scaled columns, whose errors the certificate bounds. [Fit] holds the same
// coefficients after conversion to unscaled columns. If there was no conversion, the lists are empty. A model that
// an earlier program wrote has no Fitted, so its certificate gives no intervals.
type Fitted struct {
	Coef      PerTarget[[]float64] `json:"coef,omitempty"`      // for scaled columns
	Intercept PerTarget[float64]   `json:"intercept,omitempty"` // for scaled columns
}

// Details holds what a model records besides the solutions and the preparation of the rows.
type Details struct {
	Intercept bool      // whether an intercept was fitted
	Size      int       // number of rows of the sketch, 0 without a sketch
	Tol       float64   // the requested relative error
	Passes    int       // number of passes made before the fit, to prepare the rows
	Columns   []string  // names of the columns, targets included
	Target    string    // the name of the target
	Before    []float64 // penalties applied to the columns before the fit; prep includes them
	Bands     []Band    // the groups of columns with the penalties
	Classes   []string  // the labels of the classes; nil for a regression
}

// New makes a model of solutions for one or more γ. prep describes the preparation of their rows; its zero value
// means no preparation. A Penalty of the solutions was applied after prep. If prep scales columns and computes no
// features, New converts the coefficients to unscaled columns. If the columns are not scaled, the
// model shares the coefficients with the solutions.
//
// The solutions may come from a *[ridge.NotConvergedError]. [Model.Err] then returns an error.
//
// Errors:
//
//   - [ErrShape] if there is no solution, if a solution is nil, or if the dimensions, numbers of rows or
//     numbers of names disagree
//   - [ErrInput] if a γ is negative or not finite, or if there is an intercept and Details.Intercept is false
//   - another error if a coefficient is not finite
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
	prep, err = prep.Penalize(penalty)
	if err != nil {
		return nil, err
	}
	t, d := solutions[0].Dims()
	if prep.Inputs == 0 && prep.Expansion() == nil {
		prep.Inputs = d
	}
	m := &Model{
		Rows:        solutions[0].Rows,
		Features:    d,
		Size:        about.Size,
		Backend:     solutions[0].Backend,
		Tol:         about.Tol,
		Intercept:   about.Intercept,
		Header:      Header{about.Columns, about.Target},
		Preparation: prep,
		Classes:     slices.Clone(about.Classes),
	}
	if prep.unscales() {
		if len(prep.Scaling.Mean) != d || len(prep.Scaling.Scale) != d {
			return nil, fmt.Errorf("%w: a scaling of %d columns for %d weights", errShape, len(prep.Scaling.Mean), d)
		}
		m.Folded, m.Preparation.Scaling = prep.Scaling, nil
	}
	if penalty != nil || about.Before != nil {
		m.Penalty = &Penalty{
			Before: slices.Clone(about.Before),
			After:  slices.Clone(penalty),
			Bands:  about.Bands,
		}
	}
	for _, f := range solutions {
		f = f.Fitted()
		if f.Rows != m.Rows && f.Rows != 0 && m.Rows != 0 { // 0 means unknown
			return nil, fmt.Errorf("%w: solutions of %d rows and of %d", errShape, m.Rows, f.Rows)
		}
		k, _ := f.Dims()
		if k != t ||
			slices.ContainsFunc(f.Targets, func(o ridge.Target) bool {
				return len(o.Coef) != d
			}) {
			return nil, fmt.Errorf("%w: solutions of other dimensions than %d targets and %d features", errShape, t, d)
		}
		fit := newFit(prep, f, about.Passes)
		fit.boundUnpenalized(prep, f, penalty)
		err := m.checkShared()
		if err == nil {
			err = m.check(&fit)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errShape, err)
		}
		if err := fit.checkFinite(); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		if !isGamma(f.Gamma) {
			return nil, errtext.BadInput("model: a solution at gamma = %v", f.Gamma)
		}
		if !about.Intercept &&
			slices.ContainsFunc(f.Targets, func(o ridge.Target) bool {
				return o.Intercept != 0
			}) {
			return nil, errtext.BadInput("model: a solution has an intercept, but Details.Intercept is false")
		}
		m.Fits = append(m.Fits, fit)
	}
	m.Terms = m.Preparation.Terms()
	return m, nil
}

// GammaOf returns the γ of target j.
func (w *Fit) GammaOf(j int) float64 {
	if j < len(w.Gammas) {
		return w.Gammas[j]
	}
	return w.Gamma
}

// newFit returns the fit of a model for the solution f. If prep scales columns and computes no features, the
// coefficients are converted to unscaled columns. passes is the number of passes before the fit.
func newFit(prep Preparation, f *ridge.Solution, passes int) Fit {
	record := NewRecord(f, &prep, passes)
	out := Fit{
		Gamma:       f.Gamma,
		Gammas:      slices.Clone(f.Gammas),
		Certificate: Certificate{record: &record},
		Fitted:      &Fitted{},
	}
	known := true // whether ‖b‖² of every target is known
	for j := range f.Targets {
		o := &f.Targets[j]
		known = known && vec.IsFinite(o.ComputedTSS)
		coef, b := prep.Unscale(o.Coef, o.Intercept)
		out.TSS = append(out.TSS, o.ComputedTSS)
		out.Coef = append(out.Coef, coef)
		out.Intercept = append(out.Intercept, b)
		if prep.unscales() {
			out.Fitted.Coef = append(out.Fitted.Coef, o.Coef)
			out.Fitted.Intercept = append(out.Fitted.Intercept, o.Intercept)
		}
	}
	if !known {
		out.TSS = nil
	}
	return out
}

// boundUnpenalized sets w.UnpenalizedBounds, in the units of the file.
func (w *Fit) boundUnpenalized(prep Preparation, f *ridge.Solution, penalty []float64) {
	for j := range f.Targets {
		o := &f.Targets[j]
		if o.UnpenalizedBounds == nil {
			w.UnpenalizedBounds = nil
			return
		}
		var bounds []float64
		for i, e := range o.CoefficientBounds(penalty) {
			if penalty[i] == 0 {
				if s := prep.Scaling.Scale[i]; s != 1 {
					e = e/s*(1+0x1p-50) + 0x1p-52*math.Abs(w.Coef[j][i]) + 0x1p-1073
				}
				bounds = append(bounds, e)
			}
		}
		w.UnpenalizedBounds = append(w.UnpenalizedBounds, bounds)
	}
}

// Write writes the model as JSON. Equal models give equal bytes. If the model has no fits, or if the lengths of its
// lists contradict each other, the error is [ErrShape]. If a γ is negative or not finite, the error is [ErrInput].
func (m *Model) Write(w io.Writer) error {
	if err := m.checkFits(); err != nil {
		return err
	}
	return m.encode(w)
}

// checkFits returns the error that Write returns for an invalid model, or nil.
func (m *Model) checkFits() error {
	if len(m.Fits) == 0 {
		return fmt.Errorf("%w: a model without a fit", errShape)
	}
	if err := m.checkShared(); err != nil {
		return fmt.Errorf("%w: %w", errShape, err)
	}
	for i := range m.Fits {
		if err := m.check(&m.Fits[i]); err != nil {
			return fmt.Errorf("%w: %w", errShape, err)
		}
		if g := m.Fits[i].Gamma; !isGamma(g) {
			return errtext.BadInput("model: a fit at gamma = %v", g)
		}
	}
	return nil
}

func (m *Model) encode(w io.Writer) error {
	f := file{
		Version:     version,
		Rows:        m.Rows,
		Features:    m.Features,
		Size:        m.Size,
		Backend:     m.Backend,
		Tol:         Number(m.Tol),
		Intercept:   m.Intercept,
		header:      header(m.Header),
		Preparation: m.Preparation,
		Folded:      m.Folded,
		Penalty:     m.Penalty,
		Classes:     m.Classes,
		Models:      m.Fits,
	}
	if m.Preparation.Polynomial != nil {
		f.Terms = m.Terms
	}
	return jsonfields.Encode(w, f, " ")
}

// Read reads a model that [Model.Write] or [Model.WriteArrays] wrote. It reads r to its end. If the file is not a
// model or contradicts itself, the error is a *[FormatError]. If its version is unknown, the error is a
// *[VersionError].
func Read(r io.Reader) (*Model, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: no reader of a model", errShape)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var arrays *archive
	if isArchive(text) {
		arrays, text, err = openArchive(text)
		if err != nil {
			return nil, &FormatError{err}
		}
	}
	var f readFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, &FormatError{jsonfields.Explain(err)}
	}
	if f.Version < 1 || f.Version > version {
		return nil, &VersionError{f.Version}
	}
	fits, err := f.fits()
	if err == nil && arrays != nil {
		err = arrays.fill(fits)
	}
	if err != nil {
		return nil, &FormatError{err}
	}
	prep, err := f.preparation()
	if err != nil {
		return nil, &FormatError{err}
	}
	m := &Model{
		Rows:        f.Rows,
		Features:    f.Features,
		Size:        f.Size,
		Backend:     f.Backend,
		Tol:         float64(f.Tol),
		Intercept:   f.file.Intercept,
		Header:      Header{f.Columns, f.Target},
		Preparation: prep,
		Terms:       f.Terms,
		Folded:      f.Folded,
		Penalty:     f.Penalty,
		Fits:        fits,
		Classes:     f.Classes,
	}
	if m.Features == 0 && m.Preparation.Expansion() == nil { // other programs may leave d out
		m.Features = m.Preparation.Inputs
	}
	if m.Preparation.Polynomial == nil { // names of polynomial terms may be much longer than the file
		m.Terms = m.Preparation.Terms()
	}
	if m.Classes != nil && f.Version < 4 {
		return nil, &FormatError{fmt.Errorf("it has classes, as only versions from 4 on may have")}
	}
	if m.Penalty.unpenalized() && f.Version < 3 {
		return nil, &FormatError{fmt.Errorf("a penalty is 0, as only versions from 3 on may have")}
	}
	if err := m.checkShared(); err != nil {
		return nil, &FormatError{err}
	}
	for i := range m.Fits {
		err := m.check(&m.Fits[i])
		if err == nil {
			err = m.Fits[i].checkFinite()
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

// checkShared checks the parts of the model that belong to all fits: the lengths of lists, and numbers.
func (m *Model) checkShared() error {
	p := &m.Preparation
	if err := p.check(); err != nil {
		return err
	}
	made, err := p.features()
	if err != nil {
		return err
	}
	if m.Features != made && (m.Features != 0 || p.Expansion() != nil) {
		return fmt.Errorf("%d features, but its preparation makes %d", m.Features, made)
	}
	if m.Rows < 0 || m.Size < 0 {
		return fmt.Errorf("it has %d rows, and a sketch of %d rows", m.Rows, m.Size)
	}
	if p.Polynomial != nil && m.Terms != nil && len(m.Terms) != made {
		return fmt.Errorf("%d names for %d polynomial features", len(m.Terms), made)
	}
	if m.Folded != nil {
		if p.Expansion() != nil {
			return errors.New("coefficients of computed features cannot be in the units of the columns")
		}
		if err := checkScaling(m.Folded, made); err != nil {
			return err
		}
	}
	if m.Penalty != nil && p.Expansion() != nil {
		return errExpanded
	}
	return m.Penalty.check(p.Inputs)
}

// check returns an error if the lists in the fit w have lengths that contradict each other or the model. It must be
// called after checkShared, and only if checkShared found no error.
func (m *Model) check(w *Fit) error {
	if len(w.Coef) == 0 || len(w.Coef) != len(w.Intercept) {
		return fmt.Errorf("%d lists of weights, %d intercepts", len(w.Coef), len(w.Intercept))
	}
	if len(m.Fits) > 0 && len(w.Coef) != len(m.Fits[0].Coef) {
		return fmt.Errorf("fits of %d targets and of %d", len(m.Fits[0].Coef), len(w.Coef))
	}
	if err := m.checkClasses(len(w.Coef)); err != nil {
		return err
	}
	if len(w.TSS) > 0 && len(w.TSS) != len(w.Coef) {
		return fmt.Errorf("%d sums of squares for %d targets", len(w.TSS), len(w.Coef))
	}
	i := slices.IndexFunc(w.TSS, func(v float64) bool { return !vec.IsFinite(v) })
	if i >= 0 {
		return fmt.Errorf("a sum of squares is %v", w.TSS[i])
	}
	if w.Gammas != nil &&
		(len(w.Gammas) != len(w.Coef) || w.Gamma != slices.Min(w.Gammas) || !isGamma(slices.Max(w.Gammas))) {
		return fmt.Errorf(
			"%d gammas contradict %d targets or the smallest gamma %v",
			len(w.Gammas),
			len(w.Coef),
			w.Gamma,
		)
	}
	made, err := m.Preparation.features()
	if err != nil {
		return err
	}
	for _, c := range w.Coef {
		if len(c) != made {
			return fmt.Errorf("%d weights for %d features", len(c), made)
		}
	}
	if err := w.Coverage.check(len(w.Coef)); err != nil {
		return err
	}
	if err := m.checkUnpenalized(w); err != nil {
		return err
	}
	return w.Fitted.check(made, len(w.Coef), m.Folded != nil)
}

// checkUnpenalized returns an error unless w has a valid bound for every column without penalty, or no such bound
// at all.
func (m *Model) checkUnpenalized(w *Fit) error {
	if w.UnpenalizedBounds == nil {
		return nil
	}
	free := 0
	for j := range m.Preparation.Inputs {
		if m.Unpenalized(j) {
			free++
		}
	}
	if len(w.UnpenalizedBounds) != len(w.Coef) {
		return fmt.Errorf("bounds of unpenalised columns for %d of %d targets", len(w.UnpenalizedBounds), len(w.Coef))
	}
	for _, bounds := range w.UnpenalizedBounds {
		if len(bounds) != free {
			return fmt.Errorf("%d bounds for %d columns without penalty", len(bounds), free)
		}
		i := slices.IndexFunc(bounds, func(v float64) bool { return !(v >= 0) })
		if i >= 0 {
			return fmt.Errorf("a bound of a column without penalty is %v", bounds[i])
		}
	}
	return nil
}

func (w *Fit) checkFinite() error {
	if err := checkWeights(w.Coef, w.Intercept); err != nil || w.Fitted == nil {
		return err
	}
	return checkWeights(w.Fitted.Coef, w.Fitted.Intercept)
}

// checkWeights returns an error unless all coefficients and all intercepts are finite.
func checkWeights(coef [][]float64, intercept []float64) error {
	for j, c := range coef {
		for _, v := range c {
			if !vec.IsFinite(v) {
				return fmt.Errorf("a weight is %v", v)
			}
		}
		if b := intercept[j]; !vec.IsFinite(b) {
			return fmt.Errorf("an intercept is %v", b)
		}
	}
	return nil
}

// check returns an error unless f has the right lengths. If folded is true, the model has a scaling [Model.Folded],
// and f must have d coefficients for each of t targets. Otherwise f must be empty.
func (f *Fitted) check(d, t int, folded bool) error {
	if f == nil {
		return nil
	}
	scaled := 0 // number of targets with coefficients of scaled columns
	if folded {
		scaled = t
	}
	if len(f.Coef) != scaled || len(f.Intercept) != scaled {
		return fmt.Errorf(
			"the fitted coefficients have %d lists of weights and %d intercepts for %d targets",
			len(f.Coef),
			len(f.Intercept),
			t,
		)
	}
	for _, c := range f.Coef {
		if len(c) != d {
			return fmt.Errorf("%d weights were fitted to %d features", len(c), d)
		}
	}
	return nil
}

// Gammas returns the γ of the fits.
func (m *Model) Gammas() []float64 {
	out := make([]float64, len(m.Fits))
	for i := range m.Fits {
		out[i] = m.Fits[i].Gamma
	}
	return out
}

// At returns a model that has only the fit for the penalty gamma. It shares memory with m. If m has no such fit,
// the error is a *[GammaError].
func (m *Model) At(gamma float64) (*Model, error) {
	i := slices.IndexFunc(m.Fits, func(f Fit) bool { return f.Gamma == gamma })
	if i < 0 {
		return nil, &GammaError{gamma, m.Gammas()}
	}
	one := *m
	one.Fits = m.Fits[i : i+1 : i+1]
	return &one, nil
}

// Weights returns a matrix of all coefficients. It has a row for each γ and target, ordered by γ. A row begins with
// the intercept, and the coefficients follow.
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
