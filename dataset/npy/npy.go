// Package npy reads NumPy arrays in blocks of rows. It reads .npy files, which may be compressed by gzip or zstd, and
// the members of .npz archives. Arrays have one or two dimensions and hold floats (64, 32 and 16 bits), integers or
// booleans, in little- or big-endian order. Each field of a structured array is a column with a name. Integers beyond
// ±2⁵³ are errors, because float64 cannot represent them. Data after the array are an error, because they may be
// another array.
//
// Archives may also hold a sparse matrix of scipy (csr, csc, bsr or coo). Rows of csr and bsr are read in order. From
// csc and coo, windows of at most 2²³ values are read, each by reading the whole matrix.
//
// An array in C order, stored row by row, is read from start to end. An array in Fortran order, stored column by
// column, must not be compressed. Its rows are read in windows of at most 1024 rows and 16 MiB. Its columns
// ([dataset.ByColumns]) are read faster, from start to end.
//
// Files are not memory-mapped. Mapping was hardly faster in measurements, and reading a file that was truncated
// meanwhile causes a signal instead of an error.
package npy

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Options selects the columns.
type Options struct {
	// Targets are the target columns. Each is "first", "last", a 1-based column number, or the name of a field.
	Targets []string
	// Columns are the features, in the requested order. Each is specified as in Targets, but must not be a target.
	// If each begins with "-", the features are all columns except these and the targets. An empty list selects all
	// columns that are not targets.
	Columns []string
	// Cells, if not nil, selects the categorical columns and states how to treat NaN. In a categorical column, each
	// different number is a category.
	Cells *prepare.Cells
	// Pipe, if not nil, is read instead of the file. The array in it must be in C order, stored row by row.
	Pipe *dataset.Pipe
	// Entries, if not nil, holds the entries of the array. The named file then holds only the header.
	Entries *io.SectionReader
}

// Open reads the header of a .npy file and returns a source of its rows. Errors are *[dataset.InputError], whose
// Line is the number of the row, counted from 1. If the file changes later, a pass over the rows ends with a
// *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	look := func(dataset.Stamp) (*input, error) {
		f, err := rawfile.Look(name, opts.Pipe)
		return openFile(f, opts.Entries, err)
	}
	pass := func(was dataset.Stamp) (*input, error) {
		f, err := rawfile.Pass(name, opts.Pipe, was)
		return openFile(f, opts.Entries, err)
	}
	return source(look, pass, opts)
}

// Names returns the names of the features and of the targets that opts selects. Their order is the order of the
// columns in the source from [Open]. If the array has no named fields, both results are nil. Errors are as in
// [Open].
func Names(name string, opts Options) (features, targets []string, err error) {
	f, err := rawfile.Look(name, opts.Pipe)
	in, err := openFile(f, opts.Entries, err)
	return in.chosen(opts, err)
}

// MemberNames is [Names] for an array in a .npz archive. The argument member names the array as in [OpenMember].
func MemberNames(name, member string, opts Options) (features, targets []string, err error) {
	if member == "" {
		names, err := Members(name)
		if err == nil && !hasSparse(names) {
			member, err = memberOfFeatures(name, names)
		}
		if err != nil || member == "" {
			return nil, nil, err
		}
	}
	in, err := openMember(name, member, dataset.Stamp{})
	return in.chosen(opts, err)
}

// Columns returns the names of the columns of a structured array. If the array has no named fields, it returns nil.
func Columns(name string, opts Options) ([]string, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	in, err := openFile(f, opts.Entries, err)
	if err != nil {
		return nil, err
	}
	return in.names(), in.close()
}

// chosen returns the names of the features and of the targets that opts selects, and closes the input. If opening
// the input failed, it returns openError.
func (in *input) chosen(opts Options, openError error) (features, targets []string, err error) {
	if openError != nil {
		return nil, nil, openError
	}
	defer in.close() // only the header was read
	names := in.names()
	if names == nil {
		return nil, nil, nil
	}
	choice, err := in.choose(opts)
	if err != nil {
		return nil, nil, err
	}
	features, targets = choice.Pick(names)
	return features, targets, nil
}

// choose returns the features and targets.
func (in *input) choose(opts Options) (columns.Choice, error) {
	names := in.names()
	isNamed := in.fields != nil
	if !isNamed {
		names = columns.Numbers(in.cols)
	}
	choice, err := columns.Choose(names, isNamed, opts.Targets, opts.Columns)
	if err == nil {
		err = choice.Read(opts.Cells, names, isNamed)
	}
	if err != nil {
		return choice, &dataset.InputError{File: in.name, Msg: err.Error()}
	}
	return choice, nil
}

// checkFields refuses columns whose entries are no numbers.
func (in *input) checkFields(choice *columns.Choice) error {
	var refused *dataset.InputError
	for j, k := range choice.To {
		holds := in.holds(j)
		if k < 0 || holds == "" || choice.Lexicon(j).LeaveOut("holds "+holds) {
			continue
		}
		msg := fmt.Sprintf("%s holds %s", in.label(j), holds)
		err := &dataset.InputError{
			File:      in.name,
			Msg:       msg,
			Omittable: k < choice.Features,
			Hint:      "encode it as numbers, or leave it out",
		}
		refused = choice.Refuse(
			refused,
			err,
			j,
			errtext.Excerpt(in.fields[j].name),
			false,
		)
	}
	if refused != nil {
		return refused
	}
	return nil
}

