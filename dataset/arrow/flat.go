package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// The metadata of messages are flatbuffers: tables of fields at offsets that the file says. What is
// needed before the library sees them is read here: how long a body is, how many rows a batch has,
// where batches are; and whether all of it keeps within the memory it may take. Accesses are by
// slices, and so what points outside the bytes panics; readable makes an error of it.
//
// Format: github.com/google/flatbuffers, "FlatBuffer Internals"; fields by their number in
// Schema.fbs, Message.fbs and File.fbs of Apache Arrow's format directory.

// A table is one of a flatbuffer, which begins at byte at.
type table struct {
	b    []byte
	at   int
	of   int // where the offsets of its fields are, two bytes each behind the first four
	size int // of these, the four included
}

func tableAt(b []byte, at int) table {
	of := at - int(int32(binary.LittleEndian.Uint32(b[at:])))
	return table{b, at, of, int(binary.LittleEndian.Uint16(b[of:]))}
}

// root is the table that a flatbuffer is.
func root(b []byte) table {
	b = b[:len(b):len(b)] // what is behind it is none of it
	return tableAt(b, int(binary.LittleEndian.Uint32(b)))
}

// place is where field i is, 0 where it has its default.
func (t table) place(i int) int {
	if 4+2*i >= t.size { // as the library has it
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

func (t table) int64(i int) int64 {
	if p := t.place(i); p > 0 {
		return int64(binary.LittleEndian.Uint64(t.b[p:]))
	}
	return 0
}

// table is that of field i; ok is false where there is none.
func (t table) table(i int) (sub table, ok bool) {
	p := t.place(i)
	if p == 0 {
		return sub, false
	}
	return tableAt(t.b, p+int(binary.LittleEndian.Uint32(t.b[p:]))), true
}

// vector is that of field i, of elements of so many bytes: their bytes, and how many there are. at is
// where they begin.
func (t table) vector(i, size int) (elements []byte, n, at int) {
	p := t.place(i)
	if p == 0 {
		return nil, 0, 0
	}
	p += int(binary.LittleEndian.Uint32(t.b[p:]))
	n = int(binary.LittleEndian.Uint32(t.b[p:]))
	return t.b[p+4 : p+4+n*size], n, p + 4
}

// tables are those of a vector of tables, one by one.
func (t table) tables(i int, visit func(table) error) error {
	elements, n, at := t.vector(i, 4)
	for k := range n {
		if err := visit(tableAt(t.b, at+4*k+int(binary.LittleEndian.Uint32(elements[4*k:])))); err != nil {
			return err
		}
	}
	return nil
}

// readable runs what reads metadata, and makes an error of a panic: of an offset that is beyond them.
func readable(read func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the metadata are damaged: an offset lies outside of them")
		}
	}()
	return read()
}

// The kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

// A head is what the metadata of a message say.
type head struct {
	kind byte
	body int64 // bytes
	rows int64 // of a batch
}

// headOf reads metadata. A schema is checked as a whole.
func headOf(meta []byte) (h head, err error) {
	err = readable(func() error {
		m := root(meta)
		h.kind, h.body = m.byte(1), m.int64(3)
		of, ok := m.table(2)
		switch {
		case !ok:
			return errors.New("a message without a header")
		case h.body < 0 || h.body > mostBody:
			return fmt.Errorf("a message of %d bytes, more than %d MiB; write smaller record batches", h.body, mostBody>>20)
		case h.kind == kindSchema:
			return checkSchema(m, of)
		case h.kind == kindBatch:
			h.rows = of.int64(0)
		}
		if h.rows < 0 {
			return fmt.Errorf("a record batch of %d rows", h.rows)
		}
		return new(notes).pairs(m, 4)
	})
	return h, err
}

// The limits of what a file may have: memory is then bounded, whatever it says.
const (
	mostMeta   = 64 << 20 // bytes of the metadata of a message, of its footer, of all names of a schema
	mostBody   = 1 << 30  // bytes of a batch
	mostWhole  = 1 << 29  // bytes of a batch that was compressed
	mostFields = 1 << 20
	mostDepth  = 16
	mostWindow = 128 << 20 // of zstd
)

// notes count the bytes of names and metadata.
type notes int64

func (k *notes) keep(n int64) error {
	if *k += notes(n); *k > mostMeta {
		return fmt.Errorf("names and metadata of more than %d MiB", mostMeta>>20)
	}
	return nil
}

// pairs counts the keys and values in field i.
func (k *notes) pairs(t table, i int) error {
	return t.tables(i, func(pair table) error {
		key, _, _ := pair.vector(0, 1)
		value, _, _ := pair.vector(1, 1)
		return k.keep(int64(len(key)+len(value)) + 64)
	})
}

