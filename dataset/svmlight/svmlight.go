// Package svmlight reads sparse rows in the text format of SVMlight and LIBSVM,
// plain, gzip or zstd:
//
//	label index:value index:value … # comment
//
// with 1-based, strictly increasing indices and decimal numbers (1_000 and 0x1p4 are not
// decimal numbers). Empty and comment lines are skipped, and so is a field qid:n. The label
// is the target. A row has at most 64 MiB of text, the empty and comment lines before it
// included.
package svmlight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/decimal"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/excerpt"
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
}

// Open returns a source of sparse rows. Errors are *[dataset.InputError], and
// *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	if opts.Targets != 0 && opts.Targets != 1 {
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("a svmlight file has one target, its label; %d were asked for", opts.Targets)}
	}
	n, d, stamp := opts.Rows, opts.Features, opts.Stamp
	if d == 0 {
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
	if stamp.None() {
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
	s = dataset.NewStream(n, d, opts.Targets, true, func() (dataset.Reader, error) { return open(name, d, opts.Targets, opts.Range, s.Stamp) })
	s.Stamp = stamp
	return s, nil
}

// scan reads the file and returns the number of rows, of which there must be one, the
// largest index, 0 if every row is a label alone, and the stamp of the file it has read.
func scan(name string, part dataset.Range, was dataset.Stamp) (n int64, d int, stamp dataset.Stamp, err error) {
	r, err := open(name, maxIndex, 0, part, was)
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
			return n, d, r.file.Stamp(), nil
		case err != nil:
			return 0, 0, stamp, err
		}
		n += int64(b.N)
		for _, j := range b.CSR.ColIdx {
			d = max(d, int(j)+1)
		}
	}
}

func open(name string, d, targets int, part dataset.Range, was dataset.Stamp) (*reader, error) {
	f, err := rawfile.Reopen(name, was)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if err := f.Limit(part); err != nil {
		f.Close() // the error at hand says more
		return nil, err
	}
	return &reader{file: f, d: d, targets: targets}, nil
}

type reader struct {
	file    *rawfile.File
	d       int
	targets int
}

func (r *reader) Close() error { return r.file.Close() }

// Unchanged is that of [dataset.Witness].
func (r *reader) Unchanged() error { return r.file.Unchanged() }

// blockEntries bounds the memory of a block, but for its last row.
const blockEntries = 1 << 14

func (r *reader) Read(b *dataset.Buffer, rows int) error { return r.file.Place(r.read(b, rows)) }

func (r *reader) read(b *dataset.Buffer, rows int) error {
	for b.N < rows && len(b.CSR.Val) < blockEntries {
		var text []byte
		err := io.EOF
		if !r.file.Done() {
			text, err = r.file.ReadLine()
		}
		if err != nil {
			if err == io.EOF && b.N > 0 {
				return nil
			}
			return err
		}
		if err := r.row(b, text); err != nil {
			return err
		}
	}
	return nil
}

// row appends what a line holds, nothing if it is empty.
func (r *reader) row(b *dataset.Buffer, text []byte) error {
	full := text
	if i := bytes.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	label, rest := field(text)
	if len(label) == 0 {
		return nil
	}
	y, err := r.number(full, label, "label")
	if err != nil {
		return err
	}
	last := 0
	for f, rest := field(rest); len(f) > 0; f, rest = field(rest) {
		colon := bytes.IndexByte(f, ':')
		if colon < 0 {
			return r.errorAt(full, f, fmt.Sprintf("%q is not index:value", excerpt.Of(f)), false)
		}
		if string(f[:colon]) == "qid" {
			continue
		}
		index, err := strconv.Atoi(string(f[:colon]))
		switch {
		case err != nil:
			return r.errorAt(full, f, fmt.Sprintf("%q is not an index", excerpt.Of(f[:colon])), false)
		case index < 1:
			return r.errorAt(full, f, fmt.Sprintf("index %d is less than 1; svmlight counts from 1, scikit-learn writes that with zero_based=False", index), false)
		case index > r.d:
			return r.errorAt(full, f, fmt.Sprintf("index %d is more than the %d features", index, r.d), false)
		case index <= last:
			return r.errorAt(full, f, fmt.Sprintf("index %d after index %d: they must increase", index, last), false)
		}
		v, err := r.number(full, f[colon+1:], "value")
		if err != nil {
			return err
		}
		last = index
		if v != 0 {
			b.CSR.ColIdx = append(b.CSR.ColIdx, int32(index-1))
			b.CSR.Val = append(b.CSR.Val, v)
		}
	}
	if r.targets > 0 {
		b.Y = append(b.Y, y)
	}
	b.EndRow()
	r.file.EndRow()
	return nil
}

// field splits off the first field between blanks; it keeps its place in memory.
func field(text []byte) (f, rest []byte) {
	i := 0
	for i < len(text) && blank(text[i]) {
		i++
	}
	j := i
	for j < len(text) && !blank(text[j]) {
		j++
	}
	return text[i:j], text[j:]
}

func blank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// number parses one number.
func (r *reader) number(line, f []byte, what string) (float64, error) {
	v, err := decimal.Parse(f)
	switch {
	case err != nil && errors.Is(err, strconv.ErrRange):
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %s exceeds the range of float64", what, excerpt.Of(f)), true)
	case err != nil && what == "label" && bytes.IndexByte(f, ',') >= 0:
		return 0, r.errorAt(line, f, fmt.Sprintf("label %q is several targets where one is asked for", excerpt.Of(f)), false)
	case err != nil:
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %q is not a number", what, excerpt.Of(f)), false)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, r.errorAt(line, f, fmt.Sprintf("%s %s is not finite", what, excerpt.Of(f)), true)
	}
	return v, nil
}

// errorAt reports what is wrong with the field f of a line. Both are slices of one
// array to its very end, so the difference of their capacities is where f begins.
func (r *reader) errorAt(line, f []byte, msg string, nonFinite bool) error {
	column := cap(line) - cap(f) + 1
	return &dataset.InputError{File: r.file.Name, Line: r.file.Line, Column: column, Msg: msg, NonFinite: nonFinite}
}
