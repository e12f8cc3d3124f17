// Package arrow reads and writes Apache Arrow's IPC format, files and streams, by way of
// github.com/apache/arrow-go: columns of floats (16, 32 and 64 bits), integers and booleans, and lists
// of a fixed size of these, of which each place is a column: those of a list x are x[1], x[2], ….
// Buffers may be compressed by lz4 or zstd, and the whole by gzip or zstd.
//
// Dictionary-encoded columns (categories), text, times, decimals and nested columns are refused when
// the file is opened, unless they are left out; a missing value (null), NaN, an infinity and an
// integer beyond ±2⁵³, which float64 does not hold, where they stand. A bitmap of which values there
// are is looked at only where the file says that one is missing.
//
// Rows come in blocks as those of other formats do, however many a record batch has. Where the
// features are one list of float64, or one column, a block is the memory of the record batch; else
// each number is copied once, from its column to its row. A file that is not compressed is read a
// record batch at a time, from wherever one begins; a stream in a file, too.
//
// A record batch has at most 1 GiB, one that is compressed 512 MiB when it is not; the metadata of a
// message 64 MiB, a schema 2²⁰ columns. Those whose rows are in use take no more than 2 GiB together. Sizes are held to what is there before memory is taken.
package arrow

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// Options says which columns are what.
type Options struct {
	// Targets are the columns that are targets: each a name, "first", "last" or a 1-based column
	// number. The name of a list stands for all its places.
	Targets []string
	// Columns are the features, named in the same way, in the order wanted; or, where each begins
	// with "-", the columns that are left out. Empty takes all. A target among them is an
	// error.
	Columns []string
	// Cells, if not nil, says which columns are categorical, of text, dictionary-encoded or of numbers,
	// and whether a null or NaN is a missing value; an empty text is one.
	Cells *dataset.Cells
	// Pipe, if not nil, is what is read in place of the file.
	Pipe *dataset.Pipe
}

// Open reads the schema and returns a source of the rows. Errors are *[dataset.InputError]; the line
// they name is the row, the column its number, both from 1. A pass over a file that has changed ends
// in a *[dataset.ChangedError]. How many rows there are is known of files that are not compressed.
func Open(name string, opts Options) (*dataset.Stream, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	t, err := read(f)
	if err != nil {
		return nil, err
	}
	choice, err := t.choose(f, opts)
	if err != nil {
		return nil, err
	}
	var refused *dataset.InputError
	for j, k := range choice.To {
		if k < 0 {
			continue
		}
		if err := t.refuse(f, j, choice.Lexicon(j) != nil); err != nil {
			refused = choice.Refuse(refused, err, j, t.names[j], isText(t.schema.Field(t.fields[j].field).Type))
		}
	}
	if refused != nil {
		return nil, refused
	}
	n := int64(-1)
	if t.index != nil {
		if n = t.index.rows; n == 0 {
			return nil, &dataset.InputError{File: f.Name, Msg: "has no rows"}
		}
	}
	var s *dataset.Stream
	s = dataset.NewStream(n, choice.Features, choice.Targets, false, func() (dataset.Reader, error) {
		f, err := rawfile.Pass(name, opts.Pipe, s.Stamp)
		if err != nil {
			return nil, err
		}
		r, err := newReader(f, t, choice)
		if err != nil {
			f.Close() // the error at hand says more
			return nil, err
		}
		return r, nil
	})
	s.Stamp, s.Single = f.Stamp(), opts.Pipe != nil
	return s, nil
}

// Columns returns the names of the columns.
func Columns(name string, opts Options) ([]string, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	t, err := read(f)
	if err != nil {
		return nil, err
	}
	return t.names, nil
}

// Names returns the names of the features and of the targets, in their order.
func Names(name string, opts Options) (features, targets []string, err error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // only read
	t, err := read(f)
	if err != nil {
		return nil, nil, err
	}
	choice, err := t.choose(f, opts)
	if err != nil {
		return nil, nil, err
	}
	features, targets = choice.Pick(t.names)
	return features, targets, nil
}

// A layout is what is known before the rows are read.
type layout struct {
	index  *index // nil: the messages are read in their order
	schema *arrow.Schema
	names  []string // of the columns
	fields []place  // of each column
}

// A place is where the values of a column are.
type place struct {
	field int // of the schema
	item  int // of its lists, from 0; -1: it has none
}

