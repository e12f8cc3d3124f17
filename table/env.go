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

// An Env holds what a run needs besides the description of the rows: the other processes, a checkpoint, a cache and
// the backend. The zero value means a single process without checkpoint and cache, and the default backend.
type Env struct {
	// Backend computes features; nil means [engine.Default].
	Backend engine.Backend
	// Ranks connects the processes (ranks) of a parallel job. Each process reads a part of the rows. nil means a
	// single process.
	Ranks dist.Transport
	// Seen maps the name of each file to its size and modification time at the start of the run. Opening a file
	// that has changed since the start returns an error.
	Seen map[string]dataset.Stamp
	// Checkpoint is the file in which [Fit] stores its state, see [batch.Options]. If Fit is interrupted, a
	// repeated call with the same arguments continues from this state. "" means that no state is stored.
	Checkpoint string
	// Job is a job that the caller runs by [batch.Run]. [Open] then stores the scaling of the features and the
	// number of nonzero features in the checkpoint of this job. If Job is nil, [Fit] runs its own job, which uses
	// Checkpoint and Ranks.
	Job *batch.Job
	// Cache stores the rows in a file when they are first read, for later passes. nil means no cache.
	Cache *Cache
	// Pipe is read instead of Spec.Data, if [Spec.Piped] returns true. If Pipe is nil, [Open] then opens the named
	// pipe or the standard input.
	Pipe *dataset.Pipe
	// Entries, if not nil, holds the numbers of a .npy array. The file in Spec.Data then has only the header of the
	// array. See [file.Origin].
	Entries *io.SectionReader
	// Alone is true if no other process reads the rows that Spec.Part does not select. See [file.Origin].
	Alone bool
	// NeedsPenalty makes [Open] return an error if a penalty in the file Spec.Penalty is 0. Set it if no fit
	// follows, because only a fit accepts a penalty of 0.
	NeedsPenalty bool
	// Progress, if not nil, is called before each pass over the rows that prepares them. It may return a function,
	// which is then called during the pass with the number of rows read. It may also return nil.
	Progress func(pass string, src dataset.Source) func(rows int64)
	// PlanOut, if not nil, is called with the encoding of the columns, if a plan or a pass has decided on it. The
	// call comes before the rows are opened. If PlanOut returns an error, [Open] ends with this error. In a job of
	// several processes, only rank 0 calls PlanOut.
	PlanOut func(*prepare.Encoding) error
}

// Leads reports whether this process writes the results: a single process, or rank 0 of a job with several
// processes.
func (e *Env) Leads() bool {
	return e.Ranks == nil || e.Ranks.Rank() == 0
}

// shareOf returns the part of the rows that this process reads. With several processes it depends on the rank.
// Otherwise it is part, which Spec.Part selects.
func (e *Env) shareOf(part dataset.Share) dataset.Share {
	if e.Ranks == nil {
		return part
	}
	return dataset.Share{Rank: e.Ranks.Rank(), Size: e.Ranks.Size()}
}

// gather returns a function that collects one message from each process. It returns nil for a single process.
func (e *Env) gather() func(ctx context.Context, own []byte) ([][]byte, error) {
	if e.Ranks == nil {
		return nil
	}
	return func(ctx context.Context, own []byte) ([][]byte, error) {
		return dist.Gather(ctx, e.Ranks, own)
	}
}

// count returns src with a counter that reports the number of rows read to Progress.
func (e *Env) count(pass string, src dataset.Source) *batch.Counter {
	return &batch.Counter{Source: src, Progress: e.progress(pass, src)}
}

func (e *Env) progress(pass string, src dataset.Source) func(int64) {
	if e.Progress == nil {
		return nil
	}
	return e.Progress(pass, src)
}

// listen returns the pipe from which the rows are read, or nil if the rows are in files.
func (e *Env) listen(ctx context.Context, s *Spec) *dataset.Pipe {
	if e.Pipe != nil || !s.Piped() {
		return e.Pipe
	}
	return s.Listen(ctx, nil)
}

// A Cache stores the rows in a file when they are first read, so that later passes do not read the input files
// again. See [dataset.Cached]. The caller must call Close at the end of the run.
type Cache struct {
	Dir      string // folder of the file
	Keep     bool   // keep the file for later runs, which must read the same files with the same fields of the Spec
	MaxBytes int64  // largest size of the file; 0: no limit

	kept *dataset.Cache
}

// wrap returns src with the cache. It returns src itself if c is nil or has no Dir. If the cache is kept for later
// runs, wrap calls key for a text that identifies the rows.
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

// Close closes the cache, and removes its file unless Keep is true. It returns the errors of writing, reading and
// removing the file. These errors did not affect the rows.
func (c *Cache) Close() error {
	if c == nil || c.kept == nil {
		return nil
	}
	return errors.Join(c.kept.Err(), c.kept.Close())
}

// Listen returns the pipe that s.Data names. "-" means stdin; if the parameter stdin is nil, [os.Stdin] is read.
// Any other name is a named pipe. Listen returns nil if s.Data names files. Reading starts when the first pass asks
// for rows.
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
