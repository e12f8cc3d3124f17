// Package parquet reads Apache Parquet files in blocks of rows through
// github.com/apache/arrow-go: columns of floats, integers, booleans, and decimals
// that are stored as integers.
//
// The columns are chosen by name. Of each column that is read one page is held at a time.
// So a row group of any size takes little memory where its pages are small, as most writers
// make them (1 MiB), and never more than the row group. A page of more than 256 MiB is
// refused, and so is one of more than its column's part of 1 GiB, unless it has no more than
// 8 MiB. For that the package replaces the library's zstd and snappy codecs, for the whole
// process, by ones that write no more than a page has room for.
//
// A missing value, NaN, an infinity and an integer beyond ±2⁵³, which float64 does
// not hold, are refused where they stand; text, categories, times and nested columns
// when the file is opened, unless they are left out. [dataset.Cells] has values missing
// and text as categories. A decimal is rounded to the
// nearest float64.
package parquet

import (
	"fmt"
	"io"
	"math"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Options says which columns are what.
type Options struct {
	// Targets are the columns that are targets: each a name, "first", "last" or a
	// 1-based column number.
	Targets []string
	// Columns are the features, named in the same way, in the order wanted; or,
	// where each begins with "-", the columns that are left out. Empty takes all.
	// A target among them is an error.
	Columns []string
	// Cells, if not nil, says which columns are categorical, of text or of numbers, and whether a null
	// or NaN is a missing value; an empty text is one.
	Cells *dataset.Cells
}

// Open reads the schema and returns a source of the rows. Errors are
// *[dataset.InputError]; the line they name is the row, the column its number, both
// from 1. A pass over a file that has changed ends in a *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
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
	n := f.rows()
	if n == 0 {
		return nil, f.fail("has no rows")
	}
	var s *dataset.Stream
	s = dataset.NewStream(n, choice.Features, choice.Targets, false, func() (dataset.Reader, error) { return newReader(name, choice, n, s.Stamp) })
	s.Stamp = f.raw.Stamp()
	if opts.Cells == nil {
		s.Columns = byColumns(name, choice, n, s.Stamp)
	}
	return s, nil
}

// Columns returns the names of the columns, nested ones by their outermost name.
func Columns(name string) ([]string, error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return f.names, nil
}

// Names returns the names of the features and of the targets, in their order.
func Names(name string, opts Options) (features, targets []string, err error) {
	f, err := open(name, dataset.Stamp{})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // only read
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

// An opened is a file whose schema has been read.
type opened struct {
	*file.Reader
	name  string
	raw   *rawfile.File
	names []string
	leaf  []int // of each column, its index among those of the file
	props *pq.ReaderProperties
}

func open(name string, was dataset.Stamp) (out *opened, err error) {
	raw, err := rawfile.Reopen(name, was)
	if err != nil {
		return nil, err
	}
	f := &opened{name: name, raw: raw, props: pq.NewReaderProperties(pooled{})}
	defer func() {
		if recover() != nil {
			err = f.damaged(rawfile.ErrDamaged)
		}
		if err != nil {
			raw.Close() // the error at hand says more
		}
	}()
	at := raw.At()
	if at == nil {
		return nil, f.fail("is a %s stream; Parquet compresses its pages itself: unpack the file", raw.Packed())
	}
	f.props.BufferedStreamEnabled = true // else whole column chunks are held
	if f.Reader, err = file.NewParquetReader(io.NewSectionReader(at, 0, raw.Plain), file.WithReadProps(f.props)); err != nil {
		return nil, f.damaged(err)
	}
	var rows int64
	for i := range f.NumRowGroups() {
		n := f.MetaData().RowGroup(i).NumRows()
		if n < 0 || rows > math.MaxInt64-n {
			return nil, f.damaged(fmt.Errorf("row group %d has %d rows", i+1, n))
		}
		rows += n
	}
	schema := f.MetaData().Schema
	for i := range schema.NumColumns() {
		root := schema.ColumnRoot(i)
		if n := len(f.leaf); n > 0 && schema.ColumnRoot(f.leaf[n-1]) == root {
			continue // another leaf of a nested column
		}
		f.names = append(f.names, root.Name())
		f.leaf = append(f.leaf, i)
	}
	return f, nil
}

func (f *opened) Close() error { return f.raw.Close() }

// Unchanged is that of [dataset.Witness].
func (f *opened) Unchanged() error { return f.raw.Unchanged() }

// rows is the number of rows in all row groups.
func (f *opened) rows() int64 {
	var n int64
	for i := range f.NumRowGroups() {
		n += f.MetaData().RowGroup(i).NumRows()
	}
	return n
}

// mostPage is the most bytes of any page.
const mostPage = 256 << 20

// limitPages bounds the memory that pages can take where n columns are read.
func (f *opened) limitPages(n int) {
	const total, least = 1 << 30, 8 << 20
	limit := int64(min(mostPage, max(least, total/n)))
	f.props.MaxUncompressedPageSize, f.props.MaxCompressedPageSize = limit, limit
}

func (f *opened) fail(format string, args ...any) error {
	return &dataset.InputError{File: f.name, Msg: fmt.Sprintf(format, args...)}
}

// damaged reports what the library says of a file.
func (f *opened) damaged(err error) error {
	return &dataset.InputError{File: f.name, Msg: "is no readable Parquet file", Err: err}
}
