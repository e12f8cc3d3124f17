package window

import (
	"fmt"
	"math"
	"time"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/shape"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// Config says what a [Window] is to cover. Summary.Dim, Summary.Size and one of Rows and
// Duration are required; the zero value of every other field is the documented default.
type Config struct {
	Summary ridge.SummaryConfig // of what is read from the window; it has one lane

	Rows     int64         // the last so many rows
	Duration time.Duration // or the rows of the last so much time: those later than now − Duration

	// Share is how much the sketch at the edge of the window may hold: at most Share times the
	// rows that are newer. 1/Share is rounded up to a whole number, at most [MaxParts]. 0 means 1/4.
	// Half the share takes about twice the memory.
	Share float64
	// Inside leaves out the sketch that the edge goes through: then no row is covered that
	// wasn't asked for, and some that were are not. Without it every row is covered that was asked
	// for, and some are that weren't.
	Inside bool
	// BlockRows is how many rows the smallest sketches are made of. 0: as many as a sketch holds
	// before it shrinks. The last BlockRows/Share rows, and up to BlockRows more, are kept as they
	// are, so that an edge among them is sharp.
	BlockRows int
}

// MaxParts is the most that 1/Share may be.
const MaxParts = 64

// complete checks c, and fills in the defaults.
func (cfg Config) complete() (Config, error) {
	if cfg.Share == 0 {
		cfg.Share = 0.25
	}
	switch {
	case cfg.Rows < 0 || cfg.Duration < 0 || (cfg.Rows > 0) == (cfg.Duration > 0):
		return cfg, badinput.Errorf("ridge: a window is of the last Rows or of the last Duration: of these, %d and %v, one must be positive and the other 0", cfg.Rows, cfg.Duration)
	case !(cfg.Share >= 1.0/MaxParts && cfg.Share <= 1):
		return cfg, badinput.Errorf("ridge: Share is %v, must be at least 1/%d and at most 1", cfg.Share, MaxParts)
	case cfg.BlockRows < 0 || cfg.BlockRows > math.MaxInt32:
		return cfg, badinput.Errorf("ridge: BlockRows is %d, must not be negative, and below 2³¹", cfg.BlockRows)
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
	if !shape.Addressable(uint64(cfg.BlockRows), uint64(cfg.Summary.Dim)+uint64(cfg.Summary.Targets)) {
		return cfg, fmt.Errorf("%w: BlockRows·(d+t) = %d·(%d+%d)", fd.ErrSize, cfg.BlockRows, cfg.Summary.Dim, cfg.Summary.Targets)
	}
	return cfg, nil
}

// oneLane makes an empty summary of which there is to be one lane.
func oneLane(cfg accum.Config) (*accum.Accumulator, error) {
	if cfg.Lanes > 1 {
		return nil, badinput.Errorf("ridge: Lanes is %d; a summary that forgets has one lane", cfg.Lanes)
	}
	cfg.LanesAfter = 0
	return accum.New(cfg)
}
