package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// An index is where the messages of a file that is not compressed are.
type index struct {
	schema  []byte  // the metadata of a message that has it
	before  []block // dictionaries
	batches []block
	rows    int64 // of all batches
}

// places finds the messages of a file by its footer, or, of a stream, one behind the other: bodies
// are not read.
func places(f *rawfile.File) (x *index, err error) {
	x = &index{}
	if f.Begins(magic) {
		err = x.byFooter(f)
	} else {
		err = x.walk(f)
	}
	if err != nil {
		if _, known := err.(*dataset.InputError); !known {
			err = &dataset.InputError{File: f.Name, Msg: "is no readable Arrow file", Err: err}
		}
		return nil, err
	}
	return x, nil
}

// byFooter reads the footer of a file, and how many rows each batch has.
func (x *index) byFooter(f *rawfile.File) (err error) {
	if f.Plain < int64(fileStart+fileEnd) {
		return fmt.Errorf("%d bytes", f.Plain)
	}
	end := make([]byte, fileEnd)
	if n, err := f.At().ReadAt(end, f.Plain-int64(fileEnd)); n < fileEnd {
		return err
	}
	if string(end[4:]) != magic {
		return &dataset.InputError{File: f.Name, Msg: "is truncated: it has no footer"}
	}
	size := int64(binary.LittleEndian.Uint32(end))
	if size < 8 || size > mostMeta || size > f.Plain-int64(fileStart+fileEnd) {
		return fmt.Errorf("a footer of %d bytes", size)
	}
	footer := make([]byte, size)
	if n, err := f.At().ReadAt(footer, f.Plain-int64(fileEnd)-size); n < len(footer) {
		return err
	}
	if x.schema, err = schemaOf(footer); err != nil {
		return err
	}
	if x.before, err = blocksOf(footer, 2); err != nil {
		return err
	}
	if x.batches, err = blocksOf(footer, 3); err != nil {
		return err
	}
	var memory []byte
	for i := range x.batches {
		b := &x.batches[i]
		if memory, err = metaAt(f, *b, memory[:cap(memory)]); err != nil {
			return fmt.Errorf("record batch %d: %w", i+1, err)
		}
		h, err := headOf(memory)
		if err != nil {
			return fmt.Errorf("record batch %d: %w", i+1, err)
		}
		if h.kind != kindBatch {
			return fmt.Errorf("record batch %d is none", i+1)
		}
		if err := x.count(b, h.rows); err != nil {
			return err
		}
	}
	return nil
}

// count takes in how many rows a batch has.
func (x *index) count(b *block, rows int64) error {
	if b.rows = rows; rows > math.MaxInt64/8-x.rows {
		return fmt.Errorf("more than %d rows", x.rows)
	}
	x.rows += rows
	return nil
}

// messageAt finds the message that begins at a byte, and its metadata; kind 0 says that the stream
// ends there.
func messageAt(f *rawfile.File, at int64, memory []byte) (b block, h head, meta []byte, err error) {
	if at == f.Plain {
		return b, h, nil, nil
	}
	var prefix [8]byte
	n, err := f.At().ReadAt(prefix[:], at)
	if err != nil && err != io.EOF {
		return b, h, nil, err
	}
	switch is, length := binary.LittleEndian.Uint32(prefix[:]), int64(binary.LittleEndian.Uint32(prefix[4:])); {
	case n < 4:
		return b, h, nil, fmt.Errorf("it is truncated at byte %d", at)
	case is == 0 || n == 8 && is == continuation && length == 0:
		if rest := f.Plain - at; is == 0 && rest > 4 || is != 0 && rest > 8 {
			return b, h, nil, fmt.Errorf("it goes on behind the end of the stream at byte %d", at)
		}
		return b, h, nil, nil
	case is != continuation:
		return b, h, nil, fmt.Errorf("there is no message at byte %d", at)
	case n < 8:
		return b, h, nil, fmt.Errorf("it is truncated at byte %d", at)
	default:
		b = block{at: at, meta: 8 + length}
	}
	if meta, err = metaAt(f, b, memory); err != nil {
		return b, h, nil, err
	}
	if h, err = headOf(meta); err != nil {
		return b, h, nil, err
	}
	if h.kind == 0 {
		return b, h, nil, fmt.Errorf("a message of no kind at byte %d", at)
	}
	b.body = h.body
	return b, h, meta, nil
}

// walk goes from message to message of a stream.
func (x *index) walk(f *rawfile.File) error {
	memory := make([]byte, 0, 1<<12)
	for at := int64(0); ; {
		b, h, meta, err := messageAt(f, at, memory)
		if err != nil {
			return err
		}
		if h.kind == 0 && x.schema == nil {
			return fmt.Errorf("it has no schema")
		}
		if h.kind == 0 {
			return nil
		}
		if at += b.meta; b.body > f.Plain-at {
			return &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("is truncated: record batch %d of %d bytes at byte %d is not whole", len(x.batches)+1, b.body, b.at)}
		}
		at += b.body
		switch {
		case x.schema == nil && h.kind != kindSchema:
			return fmt.Errorf("it does not begin with a schema")
		case x.schema == nil:
			x.schema = slices.Clone(meta)
		case h.kind == kindBatch:
			if err := x.count(&b, h.rows); err != nil {
				return err
			}
			x.batches = append(x.batches, b)
		case h.kind == kindDictionary && len(x.batches) == 0:
			x.before = append(x.before, b)
		default:
			return fmt.Errorf("a message of kind %d between record batches at byte %d, such as a dictionary that changes; write the categories as numbers", h.kind, b.at)
		}
	}
}
