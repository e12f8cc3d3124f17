package arrow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/parallel"
)

type array struct {
	of    *dataType
	n     int
	valid []byte   // a bit for each value that is not null; nil if no value is null
	data  []byte   // numbers, or the offsets or views of texts
	texts [][]byte // characters; several for views
	items *array   // the items, if the values are lists of fixed length
	dict  *dictionary
}

// A dictionary holds the texts of a dictionary-encoded column.
type dictionary struct {
	parts []*array
}

func (a *array) isNull(i int) bool {
	return a.valid != nil && a.valid[i>>3]>>(i&7)&1 == 0
}

// A batch is a decoded record batch. Several users may hold it; holders is their number. When the last user has
// released it, its memory is given back.
type batch struct {
	rows    int
	columns []*array // nil for columns that are not read
	memory  [][]byte
	room    *allocator
	holders atomic.Int32
}

func (b *batch) release() {
	if b.holders.Add(-1) == 0 {
		for _, m := range b.memory {
			b.room.free(m)
		}
	}
}

// unzstd decompresses buffers in the zstd format. Several goroutines may use it at once.
var unzstd, errUnzstd = zstd.NewReader(
	nil,
	zstd.WithDecodeAllCapLimit(true),
	zstd.WithDecoderConcurrency(0),
	zstd.WithDecoderMaxWindow(maxWindow),
)

// A decoder decodes the columns of a record batch; the children of a nested column follow their parent. If the file
// states an offset outside the data, the decoder panics. Its callers convert the panic to an error.
type decoder struct {
	body    []byte
	version int16
	nodes   []byte
	buffers []byte
	views   []byte // number of additional buffers of each column of text views
	packed  bool
	zstd    bool
	whole   int64 // total bytes of the buffers after decompression
	room    *allocator
	memory  [][]byte
	jobs    []job
	err     error
}

// A job is a compressed buffer src, to be decompressed to dst.
type job struct{ dst, src []byte }

func newDecoder(h *head, body []byte, room *allocator) *decoder {
	d := &decoder{
		body:    body,
		version: h.version,
		room:    room,
		memory:  [][]byte{body},
	}
	d.nodes, _, _ = h.of.vector(1, 16)
	d.buffers, _, _ = h.of.vector(2, 16)
	d.views, _, _ = h.of.vector(4, 8)
	var packing table
	packing, d.packed = h.of.table(3)
	if d.packed {
		d.zstd = packing.byte(0) == 1
	}
	return d
}

// batch decodes the columns selected by wanted.
func (d *decoder) batch(
	rows int64,
	schema []field,
	wanted []bool,
) (*batch, error) {
	if rows > math.MaxInt32 {
		return nil, fmt.Errorf("it has %d rows", rows)
	}
	b := &batch{
		rows:    int(rows),
		columns: make([]*array, len(schema)),
		room:    d.room,
	}
	for i := range schema {
		b.columns[i] = d.array(&schema[i].dataType, wanted[i])
		a := b.columns[i]
		if a != nil && d.err == nil && a.n != b.rows {
			d.err = fmt.Errorf("column %d has %d rows, the batch %d", i+1, a.n, b.rows)
		}
	}
	if d.err == nil &&
		(len(d.nodes) > 0 || len(d.buffers) > 0) {
		d.err = errors.New("it has more columns than the schema")
	}
	d.run()
	b.memory = d.memory
	b.holders.Store(1)
	return b, d.err
}

// array decodes the next column of type t. If wanted is false, it skips the column and returns nil.
func (d *decoder) array(t *dataType, wanted bool) *array {
	a := &array{of: t}
	length := int64(binary.LittleEndian.Uint64(d.nodes))
	nulls := int64(binary.LittleEndian.Uint64(d.nodes[8:]))
	d.nodes = d.nodes[16:]
	if length < 0 || length > math.MaxInt32 || nulls < 0 || nulls > length {
		d.err = fmt.Errorf("a column has %d values, of which %d are null", length, nulls)
	}
	a.n = int(length)
	views := int64(0)
	if t.index == nil && (t.id == typeBinaryView || t.id == typeTextView) {
		views = int64(binary.LittleEndian.Uint64(d.views))
		d.views = d.views[8:]
	}
	for i := range t.buffers(d.version) {
		switch b := d.buffer(wanted && (i > 0 || nulls > 0)); {
		case i > 0 && i == 1:
			a.data = b
		case i > 0:
			a.texts = append(a.texts, b)
		case nulls > 0:
			a.valid = b
		}
	}
	if bigEndian && t.id != typeBinaryView && t.id != typeTextView {
		swap(a.data, cmp.Or(t.index, t).bits/8)
	}
	for ; views > 0 && d.err == nil; views-- {
		a.texts = append(a.texts, d.buffer(wanted))
	}
	if t.index == nil {
		for i := range t.children {
			a.items = d.array(&t.children[i].dataType, wanted)
		}
	}
	if !wanted || d.err != nil {
		return nil
	}
	if !a.isComplete(nulls) {
		d.err = errors.New("a column has fewer values than its length states")
	}
	return a
}

