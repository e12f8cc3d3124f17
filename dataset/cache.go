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

	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
)

// CacheOptions says where the rows of [Cached] are kept, and for how long.
type CacheOptions struct {
	// Dir is the directory of the file, which must exist.
	Dir string
	// Key tells rows from others: all that they follow from, such as the names of files,
	// their [Stamp]s, and what is read of them. Where it is given, the file is left when the
	// Cache is closed, and one that was left under the same Key by an earlier run is read.
	// Empty: the file is removed when the Cache is closed.
	Key string
	// MaxBytes is the most that the file takes; 0 is as much as there is room for.
	MaxBytes int64
}

// A Cache is a [Seeker] of the rows of another source, which it reads once: its first whole pass
// writes them to a file, and the passes after it read that, the same blocks at the speed of
// memory or of the disk. It serves sources that are slow to read again: text, compressed files,
// computed features. Of a source that can be read once ([Once]) it makes one that can be read again.
// Where the source is read by its columns ([ByColumns]) these are kept.
//
// A block of the file is checked by its CRC-32C before it is handed on. Where rows cannot be
// written, because the disk is full or MaxBytes are not enough, or cannot be read again, they come
// from the source, as if there were no Cache; [Cache.Err] tells why. Where that can be read once, a
// pass that cannot write them, or another one that needs them, ends in an *[OnceError]. Several passes may run at
// the same time, of several processes as well: a file appears under its name when it is complete.
//
// The zero value has no source: a pass over it is a *[SourceError].
type Cache struct {
	src  Source
	opts CacheOptions
	head cacheHeader

	mu      sync.Mutex
	file    string // that is read; "" while there is none
	rows    int64  // in it
	writing bool   // by a pass under way
	err     error
	columns *Cache // of the columns, where the source has some, once they are wanted
}

// Cached returns the rows of src with a [Cache]. It reports an error where o.Dir is no directory
// or o.MaxBytes is negative.
func Cached(src Source, o CacheOptions) (*Cache, error) {
	if err := noSource(src); err != nil {
		return nil, err
	}
	switch info, err := os.Stat(o.Dir); {
	case err != nil:
		return nil, badinput.Errorf("dataset: a directory for rows: %w", err)
	case !info.IsDir():
		return nil, badinput.Errorf("dataset: a directory for rows: %s is none", o.Dir)
	case o.MaxBytes < 0:
		return nil, badinput.Errorf("dataset: %d bytes for rows, must not be negative", o.MaxBytes)
	}
	c := &Cache{src: src, opts: o}
	_, d, t := src.Dims()
	c.head = cacheHeader{cacheMagic, uint64(d), uint64(t), sha256.Sum256([]byte(o.Key))}
	if o.Key != "" {
		c.find()
	}
	return c, nil
}

// kept is the name of a file that is left.
func (c *Cache) kept() string {
	return filepath.Join(c.opts.Dir, "fdridge-"+hex.EncodeToString(c.head.Key[:16])+".rows")
}

// find looks for a file that was left.
func (c *Cache) find() {
	r, rows, err := openCache(c.kept(), c.head)
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
	c.file, c.rows = c.kept(), rows
}

// Dims is that of the source; rows that it has not counted are those of the file.
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

// Err tells why a pass did not write, or read, the file; nil where there is nothing to
// tell. No rows are lost by it.
func (c *Cache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.columns != nil {
		return errors.Join(c.err, c.columns.Err())
	}
	return c.err
}

// Close removes the file where it has no Key. No pass may be under way.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.columns != nil {
		err = c.columns.Close()
	}
	name := c.file
	if c.file = ""; name == "" || c.opts.Key != "" {
		return err
	}
	return errors.Join(err, os.Remove(name))
}

// ByColumns is that of [Columnar]: what reads by columns has a file of its own.
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
		if c.columns, err = Cached(features, o); err != nil { // a directory that is gone
			c.columns, c.err = nil, err
			return Columns{Features: features}
		}
	}
	return Columns{Features: c.columns}
}

