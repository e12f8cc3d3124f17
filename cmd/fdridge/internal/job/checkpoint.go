package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/checkpoint"
	"github.com/fdridge/fdridge/ridge"
)

// A Log is told what happens to a checkpoint.
type Log interface {
	// Saved is told of each state that was written.
	Saved(at Position)
	// Tell is given what the user should know, and where the last state is.
	Tell(level slog.Level, message string, at Position)
}

// A Checkpoint keeps the state of a fit in a file: the summary of the rows read so far, and
// what each pass of the solver has found, for which it is the solver's [ridge.Journal].
type Checkpoint struct {
	name string
	file *checkpoint.File
	log  Log
	mute bool // another rank tells what goes well

	state          // as it is now
	saved Position // of the last state that was written
	dirty bool     // there is more than that has
	count *Counter // of the rows

	every time.Duration // between states, at least
	next  time.Time     // when the next is due
}

// openCheckpoint takes the file, and what it has of this run. Where there was none the first
// state is written, to see that it can be.
func openCheckpoint(o Config, mute bool) (*Checkpoint, error) {
	file, err := checkpoint.Open(o.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("--checkpoint: %w", err)
	}
	c := &Checkpoint{name: o.Checkpoint, file: file, log: o.Log, mute: mute, every: o.Every}
	if err := c.begin(o.Settings, o.Backend); err != nil {
		return nil, errors.Join(fmt.Errorf("--checkpoint: %w", err), c.close())
	}
	return c, nil
}

func (c *Checkpoint) begin(run []Setting, be engine.Backend) error {
	last, err := c.file.Load()
	if err != nil {
		return badinput.Errorf("%w; there is nothing to go on from, %s", err, anew(c.name))
	}
	if last != nil {
		c.last = last
		if last.Damage != nil {
			c.tell(slog.LevelWarn, fmt.Sprintf("the last checkpoint is damaged and the one before is taken: %v", last.Damage))
		}
		if err := c.read(be); err != nil {
			return badinput.Errorf("%s: %w", last.Name(), err)
		}
	}
	if c.header.empty() {
		c.header = header{Version: version, Run: run}
		return c.save()
	}
	same := run
	if c.header.Version == 0 {
		same = slices.DeleteFunc(slices.Clone(run), func(s Setting) bool { return strings.HasSuffix(s.Name, digested) })
	}
	if d := differences(c.header.Run, same); len(d) > 0 {
		return badinput.Errorf("%s is of another run: %s; %s", last.Name(), strings.Join(d, "; "), anew(c.name))
	}
	c.header.Version, c.header.Run, c.saved = version, run, c.header.At
	c.postpone(0)
	c.tell(slog.LevelInfo, fmt.Sprintf("going on from checkpoint %s, %v", c.name, c.saved))
	return nil
}

// anew says what has to be removed for a run to begin anew: the state before the last, too, which is taken
// where that is gone.
func anew(name string) string {
	return fmt.Sprintf("remove %s to begin anew", strings.Join(checkpoint.Kept(name), " and "))
}

// attach notes the rows that the state is of, which go on to be counted from where it was.
func (c *Checkpoint) attach(rows *Counter, scaling *dataset.Scaling) {
	c.count = rows
	rows.goOn(c.header.Nonzeros)
	if c.header.Scaling == nil && scaling != nil {
		c.header.Scaling, c.dirty = scaling, true
	}
}

// sized notes the size that was chosen for the sketch.
func (c *Checkpoint) sized(m int) {
	if c.header.Size == 0 {
		c.header.Size, c.dirty = m, true
	}
}

// sketch makes the rest of the pass over this process's rows.
func (c *Checkpoint) sketch(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) error {
	if c.sum == nil {
		var n int64
		n, cfg.Dim, cfg.Targets = src.Dims()
		cfg, err := cfg.WithLanes(n)
		if err != nil {
			return err
		}
		sum, err := ridge.NewSummary(cfg)
		if err != nil {
			return err
		}
		c.sum = sum
	}
	err := c.sum.Continue(ctx, src, func(rows int64) {
		if tell != nil {
			tell(rows)
		}
		c.header.At = Position{0, rows}
		c.saveIfDue()
	})
	if err != nil {
		return err
	}
	return c.sum.Join()
}

