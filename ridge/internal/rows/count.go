package rows

import "fmt"

// ErrNoSource reports a nil source.
var ErrNoSource = fmt.Errorf("%w: no source of rows", ErrShape)

// CheckCount returns an error if read, the number of rows that a source yielded, is not n, the number of rows that its
// Dims returned. If n is −1, Dims did not know the number, and every count is valid.
func CheckCount(n, read int64) error {
	if n >= 0 && read != n {
		return Unfit("the source's Dims returned %d rows, but it yielded %d", n, read)
	}
	return nil
}
