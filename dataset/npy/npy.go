// Package npy reads NumPy's arrays in blocks of rows: .npy files, plain, gzip or
// zstd, and the members of .npz archives, stored or deflated. They have one or two
// dimensions of floats (64, 32 and 16 bits), integers or booleans, little- or big-endian.
// Integers beyond ±2⁵³, which float64 does not hold, are refused, and so is what
// follows an array, which may be another: NumPy reads the first and says nothing.
//
// An array in C order is read from front to end. One in Fortran order, column by
// column, is read in windows of at most 1024 rows and 16 MiB of float64, or one entry
// of each column; that needs a file that is not compressed. What reads it by columns
// ([dataset.ByColumns]) reads it from front to end.
//
// Files are read, not mapped: measured side by side, a mapping gained little at best;
// it counts the pages of the file as memory of the process, and a file that is cut
// short while it is read gives a signal instead of an error.
package npy

import (
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Options says which columns are what.
type Options struct {
	// Targets are the columns that are targets: each "first", "last" or a 1-based
	// column number.
	Targets []string
	// Columns are the features, named in the same way, in the order wanted; or,
	// where each begins with "-", the columns that are left out. Empty takes all.
	// A target among them is an error.
	Columns []string
	// Cells, if not nil, says which columns are categorical, of which each number is a level, and
	// whether NaN is a missing value.
	Cells *dataset.Cells
	// Pipe, if not nil, is what Open reads in place of the file. The array must be in C order.
	Pipe *dataset.Pipe
}

// Open reads the header and returns a source of the rows. Errors are
// *[dataset.InputError]; the line they name is the row, from 1. A pass over a file that
// has changed ends in a *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	look := func(dataset.Stamp) (*input, error) { return openFile(rawfile.Look(name, opts.Pipe)) }
	pass := func(was dataset.Stamp) (*input, error) { return openFile(rawfile.Pass(name, opts.Pipe, was)) }
	return source(look, pass, opts)
}

// An opening opens an array, of a file that must be as it was.
type opening func(was dataset.Stamp) (*input, error)

// An input is an open array.
type input struct {
	header
	name string
	data io.Reader // the entries in their order; before them the header
	// at reads anywhere in the array and its header, nil where it is compressed.
	at    io.ReaderAt
	wrap  func(err error, row int) error
	close func() error
	// Of the file that has the array: its stamp when it was opened, and a check of it.
	stamp     dataset.Stamp
	unchanged func() error
	stop      func() // ends a read that waits
	// available is how many bytes have come from a pipe, where rows are wanted as they come; else nil.
	available func() int
	piped     bool
}

func openFile(f *rawfile.File, err error) (*input, error) {
	if err != nil {
		return nil, err
	}
	in := &input{name: f.Name, data: f, wrap: f.Wrap, close: f.Close, stamp: f.Stamp(), unchanged: f.Unchanged, stop: f.Stop, piped: f.Piped()}
	if f.Prompt() {
		in.available = f.Available
	}
	if file := f.At(); file != nil {
		in.at, in.data = file, io.NewSectionReader(file, 0, f.Plain) // which copies nothing twice
	}
	return in.begin(f.Plain)
}

// Stop is that of [dataset.Stopper].
func (in *input) Stop() {
	if in.stop != nil {
		in.stop()
	}
}

// Unchanged is that of [dataset.Witness].
func (in *input) Unchanged() error { return in.unchanged() }

// begin reads the header of an array of size bytes; where it fails it closes in.
func (in *input) begin(size int64) (*input, error) {
	err := in.readHeader(size)
	if err == nil && in.fortran && in.at == nil {
		why := "compressed, so its rows cannot be streamed; save it with np.ascontiguousarray, or not compressed"
		if in.piped {
			why = "comes from a pipe, so its rows cannot be streamed; save it with np.ascontiguousarray, or in a file"
		}
		err = errors.New("is in Fortran order and " + why)
	}
	if err == nil {
		return in, nil
	}
	in.close() // the error at hand says more
	var known *dataset.InputError
	if !errors.As(err, &known) {
		err = &dataset.InputError{File: in.name, Msg: err.Error()}
	}
	return nil, err
}

// source returns the rows of an array: look opens it to find out what it is, pass for a pass.
func source(look, pass opening, opts Options) (*dataset.Stream, error) {
	in, err := look(dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	h, stamp := in.header, in.stamp
	if err := in.close(); err != nil {
		return nil, in.wrap(err, 0)
	}
	choice, err := columns.Choose(columns.Numbers(h.cols), false, opts.Targets, opts.Columns)
	if err == nil {
		err = choice.Read(opts.Cells, columns.Numbers(h.cols), false)
	}
	if err != nil {
		return nil, &dataset.InputError{File: in.name, Msg: err.Error()}
	}
	var s *dataset.Stream
	s = dataset.NewStream(h.rows, choice.Features, choice.Targets, false, func() (dataset.Reader, error) {
		in, err := pass(s.Stamp)
		if err != nil {
			return nil, err
		}
		if in.rows != h.rows || in.cols != h.cols {
			in.close() // only its header was read
			return nil, &dataset.InputError{File: in.name, Msg: fmt.Sprintf("is now %d×%d, was %d×%d when it was opened", in.rows, in.cols, h.rows, h.cols)}
		}
		if in.fortran {
			return newColumnReader(in, choice), nil
		}
		return newRowReader(in, choice), nil
	})
	s.Stamp, s.Single = stamp, opts.Pipe != nil
	if h.fortran && opts.Cells == nil {
		s.Columns = byColumns(pass, h, choice, stamp)
	}
	return s, nil
}
