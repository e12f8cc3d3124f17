package columns

import (
	"errors"

	"github.com/fdridge/fdridge/dataset"
)

// A Fault holds the error about a row until the rows before this row have been delivered. So a later step can report an
// error in an earlier row first.
type Fault struct{ err error }

// Err returns the error about the next row, or nil.
func (f *Fault) Err() error { return f.err }

// Delay handles an error err of reading b, whose first row is row firstRow of the file. If err is about a value in a
// row after firstRow, b keeps the rows before that row, which must be complete. Delay then returns nil, and Err returns
// err from now on. Otherwise Delay returns err.
func (f *Fault) Delay(c *Choice, b *dataset.Buffer, firstRow int64, err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || !e.NonFinite && !e.Missing {
		return err
	}
	rows := int64(e.Line) - 1 - firstRow
	if rows <= 0 || rows >= int64(b.N) {
		return err
	}
	b.Shorten(int(rows), c.Features, c.Targets)
	f.err = err
	return nil
}
