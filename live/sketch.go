// Package live keeps the summary of a stream that does not end in a file, for others to read while it
// grows: of all rows, of those in a window, or of rows that fade. A [Run] appends rows as they come, writes
// the file again and again, and tells what it sees of the stream's law; a run that was killed goes on from
// the file.
package live

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge"
)

// A Config says what is summarised. At most one of the fields of [Forgetting] is set.
type Config struct {
	Summary ridge.SummaryConfig
	Forgetting
}

// Forgetting says which rows count: all, if it is the zero value. See [ridge.WindowConfig] and
// [ridge.FadingConfig].
type Forgetting struct {
	Rows         int64         // the last so many
	Duration     time.Duration // those of the last so much time
	HalfLife     time.Duration // each half as much after so much time
	HalfLifeRows int64         // each half as much after so many more
}

// String is f in words.
func (f Forgetting) String() string {
	switch {
	case f.Rows != 0:
		return fmt.Sprintf("the last %d rows", f.Rows)
	case f.Duration != 0:
		return fmt.Sprintf("the rows of the last %v", f.Duration)
	case f.HalfLife != 0:
		return fmt.Sprintf("rows with a half-life of %v", f.HalfLife)
	case f.HalfLifeRows != 0:
		return fmt.Sprintf("rows with a half-life of %d rows", f.HalfLifeRows)
	}
	return "all rows"
}

// A Sketch is the summary of a stream: a [ridge.Summary], a [ridge.Window] or a [ridge.Fading]. One
// goroutine may use it at a time.
type Sketch struct { // one of them is not nil
	whole  *ridge.Summary
	window *ridge.Window
	fading *ridge.Fading
}

// New makes an empty sketch. Where there may be several lanes and c says none, the dispatcher chooses
// them. The errors are those of [ridge.NewSummary], [ridge.NewWindow] and [ridge.NewFading].
func New(c Config) (*Sketch, error) {
	set := 0
	for _, is := range []bool{c.Rows != 0, c.Duration != 0, c.HalfLife != 0, c.HalfLifeRows != 0} {
		if is {
			set++
		}
	}
	if set > 1 {
		return nil, badinput.Errorf("live: a sketch is of a window or of rows that fade, by time or by rows; of these several are asked for")
	}
	if c.Rows != 0 || c.Duration != 0 {
		w, err := ridge.NewWindow(ridge.WindowConfig{Summary: c.Summary, Rows: c.Rows, Duration: c.Duration})
		return &Sketch{window: w}, err
	}
	sum, err := c.Summary.WithLanes(-1)
	if err != nil {
		return nil, err
	}
	if c.HalfLife != 0 || c.HalfLifeRows != 0 {
		f, err := ridge.NewFading(ridge.FadingConfig{Summary: sum, HalfLife: c.HalfLife, HalfLifeRows: c.HalfLifeRows})
		return &Sketch{fading: f}, err
	}
	s, err := ridge.NewSummary(sum)
	return &Sketch{whole: s}, err
}

// Read returns the next sketch in r, whichever it is, for the backend be; nil is engine.Default(). What a
// message is refused for is said at [ridge.Summary.ReadFrom].
func Read(r io.ReadSeeker, be engine.Backend) (*Sketch, error) {
	kind, err := wire.KindAt(r)
	if err != nil {
		return nil, err
	}
	switch kind {
	case wire.Window:
		w, err := ridge.ReadWindow(r, be)
		return &Sketch{window: w}, err
	case wire.Fading:
		f, err := ridge.ReadFading(r, be)
		return &Sketch{fading: f}, err
	}
	s, err := ridge.ReadSummary(r, be)
	return &Sketch{whole: s}, err
}

// Config says what is summarised.
func (s *Sketch) Config() Config {
	switch {
	case s.window != nil:
		c := s.window.Config()
		return Config{c.Summary, Forgetting{Rows: c.Rows, Duration: c.Duration}}
	case s.fading != nil:
		c := s.fading.Config()
		return Config{c.Summary, Forgetting{HalfLife: c.HalfLife, HalfLifeRows: c.HalfLifeRows}}
	}
	return Config{Summary: s.whole.Config()}
}