// checkSchema holds what the library is going to copy to the limits: offsets may all be of one long
// name, and fields may share their children.
func checkSchema(message, schema table) error {
	fields, kept := 0, new(notes)
	var visit func(field table, depth int) error
	visit = func(field table, depth int) error {
		if fields++; fields > mostFields || depth > mostDepth {
			return fmt.Errorf("more than %d columns, or nested in more than %d", mostFields, mostDepth)
		}
		name, _, _ := field.vector(0, 1)
		size := int64(len(name))
		if of, ok := field.table(3); ok {
			const timestamp, union = 10, 14
			switch field.byte(2) {
			case timestamp:
				zone, _, _ := of.vector(1, 1)
				size += int64(len(zone))
			case union:
				ids, _, _ := of.vector(1, 4)
				size += 4 * int64(len(ids))
			}
		}
		if err := errors.Join(kept.keep(size), kept.pairs(field, 6)); err != nil {
			return err
		}
		return field.tables(5, func(child table) error { return visit(child, depth+1) })
	}
	if err := errors.Join(kept.pairs(message, 4), kept.pairs(schema, 2)); err != nil {
		return err
	}
	return schema.tables(1, func(field table) error { return visit(field, 0) })
}

// checkBody holds the buffers of a batch, or of a dictionary, to its body, and what they are when
// they are not compressed to the limit.
func checkBody(h head, meta, body []byte) error {
	return readable(func() error {
		of, _ := root(meta).table(2)
		if h.kind == kindDictionary {
			var ok bool
			if of, ok = of.table(1); !ok {
				return errors.New("a dictionary without values")
			}
		}
		packing, packed := of.table(3)
		buffers, n, _ := of.vector(2, 16)
		counts, views, _ := of.vector(4, 8)
		for i := range views {
			if binary.LittleEndian.Uint64(counts[8*i:]) > uint64(n) {
				return fmt.Errorf("column of views %d has more buffers than the batch", i+1)
			}
		}
		whole := int64(0)
		for i := range n {
			lo := int64(binary.LittleEndian.Uint64(buffers[16*i:]))
			size := int64(binary.LittleEndian.Uint64(buffers[16*i+8:]))
			if lo < 0 || size < 0 || lo > int64(len(body)) || size > int64(len(body))-lo || lo%8 != 0 {
				return fmt.Errorf("buffer %d is %d bytes from byte %d on, of %d", i+1, size, lo, len(body))
			}
			if !packed || size == 0 {
				continue
			}
			if size < 8 {
				return fmt.Errorf("buffer %d has no length", i+1)
			}
			length := int64(binary.LittleEndian.Uint64(body[lo:]))
			if length < -1 || length > mostWhole {
				return fmt.Errorf("buffer %d is %d bytes when it is not compressed", i+1, length)
			}
			if whole += max(length, 0); whole > mostWhole {
				return fmt.Errorf("a record batch of more than %d MiB when it is not compressed; write smaller ones", mostWhole>>20)
			}
			if packing.byte(0) == 1 && length > 0 {
				if err := checkWindow(body[lo+8 : lo+size]); err != nil {
					return fmt.Errorf("buffer %d: %w", i+1, err)
				}
			}
		}
		return nil
	})
}

// checkWindow refuses a zstd frame that refers back so far that its decoder would take much memory.
func checkWindow(frame []byte) error {
	var h zstd.Header
	if err := h.Decode(frame[:min(len(frame), zstd.HeaderMaxSize)]); err != nil {
		return fmt.Errorf("no zstd frame: %w", err)
	}
	if h.WindowSize > mostWindow {
		return fmt.Errorf("the zstd stream needs a window of more than %d MiB", mostWindow>>20)
	}
	return nil
}

// schemaOf returns the metadata of a message that has the schema of a footer: the spec asks for one
// at the beginning of a file, too, where not all who write files put it.
func schemaOf(footer []byte) (meta []byte, err error) {
	err = readable(func() error {
		f := root(footer)
		schema, ok := f.table(1)
		if !ok {
			return errors.New("a footer without a schema")
		}
		// A root, the table of its fields (version, kind, header), the table, and the footer.
		const fields, table = 4, 16
		meta = binary.LittleEndian.AppendUint32(nil, table)
		for _, v := range []uint16{10, 12, 4, 6, 8, 0} { // their size, the table's, and where each field is
			meta = binary.LittleEndian.AppendUint16(meta, v)
		}
		meta = binary.LittleEndian.AppendUint32(meta, table-fields)
		meta = binary.LittleEndian.AppendUint16(meta, uint16(f.int16(0)))
		meta = append(meta, kindSchema, 0)
		meta = binary.LittleEndian.AppendUint32(meta, uint32(4+schema.at))
		meta = append(meta, footer...)
		h, err := headOf(meta)
		if err == nil && h.kind != kindSchema {
			err = errors.New("a footer whose schema is none")
		}
		return err
	})
	return meta, err
}

// A block is where a message is in a file.
type block struct {
	at   int64
	meta int64 // bytes before the body: of the prefix, the metadata and what fills them up
	body int64
	rows int64
}

// blocksOf are the places that a footer has in field i.
func blocksOf(footer []byte, i int) (out []block, err error) {
	err = readable(func() error {
		elements, n, _ := root(footer).vector(i, 24)
		for k := range n {
			e := elements[24*k:]
			b := block{at: int64(binary.LittleEndian.Uint64(e)), meta: int64(int32(binary.LittleEndian.Uint32(e[8:]))), body: int64(binary.LittleEndian.Uint64(e[16:]))}
			if b.at < 0 || b.meta < 8 || b.body < 0 || b.at > math.MaxInt64/4 || b.body > math.MaxInt64/4 {
				return fmt.Errorf("batch %d is said to be at byte %d, of %d and %d bytes", k+1, b.at, b.meta, b.body)
			}
			out = append(out, b)
		}
		return nil
	})
	return out, err
}