// An opening is a function that opens an array. Opening fails if the file has another stamp (size and modification
// time) than required. With the zero Stamp, every file is accepted.
type opening func(required dataset.Stamp) (*input, error)

// An input is an array that is open for reading: its header and the reader of its entries.
type input struct {
	header
	name string
	data io.Reader // the header, then the entries in order
	// at reads bytes at arbitrary positions. It is nil for compressed data and for a pipe.
	at    io.ReaderAt
	want  uint32 // required CRC-32 of header and entries; 0 if there is none
	sum   uint32 // CRC-32 of the bytes read so far
	wrap  func(err error, row int) error
	close func() error
	stamp dataset.Stamp
	// unchanged returns an error if the file has changed since it was opened.
	unchanged func() error
	stop      func() // makes a read that waits for a pipe return
	// available returns a number of bytes that can be read without waiting. It is nil unless the data come from a
	// pipe whose rows must be delivered without delay.
	available func() int
	piped     bool
}

// An extended reads a header from one file and the entries after it from another file, as if they were one file.
type extended struct {
	header  io.ReaderAt
	size    int64 // of the header in bytes
	entries *io.SectionReader
}

// ReadAt implements [io.ReaderAt].
func (e *extended) ReadAt(p []byte, at int64) (n int, err error) {
	if at < e.size {
		n, err = e.header.ReadAt(p[:min(int64(len(p)), e.size-at)], at)
		if n == len(p) || int64(n) < e.size-at {
			return n, err
		}
	}
	more, err := e.entries.ReadAt(p[n:], at+int64(n)-e.size)
	return n + more, err
}

func openFile(f *rawfile.File, entries *io.SectionReader, err error) (*input, error) {
	if err != nil {
		return nil, err
	}
	in := &input{
		name:      f.Name,
		data:      f,
		wrap:      f.Wrap,
		close:     f.Close,
		stamp:     f.Stamp(),
		unchanged: f.Unchanged,
		stop:      f.Stop,
		piped:     f.Piped(),
	}
	if f.Prompt() {
		in.available = f.Available
	}
	size := f.Plain
	if file := f.At(); file != nil {
		in.at = file
		if entries != nil {
			in.at = &extended{file, size, entries}
			size += entries.Size()
		}
		in.data = io.NewSectionReader(in.at, 0, size) // reading at positions avoids a copy
	}
	return in.begin(size, describe)
}

// Stop implements [dataset.Stopper].
func (in *input) Stop() {
	if in.stop != nil {
		in.stop()
	}
}

// Unchanged implements [dataset.Witness].
func (in *input) Unchanged() error { return in.unchanged() }

// begin reads the header of in and returns in. If the array cannot be read, it closes in and returns an error.
func (in *input) begin(size int64, describe func(description) (header, error)) (*input, error) {
	err := in.readHeader(size, describe)
	if err == nil && in.fortran && in.at == nil {
		why := "compressed, so its rows cannot be streamed; save it with np.ascontiguousarray or without compression"
		if in.piped {
			why = "comes from a pipe, so its rows cannot be streamed; save it with np.ascontiguousarray or in a file"
		}
		err = errors.New("is in Fortran order and " + why)
	}
	if err == nil {
		return in, nil
	}
	in.close() // err is more informative than an error of Close
	var known *dataset.InputError
	if !errors.As(err, &known) {
		err = &dataset.InputError{File: in.name, Msg: err.Error()}
	}
	return nil, err
}

// source returns a source of the rows of an array. Both arguments look and pass open the array. source itself calls
// look once, to read the header. The returned source calls pass at the start of each pass over the rows.
func source(look, pass opening, opts Options) (*dataset.Stream, error) {
	in, err := look(dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	h, stamp := in.header, in.stamp
	if err := in.close(); err != nil {
		return nil, in.wrap(err, 0)
	}
	choice, err := in.choose(opts)
	if err != nil {
		return nil, err
	}
	if err := in.checkFields(&choice); err != nil {
		return nil, err
	}
	var s *dataset.Stream
	s = dataset.NewStream(h.rows, choice.Features, choice.Targets, false, func() (dataset.Reader, error) {
		in, err := pass(s.Stamp)
		if err != nil {
			return nil, err
		}
		if in.rows != h.rows ||
			in.cols != h.cols ||
			!slices.Equal(in.names(), h.names()) {
			in.close() // only its header was read
			return nil, &dataset.InputError{
				File: in.name,
				Msg:  fmt.Sprintf("is now %d×%d, but was %d×%d when it was opened", in.rows, in.cols, h.rows, h.cols),
			}
		}
		if in.fortran {
			return newColumnReader(in, choice), nil
		}
		return newRowReader(in, choice), nil
	})
	s.Stamp = stamp
	s.Single = opts.Pipe != nil
	if h.fortran && opts.Cells.OnlyNumbers() {
		s.Columns = byColumns(pass, h, choice, stamp)
	}
	return s, nil
}
