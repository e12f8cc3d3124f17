// Package jsonl reads rows from JSON lines: text with a JSON object on each line. The text may be compressed by gzip or
// zstd.
//
// The keys of the objects are the names of the columns. The columns are the keys of the first lines, at most 100, in
// the order of their first occurrence; a pipe is examined only up to its first line. A key that occurs later is an
// error, unless [Options.Columns] lists the features. A key that occurs twice in a line is an error.
//
// A number is rounded to the nearest float64. A text is read like a cell of a csv file, see package csv: "1.5" is a
// number, and "NA" is missing. true is 1, and false is 0. The value null, the value NaN, which Python writes, and a
// missing key are missing values. Arrays and objects as values are errors, but columns that are not used may hold them.
//
// Text is UTF-8, or UTF-16 that begins with a byte order mark. Empty lines are skipped. A row has at most 2²⁰
// columns. A row and the empty lines before it have at most 64 MiB of text.
//
// One core reads or decompresses a file while up to 16 cores parse it. The rows, the blocks and the first error do
// not depend on the number of cores.
package jsonl

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Options sets how a file is read.
type Options struct {
	// Targets are the target columns. Each is "first", "last", a 1-based column number or a key. A number that is
	// also a key is taken as the key.
	Targets []string
	// Columns are the features, in the requested order. Each is specified as in Targets, but must not be a target.
	// If each begins with "-", the features are all columns except these and the targets. An empty list selects all
	// columns that are not targets.
	Columns []string
	// Text states how missing values, and numbers in quotes, are written.
	Text prepare.Text
	// Range is the part of the file to read. The file must then be uncompressed. The first lines of the file determine
	// the columns, even if Range begins later.
	Range dataset.Range
	// Cells, if not nil, states how to read values that are not numbers. If Cells is nil, such values are errors.
	Cells *prepare.Cells
	// Pipe, if not nil, is read instead of the file. Open reads the first line of the pipe to find the columns.
	Pipe *dataset.Pipe
	// Heads, if not nil, keeps the columns that were found in the first lines of a file. Later calls for the file
	// with the same Heads do not read these lines again. If the file changes in between, reading the rows ends with
	// a *[dataset.ChangedError].
	Heads *rawfile.Heads
}

// Limits on the lines that inspect examines.
const (
	sampleBytes = 1 << 18
	sampleLines = 100
	maxColumns  = 1 << 20
)

// A layout holds the columns that were found in the first lines of a file.
type layout struct {
	columns.Parser
	stamp dataset.Stamp
	file  string // name of the file in errors

	index map[string]int // column of each key
	kinds []seen         // values of each column in the examined lines
	lines int            // number of examined lines
	// ignores is true if the caller lists the features. Then keys that are not columns are ignored; otherwise they
	// are errors.
	ignores bool
}

// A seen tells which values occurred in a column.
type seen struct {
	number, text, nested bool
	isPlain              bool  // the key needs no escapes
	line                 uint8 // last examined line with the key
}

// Open reads the first lines of a file to find its columns, and returns a source of the rows. Errors are
// *[dataset.InputError]. If the file changes later, a pass over the rows ends with a *[dataset.ChangedError].
func Open(name string, opts Options) (*dataset.Stream, error) {
	l, err := choose(name, opts)
	if err != nil {
		return nil, err
	}
	var s *dataset.Stream
	s = dataset.NewStream(
		-1,
		l.Features,
		l.Targets,
		false,
		func() (dataset.Reader, error) { return l.open(name, &opts, s.Stamp) },
	)
	s.Stamp = l.stamp
	s.Single = opts.Pipe != nil
	return s, nil
}

// Columns returns the keys of the first lines.
func Columns(name string, opts Options) ([]string, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return nil, err
	}
	return l.Names, nil
}

// Names returns the names of the features and of the targets selected by opts.
func Names(name string, opts Options) (features, targets []string, err error) {
	l, err := choose(name, opts)
	if err != nil {
		return nil, nil, err
	}
	features, targets = l.Pick(l.Names)
	return features, targets, nil
}

// choose determines the columns, the features and the targets.
func choose(name string, opts Options) (*layout, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*layout, error) {
		return nil, &dataset.InputError{File: l.file, Line: 1, Msg: err.Error()}
	}
	l.Choice, err = columns.Choose(l.Names, true, opts.Targets, opts.Columns)
	if err != nil {
		return fail(err)
	}
	if err := l.Read(opts.Cells, l.Names, true); err != nil {
		return fail(err)
	}
	l.ignores = len(opts.Columns) > 0 && !leavesOut(opts.Columns, l.index)
	return l, nil
}

