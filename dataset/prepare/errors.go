package prepare

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
)

func newSourceError(format string, args ...any) error {
	return &dataset.SourceError{Reason: fmt.Sprintf(format, args...)}
}

func newDimensionError(format string, args ...any) error {
	return newSourceError("dimensions disagree: "+format, args...)
}

func newNonFiniteError(name string, row int64, col int, v float64) error {
	return &dataset.InputError{
		File:      name,
		Line:      int(row) + 1,
		Column:    col + 1,
		Msg:       fmt.Sprintf("%v is not finite", v),
		NonFinite: true,
	}
}
