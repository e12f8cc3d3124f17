// Package batch runs a fit as a job. A job that is interrupted or killed goes on from its
// checkpoint, and the result is the same to the bit. Several processes, called ranks, can share
// the rows.
//
// [Fit] does all of it in one call. [Run] is for a program that reads the rows, fits and writes
// the results as one job: the checkpoint stays until the results are written.
package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// Options are the options of a job.
type Options struct {
	// Checkpoint is the file that holds the state of the job; "" keeps no state. The files
	// beside it with .previous, .new and .lock after its name belong to it. With a Transport,
	// rank 2 of 4 uses Checkpoint.rank2-of-4.
	Checkpoint string
	// Every is the least time between two writes of the state; default 30 s. A state that is
	// slow to write is written less often: at most a tenth of the time is spent on it.
	Every time.Duration
	// Settings must be the same in the job that wrote the checkpoint, and on all ranks. They
	// name the data, for example by [FileSettings], and everything else that the bits of the
	// result depend on.
	Settings []Setting
	// Retired, if not nil, reports whether a setting in an older checkpoint no longer exists and is ignored.
	Retired func(Setting) bool
	// Transport connects the ranks, each of which reads its share of the rows. nil: this process
	// reads all rows.
	Transport dist.Transport
	// Backend computes with the summary in the checkpoint; default [engine.Default].
	Backend engine.Backend
	// Notify, if not nil, is called when a state is written or read.
	Notify func(Event)
	// Room, if not nil, is called before a sketch is made: size×dim, with targets. An error ends
	// the job.
	Room func(size, dim, targets int) error
}

// Fit is [fdridge.Fit] as a job: it starts, or goes on from o.Checkpoint. src has the rows of this
// rank, and is the same in each run of the job. The fields of opts that change the result,
// and the backend, are added to o.Settings. Tol and MaxPasses may change: a job that
// stopped at one of them goes on with a larger one.
//
// The checkpoint is removed when the fit is done. It stays after every error, and so after a
// *[ridge.NotConvergedError], which comes with a Result, unless nothing was found yet.
//
// Errors: those of [fdridge.Fit] and of the Transport; *[InterruptedError] if ctx ended and a
// state was kept; *[CheckpointError]; *[dist.DisagreeError]. Direct methods keep no
// state: they read the rows once. Cross-validation keeps none, and refuses both a Checkpoint
// and a Transport ([ridge.ErrInput]).
func Fit(ctx context.Context, src dataset.Source, opts fdridge.Options, o Options) (*fdridge.Result, error) {
	ctx = background.IfNil(ctx)
	if opts.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return nil, err
		}
		opts.Backend = be
	}
	backend, err := BackendSetting(opts.Backend)
	if err != nil {
		return nil, err
	}
	o.Backend = opts.Backend
	o.Settings = append(append(slices.Clone(o.Settings), optionSettings(opts)...), backend)
	var found *fdridge.Result
	err = Run(ctx, o, func(j *Job) (err error) {
		found, err = j.Fit(ctx, src, opts)
		return err
	})
	return found, err
}

// Run runs a job: it opens the checkpoint, calls do, and removes the checkpoint if do returns
// nil. do reads the rows, calls [Job.Fit] and writes the results. Unlike [Fit], Run adds nothing
// to o.Settings.
//
// All ranks call Run. A rank keeps its checkpoint until all ranks have returned from do.
// An error that other ranks do not have ends the job on all ranks, by [dist.Transport.Abort].
// An interruption does not: end ctx on each rank, so that each writes its checkpoint.
func Run(ctx context.Context, o Options, do func(*Job) error) error {
	ctx = background.IfNil(ctx)
	if o.Every < 0 {
		return badinput.Errorf("batch: Every is %v, must be positive", o.Every)
	}
	if o.Every == 0 {
		o.Every = 30 * time.Second
	}
	j := &Job{opts: o, start: time.Now(), merged: -1}
	if o.Transport != nil {
		j.before = o.Transport.Traffic().Time
	}
	err := j.begin(ctx)
	if err == nil {
		err = do(j)
		_, short := errors.AsType[*ridge.NotConvergedError](err)
		if o.Transport != nil && (err == nil || short) {
			if e := o.Transport.Barrier(ctx); e != nil {
				err = e
			}
		}
		err = j.end(err)
	}
	if o.Transport != nil && !isShared(err) {
		o.Transport.Abort(err)
	}
	return err
}

// isShared reports whether the other ranks have the error, too, or will end by themselves.
func isShared(err error) bool {
	_, aborted := errors.AsType[*dist.AbortError](err)
	_, short := errors.AsType[*ridge.NotConvergedError](err)
	return err == nil || aborted || short || isInterruption(err)
}

func isInterruption(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// A Position is a row of a pass.
type Position struct {
	Pass int   `json:"pass"` // 0: the pass that sketches
	Rows int64 `json:"rows"` // the number of rows that were read
}

func (p Position) String() string {
	if p.Pass == 0 {
		return fmt.Sprintf("row %d of the sketch's pass", p.Rows)
	}
	return fmt.Sprintf("row %d of pass %d", p.Rows, p.Pass)
}

// An EventKind is what happened to a checkpoint.
type EventKind int

const (
	Saved   EventKind = iota // a state was written
	Resumed                  // the job goes on from a state
	Damaged                  // the last state cannot be read; the one before is used
	Unsaved                  // a state could not be written; the job goes on
)

// An Event tells of a checkpoint.
type Event struct {
	Kind       EventKind
	Checkpoint string   // the file
	At         Position // of the last state that was written
	Err        error    // of Damaged and Unsaved
}

func (e Event) String() string {
	switch e.Kind {
	case Resumed:
		return fmt.Sprintf("going on from checkpoint %s, %v", e.Checkpoint, e.At)
	case Damaged:
		return fmt.Sprintf("the last checkpoint is damaged and the one before is taken: %v", e.Err)
	case Unsaved:
		return fmt.Sprintf("no checkpoint could be written, the last is of %v: %v", e.At, e.Err)
	}
	return "checkpoint"
}

// An InterruptedError reports that ctx ended a job. The same call goes on from its checkpoint.
type InterruptedError struct {
	Checkpoint string   // the file
	At         Position // of the state in it
	Unsaved    error    // why a later state could not be written; nil: there is none
	Err        error    // that of ctx
}

func (e *InterruptedError) Error() string {
	text := fmt.Sprintf("interrupted; checkpoint %s has %v", e.Checkpoint, e.At)
	if e.Unsaved != nil {
		text += fmt.Sprintf("; a later one could not be written: %v", e.Unsaved)
	}
	return text
}

// Unwrap returns the error of ctx.
func (e *InterruptedError) Unwrap() error { return e.Err }

// A CheckpointError reports a checkpoint that cannot be used, or cannot be written or removed.
// It is an [engine.ErrInput] if it is of another job or damaged.
type CheckpointError struct{ Err error }

func (e *CheckpointError) Error() string { return "checkpoint: " + e.Err.Error() }

// Unwrap returns e.Err.
func (e *CheckpointError) Unwrap() error { return e.Err }
