package model

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// A Preparation describes how rows are prepared for a fit and for predictions. It has up to three steps, in this
// order. Encoding replaces missing values and categories by numbers. Scaling scales the columns. Features or
// Polynomial computes features from the columns. A step that is nil is skipped.
type Preparation struct {
	Inputs     int                 `json:"inputs"`          // number of columns after encoding
	Names      []string            `json:"names,omitempty"` // names of these columns
	Encoding   *prepare.Encoding   `json:"encoding,omitempty"`
	Scaling    *dataset.Scaling    `json:"scaling,omitempty"`
	Features   *dataset.Fourier    `json:"features,omitempty"`
	Polynomial *dataset.Polynomial `json:"polynomial,omitempty"`
	// Text states how the text files of the training rows were written. A reader of new files may need it. It has
	// no effect on rows in memory.
	Text *prepare.Text `json:"text,omitempty"`
}

// Equals reports whether p and q prepare rows in the same way. It does not compare the fields Text.
func (p Preparation) Equals(q Preparation) bool {
	p.Text, q.Text = nil, nil
	return reflect.DeepEqual(p, q)
}

// Expand sets the features that p computes. f is a [dataset.Fourier], a [dataset.Polynomial], or nil for none.
func (p *Preparation) Expand(f dataset.Features) {
	p.Features, p.Polynomial = nil, nil
	switch f := f.(type) {
	case dataset.Fourier:
		p.Features = &f
	case dataset.Polynomial:
		p.Polynomial = &f
	}
}

// Expansion returns the features to compute, or nil.
func (p *Preparation) Expansion() dataset.Features {
	switch {
	case p.Features != nil:
		return *p.Features
	case p.Polynomial != nil:
		return *p.Polynomial
	}
	return nil
}

// Terms returns the names of the features that have coefficients. These are the names of the columns or, for
// polynomial features, of monomials such as "a*b". It returns nil if the features have no names, such as Fourier
// features. If the columns have no names, monomials are named with x1, x2, and so on.
func (p *Preparation) Terms() []string {
	switch {
	case p.Features != nil:
		return nil
	case p.Polynomial == nil:
		return p.Names
	}
	names := p.Names
	if names == nil {
		for j := range p.Inputs {
			names = append(names, fmt.Sprint("x", j+1))
		}
	}
	return p.Polynomial.Names(names)
}

// Columns returns the number and the names of the columns that a row has before preparation. names is nil if the
// columns have no names.
func (p *Preparation) Columns() (d int, names []string) {
	if p.Encoding != nil {
		return p.Encoding.Inputs, p.Encoding.Names
	}
	return p.Inputs, p.Names
}

// Encode sets the encoding of p to e. It sets Inputs and Names to the number and the names of the encoded columns.
// If e was made by [prepare.Look], it also sets Scaling. If e is nil, Encode only removes the encoding.
func (p *Preparation) Encode(e *prepare.Encoding) {
	p.Encoding = e
	if e != nil {
		p.Inputs, p.Names = e.Width(), e.MadeNames()
	}
	if e != nil && e.Columns != nil {
		p.Scaling = e.Scaling()
	}
}

// check returns an error if the encoding or the scaling is invalid, or if a list has a wrong length.
func (p *Preparation) check() error {
	if p.Encoding != nil {
		if err := p.Encoding.Valid(); err != nil {
			return err
		}
		if d := p.Encoding.Width(); d != p.Inputs {
			return fmt.Errorf("the encoding makes %d columns, but there are %d", d, p.Inputs)
		}
	}
	if p.Names != nil && len(p.Names) != p.Inputs {
		return fmt.Errorf("%d names for %d columns", len(p.Names), p.Inputs)
	}
	return checkScaling(p.Scaling, p.Inputs)
}

// checkScaling returns an error unless s is nil, or has finite means and finite positive scales for d columns.
func checkScaling(s *dataset.Scaling, d int) error {
	if s == nil {
		return nil
	}
	if len(s.Mean) != d || len(s.Scale) != d {
		return fmt.Errorf("a scaling of %d means and %d scales for %d columns", len(s.Mean), len(s.Scale), d)
	}
	for j, mean := range s.Mean {
		scale := s.Scale[j]
		if !vec.IsFinite(mean) || !vec.IsFinite(scale) || !(scale > 0) {
			return fmt.Errorf("column %d cannot be scaled by mean %v and scale %v", j+1, mean, scale)
		}
	}
	return nil
}

// features returns the number of features that p makes. It returns an error if p has no columns, or if its computed
// features are invalid.
func (p *Preparation) features() (int, error) {
	switch {
	case p.Inputs < 1:
		return 0, fmt.Errorf("it has %d columns", p.Inputs)
	case p.Features != nil && p.Polynomial != nil:
		return 0, errors.New("it has two kinds of computed features")
	case p.Expansion() != nil:
		return dataset.CountFeatures(p.Expansion(), p.Inputs)
	}
	return p.Inputs, nil
}

