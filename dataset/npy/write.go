package npy

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/fileformat"
)

// Write writes a matrix as a .npy file of version 1.0. data holds the entries of the rows×cols matrix, row by row.
// The entries begin at a multiple of 64 bytes, so that programs can map the file into memory. If len(data) ≠
// rows·cols, Write returns [dataset.ErrShape] and writes nothing. Other errors are errors of w.
func Write(w io.Writer, rows, cols int, data []float64) error {
	if rows < 0 || cols < 0 || len(data) != rows*cols {
		return fmt.Errorf(
			"dataset: %w: there are %d numbers for an array of %d×%d",
			dataset.ErrShape,
			len(data),
			rows,
			cols,
		)
	}
	return fileformat.WriteNPY(w, rows, cols, func(i int) []float64 {
		return data[i*cols : (i+1)*cols]
	})
}
