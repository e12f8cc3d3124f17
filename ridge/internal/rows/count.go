package rows

import "fmt"

// ErrNoSource reports a nil source.
var ErrNoSource = fmt.Errorf("%w: no source of rows", ErrShape)

// CheckCount returns an error if a source did not yield n rows, the number from its Dims. read is the number of
// rows that it yielded. If n is −1, Dims did not know the number, and every count is valid.
func CheckCount(n, read int64) error {
	if n >= 0 && read != n {
		return Unfit("the source's Dims returned %d rows, but it yielded %d", n, read)
	}
	return nil
}
