package wire

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
)

// A Writer writes one message. It keeps the first error, and returns it from Close.
type Writer struct {
	dst io.Writer
	buf []byte // not yet written
	n   int64
	crc uint32
	err error
}

// NewWriter begins a message with size bytes of content.
func NewWriter(w io.Writer, kind Kind, size int64) *Writer {
	return NewVersionWriter(w, kind, kind.Version(), size)
}

// NewVersionWriter begins a message with size bytes of content. Unlike NewWriter, it writes the given format
// version, which may be an older one.
func NewVersionWriter(w io.Writer, kind Kind, version uint32, size int64) *Writer {
	m := &Writer{dst: w, buf: make([]byte, 0, chunk)}
	m.Struct(preamble{magic, version, kind, uint64(size + Frame)})
	return m
}

// Struct writes the fields of the struct v, which must have a fixed size.
func (w *Writer) Struct(v any) {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	w.Fail(err)
	w.Bytes(b)
}

// Bytes writes b.
func (w *Writer) Bytes(b []byte) {
	for len(b) > 0 {
		room := w.room(1)
		n := copy(room[len(room):cap(room)], b)
		w.buf = room[:len(room)+n]
		b = b[n:]
	}
}

// Float64s writes x.
func (w *Writer) Float64s(x []float64) {
	for len(x) > 0 {
		b := w.room(8)
		n := min(len(x), (cap(b)-len(b))/8)
		for _, v := range x[:n] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		w.buf = b
		x = x[n:]
	}
}

// Int32s writes x, whose numbers must not be negative.
func (w *Writer) Int32s(x []int32) {
	for _, v := range x {
		w.buf = binary.LittleEndian.AppendUint32(w.room(4), uint32(v))
	}
}

// Ints writes each number of x as 8 bytes. No number may be negative.
func (w *Writer) Ints(x []int) {
	for _, v := range x {
		w.buf = binary.LittleEndian.AppendUint64(w.room(8), uint64(v))
	}
}

// Int64s writes x.
func (w *Writer) Int64s(x []int64) {
	for _, v := range x {
		w.buf = binary.LittleEndian.AppendUint64(w.room(8), uint64(v))
	}
}

// Sums writes each sum and its correction.
func (w *Writer) Sums(x []twofold.Total) {
	for i := range x {
		sum, low := x[i].Parts()
		b := w.room(16)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(sum))
		w.buf = binary.LittleEndian.AppendUint64(b, math.Float64bits(low))
	}
}

// Write writes the bytes b. It implements [io.Writer], so that another message can be written inside this message.
func (w *Writer) Write(b []byte) (int, error) {
	w.flush()
	w.pass(b)
	if w.err != nil {
		return 0, w.err
	}
	return len(b), nil
}

// Fail records err, unless err is nil or there was an error before. The message is then incomplete.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Close writes the checksum. It returns the number of bytes written, and the first error.
func (w *Writer) Close() (int64, error) {
	w.flush()
	w.buf = binary.LittleEndian.AppendUint32(w.buf, w.crc)
	w.flush()
	return w.n, w.err
}

// room returns the buffer, which then has space for need more bytes.
func (w *Writer) room(need int) []byte {
	if cap(w.buf)-len(w.buf) < need {
		w.flush()
	}
	return w.buf
}

func (w *Writer) flush() {
	w.pass(w.buf)
	w.buf = w.buf[:0]
}

func (w *Writer) pass(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	w.crc = crc32.Update(w.crc, castagnoli, b)
	n, err := w.dst.Write(b)
	w.n += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}