// Files are little-endian.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func swap(b []byte, size int) {
	for ; size > 1 && len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// isComplete reports whether the buffers are long enough for all values of the column. The column has the given
// number of nulls.
func (a *array) isComplete(nulls int64) bool {
	t := a.of
	n := int64(a.n)
	if t.index != nil {
		t = t.index
	}
	if nulls > 0 && int64(len(a.valid)) < (n+7)/8 {
		return false
	}
	switch t.id {
	case typeInt, typeFloat, typeBool, typeDate, typeTimestamp, typeDecimal:
		return int64(len(a.data)) >= (n*int64(t.bits)+7)/8
	case typeText, typeLargeText:
		return n == 0 ||
			int64(len(a.data)) >= (n+1)*int64(t.bits)/8
	case typeTextView:
		return int64(len(a.data)) >= 16*n
	case typeFixedList:
		return t.items == 0 || a.items.n/t.items >= a.n
	}
	return true
}

// buffer returns the next buffer of the record batch, decompressed. If wanted is false, it skips the buffer and
// returns nil.
func (d *decoder) buffer(wanted bool) []byte {
	lo := int64(binary.LittleEndian.Uint64(d.buffers))
	size := int64(binary.LittleEndian.Uint64(d.buffers[8:]))
	d.buffers = d.buffers[16:]
	if lo < 0 ||
		size < 0 ||
		lo > int64(len(d.body)) ||
		size > int64(len(d.body))-lo ||
		lo%8 != 0 {
		d.err = fmt.Errorf("a buffer has %d bytes from byte %d on, the body has %d", size, lo, len(d.body))
	}
	if !wanted || size == 0 || d.err != nil {
		return nil
	}
	b := d.body[lo : lo+size]
	if !d.packed {
		return b
	}
	if len(b) < 8 {
		d.err = errors.New("a buffer is too short for its length")
		return nil
	}
	length := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if length == -1 {
		return b
	}
	d.whole += length
	if length < 0 || length > maxDecompressed || d.whole > maxDecompressed {
		d.err = fmt.Errorf(
			"it has more than %d MiB after decompression; write smaller record batches",
			maxDecompressed>>20,
		)
		return nil
	}
	out, err := d.room.take(int(length))
	if err == nil {
		d.memory = append(d.memory, out)
		d.jobs = append(d.jobs, job{out, b})
	}
	d.err = err
	if bigEndian { // the caller swaps the bytes
		d.run()
	}
	return out
}

// run decompresses the buffers in parallel.
func (d *decoder) run() {
	if d.err == nil {
		d.err = parallel.Do(len(d.jobs), int(d.whole/8), func(i int) (err error) {
			defer func() {
				if recover() != nil { // Read does not recover panics of other goroutines
					err = rawfile.ErrDamaged
				}
			}()
			return d.decompress(d.jobs[i].dst, d.jobs[i].src)
		})
	}
	d.jobs = d.jobs[:0]
}

var unlz4 = sync.Pool{New: func() any { return lz4.NewReader(nil) }}

func (d *decoder) decompress(out, b []byte) error {
	if !d.zstd {
		r := unlz4.Get().(*lz4.Reader)
		defer unlz4.Put(r)
		r.Reset(bytes.NewReader(b))
		_, err := io.ReadFull(r, out)
		return err
	}
	if errUnzstd != nil {
		return errUnzstd
	}
	got, err := unzstd.DecodeAll(b, out[:0:len(out)])
	if err == nil && len(got) != len(out) {
		err = fmt.Errorf("a buffer has %d bytes after decompression, not %d", len(got), len(out))
	}
	return err
}
