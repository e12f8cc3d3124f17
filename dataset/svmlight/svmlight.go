// Package svmlight reads sparse rows in the text format of SVMlight and LIBSVM. The text may be compressed by gzip
// or zstd. A line is
//
//	label index:value index:value … # comment
//
// The indices are 1-based and strictly increasing. Numbers are decimal; 1_000 and 0x1p4 are errors. Empty lines,
// comment lines and fields qid:n are skipped. The label is the target. A row has at most 64 MiB of text, including
// the empty and comment lines before it.
//
// Up to 16 cores parse a file, while one core reads it and decompresses it if necessary. Rows, blocks and errors do
// not depend on the number of cores. The error of a pass is always the first error in the file.
package svmlight

import (
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// maxIndex is the largest index, because column numbers have 32 bits.
const maxIndex = math.MaxInt32

// Options sets how a file is read.
type Options struct {
	// Features is the number of features d. 0 means that Open reads the file once more to find the largest index.
	Features int
	// Targets is 1 if the labels are read, or 0 if they are ignored.
	Targets int
	// Rows is the number of rows, or 0 if it is unknown. It is used only if Features is given.
	Rows int64
	// Range is the part of the file to read; the file must not be compressed. The part may have no rows. If
	// Features is 0, the largest index is determined from this part alone.
	Range dataset.Range
	// Stamp is the stamp of the file at the time when Features and Rows were found. The zero value accepts the
	// current file.
	Stamp dataset.Stamp
	// Pipe, if not nil, is read instead of the file. Features is then required, because a pipe cannot be read
	// twice.
	Pipe *dataset.Pipe
}

// ErrWidth reports that a pipe is read and Features is 0.
var ErrWidth = &dataset.OnceError{What: "finding the number of features of svmlight rows"}

// Open returns a source of sparse rows. Errors are *[dataset.InputError] and *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	if opts.Targets != 0 && opts.Targets != 1 {
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("a svmlight file has one target, its label; %d were requested", opts.Targets)}
	}
	n, d, stamp := opts.Rows, opts.Features, opts.Stamp
	switch {
	case opts.Pipe != nil && d == 0:
		return nil, ErrWidth
	case d == 0:
		var err error
		if n, d, stamp, err = scan(name, opts.Range, stamp); err != nil {
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
	s = dataset.NewStream(n, d, opts.Targets, true, func() (dataset.Reader, error) { return open(name, d, &opts, s.Stamp) })
	s.Stamp, s.Single = stamp, opts.Pipe != nil
	return s, nil
}

// scan reads the file and returns the number of rows, the largest index and the stamp of the file. The index is 0
// if every row is only a label. If the whole file has no rows, scan returns an error.
func scan(name string, part dataset.Range, was dataset.Stamp) (n int64, d int, stamp dataset.Stamp, err error) {
	r, err := open(name, maxIndex, &Options{Range: part}, was)
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

// open opens a file for a pass over its rows of d features.
func open(name string, d int, opts *Options, was dataset.Stamp) (*chunk.Reader, error) {
	f, err := rawfile.Pass(name, opts.Pipe, was)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if err := f.Limit(opts.Range); err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, err
	}
	return chunk.New(f, &format{d, opts.Targets}, chunk.Options{Entries: blockEntries}), nil
}

// blockEntries is the largest number of entries of a block. Only the last row of a block may exceed it.
const blockEntries = 1 << 14
