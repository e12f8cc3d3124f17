package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/fdridge/fdridge/internal/errtext"
)

// CacheOptions sets where [Cached] stores rows, and for how long.
type CacheOptions struct {
	// Dir is the directory of the cache file. It must exist.
	Dir string
	// Key identifies the rows. It must depend on everything that determines the rows, such as file names, their
	// [Stamp]s and the selected columns. If Key is not empty, Close keeps the cache file, and later runs with the
	// same Key read it. If Key is empty, Close removes the file.
	Key string
	// MaxBytes limits the size of the cache file; 0 means no limit.
	MaxBytes int64
}

// A Cache is a [Seeker] that reads another source only once. Its first complete pass writes the rows to a file, and
// later passes read this file. Use it for sources that are slow to read, such as text and compressed files, and for
// sources that can be read only [Once]. A [Columnar] source has a second file for the columns.
//
// Each block of the file has a checksum, CRC-32C. If the file cannot be written or read, for example because the disk
// is full, the cache reads the source again, and [Cache.Err] returns the reason. If the source can be read only once,
// the pass ends with a *[OnceError] instead. Several passes, also of several processes, may run at the same time.
//
// A pass over the zero value ends with a *[SourceError].
type Cache struct {
	src  Source
	opts CacheOptions
	head cacheHeader

	mu      sync.Mutex
	file    string // name of the complete file; "" if there is none
	rows    int64  // number of rows in the file
	writing bool   // a pass is writing the file
	err     error
	columns *Cache // cache of the source's columns, created by ByColumns
}

// Cached returns a [Cache] of src. It returns an error if src is nil, o.Dir is not a directory, or o.MaxBytes is
// negative.
func Cached(src Source, o CacheOptions) (*Cache, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	switch info, err := os.Stat(o.Dir); {
	case err != nil:
		return nil, errtext.BadInput("dataset: the directory for rows: %w", err)
	case !info.IsDir():
		return nil, errtext.BadInput("dataset: the directory for rows: %s is not a directory", o.Dir)
	case o.MaxBytes < 0:
		return nil, errtext.BadInput("dataset: MaxBytes is %d; it must not be negative", o.MaxBytes)
	}
	c := &Cache{src: src, opts: o}
	_, d, t := src.Dims()
	c.head = cacheHeader{cacheMagic, uint64(d), uint64(t), sha256.Sum256([]byte(o.Key))}
	if o.Key != "" {
		c.openKept()
	}
	return c, nil
}

func (c *Cache) keptName() string {
	return filepath.Join(c.opts.Dir, "fdridge-"+hex.EncodeToString(c.head.Key[:16])+".rows")
}

// openKept opens the cache file that an earlier run kept. If there is no such file, it does nothing.
func (c *Cache) openKept() {
	r, rows, err := openCache(c.keptName(), c.head)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			c.err = err
		}
		return
	}
	if err := r.close(); err != nil {
		c.err = err
		return
	}
	c.file = c.keptName()
	c.rows = rows
}

// Dims returns the dimensions of the source. If the source does not know its number of rows, Dims returns the number of
// rows in the cache file.
func (c *Cache) Dims() (n int64, d, t int) {
	if c.src == nil {
		return 0, 0, 0
	}
	n, d, t = c.src.Dims()
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 && c.file != "" {
		n = c.rows
	}
	return n, d, t
}

// Err returns the reason why a pass could not write or read the cache file, or nil. Such a pass has nevertheless
// yielded all rows, unless it ended with a *[OnceError].
func (c *Cache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.columns != nil {
		return errors.Join(c.err, c.columns.Err())
	}
	return c.err
}

// Close removes the cache file if [CacheOptions].Key is empty. No pass over the cache may be running.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.columns != nil {
		err = c.columns.Close()
	}
	name := c.file
	c.file = ""
	if name == "" || c.opts.Key != "" {
		return err
	}
	return errors.Join(err, os.Remove(name))
}

