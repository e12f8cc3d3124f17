// Package arrow reads and writes files and streams in Apache Arrow's IPC format, with numbers in little-endian order.
// Columns may be floats, integers, booleans, decimals, or fixed-size lists of these. Each position in a
// list x is a column of its own, with the name x[1], x[2], …. Buffers may be compressed by lz4 or zstd, and the whole
// file by gzip or zstd.
//
// Text, dates, times, nested columns and dictionary-encoded columns (categories) must be left out, or Open returns
// an error. A pass ends in an error at a missing value (null), NaN, an infinity, or an integer beyond ±2⁵³, which
// float64 cannot represent. A decimal is rounded to the nearest float64. [prepare.Cells] allows missing values,
// categories and dates. If Cells.Look is set, columns that cannot be read are left out instead of an error.
//
// The sizes of the blocks of rows do not depend on the sizes of the record batches. If all features are one float64
// column or one list of float64, blocks share the memory of the record batch. Otherwise each number is copied once,
// from its column to its row. Reading can start at any record batch, unless the file is compressed as a whole.
//
// The limits are 1 GiB for a record batch, 512 MiB for its compressed buffers after decompression, 64 MiB for the
// metadata of a message, 2²⁰ columns, and 2 GiB for all batches in use. A size in a file is compared with the data
// present before memory is allocated.
package arrow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Options selects the columns.
type Options struct {
	// Targets are the target columns. Each is a name, "first", "last" or a 1-based column number. The name of a
	// column of lists selects all positions of its lists.
	Targets []string
	// Columns are the features, in the requested order. They are specified like Targets and must not include a
	// target. If every entry begins with "-", the columns after the "-" are left out, and all other columns are
	// features. If Columns is empty, all columns except the targets are features.
	Columns []string
	// Cells selects the categorical columns and states whether values may be missing. A missing value is a null, a
	// NaN or an empty text. If Cells is nil, all columns must be numbers, and no value may be missing.
	Cells *prepare.Cells
	// Pipe, if not nil, is the input that is read; no file is opened.
	Pipe *dataset.Pipe
}

// Open reads the schema of the file and returns a source of its rows. Errors have type *[dataset.InputError], with
// the row, counted from 1, as Line. If the file changes after Open, a pass over the rows ends with a
// *[dataset.ChangedError]. The source knows its number of rows unless the file is a pipe or is compressed as a
// whole.
func Open(name string, opts Options) (*dataset.Stream, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
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
		if err := t.checkColumn(f, j, choice.Lexicon(j)); err != nil {
			refused = choice.Refuse(
				refused,
				err,
				j,
				t.names[j],
				t.schema[t.fields[j].field].isText(),
			)
		}
	}
	if refused != nil {
		return nil, refused
	}
	n := int64(-1)
	if t.index != nil {
		n = t.index.rows
		if n == 0 {
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
			f.Close() // err is more informative than an error of Close
			return nil, err
		}
		return r, nil
	})
	s.Stamp = f.Stamp()
	s.Single = opts.Pipe != nil
	return s, nil
}

// Columns returns the names of the columns.
func Columns(name string, opts Options) ([]string, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	t, err := read(f)
	if err != nil {
		return nil, err
	}
	return t.names, nil
}

// Names returns the names of the features and of the targets that opts selects. Their order is the order of the
// features and targets in the rows from [Open].
func Names(name string, opts Options) (features, targets []string, err error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
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

// A layout holds the schema of a file, its columns, and the positions of its messages if they are known.
type layout struct {
	index  *index // nil if the messages are read in order
	schema []field
	names  []string // of the columns
	fields []place  // location of each column
}

// A place is the location of a column's values.
type place struct {
	field int // index of the field in the schema
	item  int // index in the lists of the field, from 0; -1 if the field has no lists
}

func read(f *rawfile.File) (t *layout, err error) {
	t = &layout{}
	if f.At() != nil {
		t.index, err = indexOf(f)
		if err != nil {
			return nil, err
		}
	}
	m := &messages{file: f, index: t.index}
	t.schema, err = m.schema()
	if err != nil {
		return nil, err
	}
	for i := range t.schema {
		name := t.schema[i].name
		of := &t.schema[i].dataType
		if of.item() == of {
			t.names = append(t.names, name)
			t.fields = append(t.fields, place{i, -1})
		} else if of.items > maxColumns-len(t.names) {
			return nil, &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("has more than %d columns", maxColumns)}
		} else {
			for k := range of.items {
				t.names = append(t.names, fmt.Sprintf("%s[%d]", name, k+1))
				t.fields = append(t.fields, place{i, k})
			}
		}
		if len(t.names) > maxColumns {
			return nil, &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("has more than %d columns", maxColumns)}
		}
	}
	return t, nil
}

