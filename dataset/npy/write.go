package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sbinet/npyio/npy"

	"github.com/fdridge/fdridge/dataset"
)

// align is what the format has the entries begin at a multiple of, for those who map the
// file.
const align = 64

// Write writes an array of rows×cols float64, row-major, as a .npy file:
//
//	6  "\x93NUMPY"
//	2  1, 0: the version
//	2  length of what is next, little-endian
//	…  {'descr': '<f8', 'fortran_order': False, 'shape': (rows, cols), }, blanks and a
//	   newline, so that all this takes a multiple of 64 bytes
//	…  the entries, little-endian
//
// Another number of entries is [dataset.ErrShape], and nothing is written; other errors
// are those of w. Source: NumPy's numpy/lib/format.py, version 1.0.
func Write(w io.Writer, rows, cols int, data []float64) error {
	if rows < 0 || cols < 0 || len(data) != rows*cols {
		return fmt.Errorf("dataset: %w: %d numbers for an array of %d×%d", dataset.ErrShape, len(data), rows, cols)
	}
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	const before = len(npy.Magic) + 4
	dict += strings.Repeat(" ", align-1-(before+len(dict))%align) + "\n"
	head := append(npy.Magic[:], 1, 0)
	head = append(binary.LittleEndian.AppendUint16(head, uint16(len(dict))), dict...)
	b := bufio.NewWriterSize(w, 1<<16)
	if _, err := b.Write(head); err != nil {
		return err
	}
	var entry [8]byte
	for _, v := range data {
		binary.LittleEndian.PutUint64(entry[:], math.Float64bits(v))
		if _, err := b.Write(entry[:]); err != nil {
			return err
		}
	}
	return b.Flush()
}
