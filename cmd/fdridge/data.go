package main

import (
	"context"
	"math"
	"slices"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/job"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
)

// data are the opened rows of a fit.
type data struct {
	opened  *file.Opened
	counted *job.Counter
	source  dataset.Source // prepared
	prep    model.Preparation
	scans   int // passes that preparing took
}

// unique returns names, or nil where two columns have the same name: no column can be found
// by it.
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

// openData opens and prepares the rows. Where no scaling is given, with standardize it makes
// a pass for one.
func openData(ctx context.Context, o *inputFlags, run session, scaling *dataset.Scaling, be engine.Backend, bar *progress) (*data, error) {
	opened, src, err := o.open(ctx, run, expected{})
	if err != nil {
		return nil, err
	}
	if err := run.ranks.AgreeOn(ctx, opened); err != nil {
		return nil, err
	}
	if src, err = run.cache.rows(src, func() (string, error) { return o.rowKey(run.ranks.Share(), be) }); err != nil {
		return nil, err
	}
	d := &data{opened: opened, counted: &job.Counter{Source: src}}
	d.prep.Names = unique(opened.Names)
	_, d.prep.Inputs, _ = src.Dims()
	if o.standardize {
		d.scans++
	}
	if d.prep.Scaling = scaling; scaling == nil {
		if err := d.learnScaling(ctx, o, run, bar); err != nil {
			return nil, err
		}
	}
	d.prep.Expand(o.expansion)
	if d.source, err = prepare(&d.prep, d.counted, be); err != nil {
		return nil, err
	}
	d.source, err = run.cache.prepared(d.source)
	return d, err
}

// columns are the names in the header of a csv file, the target's among them, nil where there
// are none. Of other formats a model has the names of its features alone.
func (d *data) columns(o *rowFlags) ([]string, error) {
	if d.opened.Format != "csv" {
		return nil, nil
	}
	text, err := o.csvOptions()
	if err != nil {
		return nil, err
	}
	return csv.Columns(splitList(o.data.value)[0], text)
}

// learnScaling makes the pass that --standardize asks for, and puts the penalty into the
// scaling.
func (d *data) learnScaling(ctx context.Context, o *inputFlags, run session, bar *progress) error {
	var err error
	if o.standardize {
		if err := checkMemory(8*8*float64(d.prep.Inputs), manyFeatures, "--standardize: the means and deviations of %d columns", d.prep.Inputs); err != nil {
			return err
		}
		d.counted.Progress = bar.rows("standardising", d.counted.Source)
		if d.prep.Scaling, err = run.ranks.Standardize(ctx, d.counted); err != nil {
			return err
		}
		d.counted.Progress = nil
	}
	if o.penalty != "" {
		p, err := readPenalty(ctx, o.penalty, run.seen, d.prep.Inputs)
		if err != nil {
			return err
		}
		d.prep.Scaling = penalise(d.prep.Scaling, p)
	}
	return nil
}

// readPenalty reads the d numbers of a file, which are a row or a column.
func readPenalty(ctx context.Context, name string, seen map[string]dataset.Stamp, d int) ([]float64, error) {
	src, err := file.Open([]string{name}, file.Options{Was: seen})
	if err != nil {
		return nil, err
	}
	var p []float64
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, badInput("--penalty: %s is sparse, must be a row or a column of numbers", name)
		}
		p = append(p, b.X...)
		if len(p) > d {
			break
		}
	}
	if len(p) != d {
		return nil, badInput("--penalty: %s does not hold one number for each of the %d input columns", name, d)
	}
	if j := slices.IndexFunc(p, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }); j >= 0 {
		return nil, badInput("--penalty: number %d of %s is %v, must be positive", j+1, name, p[j])
	}
	return p, nil
}

// penalise scales columns by 1/√p, which makes γ‖x‖² of γ·Σ pⱼxⱼ².
func penalise(s *dataset.Scaling, p []float64) *dataset.Scaling {
	if s == nil {
		s = &dataset.Scaling{Mean: make([]float64, len(p)), Scale: make([]float64, len(p))}
		for j := range p {
			s.Scale[j] = 1
		}
	}
	for j, v := range p {
		s.Scale[j] *= math.Sqrt(v)
	}
	return s
}
