package fileformat

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// A NPYWriter writes the rows of an array one at a time, as [WriteNPY] does.
type NPYWriter struct {
	to         *bufio.Writer
	rows, cols int
	err        error
}

// NewNPYWriter writes the header of an array of rows×cols to w, and returns an NPYWriter for the rows.
func NewNPYWriter(w io.Writer, rows, cols int) *NPYWriter {
	to := &NPYWriter{to: bufio.NewWriterSize(w, 1<<16), rows: rows, cols: cols}
	_, to.err = to.to.Write(header(rows, cols))
	return to
}

// errRows reports that an array has a wrong number of rows, or that a row has a wrong length.
var errRows = errors.New("numpy: the array has another shape")

// Append writes a row.
func (w *NPYWriter) Append(row []float64) error {
	if w.err == nil && (len(row) != w.cols || w.rows == 0) {
		w.err = errRows
	}
	w.rows--
	var entry [8]byte
	for _, v := range row {
		if w.err != nil {
			return w.err
		}
		binary.LittleEndian.PutUint64(entry[:], math.Float64bits(v))
		_, w.err = w.to.Write(entry[:])
	}
	return w.err
}

// Close writes the buffered data. It returns an error if an earlier call had one, or if rows are missing.
func (w *NPYWriter) Close() error {
	switch {
	case w.err != nil:
		return w.err
	case w.rows != 0:
		return errRows
	}
	return w.to.Flush()
}
