package arrow

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A Writer writes rows of float64 in Arrow's format, as record batches of at most 65,536 rows.
type Writer struct {
	to      io.Writer
	stream  bool
	names   []string
	notes   []string
	at      int64   // bytes written
	blocks  []block // locations of the record batches
	columns [][]float64
	memory  []byte
}

const (
	writtenRows = 1 << 16
	version     = 4 // V5 of the format
)

// NewWriter returns a Writer of rows with the given column names. If stream is true, it writes the stream format,
// otherwise the file format. The notes, each a key followed by its value, are written to the metadata of the
// schema. Nothing is written before the first record batch. The error is for a key without a value.
func NewWriter(
	w io.Writer,
	stream bool,
	names []string,
	notes ...string,
) (*Writer, error) {
	if len(notes)%2 != 0 {
		return nil, errors.New("arrow: a note has no value")
	}
	return &Writer{
		to:      w,
		stream:  stream,
		names:   names,
		notes:   notes,
		columns: make([][]float64, len(names)),
	}, nil
}

// errWidth is the error for a row with the wrong number of columns.
var errWidth = errors.New("arrow: the row has the wrong number of columns")

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

// Flush writes the rows added since the last record batch as a record batch. Without such rows it writes nothing.
func (w *Writer) Flush() error {
	if len(w.columns) == 0 || len(w.columns[0]) == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	n := int64(len(w.columns[0]))
	b := flatbuffers.NewBuilder(1024)
	b.StartVector(16, 2*len(w.columns), 8)
	for j := len(w.columns) - 1; j >= 0; j-- { // each column has an empty bitmap of nulls, and its values
		for _, place := range [][2]int64{{8 * n * int64(j), 8 * n}, {8 * n * int64(j), 0}} {
			b.Prep(8, 16)
			b.PrependInt64(place[1])
			b.PrependInt64(place[0])
		}
	}
	buffers := b.EndVector(2 * len(w.columns))
	b.StartVector(16, len(w.columns), 8)
	for range w.columns { // the number of rows of each column, none of them null
		b.Prep(8, 16)
		b.PrependInt64(0)
		b.PrependInt64(n)
	}
	nodes := b.EndVector(len(w.columns))
	b.StartObject(5)
	b.PrependInt64Slot(0, n, 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	w.memory = w.memory[:0]
	for j, x := range w.columns {
		for _, v := range x {
			w.memory = binary.LittleEndian.AppendUint64(w.memory, math.Float64bits(v))
		}
		w.columns[j] = x[:0]
	}
	place := block{at: w.at, body: int64(len(w.memory))}
	if err := w.message(b, kindBatch, b.EndObject(), w.memory); err != nil {
		return err
	}
	place.meta = w.at - place.at - place.body
	w.blocks = append(w.blocks, place)
	return nil
}

// begin writes the schema. If the schema is written already, begin does nothing.
func (w *Writer) begin() error {
	if w.at > 0 {
		return nil
	}
	if !w.stream {
		if err := w.write([]byte(magic + "\x00\x00")); err != nil {
			return err
		}
	}
	b := flatbuffers.NewBuilder(1024)
	return w.message(b, kindSchema, w.schema(b), nil)
}

func (w *Writer) schema(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var fields, notes []flatbuffers.UOffsetT
	for _, name := range w.names {
		text := b.CreateString(name)
		b.StartObject(1)
		b.PrependInt16Slot(0, 2, 0) // double precision
		of := b.EndObject()
		b.StartVector(4, 0, 4)
		children := b.EndVector(0) // some readers require the list of children, even if it is empty
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, text, 0)
		b.PrependByteSlot(2, typeFloat, 0)
		b.PrependUOffsetTSlot(3, of, 0)
		b.PrependUOffsetTSlot(5, children, 0)
		fields = append(fields, b.EndObject())
	}
	for i := 0; i < len(w.notes); i += 2 {
		key := b.CreateString(w.notes[i])
		value := b.CreateString(w.notes[i+1])
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, key, 0)
		b.PrependUOffsetTSlot(1, value, 0)
		notes = append(notes, b.EndObject())
	}
	vector := b.CreateVectorOfTables(fields)
	pairs := b.CreateVectorOfTables(notes)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, vector, 0)
	b.PrependUOffsetTSlot(2, pairs, 0)
	return b.EndObject()
}

// message writes a message: the length of its metadata, the metadata, and the body. Each is padded to 8 bytes.
func (w *Writer) message(
	b *flatbuffers.Builder,
	kind byte,
	header flatbuffers.UOffsetT,
	body []byte,
) error {
	b.StartObject(5)
	b.PrependInt16Slot(0, version, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, int64(len(body)), 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	size := (len(meta) + 7) / 8 * 8
	head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, continuation), uint32(size))
	head = append(append(head, meta...), make([]byte, size-len(meta))...)
	if err := w.write(head); err != nil {
		return err
	}
	return w.write(body)
}

func (w *Writer) write(b []byte) error {
	n, err := w.to.Write(b)
	w.at += int64(n)
	return err
}

// Close writes the remaining rows and the end of the stream or file.
func (w *Writer) Close() error {
	if err := errors.Join(w.Flush(), w.begin()); err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint64(nil, continuation)
	if !w.stream {
		b := flatbuffers.NewBuilder(1024)
		schema := w.schema(b)
		b.StartVector(24, len(w.blocks), 8)
		for i := len(w.blocks) - 1; i >= 0; i-- {
			b.Prep(8, 24)
			b.PrependInt64(w.blocks[i].body)
			b.Pad(4)
			b.PrependInt32(int32(w.blocks[i].meta))
			b.PrependInt64(w.blocks[i].at)
		}
		batches := b.EndVector(len(w.blocks))
		b.StartObject(5)
		b.PrependInt16Slot(0, version, 0)
		b.PrependUOffsetTSlot(1, schema, 0)
		b.PrependUOffsetTSlot(3, batches, 0)
		b.Finish(b.EndObject())
		end = append(end, b.FinishedBytes()...)
		end = binary.LittleEndian.AppendUint32(end, uint32(len(b.FinishedBytes())))
		end = append(end, magic...)
	}
	return w.write(end)
}
