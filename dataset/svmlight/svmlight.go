// Package svmlight reads sparse rows in the text format of SVMlight and LIBSVM. The text may be compressed by gzip or
// zstd. A line is
//
//	label index:value index:value … # comment
//
// The indices are strictly increasing. They count from 1, or from 0 if index 0 is in the first 256 KiB of the text,
// or if a comment there says "zero-based". Numbers are decimal; 1_000 and 0x1p4 are errors. Empty lines, comment
// lines and fields qid:n are skipped. The label is the target. A row and the empty and comment lines before it have
// at most 64 MiB of text.
//
// One core reads or decompresses a file while up to 16 cores parse it. The rows, the blocks and the first error do
// not depend on the number of cores.
package svmlight

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// maxIndex is the largest allowed index of a column. Column numbers have 32 bits.
const maxIndex = math.MaxInt32

// Options sets how a file is read.
type Options struct {
	// Features is the number of features. If it is 0, Open reads all rows once to find the largest index.
	Features int
	// Targets is the number of targets. It is 1 if the label of each row is read as a target, and 0 if it is
	// ignored.
	Targets int
	// Rows is the number of rows, or 0 if it is unknown. If Features is 0, Rows is ignored, because Open counts the
	// rows.
	Rows int64
	// Range is the part of the file to read, which must be uncompressed. The part may contain no row. If Features
	// is 0, Open finds the largest index of this part only.
	Range dataset.Range
	// Stamp is the size and modification time that the file had when Features and Rows were found. If the file has
	// changed since then, reading returns an error. With the zero Stamp, such a change is not noticed.
	Stamp dataset.Stamp
	// Pipe, if not nil, is read instead of the file. Features must then be set, because a pipe can be read only
	// once.
	Pipe *dataset.Pipe
	// First points to the smallest index of a column, 0 or 1. If First is nil, Open detects it; see the function
	// [First].
	First *int
}

// ErrWidth reports that Features is 0 although a pipe is read. Finding the number of features needs a pass of its
// own, and a pipe can be read only once.
var ErrWidth = &dataset.OnceError{What: "finding the number of features of svmlight rows"}

// Open returns a source of the sparse rows of a svmlight file. Errors are *[dataset.InputError] and
// *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	if opts.Targets != 0 && opts.Targets != 1 {
		return nil, &dataset.InputError{
			File: name,
			Msg:  fmt.Sprintf("a svmlight file has one target, its label; %d were requested", opts.Targets),
		}
	}
	n := opts.Rows
	d := opts.Features
	stamp := opts.Stamp
	if opts.First == nil {
		first, _, err := First(name, opts.Pipe)
		if err != nil {
			return nil, err
		}
		opts.First = &first
	}
	switch {
	case opts.Pipe != nil && d == 0:
		return nil, ErrWidth
	case d == 0:
		var err error
		n, d, stamp, err = scan(name, &opts, stamp)
		if err != nil {
			return nil, err
		}
		if d == 0 && opts.Range.Whole() {
			return nil, &dataset.InputError{File: name, Msg: "has no features: every row is only a label"}
		}
	}
	if n == 0 {
		n = -1
	}
	if stamp.None() && opts.Pipe == nil {
		f, err := rawfile.Open(name)
		if err != nil {
			return nil, err
		}
		stamp = f.Stamp()
		if err := f.Close(); err != nil {
			return nil, f.Wrap(err, 0)
		}
	}
	var s *dataset.Stream
	s = dataset.NewStream(
		n,
		d,
		opts.Targets,
		true,
		func() (dataset.Reader, error) { return open(name, d, &opts, s.Stamp) },
	)
	s.Stamp = stamp
	s.Single = opts.Pipe != nil
	return s, nil
}

// scan reads the rows and returns the number n of rows, the number d of features, and the stamp of the file. d
// follows from the largest index. It is 0 if every row is only a label.
func scan(
	name string,
	opts *Options,
	was dataset.Stamp,
) (n int64, d int, stamp dataset.Stamp, err error) {
	part := opts.Range
	r, err := open(name, maxIndex, &Options{Range: part, First: opts.First}, was)
	if err != nil {
		return 0, 0, stamp, err
	}
	defer r.Close() // opened for reading, so an error of Close does no harm
	b := dataset.Buffer{Sparse: true}
	for {
		b.Reset()
		err := r.Read(&b, dataset.SparseRows)
		if changed := r.Unchanged(); changed != nil {
			err = changed
		}
		switch {
		case err == io.EOF && n == 0 && part.Whole():
			return 0, 0, stamp, &dataset.InputError{File: name, Msg: "has no rows"}
		case err == io.EOF:
			return n, d, r.Stamp(), nil
		case err != nil:
			return 0, 0, stamp, err
		}
		n += int64(b.N)
		for _, j := range b.CSR.ColIdx {
			d = max(d, int(j)+1)
		}
	}
}

func open(name string, d int, opts *Options, was dataset.Stamp) (*chunk.Reader, error) {
	f, err := rawfile.PassRange(name, opts.Pipe, was, opts.Range)
	if err != nil {
		return nil, err
	}
	rows := &format{
		d:         d,
		targets:   opts.Targets,
		first:     *opts.First,
		keepZeros: d == maxIndex,
	}
	return chunk.New(f, rows, chunk.Options{Entries: blockEntries}), nil
}

// First detects the smallest index of a column. It is 0 if a row in the first 256 KiB has the index 0, or if a
// comment there says "zero-based"; line is then the number of this line. Otherwise it is 1, and line is 0. For a
// pipe, First examines only the first row.
func First(name string, pipe *dataset.Pipe) (first, line int, err error) {
	f, err := rawfile.Look(name, pipe)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	f.SkipBOM()
	head := f.Head(func([]byte) bool { return true })
	for text := range bytes.Lines(head) {
		line++
		row, comment, _ := bytes.Cut(text, []byte{'#'})
		if bytes.Contains(comment, []byte("zero-based")) {
			return 0, line, nil
		}
		fields := bytes.Fields(row)
		if len(fields) > 1 && bytes.HasPrefix(fields[1], []byte("qid:")) {
			fields = fields[1:]
		}
		if len(fields) > 1 && bytes.HasPrefix(fields[1], []byte("0:")) {
			return 0, line, nil
		}
	}
	return 1, 0, nil
}

// blockEntries is a number of nonzero features. A block ends when it has at least so many.
const blockEntries = 1 << 14
