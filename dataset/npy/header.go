package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/sbinet/npyio/npy"

	"github.com/fdridge/fdridge/internal/excerpt"
)

// A header is what a file says of its array.
type header struct {
	kind
	rows    int64
	cols    int
	fortran bool  // the array is stored column by column
	start   int64 // where its first entry is
}

// length is how many bytes header and entries take.
func (h *header) length() int64 { return h.start + h.rows*int64(h.cols*h.size) }

// maxHeader bounds the memory that a hostile length of the header can make us allocate.
// NumPy's own headers have fewer than 200 bytes.
const maxHeader = 1 << 16

// readHeader reads the header of an array that takes size bytes with it, -1 where
// that isn't known.
func (in *input) readHeader(size int64) error {
	prefix := make([]byte, 12)
	if _, err := io.ReadFull(in.data, prefix[:10]); err != nil {
		return in.early(err, "is too short for a .npy file")
	}
	if !bytes.Equal(prefix[:6], npy.Magic[:]) {
		return errors.New("is not a .npy file")
	}
	length, start := int(binary.LittleEndian.Uint16(prefix[8:])), 10
	if prefix[6] >= 2 {
		if _, err := io.ReadFull(in.data, prefix[10:]); err != nil {
			return in.early(err, "is too short for a .npy file")
		}
		// As uint32: an int may have 32 bits.
		if n := binary.LittleEndian.Uint32(prefix[8:]); n > maxHeader {
			return fmt.Errorf("has a header of %d bytes, more than %d", n, maxHeader)
		}
		length, start = int(binary.LittleEndian.Uint32(prefix[8:])), 12
	}
	text := make([]byte, start+length)
	copy(text, prefix[:start])
	if _, err := io.ReadFull(in.data, text[start:]); err != nil {
		return in.early(err, "ends within its header")
	}
	if text[6] == 3 { // version 3 is version 2 with UTF-8 field names
		text[6] = 2
	}
	d, err := parse(text)
	if err != nil {
		return err
	}
	if in.header, err = describe(d); err != nil {
		return err
	}
	in.start = int64(len(text))
	// Before a row is allocated: the file must be long enough to hold what it says.
	if need := in.length(); size >= 0 && size < need {
		return fmt.Errorf("is truncated: %d×%d entries of %d bytes take %d, it has %d", in.rows, in.cols, in.size, need, size)
	} else if size > need && in.at != nil {
		// One that is compressed is read to its end first.
		next := make([]byte, min(size-need, int64(len(npy.Magic))))
		if _, err := in.at.ReadAt(next, need); err != nil {
			return in.wrap(err, 0)
		}
		return in.excess(next)
	}
	return nil
}

// early is the error of a file that ends within its header, for which msg is the message,
// and of other failures to read the header.
func (in *input) early(err error, msg string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New(msg)
	}
	return in.wrap(err, 0)
}

// maxColumns bounds the memory of a row, whatever a hostile header says.
const maxColumns = 1 << 24

// parse leaves the dictionary to npyio, which panics on some malformed ones.
func parse(text []byte) (h npy.Header, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("has a malformed header: it is no dictionary of descr, fortran_order and shape")
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(text))
	if err != nil {
		return h, fmt.Errorf("has a malformed header: %s", excerpt.Of(err.Error()))
	}
	return r.Header, nil
}

func describe(h npy.Header) (header, error) {
	d := h.Descr
	out := header{cols: 1}
	var ok bool
	if out.kind, ok = kindOf(d.Type); !ok {
		return out, fmt.Errorf("holds entries of type %q; floats of 16, 32 and 64 bits, integers and booleans can be read", excerpt.Of(d.Type))
	}
	if len(d.Shape) != 1 && len(d.Shape) != 2 {
		return out, fmt.Errorf("has %d dimensions, must have 1 or 2", len(d.Shape))
	}
	out.rows = int64(d.Shape[0])
	if len(d.Shape) == 2 {
		out.cols = d.Shape[1]
	}
	if out.rows < 0 || out.cols < 1 || out.cols > maxColumns {
		return out, fmt.Errorf("has shape %v; the columns must be 1 to %d", d.Shape, maxColumns)
	}
	if hi, lo := bits.Mul64(uint64(out.rows), uint64(out.cols*out.size)); hi != 0 || lo > math.MaxInt64/2 {
		return out, fmt.Errorf("has shape %v, more than can be addressed", d.Shape)
	}
	if out.rows == 0 {
		return out, errors.New("has no rows")
	}
	out.fortran = d.Fortran && out.rows > 1 && out.cols > 1
	return out, nil
}
