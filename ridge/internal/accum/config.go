// Package accum accumulates the sums over rows that determine the ridge solution for every penalty γ. For n×d rows
// A with n×t targets Y, possibly weighted, the sums are:
//
//   - the Frequent Directions sketch of A
//   - AᵀY, and the sum of squares of each target
//   - the means of the columns
//
// Several lanes ([Lane]) may add up sums in parallel, each over a part of the rows. They are merged when the sums
// are read.
package accum

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
)

// MaxLanes is the largest number of lanes.
const MaxLanes = 1 << 10

// LeastWeight is the smallest allowed sum of weights after a decay of the weights.
const LeastWeight = 0x1p-900

// A Config has the same fields as ridge.SummaryConfig, which documents them.
type Config struct {
	Dim       int
	Targets   int
	Size      int
	Intercept bool

	Shrink     fd.Driver
	ShrinkRows int
	Backend    engine.Backend
	Store      fd.Storage

	Lanes      int
	LaneRows   int
	LanesAfter int64
}

// complete checks c and fills in the defaults.
func (c Config) complete() (Config, error) {
	if c.Targets == 0 {
		c.Targets = 1
	}
	if c.Targets < 0 {
		return c, errtext.BadInput("ridge: Targets is %d, must be positive", c.Targets)
	}
	if c.Lanes == 0 {
		c.Lanes = 1
	}
	if c.Lanes < 0 || c.Lanes > MaxLanes {
		return c, errtext.BadInput("ridge: Lanes is %d, must be at least 1 and at most %d", c.Lanes, MaxLanes)
	}
	if c.LaneRows < 0 || c.LaneRows > math.MaxInt32 || c.LanesAfter < 0 {
		return c, errtext.BadInput(
			"ridge: LaneRows is %d and LanesAfter %d: both must be at least 0, and LaneRows below 2³¹",
			c.LaneRows,
			c.LanesAfter,
		)
	}
	if c.Lanes == 1 {
		c.LaneRows, c.LanesAfter = 0, 0
	} else if c.LaneRows == 0 {
		c.LaneRows = laneRows(max(c.Dim, 1), c.Lanes)
	}
	var err error
	c.Backend, err = engine.OrDefault(c.Backend)
	if err != nil {
		return c, err
	}
	if !vec.Addressable(uint64(c.Targets)+1, uint64(max(c.Dim, 1))) {
		return c, fmt.Errorf("%w: t·d = %d·%d", fd.ErrSize, c.Targets, c.Dim)
	}
	return c, nil
}

// laneRows returns the default of Config.LaneRows for d features. It is the number of rows for each lane if the
// lanes share 8 MiB of rows evenly. Each lane gets at least 8 rows or 64 KiB, whichever is less.
func laneRows(d, lanes int) int {
	const block, least = 8 << 20, 64 << 10
	return max(min(block/8/d, 8192)/lanes, min(least/8/d, 8), 1)
}

// WithLanes returns c with the fields Lanes and LanesAfter set for n rows by [engine.Tuning.LanesFor]. n is −1 if
// the number of rows is unknown. If c.Lanes is set already, WithLanes returns c unchanged.
func (c Config) WithLanes(n int64) (Config, error) {
	if c.Lanes != 0 || c.Dim <= 0 || c.Size <= 0 {
		return c, nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return c, err
	}
	m, p, err := c.Buffer()
	if err != nil {
		return c, err
	}
	c.Lanes, c.LanesAfter = tuning.LanesFor(n, c.Dim, m+p)
	c.Lanes = min(c.Lanes, MaxLanes)
	return c, nil
}

// Buffer returns the number m of rows that the sketch keeps, and the number p of rows that it takes between two
// shrinks; see [fd.Config.Buffer].
func (c Config) Buffer() (m, p int, err error) {
	return fd.Config{
		Dim:        c.Dim,
		Size:       c.Size,
		Shrink:     c.Shrink,
		ShrinkRows: max(c.ShrinkRows, 0),
		Store:      c.Store,
	}.Buffer()
}
