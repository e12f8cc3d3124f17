// Package beam sketches the rows of an Apache Beam pipeline, for ridge regression.
//
//	sketch := beam.Combine(s, &fdbeam.Sketch{Features: 50}, rows) // a collection of one []byte
//
// The result is a file of fdridge sketch, which fdridge solve and [ridge.ReadSummary] read.
package beam

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

func init() { register.Combiner3[Accumulator, Rows, []byte](&Sketch{}) }

// Rows is an element of the pipeline: a part of the rows, which fits into memory. Features is n×d and Targets is n×t,
// each row-major. Weights is empty or has n sample weights.
//
// The parts are numbered, and no number occurs twice. The numbers need not be consecutive.
type Rows struct {
	Part     int64
	Features []float64
	Targets  []float64
	Weights  []float64
}

// A Part is the sketch of a part of the rows, as the bytes of its file.
type Part struct {
	Number int64
	Sketch []byte
}

// An Accumulator has the sketches of the parts so far, in any order.
type Accumulator struct{ Parts []Part }

// Sketch is a CombineFn that sketches parts of the rows, and merges the sketches in the order of their numbers.
//
// Beam may add and merge in any order and any grouping. Merging rounds, so another order would give other bits.
// Accumulators therefore keep the sketches apart, and [Sketch.ExtractOutput] merges them. The result has the same bits
// as on one machine, if the kernel and the block sizes are the same. An accumulator of p parts takes p times the memory
// of a sketch: about 8·min(d, Size)·d bytes.
type Sketch struct {
	Features    int // d, the number of features
	Targets     int // t, the number of targets; 0 means 1
	Size        int // number of rows of the sketch; 0 means 256
	NoIntercept bool
}

// CreateAccumulator returns an accumulator without parts.
func (s *Sketch) CreateAccumulator() Accumulator { return Accumulator{} }

// AddInput sketches a part of the rows. A part without rows is left out.
func (s *Sketch) AddInput(a Accumulator, r Rows) (Accumulator, error) {
	n := len(r.Features) / s.Features
	if len(r.Features) == 0 && len(r.Targets) == 0 {
		return a, nil
	}
	t := cmp.Or(s.Targets, 1)
	if n*s.Features != len(r.Features) || n*t != len(r.Targets) || len(r.Weights) != 0 && len(r.Weights) != n {
		return a, fmt.Errorf(
			"beam: part %d has %d numbers of features, %d of targets and %d weights, for d = %d and t = %d",
			r.Part,
			len(r.Features),
			len(r.Targets),
			len(r.Weights),
			s.Features,
			t,
		)
	}
	// One lane does not depend on the number of cores.
	sum, err := ridge.NewSummary(ridge.SummaryConfig{
		Dim: s.Features, Targets: t, Size: cmp.Or(s.Size, 256), Intercept: !s.NoIntercept, Lanes: 1,
	})
	if err != nil {
		return a, err
	}
	if len(r.Weights) == 0 {
		r.Weights = nil // like the weights of a Block
	}
	block := dataset.Block{N: n, X: r.Features, Y: r.Targets, W: r.Weights}
	if err := sum.AppendBlock(block); err != nil {
		return a, fmt.Errorf("beam: part %d: %w", r.Part, err)
	}
	file, err := sum.MarshalBinary()
	a.Parts = append(a.Parts, Part{r.Part, file})
	return a, err
}

// MergeAccumulators returns the parts of both.
func (s *Sketch) MergeAccumulators(a, b Accumulator) Accumulator {
	return Accumulator{slices.Concat(a.Parts, b.Parts)}
}

// ExtractOutput merges the parts in the order of their numbers, and returns the file of the sketch.
func (s *Sketch) ExtractOutput(a Accumulator) ([]byte, error) {
	parts := slices.SortedFunc(slices.Values(a.Parts), func(a, b Part) int { return cmp.Compare(a.Number, b.Number) })
	var all *ridge.Summary
	for i, p := range parts {
		if i > 0 && p.Number == parts[i-1].Number {
			return nil, fmt.Errorf("beam: two parts of the rows have the number %d", p.Number)
		}
		sum, err := ridge.ReadSummary(bytes.NewReader(p.Sketch), nil)
		if err != nil {
			return nil, fmt.Errorf("beam: part %d: %w", p.Number, err)
		}
		if all == nil {
			all = sum
		} else if err := all.Merge(sum); err != nil {
			return nil, fmt.Errorf("beam: part %d: %w", p.Number, err)
		}
	}
	if all == nil {
		return nil, errors.New("beam: there are no rows")
	}
	return all.MarshalBinary()
}
