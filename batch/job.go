package batch

import (
	"context"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/checkpoint"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A Job is a fit under way, see [Run]. One goroutine uses it. The zero value is a process alone
// that keeps nothing.
type Job struct {
	opts   Options
	start  time.Time
	before time.Duration // spent by the Transport before the job

	name   string           // of the checkpoint of this rank
	file   *checkpoint.File // nil: no state is kept
	state                   // as it is now
	saved  Position         // of the last state that was written
	useful bool             // there is something to go on from in the last state that was written
	dirty  bool             // there is more than that in state
	next   time.Time        // when the next state is due

	count  *Counter // nil: nonzeros are not counted
	merged int      // the first rank whose checkpoint has the union of the sketches, -1: none
}

// Fit is [fdridge.Fit] with the checkpoint and the ranks of the job; src has the rows of this rank.
// A job calls it once. It sets the Journal, Reducer and Summarize of opts.
func (j *Job) Fit(ctx context.Context, src dataset.Source, opts fdridge.Options) (*fdridge.Result, error) {
	ctx = background.IfNil(ctx)
	if opts.Journal != nil || opts.Reducer != nil || opts.Summarize != nil {
		return nil, badinput.Errorf("batch: Journal, Reducer and Summarize must be nil, the job has its own")
	}
	if j.file != nil {
		opts.Journal = journal{j}
		opts.Progress = j.follow(opts.Progress)
	}
	if j.opts.Transport != nil {
		opts.Reducer = j.opts.Transport
	}
	if opts.Folds == 0 && opts.Select != choose.CV {
		opts.Summarize = j.summarize
	}
	return fdridge.Fit(ctx, src, opts)
}

// Scaling returns the scaling of the columns that an earlier run of the job kept. If there is
// none it calls learn, and keeps what learn returns, which may be nil.
func (j *Job) Scaling(learn func() (*dataset.Scaling, error)) (*dataset.Scaling, error) {
	if j.header.Scaling != nil {
		return j.header.Scaling, nil
	}
	s, err := learn()
	if err == nil && s != nil {
		j.header.Scaling, j.dirty = s, true
	}
	return s, err
}

// Count has the nonzeros of c kept in the checkpoint. The source of [Job.Fit] reads its rows
// from c.
func (j *Job) Count(c *Counter) {
	if j.count = c; j.file != nil {
		c.resume(j.header.Nonzeros)
	}
}

// summarize makes the summary of the rows of all ranks, or the rest of it.
func (j *Job) summarize(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) (*ridge.Summary, error) {
	_, d, t := src.Dims()
	if j.opts.Room != nil {
		if err := j.opts.Room(cfg.Size, d, t); err != nil {
			return nil, err
		}
	}
	if !j.header.Sketched {
		if err := j.readRows(ctx, src, cfg, tell); err != nil {
			return nil, err
		}
		if j.opts.Transport != nil {
			j.header.Rows = j.sum.Rows()
			j.trySave()
			j.dirty = false // merging uses up the summary of this rank
		}
	}
	sum, err := j.union(ctx, j.sum)
	if err != nil {
		return nil, err
	}
	if j.file == nil {
		j.sum = nil // nothing is kept
		return sum, nil
	}
	if !j.header.Sketched {
		j.header.Sketched, j.header.At, j.dirty = true, Position{1, 0}, true
	}
	j.sum = sum
	return sum, nil
}

// readRows reads the rows of this rank that are not in the summary yet. The result is that of
// [ridge.Summarize], to the bit.
func (j *Job) readRows(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) error {
	if j.sum == nil {
		var n int64
		n, cfg.Dim, cfg.Targets = src.Dims()
		cfg, err := cfg.WithLanes(n)
		if err != nil {
			return err
		}
		if j.sum, err = ridge.NewSummary(cfg); err != nil {
			return err
		}
	}
	err := j.sum.Continue(ctx, src, func(rows int64) {
		if tell != nil {
			tell(rows)
		}
		j.header.At = Position{0, rows}
		j.saveIfDue()
	})
	if err != nil {
		return err
	}
	return j.sum.Join()
}
