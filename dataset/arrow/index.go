package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// An index locates the messages of an uncompressed file.
type index struct {
	schema  []field
	before  []block // locations of the dictionaries
	batches []block
	rows    int64 // number of rows of all batches
}

// indexOf finds the positions of all messages of a file or stream. It does not read the bodies of the messages.
func indexOf(f *rawfile.File) (x *index, err error) {
	x = &index{}
	if f.Begins(magic) {
		err = x.byFooter(f)
	} else {
		err = x.walk(f)
	}
	if err != nil {
		if _, known := err.(*dataset.InputError); !known {
			err = &dataset.InputError{File: f.Name, Msg: "is not a readable Arrow file", Err: err}
		}
		return nil, err
	}
	return x, nil
}

// byFooter reads the schema and the positions of the messages from the footer, the last part of the file.
func (x *index) byFooter(f *rawfile.File) (err error) {
	if f.Plain < int64(fileStart+fileEnd) {
		return fmt.Errorf("it has only %d bytes", f.Plain)
	}
	end := make([]byte, fileEnd)
	if n, err := f.At().ReadAt(end, f.Plain-int64(fileEnd)); n < fileEnd {
		return err
	}
	if string(end[4:]) != magic {
		return &dataset.InputError{File: f.Name, Msg: "is truncated: it has no footer"}
	}
	size := int64(binary.LittleEndian.Uint32(end))
	if size < 8 || size > maxMeta || size > f.Plain-int64(fileStart+fileEnd) {
		return fmt.Errorf("the footer has %d bytes", size)
	}
	footer := make([]byte, size)
	if n, err := f.At().ReadAt(footer, f.Plain-int64(fileEnd)-size); n < len(footer) {
		return err
	}
	x.schema, err = schemaIn(footer)
	if err != nil {
		return err
	}
	x.before, err = blocksOf(footer, 2)
	if err != nil {
		return err
	}
	x.batches, err = blocksOf(footer, 3)
	if err != nil {
		return err
	}
	var memory []byte
	for i := range x.batches {
		b := &x.batches[i]
		memory, err = metaAt(f, *b, memory[:cap(memory)])
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i+1, err)
		}
		h, err := headOf(memory)
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i+1, err)
		}
		if h.kind != kindBatch {
			return fmt.Errorf("record batch %d is another kind of message", i+1)
		}
		if err := x.addRows(b, h.rows); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) addRows(b *block, rows int64) error {
	b.rows = rows
	if rows > math.MaxInt64/8-x.rows {
		return fmt.Errorf("it has more than %d rows", x.rows)
	}
	x.rows += rows
	return nil
}

// messageAt reads the head h of a message. The argument at is the position of the message in the file, in bytes.
// The result b holds this position and the sizes of the parts of the message. At the end of the stream, h.kind is
// 0. The argument memory is a workspace.
func messageAt(f *rawfile.File, at int64, memory []byte) (b block, h head, err error) {
	if at == f.Plain {
		return b, h, nil
	}
	var prefix [8]byte
	n, err := f.At().ReadAt(prefix[:], at)
	if err != nil && err != io.EOF {
		return b, h, err
	}
	switch is, length := binary.LittleEndian.Uint32(prefix[:]), int64(binary.LittleEndian.Uint32(prefix[4:])); {
	case n < 4:
		return b, h, fmt.Errorf("it is truncated at byte %d", at)
	case is == 0 || n == 8 && is == continuation && length == 0:
		if rest := f.Plain - at; is == 0 && rest > 4 || is != 0 && rest > 8 {
			return b, h, fmt.Errorf("it has data after the end of the stream at byte %d", at)
		}
		return b, h, nil
	case is != continuation:
		return b, h, fmt.Errorf("no message begins at byte %d%s", at, oldFormat)
	case n < 8:
		return b, h, fmt.Errorf("it is truncated at byte %d", at)
	default:
		b = block{at: at, meta: 8 + length}
	}
	meta, err := metaAt(f, b, memory)
	if err != nil {
		return b, h, err
	}
	h, err = headOf(meta)
	if err != nil {
		return b, h, err
	}
	if h.kind == 0 {
		return b, h, fmt.Errorf("the message at byte %d has no kind", at)
	}
	b.body = h.body
	return b, h, nil
}

// walk finds the messages of a stream.
func (x *index) walk(f *rawfile.File) error {
	memory := make([]byte, 0, 1<<12)
	begun := false
	for at := int64(0); ; {
		b, h, err := messageAt(f, at, memory)
		if err != nil {
			return err
		}
		if h.kind == 0 && !begun {
			return fmt.Errorf("it has no schema")
		}
		if h.kind == 0 {
			return nil
		}
		at += b.meta
		if b.body > f.Plain-at {
			return &dataset.InputError{
				File: f.Name,
				Msg: fmt.Sprintf(
					"is truncated: record batch %d of %d bytes at byte %d is incomplete",
					len(x.batches)+1,
					b.body,
					b.at,
				),
			}
		}
		at += b.body
		switch {
		case !begun && h.kind != kindSchema:
			return fmt.Errorf("it does not begin with a schema")
		case !begun:
			x.schema, begun = h.schema, true
		case h.kind == kindBatch:
			if err := x.addRows(&b, h.rows); err != nil {
				return err
			}
			x.batches = append(x.batches, b)
		case h.kind == kindDictionary && len(x.batches) == 0:
			x.before = append(x.before, b)
		default:
			return fmt.Errorf(
				"a message of kind %d follows record batches at byte %d, for instance a changed dictionary; write the "+
					"categories as numbers",
				h.kind,
				b.at,
			)
		}
	}
}
