package columns

import (
	"errors"

	"github.com/fdridge/fdridge/dataset"
)

// A Fault holds the error about a row until the rows before it have been delivered, so that errors of later steps about
// earlier rows come first.
type Fault struct{ err error }

// Err returns the error about the next row, or nil.
func (f *Fault) Err() error { return f.err }

// Delay handles an error err of reading b, whose first row is row firstRow of the file. If err is about a value in a
// later row, b keeps the rows before this row, Err returns err from now on, and Delay returns nil. These rows must be
// complete. Otherwise Delay returns err.
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
