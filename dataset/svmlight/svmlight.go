// Package svmlight reads sparse rows in the text format of SVMlight and LIBSVM,
// plain, gzip or zstd:
//
//	label index:value index:value … # comment
//
// with 1-based, strictly increasing indices and decimal numbers (1_000 and 0x1p4 are not
// decimal numbers). Empty and comment lines are skipped, and so is a field qid:n. The label
// is the target. A row has at most 64 MiB of text, the empty and comment lines before it
// included.
//
// A file is parsed on all cores, up to 16, however it is compressed; one core reads or
// uncompresses it. Rows, blocks and errors do not depend on how many there are: an error is the
// first of the file.
package svmlight

import (
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// maxIndex is the largest index that is read: column numbers have 32 bits.
const maxIndex = math.MaxInt32

// Options says what is known beforehand.
type Options struct {
	// Features is d. 0 finds the largest index by reading the file once.
	Features int
	// Targets is 1, or 0 to leave out the labels.
	Targets int
	// Rows is the number of rows where Features is given, 0 if it isn't known.
	Rows int64
	// Range is the part of the file that is read; the file must not be compressed. Features
	// are looked for in this part alone, and there may be none.
	Range dataset.Range
	// Stamp is that of the file when Features and Rows were found. The zero value takes the
	// file as it is now.
	Stamp dataset.Stamp
	// Pipe, if not nil, is what is read in place of the file. Features has to be given then: there
	// is no second pass.
	Pipe *dataset.Pipe
}

// ErrWidth says that the rows of a pipe come without the number of their features.
var ErrWidth = &dataset.OnceError{What: "finding the number of features of svmlight rows"}

// Open returns a source of sparse rows. Errors are *[dataset.InputError], and
// *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	if opts.Targets != 0 && opts.Targets != 1 {
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("a svmlight file has one target, its label; %d were asked for", opts.Targets)}
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
			return nil, &dataset.InputError{File: name, Msg: "has no features: every row is a label alone"}
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

// scan reads the file and returns the number of rows, of which there must be one, the
// largest index, 0 if every row is a label alone, and the stamp of the file it has read.
func scan(name string, part dataset.Range, was dataset.Stamp) (n int64, d int, stamp dataset.Stamp, err error) {
	r, err := open(name, maxIndex, &Options{Range: part}, was)
	if err != nil {
		return 0, 0, stamp, err
	}
	defer r.Close() // only read
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

// open opens rows of d features for a pass, which are read as opts says otherwise.
func open(name string, d int, opts *Options, was dataset.Stamp) (*chunk.Reader, error) {
	f, err := rawfile.Pass(name, opts.Pipe, was)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if err := f.Limit(opts.Range); err != nil {
		f.Close() // the error at hand says more
		return nil, err
	}
	return chunk.New(f, &format{d, opts.Targets}, chunk.Options{Entries: blockEntries}), nil
}

// blockEntries bounds the memory of a block, but for its last row.
const blockEntries = 1 << 14
