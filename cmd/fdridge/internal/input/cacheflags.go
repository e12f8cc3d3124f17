package input

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/printable"
)

// CacheFlags configure a cache file of the parsed rows. Later passes read the cache instead of the input files, see
// [dataset.Cached].
type CacheFlags struct {
	dir  string
	keep bool
	gib  float64
}

func (o *CacheFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "cache", "", "keep the parsed rows in DIR until the end, so that later passes are fast")
	f.BoolVar(&o.keep, "cache-keep", false, "keep the cache for later runs on the same files")
	f.Float64Var(&o.gib, "cache-gib", 64, "maximum size of the cache in GiB")
}

// Keeps reports whether later runs use the cache.
func (o *CacheFlags) Keeps() bool { return o.keep }

func (o *CacheFlags) Check() error {
	switch {
	case o.dir == "" && o.keep:
		return cli.BadInput("--cache-keep: it needs --cache")
	case !(o.gib > 0) || !(o.gib < 1<<30):
		return cli.BadInput("--cache-gib: %v, must be positive and below 2³⁰", o.gib)
	}
	return nil
}

// A RowCache is the cache of parsed rows of one run. A nil or zero RowCache stores nothing.
type RowCache struct {
	*CacheFlags
	kept *dataset.Cache
}

// wrap returns src with a cache, or src itself without --cache. For --cache-keep, wrap calls the function key. The text
// that key returns identifies the rows, so that later runs recognise them.
func (c *RowCache) wrap(src dataset.Source, key func() (string, error)) (dataset.Source, error) {
	if c == nil || c.dir == "" {
		return src, nil
	}
	o := dataset.CacheOptions{Dir: c.dir, MaxBytes: int64(c.gib * (1 << 30))}
	var err error
	if c.keep {
		o.Key, err = key()
		if err != nil {
			return nil, err
		}
	}
	c.kept, err = dataset.Cached(src, o)
	if err != nil {
		return nil, cli.BadInput("--cache: %w", err)
	}
	return c.kept, nil
}

// End closes the cache and prints its errors as warnings. Without --cache-keep, closing removes the cache file.
func (c *RowCache) End(bar *cli.Progress, stderr io.Writer) {
	if c.kept == nil {
		return
	}
	if err := errors.Join(c.kept.Err(), c.kept.Close()); err != nil {
		bar.Warn(stderr, "--cache: "+strings.ReplaceAll(printable.Error(err), "\n", "; "))
	}
}
