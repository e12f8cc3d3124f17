package batch

import (
	"context"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A Job is a fit in progress, see [Run]. Only one goroutine may use it. The zero value is a job of a single process
// without a checkpoint.
type Job struct {
	opts   Options
	start  time.Time
	before time.Duration // time spent in the Transport before the job

	name   string               // checkpoint file of this rank
	file   *safefile.Checkpoint // nil if no state is kept
	state                       // the current state
	saved  Position             // position in the last state written
	useful bool                 // the last state written has something to resume from
	dirty  bool                 // the current state has not been written
	next   time.Time            // time of the next write

	count  *Counter // nil if nonzeros are not counted
	merged int      // the first rank whose checkpoint has the merged sketch, -1 if none has
	given  bool     // summarize has returned the summary that checkpoints keep
}

// Fit runs [fdridge.Fit] with the checkpoint and the ranks of the job. src holds the rows of this rank. A job may
// call Fit only once. Fit sets the fields Journal, Reducer, Merge, Gather and Summarize of opts. The caller must
// leave these fields nil.
func (j *Job) Fit(
	ctx context.Context,
	src dataset.Source,
	opts fdridge.Options,
) (*fdridge.Result, error) {
	if opts.Journal != nil ||
		opts.Reducer != nil ||
		opts.Summarize != nil ||
		opts.Merge != nil ||
		opts.Gather != nil {
		return nil, errtext.BadInput(
			"batch: Journal, Reducer, Summarize, Merge and Gather must be nil, because the job sets them",
		)
	}
	if opts.Select.Needs().Folds && opts.Folds == 0 {
		opts.Folds = choose.DefaultFolds
	}
	if j.file != nil {
		opts.Journal = journal{j}
		opts.Progress = j.follow(opts.Progress)
	}
	if j.opts.Transport != nil {
		opts.Reducer = j.opts.Transport
		opts.Merge = j.mergeFold(opts.Folds)
		opts.Gather = func(ctx context.Context, own []byte) ([][]byte, error) {
			return dist.Gather(ctx, j.opts.Transport, own)
		}
	}
	if opts.Folds == 0 {
		opts.Summarize = j.summarize
	}
	return fdridge.Fit(ctx, src, opts)
}

// mergeFold returns a function that merges the summaries of all ranks. Its first calls merge the summaries of the
// folds of cross-validation. They also count the rows of this rank.
func (j *Job) mergeFold(folds int) func(ctx context.Context, own *ridge.Summary) (*ridge.Summary, error) {
	rows := int64(0)
	left := folds
	return func(ctx context.Context, own *ridge.Summary) (*ridge.Summary, error) {
		if left > 0 {
			left--
			rows += own.Rows()
			j.header.Rows = rows
		}
		return dist.Merge(ctx, j.opts.Transport, own)
	}
}

// Scaling returns the scaling of the columns. If the checkpoint contains a scaling, Scaling returns it. Otherwise
// it calls learn, stores the result for the next checkpoint, and returns it. The result is nil if learn returns
// nil.
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

// Count makes c count the nonzero entries of the rows. If the job resumes from a checkpoint, c continues from the
// count in the checkpoint. Later checkpoints contain the count of c. The source that is passed to [Job.Fit] must
// read its rows from c.
func (j *Job) Count(c *Counter) {
	j.count = c
	if j.file != nil {
		c.resume(j.header.Nonzeros)
	}
}

// summarize returns the summary of the rows of all ranks, the processes that share the rows. The first call reads
// only the rows that the checkpoint does not contain. A later call is for other columns or targets, and reads all
// rows, because checkpoints do not keep its summary.
func (j *Job) summarize(
	ctx context.Context,
	src dataset.Source,
	cfg ridge.SummaryConfig,
	tell func(int64),
) (*ridge.Summary, error) {
	_, d, t := src.Dims()
	if j.opts.Room != nil {
		if err := j.opts.Room(cfg.Size, d, t); err != nil {
			return nil, err
		}
	}
	if j.given {
		sum, err := ridge.Summarize(ctx, src, cfg, tell)
		if err != nil || j.opts.Transport == nil {
			return sum, err
		}
		return dist.Merge(ctx, j.opts.Transport, sum)
	}
	j.given = true
	if !j.header.Sketched {
		if err := j.readRows(ctx, src, cfg, tell); err != nil {
			return nil, err
		}
		if j.opts.Transport != nil {
			j.header.Rows = j.sum.Rows()
			j.trySave()
			j.dirty = false // merging destroys the summary of this rank
		}
	}
	sum, err := j.mergeAll(ctx, j.sum)
	if err != nil {
		return nil, err
	}
	if j.file == nil {
		j.sum = nil // no checkpoint needs it
		return sum, nil
	}
	if !j.header.Sketched {
		j.header.Sketched, j.header.At, j.dirty = true, Position{1, 0}, true
	}
	j.sum = sum
	return sum, nil
}

// readRows appends the remaining rows of src to the summary of the job. The result has the same bits as the summary
// by [ridge.Summarize].
func (j *Job) readRows(
	ctx context.Context,
	src dataset.Source,
	cfg ridge.SummaryConfig,
	tell func(int64),
) error {
	if j.sum == nil {
		var n int64
		n, cfg.Dim, cfg.Targets = src.Dims()
		cfg, err := cfg.WithLanes(n)
		if err != nil {
			return err
		}
		j.sum, err = ridge.NewSummary(cfg)
		if err != nil {
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
