package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

// A Preparation is what is done to rows before they are fitted, and again before anything
// is predicted for them: what is missing is filled in or left out and columns are made of categorical
// ones, by an Encoding, then columns are scaled, then there are Fourier or polynomial features of
// them. One with nothing but Inputs does nothing.
type Preparation struct {
	Inputs     int                 `json:"inputs"`          // features of the rows as they come, or those that Encoding makes of them
	Names      []string            `json:"names,omitempty"` // of these
	Encoding   *dataset.Encoding   `json:"encoding,omitempty"`
	Scaling    *dataset.Scaling    `json:"scaling,omitempty"`
	Features   *dataset.Fourier    `json:"features,omitempty"`
	Polynomial *dataset.Polynomial `json:"polynomial,omitempty"`
}

// Expand notes the features that are computed: a [dataset.Fourier] or a
// [dataset.Polynomial]; nil is none.
func (p *Preparation) Expand(f dataset.Features) {
	p.Features, p.Polynomial = nil, nil
	switch f := f.(type) {
	case dataset.Fourier:
		p.Features = &f
	case dataset.Polynomial:
		p.Polynomial = &f
	}
}

// Expansion is what Expand noted, nil for nothing.
func (p *Preparation) Expansion() dataset.Features {
	switch {
	case p.Features != nil:
		return *p.Features
	case p.Polynomial != nil:
		return *p.Polynomial
	}
	return nil
}

// Terms are the names of the features that the weights belong to: those of the columns, or
// of their monomials. Columns without names are x1, x2, … in monomials. Features without
// names, such as Fourier features, are nil.
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

// Columns are the number of columns of rows as they come, and their names, nil where they have none.
func (p *Preparation) Columns() (d int, names []string) {
	if p.Encoding != nil {
		return p.Encoding.Inputs, p.Encoding.Names
	}
	return p.Inputs, p.Names
}

// Encode takes over an encoding that was learnt, with the columns that it makes; nil is none.
func (p *Preparation) Encode(e *dataset.Encoding) {
	if p.Encoding = e; e != nil {
		p.Inputs, p.Names = e.Width(), e.MadeNames()
	}
}

// valid checks the encoding, which may come from a file.
func (p *Preparation) valid() error {
	if p.Encoding == nil {
		return nil
	}
	if err := p.Encoding.Valid(); err != nil {
		return err
	}
	if d := p.Encoding.Width(); d != p.Inputs {
		return fmt.Errorf("an encoding that makes %d columns, where there are %d", d, p.Inputs)
	}
	return nil
}

// Apply returns the prepared rows of src. be computes the features; nil means
// engine.Default(). Rows that cannot be prepared, such as those of another number of
// features, are a *[PreparationError].
func (p *Preparation) Apply(src dataset.Source, be engine.Backend) (dataset.Source, error) {
	return p.ApplyEncoded(src, be, dataset.EncodeOptions{})
}

// ApplyEncoded is Apply where options say how the rows are encoded: with the [dataset.Cells] that
// they were read by, where they come from files.
func (p *Preparation) ApplyEncoded(src dataset.Source, be engine.Backend, o dataset.EncodeOptions) (dataset.Source, error) {
	if src == nil {
		return nil, &PreparationError{errNoSource}
	}
	want, _ := p.Columns()
	if _, d, _ := src.Dims(); d != want {
		return nil, &PreparationError{fmt.Errorf("%w: rows of %d features, the preparation is of %d", errShape, d, want)}
	}
	err := p.valid()
	if err == nil && p.Encoding != nil {
		src, err = p.Encoding.Apply(src, o)
	}
	if err != nil {
		return nil, &PreparationError{err}
	}
	if p.Scaling != nil {
		if src, err = p.Scaling.Apply(src); err != nil {
			return nil, &PreparationError{err}
		}
	}
	if f := p.Expansion(); f != nil {
		if src, err = f.Apply(src, be); err != nil {
			return nil, &PreparationError{err}
		}
	}
	return src, nil
}

// unscales reports whether weights can be converted to those of columns as they come: these
// are scaled, and no features are computed from them.
func (p *Preparation) unscales() bool { return p.Scaling != nil && p.Expansion() == nil }

// Unscale converts the weights of one target, which belong to the scaled columns
// (x − mean)/scale, to those of the columns x as they come,
//
//	coefⱼ/scaleⱼ,   intercept − Σⱼ coefⱼ·meanⱼ/scaleⱼ.
//
// Weights of computed features stay as they are. It returns a copy.
func (p *Preparation) Unscale(coef []float64, intercept float64) ([]float64, float64) {
	out := slices.Clone(coef)
	if !p.unscales() {
		return out, intercept
	}
	for i := range out {
		out[i] /= p.Scaling.Scale[i]
		intercept -= out[i] * p.Scaling.Mean[i]
	}
	return out, intercept
}

// InterceptBound bounds the error of the intercept that Unscale returns. Where the weights
// are off by Δx and the intercept by Δb, that of Unscale is off by Δb − Σⱼ Δxⱼ·meanⱼ/scaleⱼ
// and by its rounding. Of no target, or one of other weights than there are columns, nothing is known: it is
// +Inf.
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
		bound += o.ErrorBound*far + float64(len(o.Coef)+4)*0x1p-1074 // of products that underflow
	}
	rounded := float64(len(o.Coef)+4) * 0x1p-52 * (math.Abs(o.Intercept) + size)
	return (bound + rounded) * 1.01 // for the rounding of this
}
