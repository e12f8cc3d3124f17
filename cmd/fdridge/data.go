package main

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
)

// A preparation is what is done to the rows of a file before ridge sees them:
// kept in the model, so that prediction does the same.
type preparation struct {
	Inputs     int                 `json:"inputs"` // features in the file
	Names      []string            `json:"names,omitempty"`
	Scaling    *dataset.Scaling    `json:"scaling,omitempty"`
	Features   *dataset.Fourier    `json:"features,omitempty"`
	Polynomial *dataset.Polynomial `json:"polynomial,omitempty"`
}

// expand notes what features are computed.
func (p *preparation) expand(f dataset.Features) {
	switch f := f.(type) {
	case dataset.Fourier:
		p.Features = &f
	case dataset.Polynomial:
		p.Polynomial = &f
	}
}

// expansion is what expand noted, nil for nothing.
func (p *preparation) expansion() dataset.Features {
	switch {
	case p.Features != nil:
		return *p.Features
	case p.Polynomial != nil:
		return *p.Polynomial
	}
	return nil
}

// apply returns src prepared.
func (p *preparation) apply(src dataset.Source, be engine.Backend) (dataset.Source, error) {
	var err error
	if p.Scaling != nil {
		if src, err = p.Scaling.Apply(src); err != nil {
			return nil, &inputError{err}
		}
	}
	if f := p.expansion(); f != nil {
		if src, err = f.Apply(src, be); err != nil {
			return nil, &inputError{err}
		}
	}
	return src, nil
}

// unscale takes the weights of one target back to the units of the file: of
// (x − mean)/scale they are those of x divided by scale, and the intercept takes
// the rest. Weights of computed features stay as they are.
func (p *preparation) unscale(coef []float64, intercept float64) ([]float64, float64) {
	out := append([]float64(nil), coef...)
	if p.Scaling == nil || p.expansion() != nil {
		return out, intercept
	}
	for i := range out {
		out[i] /= p.Scaling.Scale[i]
		intercept -= out[i] * p.Scaling.Mean[i]
	}
	return out, intercept
}

// data are the opened rows of a fit.
type data struct {
	opened  *file.Opened
	counted *counted
	source  dataset.Source // prepared
	prep    preparation
	scans   int // passes that preparing took
}

// cutRows applies --rows; empty text keeps all.
func cutRows(src dataset.Source, text string) (dataset.Source, error) {
	if text == "" {
		return src, nil
	}
	lo, hi, err := parseRows(text)
	if err != nil {
		return nil, err
	}
	return dataset.Rows(src, lo, hi)
}

// counted counts the nonzero features of the first whole pass.
type counted struct {
	dataset.Source
	progress func(rows int64)
	known    bool
	nnz      int64
}

func (c *counted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	if c.known {
		return c.Source.Blocks(ctx)
	}
	return func(yield func(dataset.Block, error) bool) {
		var nnz, rows int64
		for b, err := range c.Source.Blocks(ctx) {
			if b.Sparse != nil {
				nnz += int64(b.Sparse.NNZ())
			}
			for _, v := range b.X {
				if v != 0 {
					nnz++
				}
			}
			rows += int64(b.N)
			if c.progress != nil {
				c.progress(rows)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		c.nnz, c.known = nnz, true
	}
}
