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
	Inputs   int              `json:"inputs"` // features in the file
	Scaling  *dataset.Scaling `json:"scaling,omitempty"`
	Features *dataset.Fourier `json:"features,omitempty"`
}

// apply returns src prepared.
func (p *preparation) apply(src dataset.Source, be engine.Backend) (dataset.Source, error) {
	var err error
	if p.Scaling != nil {
		if src, err = p.Scaling.Apply(src); err != nil {
			return nil, &inputError{err}
		}
	}
	if p.Features != nil {
		if src, err = p.Features.Apply(src, be); err != nil {
			return nil, &inputError{err}
		}
	}
	return src, nil
}

// data are the opened rows of a fit.
type data struct {
	opened  *file.Opened
	counted *counted
	source  dataset.Source // prepared
	prep    preparation
}

// openData opens and prepares the rows; with standardize it makes a pass for the
// scaling.
func openData(ctx context.Context, o *fitOptions, be engine.Backend, progress func(rows int64)) (*data, error) {
	opened, err := file.Open(splitList(o.data.value), file.Options{Format: o.format, Target: splitList(o.target.value), Targets: o.targets})
	if err != nil {
		return nil, err
	}
	d := &data{opened: opened}
	src, err := cutRows(opened, o.rows)
	if err != nil {
		return nil, err
	}
	d.counted = &counted{Source: src, progress: progress}
	_, d.prep.Inputs, _ = src.Dims()
	if o.standardize {
		if _, d.prep.Scaling, err = dataset.Standardize(ctx, d.counted); err != nil {
			return nil, err
		}
	}
	d.prep.Features = o.rff
	d.source, err = d.prep.apply(d.counted, be)
	return d, err
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
