package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// cacheFlags say where rows are kept for the passes after the first, see [dataset.Cached].
type cacheFlags struct {
	dir  string
	keep bool
	gib  float64
}

func (o *cacheFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "cache", "", "write the rows that the first pass reads to a file in this directory, which later passes read in their place: for text and compressed files, which are slow to read again; removed at the end")
	f.BoolVar(&o.keep, "cache-keep", false, "with --cache: leave the file there, for later runs on the same files, read in the same way")
	f.Float64Var(&o.gib, "cache-gib", 64, "with --cache: the most that the file takes, in GiB; more rows than that are read from their files each time")
}

func (o *cacheFlags) check() error {
	switch {
	case o.dir == "" && o.keep:
		return badInput("--cache-keep: it says how to keep rows, and there is no --cache")
	case !(o.gib > 0) || !(o.gib < 1<<30):
		return badInput("--cache-gib: %v, must be positive and below 2³⁰", o.gib)
	}
	return nil
}

// A rowCache is that of one run; nil, or empty, keeps nothing.
type rowCache struct {
	*cacheFlags
	kept *dataset.Cache
}

// rows returns src with a cache, or src itself if there is no --cache. key identifies the rows.
func (c *rowCache) rows(src dataset.Source, key func() (string, error)) (dataset.Source, error) {
	if c == nil || c.dir == "" {
		return src, nil
	}
	o := dataset.CacheOptions{Dir: c.dir, MaxBytes: int64(c.gib * (1 << 30))}
	var err error
	if c.keep {
		if o.Key, err = key(); err != nil {
			return nil, err
		}
	}
	if c.kept, err = dataset.Cached(src, o); err != nil {
		return nil, badInput("--cache: %w", err)
	}
	return c.kept, nil
}

// end removes what is not to be left, and tells where it was of no use.
func (c *rowCache) end(bar *progress, stderr io.Writer) {
	if c.kept == nil {
		return
	}
	if err := errors.Join(c.kept.Err(), c.kept.Close()); err != nil {
		bar.warn(stderr, "--cache: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// rowKey tells the rows that the flags name: from what files, as they are now, read how, in blocks
// of what size, and which share of them.
func (o *inputFlags) rowKey(share dataset.Share, be engine.Backend) (string, error) {
	settings := batch.FileSettings(batch.Files(o.rowFlags.files()))
	backend, err := batch.BackendSetting(be)
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("%q %q %q %d %q %q %q %q %q %v %q",
		o.data.value, o.target.value, o.weights.value, o.named(), o.format, o.delimiter, o.header, o.columns, o.rows, share, append(settings, backend))
	if o.transposed {
		key += " transposed"
	}
	if o.policy() != dataset.RefuseMissing {
		key += " missing"
	}
	return key, nil
}
