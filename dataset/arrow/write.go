package arrow

import (
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A Writer writes rows of float64 as record batches, of no more than 65,536 rows.
type Writer struct {
	schema *arrow.Schema
	to     interface {
		Write(rec arrow.RecordBatch) error
		Close() error
	}
	columns [][]float64
}

const writtenRows = 1 << 16

// NewWriter begins a stream, or else a file, of columns of these names; notes are the metadata of
// its schema, keys and values by turns. Nothing is written before the first batch.
func NewWriter(w io.Writer, stream bool, names []string, notes ...string) (*Writer, error) {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}
	}
	var keys, values []string
	for i := 0; i+1 < len(notes); i += 2 {
		keys, values = append(keys, notes[i]), append(values, notes[i+1])
	}
	meta := arrow.NewMetadata(keys, values)
	out := &Writer{schema: arrow.NewSchema(fields, &meta), columns: make([][]float64, len(names))}
	if stream {
		out.to = ipc.NewWriter(w, ipc.WithSchema(out.schema))
		return out, nil
	}
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(out.schema))
	out.to = f
	return out, err
}

// errWidth is of a row that has not a number for each column.
var errWidth = errors.New("arrow: a row of another number of columns")

// Append adds a row.
func (w *Writer) Append(row []float64) error {
	if len(row) != len(w.columns) {
		return errWidth
	}
	for j, v := range row {
		w.columns[j] = append(w.columns[j], v)
	}
	if len(w.columns) > 0 && len(w.columns[0]) == writtenRows {
		return w.Flush()
	}
	return nil
}

// Flush writes the rows that were added as a batch, if there are any.
func (w *Writer) Flush() error {
	if len(w.columns) == 0 || len(w.columns[0]) == 0 {
		return nil
	}
	n := len(w.columns[0])
	arrays := make([]arrow.Array, len(w.columns))
	for j, x := range w.columns {
		values := memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(x))
		data := array.NewData(arrow.PrimitiveTypes.Float64, n, []*memory.Buffer{nil, values}, nil, 0, 0)
		arrays[j] = array.NewFloat64Data(data)
		data.Release()
	}
	batch := array.NewRecordBatch(w.schema, arrays, int64(n))
	defer batch.Release()
	for j := range arrays {
		arrays[j].Release()
		w.columns[j] = w.columns[j][:0]
	}
	return w.to.Write(batch)
}

// Close writes what is left, and the end.
func (w *Writer) Close() error { return errors.Join(w.Flush(), w.to.Close()) }
