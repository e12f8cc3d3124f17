// Package batch runs a fit as a job that can be interrupted. A job that was interrupted or killed resumes from its
// checkpoint, a file with its state. It then computes the same result, bit for bit. A job can have several
// processes, called ranks. Each rank reads a part of the rows and has its own checkpoint.
//
// [Fit] runs a whole job in one call. [Run] calls a function of the caller that reads the rows, fits and writes the
// results. Run removes the checkpoint only after the results are written.
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
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// Options are the options of a job.
type Options struct {
	// Checkpoint is the name of the file in which the job stores its state; "" means that no state is stored. The
	// job also uses the files with .previous, .new and .lock appended to this name. If Transport is given, each
	// rank has its own file, for example Checkpoint.rank2-of-4.
	Checkpoint string
	// Every is the shortest time between two writes of the state; 0 means 30 s. After a write that took long, the
	// job waits at least ten times as long before the next write.
	Every time.Duration
	// Settings identify the job. They must be equal on all ranks and in all runs that resume the job. List the
	// data, for example by [FileSettings], and everything else that affects the bits of the result.
	Settings []Setting
	// Transport connects the processes (ranks) of a job. Each rank reads a part of the rows. nil means that this
	// process reads all rows.
	Transport dist.Transport
	// Backend does the computations with a summary that is read from the checkpoint. nil means [engine.Default].
	Backend engine.Backend
	// Notify, if not nil, is called when a state is written or read, or when this fails.
	Notify func(Event)
	// Room, if not nil, is called before the memory for a sketch of size rows is allocated. dim is the number of
	// features. It returns an error if there is too little memory for the sketch and the targets. The error ends
	// the job.
	Room func(size, dim, targets int) error
}

// Fit runs [fdridge.Fit] as a job. It resumes from o.Checkpoint if this file exists, and otherwise starts anew. src
// holds the rows of this rank and must be the same in each run. Fit adds to o.Settings the backend and the fields
// of opts that affect the result. Only Tol and MaxPasses may differ between runs: a job that stopped at a limit
// continues with a larger one.
//
// The checkpoint is removed when the fit is done. After an error, including a *[ridge.NotConvergedError] with a
// Result, it is kept if it contains something to resume from.
//
// Direct methods store no state, because they read the rows only once. With a Transport, each rank deals its own rows
// into folds.
//
// Errors: the errors of [fdridge.Fit] and of the Transport; *[InterruptedError] if ctx ended and a state was stored;
// *[CheckpointError]; *[dist.DisagreeError].
func Fit(
	ctx context.Context,
	src dataset.Source,
	opts fdridge.Options,
	o Options,
) (*fdridge.Result, error) {
	var err error
	opts.Backend, err = engine.OrDefault(opts.Backend)
	if err != nil {
		return nil, err
	}
	backend, err := BackendSetting(opts.Backend)
	if err != nil {
		return nil, err
	}
	o.Backend = opts.Backend
	o.Settings = append(append(slices.Clone(o.Settings), OptionSettings(opts)...), backend)
	var found *fdridge.Result
	err = Run(ctx, o, func(j *Job) (err error) {
		found, err = j.Fit(ctx, src, opts)
		return err
	})
	return found, err
}

// Run opens the checkpoint, calls the function do, and removes the checkpoint if do returns nil. do must read the
// rows, call [Job.Fit] and write the results. Unlike [Fit], Run adds nothing to o.Settings.
//
// All ranks must call Run. Each rank keeps its checkpoint until do has returned on all ranks. If only some ranks
// have an error, Run ends the job on all ranks by [dist.Transport.Abort]. To interrupt a job, cancel ctx on every
// rank. Every rank then writes its checkpoint.
func Run(ctx context.Context, o Options, do func(*Job) error) error {
	if o.Every < 0 {
		return errtext.BadInput("batch: Every is %v, must be positive", o.Every)
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

// isShared reports whether a rank that ends with the error err need not abort the job on the other ranks. This is
// so if err is nil, if all ranks have this error, or if the job was already aborted.
func isShared(err error) bool {
	_, aborted := errors.AsType[*dist.AbortError](err)
	_, short := errors.AsType[*ridge.NotConvergedError](err)
	return err == nil || aborted || short || isInterruption(err)
}

func isInterruption(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// A Position tells how far a job has read the rows.
type Position struct {
	Pass int   `json:"pass"` // 0: the sketching pass
	Rows int64 `json:"rows"` // number of rows read
}

func (p Position) String() string {
	if p.Pass == 0 {
		return fmt.Sprintf("row %d of the sketch's pass", p.Rows)
	}
	return fmt.Sprintf("row %d of pass %d", p.Rows, p.Pass)
}

// An EventKind is a kind of [Event].
type EventKind int

const (
	Saved   EventKind = iota // a state was written
	Resumed                  // the job resumes from a state
	Damaged                  // the last state cannot be read; the previous one is used
	Unsaved                  // a state could not be written; the job continues
)

// An Event reports what happened to a checkpoint.
type Event struct {
	Kind       EventKind
	Checkpoint string   // the file
	At         Position // position in the last state written
	Err        error    // the error of Damaged and Unsaved
}

func (e Event) String() string {
	switch e.Kind {
	case Resumed:
		return fmt.Sprintf("going on from checkpoint %s, %v", e.Checkpoint, e.At)
	case Damaged:
		return fmt.Sprintf("the last checkpoint is damaged, so the previous one is used: %v", e.Err)
	case Unsaved:
		return fmt.Sprintf("no checkpoint could be written, the last is of %v: %v", e.At, e.Err)
	}
	return "checkpoint"
}

// An InterruptedError reports that a job ended because its context was done. If the same function is called again
// with the same arguments, the job continues from its checkpoint.
type InterruptedError struct {
	Checkpoint string   // the file
	At         Position // position in the last state written
	Unsaved    error    // why a later state could not be written; nil if there is none
	Err        error    // the error of ctx
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

// A CheckpointError reports a checkpoint that cannot be used, written or removed. If the checkpoint is damaged or
// belongs to another job, the error matches [engine.ErrInput] by [errors.Is].
type CheckpointError struct{ Err error }

func (e *CheckpointError) Error() string {
	return "checkpoint: " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *CheckpointError) Unwrap() error { return e.Err }