// Apply returns the rows of src, prepared. The backend be computes features; nil means engine.Default(). If the
// rows cannot be prepared, for example because the number of columns is wrong, the error is a *[PreparationError].
func (p *Preparation) Apply(src dataset.Source, be engine.Backend) (dataset.Source, error) {
	return p.ApplyEncoded(src, be, prepare.EncodeOptions{})
}

// ApplyEncoded returns the rows of src, prepared as by Apply, with the options o for the encoding. If the rows come
// from files, o.Cells must be the [prepare.Cells] with which they were read.
func (p *Preparation) ApplyEncoded(
	src dataset.Source,
	be engine.Backend,
	o prepare.EncodeOptions,
) (dataset.Source, error) {
	if src == nil {
		return nil, &PreparationError{errNoSource}
	}
	want, _ := p.Columns()
	if _, d, _ := src.Dims(); d != want {
		return nil, &PreparationError{
			fmt.Errorf("%w: rows of %d features, the preparation is of %d", errShape, d, want),
		}
	}
	err := p.check()
	if err == nil && p.Encoding != nil {
		src, err = p.Encoding.Apply(src, o)
	}
	if err != nil {
		return nil, &PreparationError{err}
	}
	if p.Scaling != nil {
		src, err = p.Scaling.Apply(src)
		if err != nil {
			return nil, &PreparationError{err}
		}
	}
	if f := p.Expansion(); f != nil {
		src, err = f.Apply(src, be)
		if err != nil {
			return nil, &PreparationError{err}
		}
	}
	return src, nil
}

// Reversible returns the scaling that [Preparation.Unscale] undoes. It returns nil if the columns are not scaled,
// or if features are computed from them. The coefficients then need no conversion.
func (p *Preparation) Reversible() *dataset.Scaling {
	if p.Expansion() != nil {
		return nil
	}
	return p.Scaling
}

// unscales reports whether [Preparation.Unscale] converts coefficients. It does not if the columns are not scaled,
// or if features are computed.
func (p *Preparation) unscales() bool { return p.Reversible() != nil }

// Unscale converts the coefficients for one target to the units of unscaled columns. The arguments coef and
// intercept are for columns scaled to (x − mean)/scale. The results are for the columns x:
//
//	coefⱼ/scaleⱼ,   intercept − Σⱼ coefⱼ·meanⱼ/scaleⱼ.
//
// The intercept is computed with twice the digits of a float64 and rounded once. If p does not scale columns, or if
// it computes features, Unscale returns its arguments.
func (p *Preparation) Unscale(coef []float64, intercept float64) ([]float64, float64) {
	if !p.unscales() {
		return coef, intercept
	}
	out := slices.Clone(coef)
	for i := range out {
		out[i] /= p.Scaling.Scale[i]
	}
	intercept, _ = p.unscaledIntercept(out, intercept)
	return out, intercept
}

// unscaledIntercept returns the intercept for unscaled columns, and a bound on its rounding error. coef are the
// coefficients of unscaled columns, but the argument intercept belongs to scaled columns.
func (p *Preparation) unscaledIntercept(coef []float64, intercept float64) (value, rounding float64) {
	sum := twofold.Of(intercept)
	for i, mean := range p.Scaling.Mean {
		if mean != 0 {
			sum = sum.Minus(twofold.Times(coef[i], mean))
		}
	}
	return sum.Round()
}

// interceptRounding returns a bound on the rounding error of the intercept that Unscale returns for the target o.
func (p *Preparation) interceptRounding(o *ridge.Target) float64 {
	if !p.unscales() || len(o.Coef) != len(p.Scaling.Mean) {
		return 0
	}
	coef, _ := p.Unscale(o.Coef, o.Intercept)
	_, rounding := p.unscaledIntercept(coef, o.Intercept)
	return rounding
}

// InterceptBound returns a bound on the error of the intercept that [Preparation.Unscale] returns for the target o.
// The certificate in o bounds the errors Δxⱼ of its coefficients and the error Δb of its intercept. The error of
// the unscaled intercept is Δb − Σⱼ Δxⱼ·meanⱼ/scaleⱼ plus round-off. The bound is +Inf if o is nil or
// has a wrong number of coefficients.
func (p *Preparation) InterceptBound(o *ridge.Target) float64 {
	if o == nil || p.unscales() && len(o.Coef) != len(p.Scaling.Mean) {
		return math.Inf(1)
	}
	bound := o.InterceptBound
	if !p.unscales() {
		return bound
	}
	var far, size float64
	for i, mean := range p.Scaling.Mean {
		v := mean / p.Scaling.Scale[i]
		far = math.Hypot(far, v)
		size += math.Abs(o.Coef[i] * v)
	}
	if far > 0 {
		// underflow of products
		bound += math.Hypot(o.ErrorBound, vec.Norm(o.UnpenalizedBounds))*far +
			float64(len(o.Coef)+4)*0x1p-1074
	}
	rounded := float64(len(o.Coef)+4) * 0x1p-52 * (math.Abs(o.Intercept) + size)
	return (bound + rounded) * 1.01 // round-off of this bound
}
