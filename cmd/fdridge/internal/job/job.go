// Package job runs a fit that may keep its state in a checkpoint, and that may be one of
// several ranks which share the rows.
package job

import (
	"context"
	"errors"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

// A Config says how a fit is to be run.
type Config struct {
	Program  string    // its version, which all ranks must have in common
	Command  string    // as all ranks must have been started
	Settings []Setting // what two runs have in common if one is to go on from where the other was

	Checkpoint string        // the file to keep the state in; empty: it is kept nowhere
	Every      time.Duration // how often a state is written, at most; less often where writing takes more than a tenth of that

	Backend engine.Backend
	Log     Log
	// Room, if not nil, refuses a sketch of m rows of d features and t targets that would
	// not fit into memory. It is asked before each is made.
	Room func(m, d, t int) error
}

// A Job is a fit under way.
type Job struct {
	ranks      *Ranks      // nil: this process alone
	checkpoint *Checkpoint // nil: the state is kept nowhere
	room       func(m, d, t int) error
	rows       int64 // of this rank, once they are sketched
	merged     int   // the rank whose checkpoint has the union of the sketches, -1: none
}

// Begin sees to it that all ranks were started alike, takes the checkpoint, and gives this
// rank what the checkpoints of others have.
func Begin(ctx context.Context, c Config, ranks *Ranks) (*Job, error) {
	if err := ranks.agree(ctx, &c); err != nil {
		return nil, err
	}
	j := &Job{ranks: ranks, room: c.Room, merged: -1}
	if c.Checkpoint != "" {
		if err := j.open(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := j.catchUp(ctx); err != nil {
		return nil, j.End(err)
	}
	return j, nil
}

// open takes this rank's checkpoint, and refuses what another number of ranks has left.
func (j *Job) open(ctx context.Context, c Config) error {
	name := c.Checkpoint
	if j.ranks != nil {
		c.Checkpoint = RankName(name, j.ranks.Rank(), j.ranks.Size())
	}
	if err := refuseOthers(name, j.ranks.count()); err != nil {
		return err
	}
	var err error
	j.checkpoint, err = openCheckpoint(c, !j.ranks.Leads())
	return j.opened(ctx, err)
}

// Scaling is what an earlier run has learnt of the columns, nil for nothing.
func (j *Job) Scaling() *dataset.Scaling {
	if j.checkpoint == nil {
		return nil
	}
	return j.checkpoint.header.Scaling
}

// Size is that of the sketch which an earlier run has chosen, 0 for none.
func (j *Job) Size() int {
	if j.checkpoint == nil {
		return 0
	}
	return j.checkpoint.header.Size
}

// Attach tells what the rows are that the state is of: prepared by a scaling, nil for none,
// and counted as they are read.
func (j *Job) Attach(rows *Counter, scaling *dataset.Scaling) {
	if j.checkpoint != nil {
		j.checkpoint.attach(rows, scaling)
	}
}

// Fit is [ridge.Fit] with the checkpoint and the ranks. opts says the rest.
func (j *Job) Fit(ctx context.Context, src dataset.Source, opts ridge.Options) (*ridge.Result, error) {
	if c := j.checkpoint; c != nil {
		opts.Journal = c
		opts.Progress = c.follow(opts.Progress)
	}
	if j.ranks != nil {
		opts.Reducer = j.ranks
	}
	if opts.Folds == 0 {
		sizeByPilot := opts.Error > 0
		opts.Summarize = func(ctx context.Context, s ridge.Stage, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) (*ridge.Summary, error) {
			return j.summarize(ctx, s, src, cfg, sizeByPilot, tell)
		}
	}
	return ridge.Fit(ctx, src, opts)
}

// summarize makes the summary of all ranks' rows, or of a pilot, which is not kept.
// sizeByPilot says that a pilot has found the size.
func (j *Job) summarize(ctx context.Context, s ridge.Stage, src dataset.Source, cfg ridge.SummaryConfig, sizeByPilot bool, tell func(int64)) (*ridge.Summary, error) {
	if s == ridge.Sketching && sizeByPilot && j.checkpoint != nil {
		j.checkpoint.sized(cfg.Size)
	}
	_, d, t := src.Dims()
	if j.room != nil {
		if err := j.room(cfg.Size, d, t); err != nil {
			return nil, err
		}
	}
	if s == ridge.Sketching && j.checkpoint != nil {
		return j.sketch(ctx, src, cfg, tell)
	}
	sum, err := ridge.Summarize(ctx, src, cfg, tell)
	if err != nil || j.ranks == nil {
		return sum, err
	}
	if s == ridge.Sketching {
		j.rows = sum.Rows()
	}
	return dist.Merge(ctx, j.ranks, sum)
}

// sketch makes the summary of all ranks' rows, or goes on with what the checkpoint has of it.
func (j *Job) sketch(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) (*ridge.Summary, error) {
	c := j.checkpoint
	if c.header.Sketched {
		j.rows = c.header.Rows
		return c.sketched(j.union(ctx, c.sum))
	}
	if err := c.sketch(ctx, src, cfg, tell); err != nil {
		return nil, err
	}
	if j.ranks != nil {
		j.rows = c.sum.Rows()
		c.beforeMerging()
	}
	return c.sketched(j.union(ctx, c.sum))
}

// Rows is how many this process reads of a source in a pass, -1 while unknown; sum is that of
// all ranks' rows.
func (j *Job) Rows(src dataset.Source, sum *ridge.Summary) int64 {
	if j.ranks == nil {
		return sum.Rows()
	}
	n, _, _ := src.Dims()
	return n
}

// Wait returns when all ranks are as far: none lets go of its checkpoint before the results
// are written.
func (j *Job) Wait(ctx context.Context) error {
	if j.ranks == nil {
		return nil
	}
	return j.ranks.Barrier(ctx)
}

// End lets go of the checkpoint of a run that ended in err, and returns what is to be said of
// it. That of a run that is done is removed.
func (j *Job) End(err error) error {
	if j.checkpoint == nil {
		return err
	}
	return j.checkpoint.end(err)
}

// An InterruptedError says how to go on from where a run was interrupted.
type InterruptedError struct{ Message string }

func (e *InterruptedError) Error() string { return e.Message }

// isInterruption tells that a run was interrupted, and has said so or not.
func isInterruption(err error) bool {
	var said *InterruptedError
	return errors.As(err, &said) || errors.Is(err, context.Canceled)
}
