package main

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
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

// terms are the names of the features that weights are of: those of the file, or of
// their monomials, x1*x2 where the file has none. Nil says that they have none.
func (p *preparation) terms() []string {
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

// apply returns src prepared.
func (p *preparation) apply(src dataset.Source, be engine.Backend) (dataset.Source, error) {
	var err error
	if p.Scaling != nil {
		if src, err = p.Scaling.Apply(src); err != nil {
			return nil, &inputError{err}
		}
	}
	if f := p.expansion(); f != nil {
		if p.Features != nil {
			_, d, _ := src.Dims()
			if err := fits(8*float64(d)*float64(p.Features.Components), manyFeatures, "--features: rff:%d of %d columns", p.Features.Components, d); err != nil {
				return nil, err
			}
		}
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

// interceptBound is what the bound on the intercept of a target is in the units of the
// file. With weights that are off by Δx and an intercept that is off by Δb, that of
// unscale is off by Δb − Σ Δxⱼ·meanⱼ/scaleⱼ, and by what it rounds.
func (p *preparation) interceptBound(o *ridge.Target) float64 {
	bound := o.InterceptBound
	if p.Scaling == nil || p.expansion() != nil {
		return bound
	}
	var far2, size float64
	for i, mean := range p.Scaling.Mean {
		v := mean / p.Scaling.Scale[i]
		far2 += v * v
		size += math.Abs(o.Coef[i] * v)
	}
	if far2 > 0 {
		bound += o.ErrorBound * math.Sqrt(far2)
	}
	rounded := float64(len(o.Coef)+4) * 0x1p-52 * (math.Abs(o.Intercept) + size)
	return (bound + rounded) * 1.01 // for the rounding of this
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

	// For a pass that is to go on later, which counts ahead of whoever asks for
	// its rows.
	resume nonzeros // where it went on from
	keep   bool
	mu     sync.Mutex
	marks  []nonzeros // between the blocks that were yielded, since the last one asked for
}

// nonzeros are those of all rows, or of the rows before one that a block begins with.
type nonzeros struct {
	All   bool  `json:"all"`
	Row   int64 `json:"row"`
	Count int64 `json:"count"`
}

// before returns the nonzeros before the block that holds a row, or all of them.
func (c *counted) before(row int64) nonzeros {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		return nonzeros{All: true, Count: c.nnz}
	}
	for len(c.marks) > 1 && c.marks[1].Row <= row {
		c.marks = c.marks[1:]
	}
	if len(c.marks) == 0 {
		return c.resume
	}
	return c.marks[0]
}

func (c *counted) mark(m nonzeros) {
	if c.keep {
		c.mu.Lock()
		c.marks = append(c.marks, m)
		c.mu.Unlock()
	}
}

func (c *counted) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return c.BlocksFrom(ctx, 0)
}

func (c *counted) BlocksFrom(ctx context.Context, first int64) iter.Seq2[dataset.Block, error] {
	if c.known {
		return dataset.From(ctx, c.Source, first)
	}
	return func(yield func(dataset.Block, error) bool) {
		var nnz, rows int64
		if first > 0 {
			nnz, rows = c.resume.Count, c.resume.Row
		}
		c.mark(nonzeros{Row: rows, Count: nnz})
		for b, err := range dataset.From(ctx, c.Source, first) {
			if err == nil && b.First != rows {
				yield(dataset.Block{}, fmt.Errorf("the block of row %d begins with row %d, it began with row %d", first+1, b.First+1, rows+1))
				return
			}
			if b.Sparse != nil {
				nnz += int64(b.Sparse.NNZ())
			}
			for _, v := range b.X {
				if v != 0 {
					nnz++
				}
			}
			rows += int64(b.N)
			c.mark(nonzeros{Row: rows, Count: nnz})
			if c.progress != nil {
				c.progress(rows)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		c.mu.Lock()
		c.nnz, c.known, c.marks = nnz, true, nil
		c.mu.Unlock()
	}
}