// read reads the schema.
func read(f *rawfile.File) (t *layout, err error) {
	t = &layout{}
	if f.At() != nil {
		if t.index, err = places(f); err != nil {
			return nil, err
		}
	}
	m := &messages{file: f, index: t.index}
	r, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&m.room))
	if err != nil {
		return nil, wrap(f, "has no schema that can be read", err)
	}
	t.schema = r.Schema()
	for i, field := range t.schema.Fields() {
		items, ok := field.Type.(*arrow.FixedSizeListType)
		if !ok {
			t.names, t.fields = append(t.names, field.Name), append(t.fields, place{i, -1})
		} else if n := int(items.Len()); n < 0 || n > mostFields-len(t.names) {
			return nil, &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("has more than %d columns", mostFields)}
		} else {
			for k := range n {
				t.names, t.fields = append(t.names, fmt.Sprintf("%s[%d]", field.Name, k+1)), append(t.fields, place{i, k})
			}
		}
		if len(t.names) > mostFields {
			return nil, &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("has more than %d columns", mostFields)}
		}
	}
	return t, nil
}

// wrap makes an *[dataset.InputError] of what the library says, and leaves others as they are; io.EOF
// is that of data that end where there should be more.
func wrap(f *rawfile.File, msg string, err error) error {
	if _, panicked := errors.AsType[runtime.Error](err); panicked || strings.HasPrefix(err.Error(), "arrow/ipc: unknown error") {
		err = rawfile.ErrDamaged // the library recovered from a panic
	}
	if known, ok := errors.AsType[*dataset.InputError](err); ok {
		return known
	}
	err = f.Wrap(err, 0)
	if _, ok := errors.AsType[*dataset.InputError](err); !ok && !errors.Is(err, io.EOF) {
		return err
	}
	if errors.Is(err, io.EOF) {
		return &dataset.InputError{File: f.Name, Msg: "is empty, or ends at once"}
	}
	inner, _ := errors.AsType[*dataset.InputError](err)
	return &dataset.InputError{File: f.Name, Msg: msg, Err: inner.Err}
}

// choose resolves the columns. A list stands for all its places.
func (t *layout) choose(f *rawfile.File, opts Options) (columns.Choice, error) {
	c, err := columns.Choose(t.names, true, t.expand(opts.Targets), t.expand(opts.Columns))
	if err == nil {
		err = c.Read(opts.Cells, t.names, true)
	}
	if err != nil {
		err = &dataset.InputError{File: f.Name, Msg: err.Error()}
	}
	return c, err
}

// expand puts the places of lists for their names.
func (t *layout) expand(specs []string) []string {
	var out []string
	for _, spec := range specs {
		rest, cut := strings.CutPrefix(spec, "-")
		sign := spec[:len(spec)-len(rest)]
		if !cut {
			rest = spec
		}
		lists := t.schema.FieldIndices(rest)
		if len(lists) != 1 || slices.Contains(t.names, spec) {
			out = append(out, spec)
			continue
		}
		items, ok := t.schema.Field(lists[0]).Type.(*arrow.FixedSizeListType)
		if !ok {
			out = append(out, spec)
			continue
		}
		for k := range int(items.Len()) {
			out = append(out, fmt.Sprintf("%s%s[%d]", sign, rest, k+1))
		}
	}
	return out
}

// refuse tells why column j cannot be read, nil where it can.
func (t *layout) refuse(f *rawfile.File, j int, categorical bool) *dataset.InputError {
	dt := t.schema.Field(t.fields[j].field).Type
	if items, ok := dt.(*arrow.FixedSizeListType); ok {
		dt = items.Elem()
		if categorical {
			return &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("column %s is part of a list, and no categorical column; make a column of it", excerpt.Of(t.names[j]))}
		}
	}
	if categorical && isText(dt) {
		return nil
	}
	fail := func(holds, hint string) *dataset.InputError {
		return &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("column %s holds %s", excerpt.Of(t.names[j]), holds), Omittable: true, Hint: hint + ", or leave it out"}
	}
	switch dt.ID() {
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.BOOL,
		arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return nil
	case arrow.DICTIONARY:
		return fail("categories (it is dictionary-encoded)", "encode it as numbers")
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return fail("text or bytes", "encode it as numbers")
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return fail("decimals", "cast it to double")
	case arrow.LIST, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW, arrow.STRUCT, arrow.MAP, arrow.FIXED_SIZE_LIST, arrow.SPARSE_UNION, arrow.DENSE_UNION:
		return fail("nested values", "make columns of them, or lists of a fixed size")
	case arrow.NULL:
		return fail("no values at all (nulls)", "fill them in")
	}
	return fail("values of type "+excerpt.Of(dt.Name()), "encode it as numbers")
}

// isText reports whether values are text, dictionary-encoded or not.
func isText(dt arrow.DataType) bool {
	if d, ok := dt.(*arrow.DictionaryType); ok {
		dt = d.ValueType
	}
	return dt.ID() == arrow.STRING || dt.ID() == arrow.LARGE_STRING || dt.ID() == arrow.STRING_VIEW
}
