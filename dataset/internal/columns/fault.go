package columns

import (
	"errors"

	"github.com/fdridge/fdridge/dataset"
)

// A Fault holds an error about a row until the rows before this row have been delivered. So an error that a later
// step finds in an earlier row is reported first.
type Fault struct{ err error }

// Err returns the error about the next row, or nil if there is none.
func (f *Fault) Err() error { return f.err }

// Delay handles an error err that occurred while the block b was read. The first row of b is row firstRow of the
// file. If err is about a value in a later row, Delay shortens b to the rows before that row and returns nil. These
// rows must be complete. From then on, Err returns err. In all other cases Delay returns err.
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
