package rows

import "fmt"

// ErrNoSource reports a nil source.
var ErrNoSource = fmt.Errorf("%w: no source of rows", ErrShape)

// CheckCount returns an error if a source did not yield the n rows that its Dims returned. read is the number
// of rows it yielded. n is −1 if Dims did not know the number.
func CheckCount(n, read int64) error {
	if n >= 0 && read != n {
		return Unfit("the source's Dims returned %d rows, but it yielded %d", n, read)
	}
	return nil
}
