package rows

import "fmt"

// ErrNoSource reports a nil source.
var ErrNoSource = fmt.Errorf("%w: no source of rows", ErrShape)

// CheckCount returns an error if a source yielded another number of rows than its method Dims returned. The
// argument n is the number from Dims, and read is the number of yielded rows. If n is −1, Dims did not know the
// number, and CheckCount returns nil.
func CheckCount(n, read int64) error {
	if n >= 0 && read != n {
		return Unfit("the source's Dims returned %d rows, but it yielded %d", n, read)
	}
	return nil
}
