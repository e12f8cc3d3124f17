package window

import (
	"fmt"
	"math"
	"time"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// Config holds the options of [New]. Summary.Dim and Summary.Size are required, and either Rows or Duration. If
// another field is zero, New uses the default that the comment on the field states.
type Config struct {
	Summary ridge.SummaryConfig // configuration of the summaries; must have one lane

	Rows     int64         // the window has the last Rows rows
	Duration time.Duration // the window has the rows later than now − Duration

	// Share limits the inaccuracy at the edge of the window. Some rows of the oldest sketch may be outside the
	// window. The oldest sketch has at most Share times as many rows as there are newer rows. 1/Share is rounded up
	// to a whole number, at most [MaxParts]. The default is 1/4. If Share is halved, a window takes about twice the
	// memory.
	Share float64
	// Inside, if true, leaves the oldest sketch out of the summary if some of its rows are outside the window. By
	// default the oldest sketch is included. The summary then contains all rows in the window, and some older rows.
	Inside bool
	// BlockRows is the number of rows that each of the smallest sketches summarizes. 0 means the number of rows
	// that a sketch can hold before it shrinks. The newest rows are stored without a sketch. Once there are
	// sketches, at least BlockRows/[Config.Share] rows are stored in this way.
	BlockRows int
}

// MaxParts is the largest possible 1/Share.
const MaxParts = 64

// complete fills in the defaults and validates the fields.
func (cfg Config) complete() (Config, error) {
	if cfg.Share == 0 {
		cfg.Share = 0.25
	}
	switch {
	case cfg.Rows < 0 ||
		cfg.Duration < 0 ||
		(cfg.Rows > 0) == (cfg.Duration > 0):
		return cfg, errtext.BadInput(
			"ridge: a window has either Rows or Duration: of these, %d and %v, one must be positive and the other 0",
			cfg.Rows,
			cfg.Duration,
		)
	case !(cfg.Share >= 1.0/MaxParts && cfg.Share <= 1):
		return cfg, errtext.BadInput("ridge: Share is %v, must be at least 1/%d and at most 1", cfg.Share, MaxParts)
	case cfg.BlockRows < 0 || cfg.BlockRows > math.MaxInt32:
		return cfg, errtext.BadInput("ridge: BlockRows is %d, must not be negative, and below 2³¹", cfg.BlockRows)
	}
	template, err := oneLane(accum.Config(cfg.Summary))
	if err != nil {
		return cfg, err
	}
	cfg.Summary = ridge.SummaryConfig(template.Config())
	if cfg.BlockRows == 0 {
		m, p, err := template.Config().Buffer()
		if err != nil {
			return cfg, err
		}
		cfg.BlockRows = m + p
	}
	if !vec.Addressable(uint64(cfg.BlockRows), uint64(cfg.Summary.Dim)+uint64(cfg.Summary.Targets)) {
		return cfg, fmt.Errorf(
			"%w: BlockRows·(d+t) = %d·(%d+%d)",
			fd.ErrSize,
			cfg.BlockRows,
			cfg.Summary.Dim,
			cfg.Summary.Targets,
		)
	}
	return cfg, nil
}

// oneLane returns an empty accumulator for one sketch.
func oneLane(cfg accum.Config) (*accum.Accumulator, error) {
	if cfg.Lanes > 1 {
		return nil, errtext.BadInput("ridge: Lanes is %d; a summary that forgets has one lane", cfg.Lanes)
	}
	cfg.LanesAfter = 0
	return accum.New(cfg)
}