// CanGoOn refuses to go on with rows that c asks to be summarised in another way.
func (s *Sketch) CanGoOn(c Config) error {
	is := s.Config()
	a, b := is.Summary, c.Summary
	if a.Dim != b.Dim || a.Targets != max(b.Targets, 1) || a.Size != b.Size || a.Intercept != b.Intercept {
		return badinput.Errorf("live: it is of %d features and %d target(s), size %d and intercept %v; asked for are %d and %d, %d and %v",
			a.Dim, a.Targets, a.Size, a.Intercept, b.Dim, max(b.Targets, 1), b.Size, b.Intercept)
	}
	if is.Forgetting != c.Forgetting {
		return badinput.Errorf("live: it is of %v; asked for are %v", is.Forgetting, c.Forgetting)
	}
	return nil
}

// Rows is how many rows were appended, those that are forgotten included.
func (s *Sketch) Rows() int64 {
	switch {
	case s.window != nil:
		return s.window.Rows()
	case s.fading != nil:
		return s.fading.Rows()
	}
	return s.whole.Rows()
}

// Now is the time that it is in a sketch that forgets by time, the last that was told; zero in others.
func (s *Sketch) Now() time.Time {
	switch {
	case s.window != nil:
		return s.window.Now()
	case s.fading != nil:
		return s.fading.Now()
	}
	return time.Time{}
}

// dependsOnBlocks says that the last bits depend on the blocks that rows come in, and on no time: a window has
// the same bits for any blocks, and where time counts, the bits depend on when rows come.
func (s *Sketch) dependsOnBlocks() bool { return s.window == nil && !s.timed() }

// clone returns a copy, which goes on to the same bits.
func (s *Sketch) clone() (*Sketch, error) {
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return nil, err
	}
	return Read(bytes.NewReader(b.Bytes()), s.Config().Summary.Backend)
}

// Fades says that rows have other weights than they came with.
func (s *Sketch) Fades() bool { return s.fading != nil }

// Joined says that there is one lane, see [ridge.Summary.Joined].
func (s *Sketch) Joined() bool {
	switch {
	case s.window != nil:
		return true
	case s.fading != nil:
		return s.fading.Config().Summary.Lanes == 1
	}
	return s.whole.Joined()
}

// timed says that rows may be forgotten though none come.
func (s *Sketch) timed() bool {
	c := s.Config()
	return c.Duration > 0 || c.HalfLife > 0
}

// Summary is that of the rows that count now, and says which these are. It is to be read only: that of all
// rows is the sketch itself.
func (s *Sketch) Summary() (*ridge.Summary, ridge.Span, error) {
	switch {
	case s.window != nil:
		return s.window.Summary()
	case s.fading != nil:
		return s.fading.Summary()
	}
	return s.whole, ridge.Span{Rows: s.whole.Rows()}, nil
}

// Append adds rows that come at time now.
func (s *Sketch) Append(now time.Time, b dataset.Block) error {
	switch {
	case s.window != nil:
		return s.window.AppendAt(now, b)
	case s.timed():
		return s.fading.AppendAt(now, b)
	case s.fading != nil:
		return s.fading.AppendBlock(b)
	}
	return s.whole.AppendBlock(b)
}

// Advance makes it time now where time counts.
func (s *Sketch) Advance(now time.Time) error {
	switch {
	case !s.timed():
		return nil
	case s.window != nil:
		return s.window.Advance(now)
	}
	return s.fading.Advance(now)
}

// meta is where Meta is.
func (s *Sketch) meta() *[]byte {
	switch {
	case s.window != nil:
		return &s.window.Meta
	case s.fading != nil:
		return &s.fading.Meta
	}
	return &s.whole.Meta
}

// Meta is the caller's own, see [ridge.Summary].
func (s *Sketch) Meta() []byte { return *s.meta() }

// SetMeta sets it.
func (s *Sketch) SetMeta(meta []byte) { *s.meta() = meta }

// WriteTo writes the message of what the sketch is.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	switch {
	case s.window != nil:
		return s.window.WriteTo(w)
	case s.fading != nil:
		return s.fading.WriteTo(w)
	}
	return s.whole.WriteTo(w)
}