// Samples is that of [Columnar].
func (c *Cache) Samples(ctx context.Context) (y, w []float64, err error) { return Samples(ctx, c.src) }

// Blocks is that of [Source].
func (c *Cache) Blocks(ctx context.Context) iter.Seq2[Block, error] { return c.BlocksFrom(ctx, 0) }

// BlocksFrom is that of [Seeker].
func (c *Cache) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		if c.src == nil {
			yield(Block{}, unfit("a cache of no source, which Cached has not made"))
			return
		}
		switch name, write := c.begin(first); {
		case name != "":
			c.replay(ctx, name, first, yield)
		case write:
			c.record(ctx, yield)
		default:
			c.again(ctx, first, yield)
		}
	}
}

// begin says whether a pass reads a file, writes one, or does neither.
func (c *Cache) begin(first int64) (name string, write bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != "" {
		return c.file, false
	}
	write = first == 0 && !c.writing && c.err == nil
	c.writing = c.writing || write
	return "", write
}

// record makes a pass over the source and writes its blocks.
func (c *Cache) record(ctx context.Context, yield func(Block, error) bool) {
	w, err := newCacheWriter(c.opts.Dir, c.head, c.opts.MaxBytes)
	complete := false
	if err != nil && w != nil {
		err = errors.Join(err, w.drop())
	}
	defer func() { c.recorded(w, complete, err) }()
	n, d, t := c.src.Dims()
	for b, failed := range c.src.Blocks(ctx) {
		if failed == nil && err == nil {
			if err = w.block(b, n, d, t); err != nil { // at once: a full disk is not kept full
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

// recorded takes what a pass has written, all rows where it is complete. Where it could not write
// them, as err says, there is nothing left of it.
func (c *Cache) recorded(w *cacheWriter, complete bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	switch {
	case err == nil && complete:
		err = c.take(w)
	case err == nil: // the consumer has left
		err = w.drop()
	}
	if err != nil {
		c.err = fmt.Errorf("rows are read again from where they come from: %w", err)
	}
}

// take makes the file that w has written the one to read.
func (c *Cache) take(w *cacheWriter) error {
	name := w.file.Name()
	err := w.finish()
	if err == nil && c.opts.Key != "" {
		if err = os.Rename(name, c.kept()); err == nil {
			name = c.kept()
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	c.file, c.rows = name, w.rows
	return nil
}

// replay makes a pass over the file, or what is left of it. Where that is damaged the rest comes
// from the source.
func (c *Cache) replay(ctx context.Context, name string, first int64, yield func(Block, error) bool) {
	_, d, _ := c.src.Dims()
	at := first
	r, rows, err := openCache(name, c.head)
	if err == nil {
		defer r.close() // only read
		err = r.skip(first)
	}
	if err == nil {
		at = r.rows
		for b, failed := range ahead(ctx, "reading", d, r.fill) {
			if failed != nil {
				if err = failed; ctx.Err() != nil {
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
		if err == nil && at < rows && first < rows {
			err = errDamaged
		}
	}
	if err == nil {
		return
	}
	c.lost(name, err)
	c.again(ctx, at, yield)
}

// again makes a pass over the source, or the rest of one, where there is no file.
func (c *Cache) again(ctx context.Context, first int64, yield func(Block, error) bool) {
	c.mu.Lock()
	failed := c.err
	c.mu.Unlock()
	if failed != nil && Once(c.src) {
		yield(Block{}, &OnceError{What: "another pass", Err: failed})
		return
	}
	From(ctx, c.src, first)(yield)
}

// lost takes note that the file cannot be read, and removes it.
func (c *Cache) lost(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != name {
		return // another pass has done so
	}
	c.file = ""
	if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	c.err = fmt.Errorf("%s cannot be read, its rows come from where they came from: %w", name, err)
}
