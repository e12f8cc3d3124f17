package csv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Count returns the number of rows of the file that begin in opts.Range. It does not parse the fields of the rows,
// so invalid fields are no error. If opts.Context is cancelled, Count returns the error of the Context. Other
// errors are as in [Open].
func Count(name string, opts Options) (int64, error) {
	l, err := inspect(name, opts)
	if err != nil {
		return 0, err
	}
	l.addMargin()
	f, err := rawfile.Reopen(name, l.stamp)
	if err != nil {
		return 0, err
	}
	r, err := l.begin(f, &opts, func(l *layout) chunk.Format {
		return counter{newFormat(l)}
	})
	if err != nil {
		return 0, err
	}
	defer r.Close() // opened for reading, so an error of Close does no harm
	var rows int64
	ctx := cmp.Or(opts.Context, context.Background())
	for b := (dataset.Buffer{}); ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b.Reset()
		switch err := r.Read(&b, 1<<16); {
		case err == io.EOF:
			return rows, r.Unchanged()
		case err != nil:
			return 0, err
		}
		rows += int64(b.N)
	}
}

// LineOf returns the number of the line on which a row of the file begins. Lines are counted from 1, rows from 0.
// The row is counted in the whole file, even if opts.Range is a part. If there is no such row, LineOf returns 0.
func LineOf(name string, opts Options, row int64) (line int, err error) {
	l, err := inspect(name, opts)
	if err != nil {
		return 0, err
	}
	f, r, err := l.records(name, &opts)
	if err != nil {
		return 0, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	for range row + 1 {
		if err := r.next(); err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
	}
	return r.line, nil
}

// records opens the file. The records that it returns begin with the first row of the whole file.
func (l *layout) records(name string, opts *Options) (*rawfile.File, *records, error) {
	l.addMargin()
	f, err := rawfile.Reopen(name, l.stamp)
	if err != nil {
		return nil, nil, err
	}
	opts.Range = dataset.Range{}
	if err := l.toRows(f, opts); err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, nil, err
	}
	r := newRecords(f, l)
	r.single = l.hasOneColumn()
	return f, r, nil
}

// Texts yields the cells of one column, without surrounding blanks, in the order of the rows. The column is a name
// or a number counted from 1. Errors are as in [Open]. An error is yielded with an empty text and ends the
// sequence.
func Texts(name string, opts Options, column string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := texts(name, opts, column, yield); err != nil {
			yield("", err)
		}
	}
}

func texts(name string, opts Options, column string, yield func(string, error) bool) error {
	opts.Targets = nil
	opts.Columns = []string{column}
	opts.Cells = nil
	l, err := inspect(name, opts)
	if err != nil {
		return err
	}
	l.Choice, err = columns.Choose(l.Names, l.header, nil, opts.Columns)
	if err != nil {
		return &dataset.InputError{File: name, Line: l.skip + 1, Msg: err.Error()}
	}
	f, r, err := l.records(name, &opts)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	at := slices.Index(l.To, 0)
	for {
		switch err := r.next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case at >= len(r.fields):
			return &dataset.InputError{
				File: name,
				Line: r.line,
				Msg:  fmt.Sprintf("the row has %d fields, the first line has %d", len(r.fields), len(l.Names)),
			}
		}
		if !yield(string(cell.Trimmed(r.fields[at])), nil) {
			return nil
		}
	}
}

// A counter is a [chunk.Format] that counts rows and does not parse their numbers.
type counter struct{ *format }

// Rows implements [chunk.Format].
func (c counter) Rows(b *dataset.Buffer, text []byte, at, size int) int {
	for at < size {
		end := at + bytes.IndexByte(text[at:], '\n')
		line := text[at:end]
		switch {
		case c.comment != 0 && text[at] == c.comment, bytes.IndexByte(line, '"') >= 0:
			return at
		case !c.hasOneColumn() && len(bytes.TrimSpace(line)) == 0: // no row
			return at
		}
		b.EndRow()
		at = end + 1
	}
	return min(at, size)
}

// Record implements [chunk.Format].
func (c counter) Record(b *dataset.Buffer, l *chunk.Lines) error {
	return c.record(l, func(r *reader) error {
		err := r.next()
		if err == nil {
			b.EndRow()
		}
		return err
	})
}