// leavesOut reports whether specs lists columns to leave out, such as "-a". Otherwise specs lists columns to keep.
// The keys of index are the names of the columns in the file.
func leavesOut(specs []string, index map[string]int) bool {
	_, isName := index[specs[0]]
	return strings.HasPrefix(specs[0], "-") && !isName
}

// A headKey identifies a result of inspect: the file or pipe, and the options on which the result depends.
type headKey struct {
	name  string
	pipe  *dataset.Pipe
	texts string
}

// inspect returns the columns found in the first lines of a file, which opts.Heads may hold from an earlier call.
// The caller may change the returned layout, but not the contents of its fields index and kinds: all callers share
// them.
func inspect(name string, opts Options) (*layout, error) {
	key := headKey{name: name, pipe: opts.Pipe}
	if opts.Heads != nil {
		key.texts = fmt.Sprintf("%+v %q", opts.Text, opts.Text.Marks)
	}
	kept, err := rawfile.Keep(opts.Heads, key, func() (*layout, error) {
		return examineFile(name, opts)
	})
	if err != nil {
		return nil, err
	}
	l := *kept
	l.Names = slices.Clone(kept.Names)
	return &l, nil
}

// examineFile finds the columns in the first lines.
func examineFile(name string, opts Options) (*layout, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	f.SkipBOM()
	l := &layout{
		Parser: columns.Parser{
			Notation: cell.NotationOf(opts.Text.Decimal),
			Marks:    cell.NewMarks(opts.Text.Marks),
		},
		stamp: f.Stamp(),
		file:  f.Name,
		index: map[string]int{},
	}
	most := sampleLines
	if f.Piped() {
		most = 1
	}
	for size := 0; l.lines < most && size < sampleBytes; {
		line, err := f.ReadLine()
		if err == io.EOF && l.lines == 0 {
			return nil, &dataset.InputError{File: f.Name, Msg: "has no rows"}
		}
		if err != nil && l.lines == 0 {
			return nil, err
		}
		if err != nil { // the reader reports this error later
			break
		}
		size += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		bad := l.examine(line)
		f.EndRow()
		if bad != nil && l.lines == 0 {
			bad.File, bad.Line = f.Name, f.Line
			return nil, bad
		}
		if bad != nil { // the reader reports this error later
			break
		}
		l.lines++
		f.MaxRow = sampleBytes // the reader holds longer lines, and reports their errors
	}
	if len(l.Names) == 0 {
		return nil, &dataset.InputError{File: f.Name, Line: f.Line, Msg: "the first objects have no keys"}
	}
	return l, nil
}

// examine adds the keys of a line to the columns. If the line is invalid, it adds the keys before the error.
func (l *layout) examine(line []byte) *dataset.InputError {
	s := scanner{text: append(bytes.Clone(bytes.TrimRight(line, "\r\n")), '\n')}
	if bad := s.begin(); bad != nil {
		return bad
	}
	for s.next() {
		j, known := l.index[string(s.key)]
		if !known {
			key := string(s.key)
			j = len(l.Names)
			if j == maxColumns {
				return s.errorAt(s.keyAt, "the objects have more than %d keys", maxColumns)
			}
			l.index[key] = j
			l.Names = append(l.Names, key)
			l.kinds = append(
				l.kinds,
				seen{isPlain: strings.IndexByte(key, '"') < 0 &&
					strings.IndexByte(key, '\\') < 0},
			)
		}
		k := &l.kinds[j]
		if int(k.line) == l.lines+1 {
			return s.twice()
		}
		k.line = uint8(l.lines + 1)
		switch text := cell.Trimmed(s.value); {
		case s.kind == nested:
			k.nested = true
		case l.Marks.Missing(text):
		case s.kind == aText && !isNumber(l.Notation, text):
			k.text = true
		default:
			k.number = true
		}
	}
	return s.bad
}

func isNumber(n cell.Notation, s []byte) bool {
	_, ok := n.Number(s)
	return ok
}

func (l *layout) open(name string, opts *Options, was dataset.Stamp) (dataset.Reader, error) {
	f, err := rawfile.PassRange(name, opts.Pipe, was, opts.Range)
	if err != nil {
		return nil, err
	}
	return chunk.New(f, newFormat(l), chunk.Options{}), nil
}

// examined describes the lines whose keys are the columns.
func (l *layout) examined() string {
	if l.lines == 1 {
		return "the first line"
	}
	return fmt.Sprintf("the first %d lines", cmp.Or(l.lines, sampleLines))
}
