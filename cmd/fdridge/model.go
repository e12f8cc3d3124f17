package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/ridge"
)

// modelVersion is the version of the model file.
const modelVersion = 1

// A model is the file that fit --out writes: a fit for each γ in models and,
// where there is one γ, its fields at the top level instead.
type model struct {
	Version     int         `json:"fdridge_model"`
	N           int64       `json:"n"`
	D           int         `json:"d"` // features ridge has seen
	Size        int         `json:"size"`
	Backend     string      `json:"backend"`
	Tol         number      `json:"tol"`
	FitsCentre  bool        `json:"intercept_fitted"`
	Columns     []string    `json:"columns,omitempty"` // of the file's header, in its order, targets included
	Target      string      `json:"target,omitempty"`  // as --target named it
	Preparation preparation `json:"preparation"`
	Terms       []string    `json:"feature_names,omitempty"` // of the weights, where they are of polynomial features
	// What the weights, in the units of the file, were scaled by when they were
	// fitted: a sketch of other columns is not that of the fit.
	Folded *dataset.Scaling `json:"folded_scaling,omitempty"`
	*Weights
	Models []Weights `json:"models,omitempty"`
}

// Weights are what one γ predicts with, and its record. Without Fourier features
// coef is in the units of the file. (Exported, as encoding/json wants of what is
// embedded.)
type Weights struct {
	Gamma       float64    `json:"gamma"`
	Coef        perTarget2 `json:"coef"`      // d numbers, or t lists of d
	Intercept   perTarget1 `json:"intercept"` // a number, or t of them
	TSS         perTarget1 `json:"tss"`       // ‖b‖² of the targets, centred where an intercept was fitted
	Certificate proof      `json:"certificate"`
	Fitted      *fitted    `json:"fitted,omitempty"`
}

// fitted is what the certificate is about, bit for bit, where that is not in the fields
// beside it. Models that were written before have none: nothing says that their weights
// are those of their certificate, and they narrow no interval.
type fitted struct {
	Coef      perTarget2 `json:"coef,omitempty"`      // of the scaled columns, where coef is in the units of the file
	Intercept perTarget1 `json:"intercept,omitempty"` // to go with them
}

// A proof is a fitRecord in a file. Of what was read nothing is decoded until an
// interval needs it.
type proof struct {
	record fitRecord
	text   json.RawMessage
}

func (c proof) MarshalJSON() ([]byte, error) { return json.Marshal(c.record) }

func (c *proof) UnmarshalJSON(b []byte) error {
	c.text = bytes.Clone(b)
	return nil
}

// certificates decodes what [ridge.Predictor.Narrow] takes of those of t targets.
func (c *proof) certificates(t int) ([]ridge.Certificate, error) {
	var v struct {
		ErrorBound     bounds   `json:"error_bound"`
		EnergyBound    bounds   `json:"energy_bound"`
		InterceptBound bounds   `json:"intercept_bound"`
		Objective      brackets `json:"objective"`
	}
	var text bytes.Buffer // without the spaces that tell brackets one from several
	if err := json.Compact(&text, c.text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text.Bytes(), &v); err != nil {
		return nil, err
	}
	if len(v.ErrorBound) != t || len(v.EnergyBound) != t || len(v.Objective) != t {
		return nil, fmt.Errorf("%d, %d and %d bounds for %d targets cannot narrow intervals", len(v.ErrorBound), len(v.EnergyBound), len(v.Objective), t)
	}
	out := make([]ridge.Certificate, t)
	for j := range out {
		out[j] = ridge.Certificate{ErrorBound: v.ErrorBound[j], EnergyBound: v.EnergyBound[j], Objective: v.Objective[j]}
		if len(v.InterceptBound) == t {
			out[j].InterceptBound = v.InterceptBound[j]
		}
	}
	return out, nil
}

// bounds are an upper bound for each target, in JSON one number where t = 1, and null
// where they are not finite.
type bounds []float64

func (x bounds) MarshalJSON() ([]byte, error) { return numbers(x).MarshalJSON() }

func (x *bounds) UnmarshalJSON(b []byte) error {
	list := make([]number, 1)
	if err := json.Unmarshal(b, &list[0]); err != nil {
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
	}
	*x = nil
	for _, v := range list {
		*x = append(*x, float64(v))
	}
	return nil
}

// perTarget2 is t lists of d numbers, in JSON one list where t = 1.
type perTarget2 [][]float64

func (x perTarget2) MarshalJSON() ([]byte, error) { return perTarget[[]float64](x).MarshalJSON() }

func (x *perTarget2) UnmarshalJSON(b []byte) error { return readPerTarget(b, (*[][]float64)(x)) }

// perTarget1 is t numbers, in JSON one number where t = 1.
type perTarget1 []float64

func (x perTarget1) MarshalJSON() ([]byte, error) { return perTarget[float64](x).MarshalJSON() }

func (x *perTarget1) UnmarshalJSON(b []byte) error { return readPerTarget(b, (*[]float64)(x)) }

// readPerTarget reads a value for each target, or the bare value of one. What is
// null would be read as zero, and is refused.
func readPerTarget[T any](b []byte, x *[]T) error {
	if bytes.Contains(b, []byte("null")) {
		return errors.New("a weight is null")
	}
	var one T
	if json.Unmarshal(b, &one) == nil {
		*x = []T{one}
		return nil
	}
	return json.Unmarshal(b, x)
}

