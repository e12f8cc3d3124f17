package main

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// data are the opened rows of a fit.
type data struct {
	opened  *file.Opened
	counted *counted
	source  dataset.Source // prepared
	prep    model.Preparation
	scans   int // passes that preparing took
}

// unique returns names, or nil where one stands twice and finds no column.
func unique(names []string) []string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return nil
		}
		seen[n] = true
	}
	return names
}

// openData opens and prepares the rows; with standardize it makes a pass for the
// scaling.
func openData(ctx context.Context, o *inputFlags, be engine.Backend, bar *progress) (*data, error) {
	opened, src, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.team.agreeOn(ctx, opened); err != nil {
		return nil, err
	}
	d := &data{opened: opened, counted: &counted{Source: src}}
	d.prep.Names = unique(opened.Names)
	_, d.prep.Inputs, _ = src.Dims()
	if o.standardize {
		d.scans++
	}
	if d.prep.Scaling = o.scaling; o.scaling == nil {
		if err := d.learnScaling(ctx, o, src, bar); err != nil {
			return nil, err
		}
	}
	d.prep.Expand(o.expansion)
	d.source, err = prepare(&d.prep, d.counted, be)
	return d, err
}

// learnScaling makes the pass for the scaling, and has it penalise.
func (d *data) learnScaling(ctx context.Context, o *inputFlags, src dataset.Source, bar *progress) error {
	var err error
	if o.standardize {
		if err := fits(8*8*float64(d.prep.Inputs), manyFeatures, "--standardize: the means and deviations of %d columns", d.prep.Inputs); err != nil {
			return err
		}
		d.counted.progress = bar.rows("standardising", src)
		if d.prep.Scaling, err = o.team.standardize(ctx, d.counted); err != nil {
			return err
		}
		d.counted.progress = nil
	}
	if o.penalty != "" {
		p, err := readPenalty(ctx, o.penalty, o.seen, d.prep.Inputs)
		if err != nil {
			return err
		}
		d.prep.Scaling = penalise(d.prep.Scaling, p)
	}
	return nil
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
