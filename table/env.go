package table

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
)

// An Env holds what a run provides, besides the description of the rows: other processes, a checkpoint, a cache, the
// backend. The zero value is a single process without any of them.
type Env struct {
	// Backend computes features; nil means [engine.Default].
	Backend engine.Backend
	// Ranks connects the processes of a job. Each process reads a part of the rows. nil means a single process.
	Ranks dist.Transport
	// Seen holds the size and modification time of each file at the start of the run. Opening a file that has changed
	// since returns an error.
	Seen map[string]dataset.Stamp
	// Checkpoint is the file in which [Fit] stores its state, see [batch.Options]. After an interruption, the same call of
	// Fit continues from this state. "" means that no state is stored.
	Checkpoint string
	// Job is a job that the caller runs by [batch.Run]. Open then stores the scaling of the features and the number of
	// nonzero features in the checkpoint of this job. If Job is nil, Fit runs a job of its own with Checkpoint and Ranks.
	Job *batch.Job
	// Cache keeps the rows that were read; nil means no cache.
	Cache *Cache
	// Pipe is read instead of Spec.Data, if Spec.Piped is true. If it is nil, Open opens the pipe.
	Pipe *dataset.Pipe
	// Entries holds the numbers of a .npy array, whose file then has only the header. See [file.Origin].
	Entries *io.SectionReader
	// Alone is true if no other process reads the rows outside of Spec.Part. See [file.Origin].
	Alone bool
	// NeedsPenalty makes Open refuse columns without penalty. Set it if no fit follows, because only a fit can handle
	// such columns.
	NeedsPenalty bool
	// Progress, if not nil, is called before each pass that prepares rows. It returns a function, which may be nil, that
	// is called with the number of rows read.
	Progress func(pass string, src dataset.Source) func(rows int64)
	// PlanOut, if not nil, is called with the encoding that a plan or a pass decided, before the rows are opened. An
	// error ends Open. Only rank 0 calls it.
	PlanOut func(*prepare.Encoding) error
}

// Leads reports whether this process writes the results. A single process does, and rank 0 of a job.
func (e *Env) Leads() bool {
	return e.Ranks == nil || e.Ranks.Rank() == 0
}

// shareOf returns the part of the rows that this process reads. part is the part that the Spec selects.
func (e *Env) shareOf(part dataset.Share) dataset.Share {
	if e.Ranks == nil {
		return part
	}
	return dataset.Share{Rank: e.Ranks.Rank(), Size: e.Ranks.Size()}
}

// gather returns the function that collects the messages of all processes, or nil for a single process.
func (e *Env) gather() func(ctx context.Context, own []byte) ([][]byte, error) {
	if e.Ranks == nil {
		return nil
	}
	return func(ctx context.Context, own []byte) ([][]byte, error) {
		return dist.Gather(ctx, e.Ranks, own)
	}
}

// count returns src with a counter of its rows, for Progress.
func (e *Env) count(pass string, src dataset.Source) *batch.Counter {
	return &batch.Counter{Source: src, Progress: e.progress(pass, src)}
}

func (e *Env) progress(pass string, src dataset.Source) func(int64) {
	if e.Progress == nil {
		return nil
	}
	return e.Progress(pass, src)
}

// listen returns the pipe of the rows, or nil if they are files.
func (e *Env) listen(ctx context.Context, s *Spec) *dataset.Pipe {
	if e.Pipe != nil || !s.Piped() {
		return e.Pipe
	}
	return s.Listen(ctx, nil)
}

// A Cache keeps the rows of one run in a file, so that later passes need not read the input files again; see
// [dataset.Cached]. The caller closes it at the end of the run.
type Cache struct {
	Dir      string // folder of the file
	Keep     bool   // keep the file for later runs, which must read the same files with the same fields of the Spec
	MaxBytes int64  // largest size of the file; 0: no limit

	kept *dataset.Cache
}

// wrap returns src with the cache, or src itself if c is nil or has no Dir. For a cache that is kept, wrap calls key.
// The text that key returns identifies the rows.
func (c *Cache) wrap(src dataset.Source, key func() (string, error)) (dataset.Source, error) {
	if c == nil || c.Dir == "" {
		return src, nil
	}
	o := dataset.CacheOptions{Dir: c.Dir, MaxBytes: c.MaxBytes}
	var err error
	if c.Keep {
		o.Key, err = key()
		if err != nil {
			return nil, err
		}
	}
	c.kept, err = dataset.Cached(src, o)
	if err != nil {
		return nil, specError("Cache", "%w", err)
	}
	return c.kept, nil
}

// Close closes the cache and removes its file, unless Keep is true. It returns the errors of the cache, which did not
// affect the rows.
func (c *Cache) Close() error {
	if c == nil || c.kept == nil {
		return nil
	}
	return errors.Join(c.kept.Err(), c.kept.Close())
}

// Listen returns the pipe that s.Data names: stdin for "-", where nil means [os.Stdin], or a named pipe. It returns
// nil if s.Data are files. Rows are read as soon as a pass asks for them.
func (s *Spec) Listen(ctx context.Context, stdin io.Reader) *dataset.Pipe {
	switch {
	case !s.Piped():
		return nil
	case s.Data[0] != "-":
		return dataset.OpenPipe(ctx, s.Data[0])
	case stdin == nil:
		stdin = os.Stdin
	}
	return dataset.NewPipe(ctx, stdinName, stdin)
}