// choose returns the features and targets that the options select.
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

// expand returns specs with the name x of each column of lists replaced by the names x[1], x[2], … of its
// positions.
func (t *layout) expand(specs []string) []string {
	var out []string
	for _, spec := range specs {
		rest, cut := strings.CutPrefix(spec, "-")
		sign := spec[:len(spec)-len(rest)]
		if !cut {
			rest = spec
		}
		named := func(f field) bool { return f.name == rest }
		at := slices.IndexFunc(t.schema, named)
		if at < 0 ||
			slices.ContainsFunc(t.schema[at+1:], named) ||
			slices.Contains(t.names, spec) ||
			t.schema[at].item() == &t.schema[at].dataType {
			out = append(out, spec)
			continue
		}
		for k := range t.schema[at].items {
			out = append(out, fmt.Sprintf("%s%s[%d]", sign, rest, k+1))
		}
	}
	return out
}

// checkColumn returns an error if the type of column j cannot be read, or if the column is categorical but part of
// a list. The argument l maps the categories of column j to codes; it is nil for a numeric column.
func (t *layout) checkColumn(f *rawfile.File, j int, l *prepare.Lexicon) *dataset.InputError {
	if t.fields[j].item >= 0 && l != nil && l.IsLevels() {
		return &dataset.InputError{
			File: f.Name,
			Msg: fmt.Sprintf(
				"column %s is part of a list and cannot be categorical; store it as a column",
				errtext.Excerpt(t.names[j]),
			),
		}
	}
	holds, hint := t.refusal(j, l)
	if holds == "" || l.LeaveOut("holds "+holds) {
		return nil
	}
	return &dataset.InputError{
		File:      f.Name,
		Msg:       fmt.Sprintf("column %s holds %s", errtext.Excerpt(t.names[j]), holds),
		Omittable: true,
		Hint:      hint + ", or leave it out",
	}
}

// refusal reports why column j cannot be read: what it holds, and a hint how to change the file. If the column can
// be read, holds is empty. The argument l maps the categories of column j to codes; it is nil for a numeric column.
func (t *layout) refusal(j int, l *prepare.Lexicon) (holds, hint string) {
	const encode = "encode it as numbers"
	dt := t.schema[t.fields[j].field].item()
	isDate := dt.index == nil && dt.perSecond != 0
	if l != nil &&
		t.fields[j].item < 0 &&
		(dt.isText() || isDate && !l.IsLevels()) {
		return "", ""
	}
	switch {
	case dt.index != nil:
		return "categories (it is dictionary-encoded)", encode
	case dt.isNumber():
		return "", ""
	}
	switch dt.id {
	case typeText, typeLargeText, typeTextView, typeBinary, typeLargeBinary, typeBinaryView, typeFixedBinary:
		return "text or bytes", encode
	case typeDecimal:
		return fmt.Sprintf("decimals of %d bits", dt.bits), "cast it to double"
	case typeList, typeLargeList, typeListView, typeLargeListView, typeStruct, typeMap, typeFixedList, typeUnion:
		return "nested values", "make columns of them, or lists of a fixed size"
	case typeNull:
		return "no values at all (nulls)", "fill them in"
	}
	name := cmp.Or(typeNames[dt.id], fmt.Sprintf("number %d", dt.id))
	if dt.id == typeDate {
		name += strconv.Itoa(dt.bits)
	}
	if isDate && t.fields[j].item < 0 {
		return "values of type " + name, "read it as dates (--dates), encode it as numbers"
	}
	return "values of type " + name, encode
}
