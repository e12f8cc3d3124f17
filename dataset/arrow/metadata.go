package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The metadata of messages are flatbuffers: tables whose fields lie at offsets that the file states. Format:
// github.com/google/flatbuffers, "FlatBuffer Internals". The field numbers are from Schema.fbs, Message.fbs and
// File.fbs in the format directory of Apache Arrow.

// A table is a flatbuffer table in the data b. The table begins at b[at].
type table struct {
	b    []byte
	at   int
	of   int // start of the vtable: 4 bytes, then the offset of each field in 2 bytes
	size int // size of the vtable, including the first 4 bytes
}

func tableAt(b []byte, at int) table {
	of := at - int(int32(binary.LittleEndian.Uint32(b[at:])))
	return table{b, at, of, int(binary.LittleEndian.Uint16(b[of:]))}
}

func root(b []byte) table {
	b = b[:len(b):len(b)] // an offset to bytes beyond b then panics
	return tableAt(b, int(binary.LittleEndian.Uint32(b)))
}

// place returns the position of field i of the table in t.b, or 0 if the table does not have this field.
func (t table) place(i int) int {
	if 4+2*i+2 > t.size {
		return 0
	}
	if off := int(binary.LittleEndian.Uint16(t.b[t.of+4+2*i:])); off > 0 {
		return t.at + off
	}
	return 0
}

func (t table) byte(i int) byte {
	if p := t.place(i); p > 0 {
		return t.b[p]
	}
	return 0
}

func (t table) int16(i int) int16 {
	if p := t.place(i); p > 0 {
		return int16(binary.LittleEndian.Uint16(t.b[p:]))
	}
	return 0
}

func (t table) int32(i int) int32 {
	if p := t.place(i); p > 0 {
		return int32(binary.LittleEndian.Uint32(t.b[p:]))
	}
	return 0
}

func (t table) int64(i int) int64 {
	if p := t.place(i); p > 0 {
		return int64(binary.LittleEndian.Uint64(t.b[p:]))
	}
	return 0
}

// table returns the table in field i, if present.
func (t table) table(i int) (sub table, ok bool) {
	p := t.place(i)
	if p == 0 {
		return sub, false
	}
	return tableAt(t.b, p+int(binary.LittleEndian.Uint32(t.b[p:]))), true
}

// vector returns the vector in field i of the table: the bytes of its n elements of the given size. The elements
// begin at t.b[at]. If the field is absent, n is 0.
func (t table) vector(i, size int) (elements []byte, n, at int) {
	p := t.place(i)
	if p == 0 {
		return nil, 0, 0
	}
	p += int(binary.LittleEndian.Uint32(t.b[p:]))
	n = int(binary.LittleEndian.Uint32(t.b[p:]))
	return t.b[p+4 : p+4+n*size], n, p + 4
}

func (t table) tables(i int, visit func(table) error) error {
	elements, n, at := t.vector(i, 4)
	for k := range n {
		err := visit(tableAt(t.b, at+4*k+int(binary.LittleEndian.Uint32(elements[4*k:]))))
		if err != nil {
			return err
		}
	}
	return nil
}

// recoverBounds calls read. If read panics, because the data state an offset outside the data, recoverBounds
// returns an error.
func recoverBounds(read func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the metadata are damaged: an offset lies outside")
		}
	}()
	return read()
}

// Kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

// A head is the content of a message's metadata.
type head struct {
	kind    byte
	version int16
	body    int64   // bytes of the body
	rows    int64   // rows of a batch
	schema  []field // if the message is a schema
	of      table   // the batch, or the values of a dictionary
	id      int64   // number of a dictionary
	delta   bool    // the values are added to the dictionary
}

func headOf(meta []byte) (h head, err error) {
	err = recoverBounds(func() (err error) {
		m := root(meta)
		h.version = m.int16(0)
		h.kind = m.byte(1)
		h.body = m.int64(3)
		var ok bool
		h.of, ok = m.table(2)
		switch {
		case !ok:
			return errors.New("a message has no header")
		case h.body < 0 || h.body > maxBody:
			return fmt.Errorf(
				"a message has %d bytes, more than %d MiB; write smaller record batches",
				h.body,
				maxBody>>20,
			)
		case h.kind == kindSchema:
			h.schema, err = schemaOf(h.of)
			return err
		case h.kind == kindDictionary:
			h.id = h.of.int64(0)
			h.delta = h.of.byte(2) != 0
			h.of, ok = h.of.table(1)
			if !ok {
				return errors.New("a dictionary has no values")
			}
		case h.kind == kindBatch:
			h.rows = h.of.int64(0)
		}
		if h.rows < 0 {
			return fmt.Errorf("a record batch has %d rows", h.rows)
		}
		return nil
	})
	return h, err
}

// These limits bound the memory that any file can require.
const (
	maxMeta         = 64 << 20 // bytes of the metadata of a message, of a footer, of all names of a schema
	maxBody         = 1 << 30  // bytes of a batch
	maxDecompressed = 1 << 29  // bytes of the buffers of a compressed batch after decompression
	maxColumns      = 1 << 20
	maxDepth        = 16
	maxWindow       = 128 << 20 // bytes of a zstd window
)

// A block is the position of a message in a file, in bytes.
type block struct {
	at   int64
	meta int64 // bytes before the body: prefix, metadata and padding
	body int64
	rows int64
}

// blocksOf returns the positions of the messages that field i of the footer lists.
func blocksOf(footer []byte, i int) (out []block, err error) {
	err = recoverBounds(func() error {
		elements, n, _ := root(footer).vector(i, 24)
		for k := range n {
			e := elements[24*k:]
			b := block{
				at:   int64(binary.LittleEndian.Uint64(e)),
				meta: int64(int32(binary.LittleEndian.Uint32(e[8:]))),
				body: int64(binary.LittleEndian.Uint64(e[16:])),
			}
			if b.at < 0 ||
				b.meta < 8 ||
				b.body < 0 ||
				b.at > math.MaxInt64/4 ||
				b.body > math.MaxInt64/4 {
				return fmt.Errorf("the footer has batch %d at byte %d, with %d and %d bytes", k+1, b.at, b.meta, b.body)
			}
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// schemaIn decodes the schema in the footer. The footer is used because some writers omit the schema message.
func schemaIn(footer []byte) (fields []field, err error) {
	err = recoverBounds(func() (err error) {
		schema, ok := root(footer).table(1)
		if !ok {
			return errors.New("the footer has no schema")
		}
		fields, err = schemaOf(schema)
		return err
	})
	return fields, err
}