// ByColumns implements [Columnar]. The columns are stored in a second cache file.
func (c *Cache) ByColumns() Columns {
	features, ok := ByColumns(c.src)
	if !ok {
		return Columns{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.columns == nil {
		o := c.opts
		if o.Key != "" {
			o.Key += " by columns"
		}
		var err error
		c.columns, err = Cached(features, o)
		if err != nil { // the directory is gone
			c.columns, c.err = nil, err
			return Columns{Features: features}
		}
	}
	return Columns{Features: c.columns}
}

// Samples implements [Columnar].
func (c *Cache) Samples(ctx context.Context) (y, w []float64, err error) {
	return Samples(ctx, c.src)
}

// Blocks implements [Source].
func (c *Cache) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return c.BlocksFrom(ctx, 0)
}

// BlocksFrom implements [Seeker].
func (c *Cache) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		if c.src == nil {
			yield(Block{}, newSourceError("a cache without a source; create it with Cached"))
			return
		}
		switch name, write := c.planPass(firstRow); {
		case name != "":
			c.replay(ctx, name, firstRow, yield)
		case write:
			c.record(ctx, yield)
		default:
			c.reread(ctx, firstRow, yield)
		}
	}
}

// planPass decides what a pass reads. It returns the name of the cache file, or "" if the pass has to read the
// source. If write is true, the pass also writes the rows of the source to a new cache file.
func (c *Cache) planPass(firstRow int64) (name string, write bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != "" {
		return c.file, false
	}
	write = firstRow == 0 && !c.writing && c.err == nil
	c.writing = c.writing || write
	return "", write
}

// record yields the blocks of the source and also writes them to a new cache file.
func (c *Cache) record(ctx context.Context, yield func(Block, error) bool) {
	w, err := newCacheWriter(c.opts.Dir, c.head, c.opts.MaxBytes)
	complete := false
	if err != nil && w != nil {
		err = errors.Join(err, w.drop())
	}
	defer func() { c.finishRecord(w, complete, err) }()
	n, d, t := c.src.Dims()
	for b, failed := range c.src.Blocks(ctx) {
		if failed == nil && err == nil {
			err = w.block(b, n, d, t)
			if err != nil { // remove the file at once, so that the disk does not stay full
				err = errors.Join(err, w.drop())
			}
		}
		if err != nil && failed == nil && Once(c.src) {
			yield(Block{}, &OnceError{What: "keeping rows", Err: err})
			return
		}
		if !yield(b, failed) || failed != nil {
			return
		}
	}
	complete = true
}

// finishRecord keeps a complete file and removes any other.
func (c *Cache) finishRecord(w *cacheWriter, complete bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	switch {
	case err == nil && complete:
		err = c.adopt(w)
	case err == nil: // the consumer left the loop
		err = w.drop()
	}
	if err != nil {
		c.err = fmt.Errorf("the rows are not cached and are read from the source again: %w", err)
	}
}

// adopt completes the file of w, so that later passes read it. If the cache has a Key, adopt renames the file.
func (c *Cache) adopt(w *cacheWriter) error {
	name := w.file.Name()
	err := w.finish()
	if err == nil && c.opts.Key != "" {
		err = os.Rename(name, c.keptName())
		if err == nil {
			name = c.keptName()
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	c.file, c.rows = name, w.rows
	return nil
}

// replay yields the rows of the cache file, starting with the block of row firstRow. If the file is damaged, it
// yields the remaining rows from the source.
func (c *Cache) replay(
	ctx context.Context,
	name string,
	firstRow int64,
	yield func(Block, error) bool,
) {
	_, d, _ := c.src.Dims()
	at := firstRow
	r, rows, err := openCache(name, c.head)
	if err == nil {
		defer r.close() // opened for reading, so an error of Close does no harm
		err = r.skip(firstRow)
	}
	if err == nil {
		at = r.rows
		for b, failed := range readAhead(ctx, "reading", d, r.fill) {
			if failed != nil {
				err = failed
				if ctx.Err() != nil {
					yield(Block{}, failed)
					return
				}
				break
			}
			if !yield(b, nil) {
				return
			}
			at = b.First + int64(b.N)
		}
		if err == nil && at < rows && firstRow < rows {
			err = errDamaged
		}
	}
	if err == nil {
		return
	}
	c.discard(name, err)
	c.reread(ctx, at, yield)
}

// reread yields the rows of the source from row firstRow on.
func (c *Cache) reread(ctx context.Context, firstRow int64, yield func(Block, error) bool) {
	c.mu.Lock()
	failed := c.err
	c.mu.Unlock()
	if failed != nil && Once(c.src) {
		yield(Block{}, &OnceError{What: "another pass", Err: failed})
		return
	}
	From(ctx, c.src, firstRow)(yield)
}

func (c *Cache) discard(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != name {
		return // another pass has discarded it
	}
	c.file = ""
	if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	c.err = fmt.Errorf("%s cannot be read; its rows are read from the source again: %w", name, err)
}
