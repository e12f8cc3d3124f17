package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
)

// A header is the header of a .npy file.
type header struct {
	kind
	rows    int64
	cols    int
	fortran bool    // Fortran order: stored column by column
	start   int64   // position of the first entry
	descr   string  // NumPy's name of kind
	shape   []int64 // of a sparse matrix's array
	fields  []field // of a structured array; otherwise nil
	record  int     // bytes of a row of a structured array
}

// width returns the number of bytes of a row.
func (h *header) width() int {
	if h.fields != nil {
		return h.record
	}
	return h.cols * h.size
}

// length returns the number of bytes of the header and all entries.
func (h *header) length() int64 {
	return h.start + h.rows*int64(h.width())
}

// magic starts every .npy file.
const magic = "\x93NUMPY"

// maxHeader limits the bytes of a header. NumPy writes less than 200.
const maxHeader = 1 << 16

// readHeader reads the header of an array. size is the number of bytes of the header and the entries, or −1 if
// unknown. The function describe converts the dictionary in the header. It returns an error for an array that
// cannot be read.
func (in *input) readHeader(size int64, describe func(description) (header, error)) error {
	prefix := make([]byte, 12)
	if _, err := io.ReadFull(in.data, prefix[:10]); err != nil {
		return in.headerError(err, "is too short for a .npy file")
	}
	if !bytes.Equal(prefix[:6], []byte(magic)) {
		return errors.New("is not a .npy file")
	}
	length := int(binary.LittleEndian.Uint16(prefix[8:]))
	start := 10
	if prefix[6] >= 2 {
		if _, err := io.ReadFull(in.data, prefix[10:]); err != nil {
			return in.headerError(err, "is too short for a .npy file")
		}
		// Compare before the conversion to int, because an int may have only 32 bits.
		if n := binary.LittleEndian.Uint32(prefix[8:]); n > maxHeader {
			return fmt.Errorf("has a header of %d bytes, more than %d", n, maxHeader)
		}
		length = int(binary.LittleEndian.Uint32(prefix[8:]))
		start = 12
	}
	text := make([]byte, start+length)
	copy(text, prefix[:start])
	if _, err := io.ReadFull(in.data, text[start:]); err != nil {
		return in.headerError(err, "ends within its header")
	}
	if version := text[6]; version < 1 || version > 3 {
		return fmt.Errorf("has version %d of the format; versions 1 to 3 can be read", version)
	}
	d, err := parse(string(text[start:]))
	if err != nil {
		return err
	}
	in.header, err = describe(d)
	if err != nil {
		return err
	}
	in.start = int64(len(text))
	in.sum = crc32.ChecksumIEEE(text)
	// Check that the file holds all rows, before the caller allocates memory for them.
	if need := in.length(); size >= 0 && size < need {
		what := fmt.Sprintf("%d×%d entries of %d bytes", in.rows, in.cols, in.size)
		if in.fields != nil {
			what = fmt.Sprintf("%d rows of %d bytes", in.rows, in.record)
		}
		return fmt.Errorf("is truncated: %s need %d bytes, it has %d", what, need, size)
	} else if size > need && in.at != nil {
		// Bytes follow the array. If the file is compressed, only the read after the last row finds such bytes.
		next := make([]byte, min(size-need, int64(len(magic))))
		if _, err := in.at.ReadAt(next, need); err != nil {
			return in.wrap(err, 0)
		}
		return in.excessError(next)
	}
	return nil
}

// headerError returns an error with the text msg if err is an end of file. It passes any other error to in.wrap.
func (in *input) headerError(err error, msg string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New(msg)
	}
	return in.wrap(err, 0)
}

// maxColumns limits the memory of a row.
const maxColumns = 1 << 24

// A description is the dictionary in a header.
type description struct {
	descr   string // a type, or the list of the fields of a structured array
	fortran bool
	shape   []int64
}

// entry matches a key of the dictionary, its value, and the comma or the end after the value. The value is a
// string, a boolean, a tuple, or an empty list. The empty list replaces the list of fields, which cutList has cut
// out.
var entry = regexp.MustCompile(
	`^\s*['"](descr|fortran_order|shape)['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[\])|(True|False)|\(([-0-9L,\s]*)\))\s*(,|$)`,
)

// parse parses a dictionary of descr, fortran_order and shape.
func parse(text string) (d description, err error) {
	malformed := errors.New("has a malformed header: it is not a dictionary of descr, fortran_order and shape")
	text = strings.TrimSpace(text)
	rest, opened := strings.CutPrefix(text, "{")
	rest, closed := strings.CutSuffix(rest, "}")
	if !opened || !closed {
		return d, malformed
	}
	rest, fields := cutList(rest)
	seen := map[string]bool{}
	for strings.TrimSpace(rest) != "" {
		m := entry.FindStringSubmatch(rest)
		if m == nil ||
			seen[m[1]] ||
			m[1] == "descr" != (m[2]+m[3] != "") ||
			m[1] == "fortran_order" != (m[4] != "") {
			return d, malformed
		}
		rest = rest[len(m[0]):]
		seen[m[1]] = true
		switch m[1] {
		case "descr":
			d.descr = m[2]
			if m[3] != "" {
				d.descr = fields
			}
		case "fortran_order":
			d.fortran = m[4] == "True"
		case "shape":
			d.shape, err = parseShape(m[5])
			if err != nil {
				return d, err
			}
		}
	}
	if len(seen) != 3 {
		return d, malformed
	}
	return d, nil
}

// parseShape parses the text of a tuple of integers. An integer may end with L, as Python 2 writes long integers.
func parseShape(text string) (shape []int64, err error) {
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), ","), ",") {
		part = strings.TrimSpace(part)
		if part == "" && text == "" {
			break
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(part, "L"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("has a malformed header: shape (%s)", errtext.Excerpt(text))
		}
		shape = append(shape, n)
	}
	return shape, nil
}

func describe(d description) (header, error) {
	if strings.HasPrefix(d.descr, "[") {
		return describeFields(d)
	}
	out := header{cols: 1}
	var ok bool
	out.kind, ok = kindOf(d.descr)
	if !ok {
		return out, fmt.Errorf(
			"holds entries of type %q; readable types are floats of 16, 32 and 64 bits, integers and booleans",
			errtext.Excerpt(d.descr),
		)
	}
	if len(d.shape) != 1 && len(d.shape) != 2 {
		return out, fmt.Errorf("has %d dimensions instead of 1 or 2", len(d.shape))
	}
	out.rows = d.shape[0]
	if len(d.shape) == 2 {
		out.cols = int(min(d.shape[1], maxColumns+1))
	}
	if out.rows < 0 || out.cols < 1 || out.cols > maxColumns {
		return out, fmt.Errorf("has shape %v; the columns must be 1 to %d", d.shape, maxColumns)
	}
	hi, lo := bits.Mul64(uint64(out.rows), uint64(out.cols*out.size))
	if hi != 0 || lo > math.MaxInt64/2 {
		return out, fmt.Errorf("has shape %v, which is too large to be addressed", d.shape)
	}
	if out.rows == 0 {
		return out, errors.New("has no rows")
	}
	out.fortran = d.fortran && out.rows > 1 && out.cols > 1
	return out, nil
}
