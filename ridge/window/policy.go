package window

import (
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// A Policy says which rows a stream keeps, or how the weights of its rows change. The zero value keeps all rows. At
// most one field may be nonzero.
type Policy struct {
	Rows         int64         // keep the last Rows rows
	Duration     time.Duration // keep the rows of the last Duration
	HalfLife     time.Duration // halve the weights after each HalfLife
	HalfLifeRows int64         // halve the weights after each HalfLifeRows rows
}

// ByTime reports whether the passing of time alone changes the kept rows or their weights, without new rows.
func (p Policy) ByTime() bool {
	return p.Duration > 0 || p.HalfLife > 0
}

// Fades reports whether the weights of rows change.
func (p Policy) Fades() bool {
	return p.HalfLife > 0 || p.HalfLifeRows > 0
}

// DependsOnBlocks reports whether the round-off of a summary depends on how the same rows are divided into blocks.
// It does not depend on the blocks if Rows, Duration or HalfLife is set.
func (p Policy) DependsOnBlocks() bool {
	return p.Rows == 0 && !p.ByTime()
}

// String returns a description of p.
func (p Policy) String() string {
	switch {
	case p.Rows != 0:
		return fmt.Sprintf("the last %d rows", p.Rows)
	case p.Duration != 0:
		return fmt.Sprintf("the rows of the last %v", p.Duration)
	case p.HalfLife != 0:
		return fmt.Sprintf("rows with a half-life of %v", p.HalfLife)
	case p.HalfLifeRows != 0:
		return fmt.Sprintf("rows with a half-life of %d rows", p.HalfLifeRows)
	}
	return "all rows"
}

// Settings is the configuration of a stream.
type Settings struct {
	Summary ridge.SummaryConfig
	Policy
}

// NewStream returns an empty stream of the kind that c.Policy selects: a [Window], a [Fading], or a summary of all
// rows ([Whole]). Errors are the errors of [ridge.NewSummary], [New] and [NewFading].
func NewStream(c Settings) (Stream, error) {
	set := 0
	for _, isSet := range []bool{c.Rows != 0, c.Duration != 0, c.HalfLife != 0, c.HalfLifeRows != 0} {
		if isSet {
			set++
		}
	}
	if set > 1 {
		return nil, errtext.BadInput(
			"ridge: a stream can have only one of a window and a half-life, by time or by rows; several are set",
		)
	}
	if c.Rows != 0 || c.Duration != 0 {
		return nilOnError(New(Config{Summary: c.Summary, Rows: c.Rows, Duration: c.Duration}))
	}
	cfg, err := c.Summary.WithLanes(-1)
	if err != nil {
		return nil, err
	}
	if c.HalfLife != 0 || c.HalfLifeRows != 0 {
		return nilOnError(NewFading(FadingConfig{Summary: cfg, HalfLife: c.HalfLife, HalfLifeRows: c.HalfLifeRows}))
	}
	sum, err := ridge.NewSummary(cfg)
	return nilOnError(Whole(sum), err)
}

// nilOnError returns a nil Stream if err is not nil. Otherwise the Stream would not be nil, but hold a nil pointer.
func nilOnError(s Stream, err error) (Stream, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Read reads the next stream from r: a [Window], a [Fading] or a summary of all rows ([Whole]). be is the backend
// of the result; nil means engine.Default(). For errors and memory, see [ridge.Summary.ReadFrom].
func Read(r io.Reader, be engine.Backend) (Stream, error) {
	s, _, err := accum.Read(r, be, decodeStream)
	return s, err
}

func decodeStream(m *wire.Reader, be engine.Backend) Stream {
	kind, version, size := m.PreambleOf(wire.Summary, wire.Lanes, wire.Window, wire.Fading)
	switch kind {
	case wire.Window:
		return decodeWindowContent(m, be, size)
	case wire.Fading:
		return decodeFadingContent(m, be, size)
	}
	sum, meta := accum.DecodeContent(m, be, kind, version, size)
	if sum == nil {
		return nil
	}
	return Whole(summaryOf(sum, meta))
}

// summaryOf returns the summary of the rows in sum, with the given Meta. It takes ownership of sum and meta.
func summaryOf(sum *accum.Accumulator, meta []byte) *ridge.Summary {
	s, _ := accum.SummaryOf(sum, meta).(*ridge.Summary)
	return s
}