// beforeMerging saves the summary of this rank's own rows, which merging uses up.
func (c *Checkpoint) beforeMerging() {
	c.header.Rows = c.sum.Rows()
	c.saveOrTell()
	c.dirty = false
}

// sketched takes the summary of all ranks' rows, or the error in its place.
func (c *Checkpoint) sketched(sum *ridge.Summary, err error) (*ridge.Summary, error) {
	if err != nil {
		return nil, err
	}
	if !c.header.Sketched {
		c.header.Sketched, c.header.At, c.dirty = true, Position{1, 0}, true
		c.header.Nonzeros = nonzeros{All: true, Count: c.count.Nonzeros()}
	}
	c.sum = sum
	return sum, nil
}

// follow notes how far the passes that refine are.
func (c *Checkpoint) follow(tell func(ridge.Stage, ridge.Progress)) func(ridge.Stage, ridge.Progress) {
	return func(s ridge.Stage, p ridge.Progress) {
		if tell != nil {
			tell(s, p)
		}
		if s == ridge.Refining {
			c.header.At = Position{p.Pass, p.Rows}
		}
	}
}

// Due is that of [ridge.Journal].
func (c *Checkpoint) Due() bool { return !time.Now().Before(c.next) }

// Recorded is that of [ridge.Journal].
func (c *Checkpoint) Recorded(pass int) ([]byte, error) {
	if pass > len(c.passes) {
		return nil, nil
	}
	return io.ReadAll(c.reader(c.passes[pass-1]))
}

// Record is that of [ridge.Journal].
func (c *Checkpoint) Record(pass int, found []byte) error {
	c.passes = append(c.passes[:pass-1], part{data: found, size: int64(len(found))})
	c.saveIfDue()
	return nil
}

// postpone sets when the next state is due, after one that took so long to write.
func (c *Checkpoint) postpone(took time.Duration) { c.next = time.Now().Add(max(c.every, 10*took)) }

// saveIfDue saves if it is time to.
func (c *Checkpoint) saveIfDue() {
	if c.dirty = true; c.Due() {
		c.saveOrTell()
	}
}

// saveOrTell saves. Where that goes wrong it is told and the run goes on: the last state
// stays, and the next may be written.
func (c *Checkpoint) saveOrTell() {
	if err := c.save(); err != nil {
		c.tell(slog.LevelWarn, fmt.Sprintf("no checkpoint could be written, the last is of %v: %v", c.saved, err))
	}
}

// save writes the state as it is.
func (c *Checkpoint) save() error {
	begin := time.Now()
	if !c.header.Sketched && c.count != nil {
		c.header.Nonzeros = c.count.before(c.header.At.Rows)
	}
	err := c.state.save(c.file)
	c.postpone(time.Since(begin))
	if err != nil {
		return err
	}
	c.dirty, c.saved = false, c.header.At
	c.log.Saved(c.saved)
	return nil
}

// tell says something to the user; what goes well is said by one rank alone.
func (c *Checkpoint) tell(level slog.Level, message string) {
	if !c.mute || level >= slog.LevelWarn {
		c.log.Tell(level, message, c.saved)
	}
}

// end lets go of the checkpoint of a run that ended in err: a run that is done needs it no
// more, and neither does one that failed before it had come to anything. One that was
// interrupted, or has failed, writes a last state.
func (c *Checkpoint) end(err error) error {
	switch {
	case err == nil:
		if err := errors.Join(c.state.close(), c.file.Remove()); err != nil {
			return fmt.Errorf("--checkpoint: the run is done, but %w", err)
		}
		return nil
	case c.header.empty() && !c.dirty:
		return errors.Join(err, c.state.close(), c.file.Remove())
	}
	interrupted := errors.Is(err, context.Canceled)
	var unsaved error
	// What failed while sketching may have left half a block in the summary.
	if c.dirty && (interrupted || c.header.Sketched) {
		unsaved = c.save()
	}
	if interrupted { // which is said here, with how to go on
		err = &InterruptedError{fmt.Sprintf("interrupted; the same command goes on from checkpoint %s, %v", c.name, c.saved)}
	}
	if unsaved != nil {
		err = fmt.Errorf("%w; a later one could not be written: %w", err, unsaved)
	}
	return errors.Join(err, c.close())
}

func (c *Checkpoint) close() error { return errors.Join(c.state.close(), c.file.Close()) }
