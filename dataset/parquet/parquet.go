// Package parquet reads Apache Parquet files in blocks of rows. Columns may be floats, integers, booleans and
// decimals. Pages may have any encoding, and may be compressed by snappy, gzip, brotli, zstd or lz4. If a page has a
// checksum, it is verified.
//
// One page of each selected column is in memory at a time, so the size of the row groups does not matter. Most
// writers make pages of 1 MiB. If d columns are selected, a page may have at most max(8 MiB, 1 GiB/d) bytes, and
// never more than 256 MiB.
//
// A pass ends in an error at a missing value, NaN, an infinity, or an integer beyond ±2⁵³, which float64 cannot
// represent. A decimal is rounded to the nearest float64. Text, categories, dates, times and nested columns must be
// left out, or Open returns an error. [prepare.Cells] allows missing values, text as categories, and dates. If
// Cells.Look is set, columns that cannot be read are left out instead of an error.
package parquet

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Options selects the columns.
type Options struct {
	// Targets are the target columns. Each is a name, "first", "last" or a 1-based column number.
	Targets []string
	// Columns are the features, in the requested order. Each is specified as in Targets, but must not be a target.
	// If each begins with "-", the features are all columns except these and the targets. An empty list selects all
	// columns that are not targets.
	Columns []string
	// Cells, if not nil, selects the categorical columns, and states how to treat missing values. A missing value
	// is null, NaN or an empty text.
	Cells *prepare.Cells
}

// Open reads the schema of a Parquet file and returns a source of its rows. Errors are *[dataset.InputError], whose
// Line is the number of the row, counted from 1. If the file changes later, a pass over the rows ends with a
// *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	choice, err := f.choose(opts)
	if err != nil {
		return nil, err
	}
	var refused *dataset.InputError
	for j, k := range choice.To {
		if k < 0 {
			continue
		}
		if c, err := f.column(j, &choice); err != nil {
			refused = choice.Refuse(refused, err, j, f.names[j], c.text)
		}
	}
	if refused != nil {
		return nil, refused
	}
	n := f.rows
	if n == 0 {
		return nil, f.fail("has no rows")
	}
	var s *dataset.Stream
	s = dataset.NewStream(
		n,
		choice.Features,
		choice.Targets,
		false,
		func() (dataset.Reader, error) { return newReader(name, choice, n, s.Stamp) },
	)
	s.Stamp = f.raw.Stamp()
	if opts.Cells.OnlyNumbers() {
		s.Columns = byColumns(name, choice, n, s.Stamp)
	}
	return s, nil
}

// Columns returns the names of the top-level columns. A nested column counts as one.
func Columns(name string) ([]string, error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	return f.names, nil
}

// Names returns the names of the features and of the targets that opts selects. Their order is the order of the
// columns in the source from [Open].
func Names(name string, opts Options) (features, targets []string, err error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	choice, err := f.choose(opts)
	if err != nil {
		return nil, nil, err
	}
	features, targets = choice.Pick(f.names)
	return features, targets, nil
}

func (f *opened) choose(opts Options) (columns.Choice, error) {
	c, err := columns.Choose(f.names, true, opts.Targets, opts.Columns)
	if err == nil {
		err = c.Read(opts.Cells, f.names, true)
	}
	if err != nil {
		err = f.fail("%v", err)
	}
	return c, err
}

// An opened is an open Parquet file whose schema has been read.
type opened struct {
	*footer
	name  string
	raw   *rawfile.File
	names []string
	limit int // largest size of a page
}

func open(name string, was dataset.Stamp) (out *opened, err error) {
	raw, err := rawfile.Reopen(name, was)
	if err != nil {
		return nil, err
	}
	f := &opened{name: name, raw: raw}
	defer func() {
		if err != nil {
			raw.Close() // err is more informative than an error of Close
		}
	}()
	at := raw.At()
	if at == nil {
		return nil, f.fail("is a %s stream; Parquet compresses its pages itself, so decompress the file", raw.Packed())
	}
	f.footer, err = readFooter(at, raw.Plain)
	if err != nil {
		return nil, f.damaged(err)
	}
	for _, c := range f.columns {
		f.names = append(f.names, c.Name)
	}
	return f, nil
}

func (f *opened) Close() error { return f.raw.Close() }

// Unchanged implements [dataset.Witness].
func (f *opened) Unchanged() error { return f.raw.Unchanged() }

// maxPage is the largest size of a page in bytes.
const maxPage = 256 << 20

// limitPages sets the largest size of a page. One page of each of the n columns is in memory at a time. The limit
// is 1 GiB divided by n, but at least 8 MiB and at most maxPage.
func (f *opened) limitPages(n int) {
	const total, least = 1 << 30, 8 << 20
	f.limit = min(maxPage, max(least, total/n))
}

// newPages returns a reader of the values of column c. The reader's method open selects a row group.
func (f *opened) newPages(c *column) *pages {
	d := decoder{
		kind:   c.kind,
		number: c.convert,
		isText: c.text,
		wide:   c.wide,
		length: c.length,
	}
	return &pages{
		file:     f.raw.At(),
		end:      f.raw.Plain - footerEnd,
		limit:    f.limit,
		optional: c.optional,
		packed:   f.packed,
		decoder:  d,
	}
}

func (f *opened) fail(format string, args ...any) error {
	return &dataset.InputError{File: f.name, Msg: fmt.Sprintf(format, args...)}
}

// damaged returns the error for a file that cannot be decoded because of err.
func (f *opened) damaged(err error) error {
	return &dataset.InputError{File: f.name, Msg: "is not a readable Parquet file", Err: err}
}
