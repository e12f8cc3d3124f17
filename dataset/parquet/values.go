package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset/internal/cell"
)

// Encodings of values.
const (
	encodingPlain       = 0
	encodingOldIndices  = 2 // as encodingIndices
	encodingRuns        = 3
	encodingDelta       = 5
	encodingDeltaLength = 6
	encodingDeltaText   = 7
	encodingIndices     = 8
	encodingSplit       = 9
)

// A dictionary holds values of a column. Pages refer to them by index.
type dictionary struct {
	numbers []float64
	data    []byte   // texts
	starts  []uint32 // position of each text in data
}

// A decoder decodes the values of a page.
type decoder struct {
	kind     int32                          // physical type
	isText   bool                           // the values are texts
	number   func(bits uint64) float64      // converts a number or boolean
	wide     func(b []byte) (float64, bool) // converts the bytes of a number that is stored as bytes; otherwise nil
	length   int                            // bytes of a number, for wide; 0 if a length precedes each number
	encoding int32
	data     []byte
	at       int    // next number for encodingSplit, next bit for plain booleans
	size     int    // bytes of a number
	indices  hybrid // indices into the dictionary, or booleans
	ints     delta  // numbers, or lengths of texts
	prefixes delta  // for each text, the number of first bytes that equal the previous text
	last     []byte // previous text, for encodingDeltaText
	dict     dictionary
}

func (d *decoder) begin(encoding int32, data []byte) (err error) {
	d.size = [...]int{
		typeBool:   0,
		typeInt32:  4,
		typeInt64:  8,
		typeInt96:  12,
		typeFloat:  4,
		typeDouble: 8,
		typeBytes:  0,
		typeFixed:  d.length,
	}[d.kind]
	known := true
	switch d.encoding, d.data, d.at = encoding, data, 0; encoding {
	case encodingPlain:
	case encodingOldIndices, encodingIndices:
		d.encoding = encodingIndices
		if len(data) > 0 { // a page with only nulls may have no data
			if data[0] > 32 {
				return errIndex
			}
			d.indices = hybrid{b: data[1:], width: int(data[0])}
		}
	case encodingRuns:
		known = d.kind == typeBool
		if known && len(data) > 0 {
			data, err = textAt(data) // the length precedes the data, as in a text
			d.indices = hybrid{b: data, width: 1}
		}
	case encodingDelta:
		known = d.kind == typeInt32 || d.kind == typeInt64
		if known {
			d.ints, err = newDelta(data)
		}
	case encodingDeltaLength:
		known = d.kind == typeBytes
		if known {
			err = d.lengths(data)
		}
	case encodingDeltaText:
		known = d.kind == typeBytes || d.kind == typeFixed
		if known {
			d.last = d.last[:0]
			d.prefixes, err = newDelta(data)
			if err == nil {
				data, err = d.prefixes.rest()
				if err == nil {
					err = d.lengths(data)
				}
			}
		}
	case encodingSplit:
		known = d.size > 0
	default:
		known = false
	}
	if !known {
		err = fmt.Errorf("its encoding, number %d, is unknown for its type, number %d", encoding, d.kind)
	}
	return err
}

// lengths starts decoding texts in the encoding that stores the lengths of all texts first, and then the texts.
func (d *decoder) lengths(data []byte) (err error) {
	d.ints, err = newDelta(data)
	if err == nil {
		d.data, err = d.ints.rest()
	}
	return err
}

// numbers decodes the next len(dst) numbers or booleans into dst. indices is workspace of at least len(dst)
// elements.
func (d *decoder) numbers(dst []float64, indices []uint32) error {
	switch d.encoding {
	case encodingPlain:
		return d.plain(dst)
	case encodingSplit:
		return d.split(dst)
	case encodingDelta:
		for i := range dst {
			v, err := d.ints.next()
			if err != nil {
				return err
			}
			dst[i] = d.number(uint64(v))
		}
		return nil
	case encodingDeltaLength, encodingDeltaText:
		return d.wideNumbers(dst, d.text)
	}
	indices = indices[:len(dst)]
	if err := d.indices.next(indices); err != nil {
		return err
	}
	for i, k := range indices {
		if d.encoding == encodingRuns {
			dst[i] = d.number(uint64(k))
		} else if uint64(k) < uint64(len(d.dict.numbers)) {
			dst[i] = d.dict.numbers[k]
		} else {
			return errIndex
		}
	}
	return nil
}

