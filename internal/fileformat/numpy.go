package fileformat

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/fdridge/fdridge/internal/vec"
)

// The entries of a .npy file begin at a multiple of align bytes. Programs that map the file into memory rely on
// this.
const align = 64

// NPYMagic begins every .npy file.
const NPYMagic = "\x93NUMPY"

// Header is a fmt format for the first part of the header of a .npy file, up to the shape. The file holds a matrix
// of float64, stored row by row. The arguments of the format are the numbers of rows and columns.
const Header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)"

// WriteNPY writes an array of rows×cols float64 as a .npy file:
//
//	6  "\x93NUMPY"
//	2  1, 0: the version
//	2  length of the rest of the header, little-endian
//	…  {'descr': '<f8', 'fortran_order': False, 'shape': (rows, cols), }, blanks and a
//	   newline, so that the header takes a multiple of 64 bytes
//	…  the entries, little-endian
//
// It calls row(i) for each row in order. Each row must have cols numbers; WriteNPY panics otherwise. Errors are
// errors of w. Source: NumPy's numpy/lib/format.py, version 1.0.
func WriteNPY(w io.Writer, rows, cols int, row func(i int) []float64) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if _, err := b.Write(header(rows, cols)); err != nil {
		return err
	}
	var entry [8]byte
	for i := range rows {
		values := row(i)
		if len(values) != cols {
			panic("numpy: a row has another length")
		}
		for _, v := range values {
			binary.LittleEndian.PutUint64(entry[:], math.Float64bits(v))
			if _, err := b.Write(entry[:]); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// header returns the bytes of a .npy file before the entries of a rows×cols matrix.
func header(rows, cols int) []byte {
	dict := fmt.Sprintf(Header+", }", rows, cols)
	const before = len(NPYMagic) + 4
	dict += strings.Repeat(" ", align-1-(before+len(dict))%align) + "\n"
	head := append([]byte(NPYMagic), 1, 0)
	return append(binary.LittleEndian.AppendUint16(head, uint16(len(dict))), dict...)
}

// ParseNPY returns the dimensions and the entries of a .npy file with a float64 matrix in C order, as WriteNPY and
// NumPy write it. The result ok is false for any other file.
func ParseNPY(file []byte) (rows, cols int, data []float64, ok bool) {
	const prefix = len(NPYMagic) + 4
	if len(file) < prefix ||
		len(file) < prefix+int(binary.LittleEndian.Uint16(file[prefix-2:])) ||
		string(file[:len(NPYMagic)]) != NPYMagic {
		return 0, 0, nil, false
	}
	start := prefix + int(binary.LittleEndian.Uint16(file[prefix-2:]))
	n, _ := fmt.Sscanf(string(file[prefix:start]), Header, &rows, &cols)
	if n != 2 || len(file[start:])%8 != 0 {
		return 0, 0, nil, false
	}
	file = file[start:]
	if rows < 1 ||
		cols < 1 ||
		!vec.IsProduct(len(file)/8, rows, cols) {
		return 0, 0, nil, false
	}
	data = make([]float64, len(file)/8)
	for i := range data {
		data[i] = math.Float64frombits(binary.LittleEndian.Uint64(file[8*i:]))
	}
	return rows, cols, data, true
}
