package rows

import "fmt"

// ErrNoSource reports a nil source.
var ErrNoSource = fmt.Errorf("%w: no source of rows", ErrShape)

// CheckCount returns an [ErrShape] if a pass has read another number of rows than the n that Dims promised. n is -1 if Dims
// promised none.
func CheckCount(n, read int64) error {
	if n >= 0 && read != n {
		return Unfit("the source's Dims promise %d rows, and it yields %d", n, read)
	}
	return nil
}
