package input

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/table"
)

// CacheFlags are the flags of a cache file that stores the parsed rows. Later passes read the cache instead of the
// input files, see [table.Cache].
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

func (o *CacheFlags) Check() error {
	switch {
	case o.dir == "" && o.keep:
		return cli.BadInput("--cache-keep: it needs --cache")
	case !(o.gib > 0) || !(o.gib < 1<<30):
		return cli.BadInput("--cache-gib: %v, must be positive and below 2³⁰", o.gib)
	}
	return nil
}

// Cache returns the cache of one run. If --cache is not given, the cache stores nothing.
func (o *CacheFlags) Cache() *table.Cache {
	return &table.Cache{Dir: o.dir, Keep: o.keep, MaxBytes: int64(o.gib * (1 << 30))}
}

// EndCache closes the cache and prints its errors as warnings. Closing removes the cache file unless --cache-keep
// is given.
func EndCache(c *table.Cache, bar *cli.Progress, stderr io.Writer) {
	if err := c.Close(); err != nil {
		bar.Warn(stderr, "--cache: "+strings.ReplaceAll(errtext.Error(err), "\n", "; "))
	}
}