// writeModel writes the fits, whole or not at all.
func (r *result) writeModel(name string) error {
	_, d := r.fits[0].Dims()
	prep := r.prep
	var folded *dataset.Scaling
	if prep.expansion() == nil {
		folded, prep.Scaling = prep.Scaling, nil
	}
	m := model{
		Version: modelVersion, N: r.fits[0].Rows, D: d, Size: r.size, Backend: r.backend.Name(), Tol: number(r.o.tol),
		FitsCentre: r.intercept, Columns: r.columns, Target: r.target, Preparation: prep, Folded: folded,
	}
	if prep.Polynomial != nil {
		m.Terms = prep.terms()
	}
	for _, f := range r.fits {
		m.Models = append(m.Models, r.weights(f))
	}
	if len(m.Models) == 1 {
		m.Weights, m.Models = &m.Models[0], nil
	}
	return atomicfile.Write(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(m)
	})
}

// weights are a fit's, in the units of the file where they can be.
func (r *result) weights(f *ridge.Solution) Weights {
	out := Weights{Gamma: f.Gamma, Certificate: proof{record: r.record(f)}, Fitted: &fitted{}}
	for j := range f.Targets {
		o := &f.Targets[j]
		coef, b := r.prep.unscale(o.Coef, o.Intercept)
		out.TSS = append(out.TSS, o.ComputedTSS)
		out.Coef = append(out.Coef, coef)
		out.Intercept = append(out.Intercept, b)
		if r.prep.Scaling != nil && r.prep.expansion() == nil {
			out.Fitted.Coef = append(out.Fitted.Coef, o.Coef)
			out.Fitted.Intercept = append(out.Fitted.Intercept, o.Intercept)
		}
	}
	return out
}

// writeCoef writes the weights as an array, a row [intercept, weights…] for each γ
// and target, in the units of the file where they can be.
func (r *result) writeCoef(name string) error {
	t, d := r.fits[0].Dims()
	all := mat.NewDense(len(r.fits)*t, 1+d, nil)
	for i, f := range r.fits {
		w := r.weights(f)
		for j := range t {
			all.SetRow(i*t+j, append([]float64{w.Intercept[j]}, w.Coef[j]...))
		}
	}
	return atomicfile.Write(name, func(w io.Writer) error { return npy.Write(w, len(r.fits)*t, 1+d, all.RawMatrix().Data) })
}

// readModel reads and validates a model file.
func readModel(name string) (*model, error) {
	text, err := readText(name)
	if err != nil {
		return nil, badInput("--model: %w", err)
	}
	var m model
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, badInput("--model: %s is not a model: %w", name, err)
	}
	if m.Version != modelVersion {
		return nil, badInput("--model: %s has version %d of the model format, this program reads %d", name, m.Version, modelVersion)
	}
	if m.Weights != nil {
		m.Models = append(m.Models, *m.Weights)
	}
	if len(m.Models) == 0 {
		return nil, badInput("--model: %s holds no weights", name)
	}
	for _, w := range m.Models {
		if err := m.valid(w); err != nil {
			return nil, badInput("--model: %s: %w", name, err)
		}
	}
	return &m, nil
}

func (m *model) valid(w Weights) error {
	p := m.Preparation
	if len(w.Coef) == 0 || len(w.Coef) != len(w.Intercept) {
		return fmt.Errorf("%d lists of weights, %d intercepts", len(w.Coef), len(w.Intercept))
	}
	if len(w.TSS) > len(w.Coef) {
		return fmt.Errorf("%d sums of squares for %d targets", len(w.TSS), len(w.Coef))
	}
	want := p.Inputs
	if p.expansion() != nil {
		want = m.D
	}
	if p.Features != nil && p.Features.Components != m.D {
		return fmt.Errorf("%d Fourier features for %d weights", p.Features.Components, m.D)
	}
	if p.Scaling != nil && (len(p.Scaling.Mean) != p.Inputs || len(p.Scaling.Scale) != p.Inputs) {
		return fmt.Errorf("a scaling of %d columns for %d", len(p.Scaling.Mean), p.Inputs)
	}
	for j, c := range w.Coef {
		if len(c) != want || want < 1 {
			return fmt.Errorf("%d weights for %d features", len(c), want)
		}
		for _, v := range append(c, w.Intercept[j]) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("a weight is %v", v)
			}
		}
	}
	return w.Fitted.valid(m.D, len(w.Coef), m.Folded != nil)
}

// valid checks what intervals are narrowed by, for d features and t targets.
func (f *fitted) valid(d, t int, folded bool) error {
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

// at picks the fit for a γ; with one fit there is nothing to pick.
func (m *model) at(gamma once) (Weights, error) {
	if !gamma.set {
		if len(m.Models) == 1 {
			return m.Models[0], nil
		}
		return Weights{}, badInput("--gamma: the model has fits for gamma = %s; say which", m.gammas())
	}
	g, err := parseGammas(gamma.value, true)
	if err != nil {
		return Weights{}, err
	}
	for _, w := range m.Models {
		if len(g) == 1 && w.Gamma == g[0] {
			return w, nil
		}
	}
	return Weights{}, badInput("--gamma: %s is not among the model's fits, gamma = %s", gamma.value, m.gammas())
}

func (m *model) gammas() string {
	s := ""
	for i, w := range m.Models {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(w.Gamma)
	}
	return s
}