func (d *decoder) plain(dst []float64) error {
	if d.kind == typeBool {
		if d.at+len(dst) > 8*len(d.data) {
			return errShort
		}
		for i := range dst {
			dst[i] = d.number(bitsAt(d.data, d.at+i, 1))
		}
		d.at += len(dst)
		return nil
	}
	if d.wide != nil {
		return d.wideNumbers(dst, d.next)
	}
	if len(dst)*d.size > len(d.data) {
		return errShort
	}
	from := d.data[:len(dst)*d.size]
	switch {
	case d.kind == typeDouble: // without function calls, because most columns have this type
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(from[8*i:]))
		}
	case d.size == 8:
		for i := range dst {
			dst[i] = d.number(binary.LittleEndian.Uint64(from[8*i:]))
		}
	default:
		for i := range dst {
			dst[i] = d.number(uint64(binary.LittleEndian.Uint32(from[4*i:])))
		}
	}
	d.data = d.data[len(from):]
	return nil
}

// wideNumbers decodes len(dst) numbers that the file stores as byte strings. The function next returns the next
// string.
func (d *decoder) wideNumbers(dst []float64, next func() ([]byte, error)) error {
	for i := range dst {
		b, err := next()
		if err != nil {
			return err
		}
		if d.length > 0 && len(b) != d.length {
			return fmt.Errorf("a number has %d bytes instead of %d", len(b), d.length)
		}
		v, ok := d.wide(b)
		if !ok {
			return fmt.Errorf("a number has %d bytes", len(b))
		}
		dst[i] = v
	}
	return nil
}

// next returns the bytes of the next number in plain encoding.
func (d *decoder) next() ([]byte, error) {
	if d.kind == typeBytes {
		return d.text()
	}
	if d.size > len(d.data) {
		return nil, errShort
	}
	b := d.data[:d.size]
	d.data = d.data[d.size:]
	return b, nil
}

// split decodes numbers from an encoding that stores the first bytes of all numbers, then all second bytes, and so
// on.
func (d *decoder) split(dst []float64) error {
	n := len(d.data) / d.size
	if d.at+len(dst) > n {
		return errShort
	}
	if d.wide != nil {
		at := d.at
		d.at += len(dst)
		var b [cell.MaxDecimalBytes]byte
		return d.wideNumbers(dst, func() ([]byte, error) {
			for k := range d.size {
				b[k] = d.data[k*n+at]
			}
			at++
			return b[:d.size], nil
		})
	}
	for i := range dst {
		v := uint64(0)
		for k := range d.size {
			v |= uint64(d.data[k*n+d.at+i]) << (8 * k)
		}
		dst[i] = d.number(v)
	}
	d.at += len(dst)
	return nil
}

// text returns the next text, valid until the next call.
func (d *decoder) text() ([]byte, error) {
	switch d.encoding {
	case encodingPlain:
		text, err := textAt(d.data)
		if err == nil {
			d.data = d.data[4+len(text):]
		}
		return text, err
	case encodingIndices:
		var k [1]uint32
		if err := d.indices.next(k[:]); err != nil {
			return nil, err
		}
		if uint64(k[0]) >= uint64(len(d.dict.starts)) {
			return nil, errIndex
		}
		return textAt(d.dict.data[d.dict.starts[k[0]]:])
	}
	n, err := d.ints.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(d.data)) {
		return nil, errShort
	}
	text := d.data[:n]
	d.data = d.data[n:]
	if d.encoding == encodingDeltaText {
		shared, err := d.prefixes.next()
		if err != nil || shared < 0 || shared > int64(len(d.last)) {
			return nil, errDelta
		}
		d.last = append(d.last[:shared], text...)
		text = d.last
	}
	return text, nil
}

// textAt returns the text in b that follows its length. The length is stored in the first 4 bytes of b.
func textAt(b []byte) ([]byte, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errShort
	}
	return b[4:][:binary.LittleEndian.Uint32(b)], nil
}

// setDictionary decodes the n values of a dictionary page. Texts in the dictionary share the memory of data.
func (d *decoder) setDictionary(n int, data []byte) error {
	d.dict.data = data
	d.dict.starts = d.dict.starts[:0]
	d.dict.numbers = d.dict.numbers[:0]
	if d.isText {
		for at := 0; n > 0; n-- {
			text, err := textAt(data[at:])
			if err != nil {
				return err
			}
			d.dict.starts = append(d.dict.starts, uint32(at))
			at += 4 + len(text)
		}
		return nil
	}
	if err := d.begin(encodingPlain, data); err != nil {
		return err
	}
	least := d.size
	if d.kind == typeBytes {
		least = 4 // the length of a number
	}
	if least == 0 || n > len(data)/least {
		return errShort
	}
	d.dict.numbers = slices.Grow(d.dict.numbers, n)[:n]
	return d.plain(d.dict.numbers)
}
