// Package npy reads NumPy's .npy files, plain or gzip, in blocks of rows: one- or
// two-dimensional arrays of float64, float32 or integers, little- or big-endian,
// in C order. Integers beyond 2⁵³ are rounded to the nearest float64, as NumPy's
// astype does.
package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/sbinet/npyio/npy"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Options says which columns are targets: each "first", "last" or a 1-based
// column number. All others are features.
type Options struct{ Targets []string }

// Open reads the header and returns a source of the rows. Errors are
// *[dataset.InputError]; the line they name is the row, from 1.
func Open(name string, opts Options) (*dataset.Stream, error) {
	f, h, err := open(name)
	if err != nil {
		return nil, err
	}
	f.Close() // only read
	target := make([]bool, h.cols)
	var order []int
	for _, spec := range opts.Targets {
		i := column(spec, h.cols)
		switch {
		case i < 0 || i >= h.cols:
			return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("there is no target column %q; there are %d columns, by number", spec, h.cols)}
		case target[i]:
			return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("target column %q is named twice", spec)}
		}
		target[i] = true
		order = append(order, i)
	}
	if len(order) == h.cols {
		return nil, &dataset.InputError{File: name, Msg: "no column is left for the features"}
	}
	return dataset.NewStream(h.rows, h.cols-len(order), len(order), false, func() (dataset.Reader, error) {
		f, h, err := open(name)
		if err != nil {
			return nil, err
		}
		return &reader{file: f, header: h, target: target, order: order, raw: make([]byte, h.cols*h.size), row: make([]float64, h.cols)}, nil
	}), nil
}

func column(spec string, cols int) int {
	switch spec {
	case "first":
		return 0
	case "last":
		return cols - 1
	}
	n, err := strconv.Atoi(spec)
	if err != nil {
		return -1
	}
	return n - 1
}

// A header is what a file says of itself.
type header struct {
	rows int64
	cols int
	size int // bytes of an entry
	get  func(b []byte) float64
}

// maxHeader bounds what a hostile header length can make us allocate; NumPy's own
// are below 200 bytes.
const maxHeader = 1 << 16

func open(name string) (*rawfile.File, header, error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return nil, header{}, err
	}
	h, err := readHeader(f)
	if err != nil {
		f.Close() // the error at hand says more
		var known *dataset.InputError
		if !errors.As(err, &known) {
			err = &dataset.InputError{File: name, Msg: err.Error()}
		}
		return nil, header{}, err
	}
	return f, h, nil
}

func readHeader(f *rawfile.File) (header, error) {
	prefix := make([]byte, 12)
	if _, err := io.ReadFull(f, prefix[:10]); err != nil {
		return header{}, errors.New("is too short for a .npy file")
	}
	if !bytes.Equal(prefix[:6], npy.Magic[:]) {
		return header{}, errors.New("is not a .npy file")
	}
	length, start := int(binary.LittleEndian.Uint16(prefix[8:])), 10
	if prefix[6] >= 2 {
		if _, err := io.ReadFull(f, prefix[10:]); err != nil {
			return header{}, errors.New("is too short for a .npy file")
		}
		length, start = int(binary.LittleEndian.Uint32(prefix[8:])), 12
	}
	if length > maxHeader {
		return header{}, fmt.Errorf("has a header of %d bytes, more than %d", length, maxHeader)
	}
	text := make([]byte, start+length)
	copy(text, prefix[:start])
	if _, err := io.ReadFull(f, text[start:]); err != nil {
		return header{}, errors.New("ends within its header")
	}
	if text[6] == 3 { // version 3 is version 2 with UTF-8 field names
		text[6] = 2
	}
	d, err := parse(text)
	if err != nil {
		return header{}, err
	}
	h, err := describe(d)
	if err != nil {
		return h, err
	}
	// Before a row is allocated: the file must be long enough to hold what it
	// says. Of a compressed one that isn't known.
	if need := h.rows*int64(h.cols*h.size) + int64(len(text)); f.Plain >= 0 && f.Plain < need {
		return h, fmt.Errorf("is truncated: %d×%d entries of %d bytes take %d, it has %d", h.rows, h.cols, h.size, need, f.Plain)
	}
	return h, nil
}

// maxColumns bounds the memory of a row, which a hostile header could make
// anything.
const maxColumns = 1 << 24

// parse leaves the dictionary to npyio, which panics on some malformed ones.
func parse(text []byte) (h npy.Header, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("has a malformed header: %v", p)
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(text))
	if err != nil {
		return h, fmt.Errorf("has a malformed header: %w", err)
	}
	return r.Header, nil
}

func describe(h npy.Header) (header, error) {
	d := h.Descr
	out := header{cols: 1}
	var ok bool
	if out.get, out.size, ok = decoder(d.Type); !ok {
		return out, fmt.Errorf("holds entries of type %q; float64, float32 and integers can be read", d.Type)
	}
	switch {
	case len(d.Shape) != 1 && len(d.Shape) != 2:
		return out, fmt.Errorf("has %d dimensions, must have 1 or 2", len(d.Shape))
	case d.Fortran && len(d.Shape) == 2 && d.Shape[0] > 1 && d.Shape[1] > 1:
		return out, errors.New("is in Fortran order, so its rows cannot be streamed; save it with np.ascontiguousarray")
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
	return out, nil
}

// decoder returns how to read an entry of a type such as "<f8".
func decoder(kind string) (get func(b []byte) float64, size int, ok bool) {
	var order binary.ByteOrder = binary.LittleEndian
	if len(kind) == 3 {
		switch kind[0] {
		case '<', '|':
		case '>':
			order = binary.BigEndian
		default:
			return nil, 0, false
		}
		kind = kind[1:]
	}
	switch kind {
	case "f8":
		return func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }, 8, true
	case "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }, 4, true
	case "i8":
		return func(b []byte) float64 { return float64(int64(order.Uint64(b))) }, 8, true
	case "u8":
		return func(b []byte) float64 { return float64(order.Uint64(b)) }, 8, true
	case "u4":
		return func(b []byte) float64 { return float64(order.Uint32(b)) }, 4, true
	case "u2":
		return func(b []byte) float64 { return float64(order.Uint16(b)) }, 2, true
	case "i4":
		return func(b []byte) float64 { return float64(int32(order.Uint32(b))) }, 4, true
	case "i2":
		return func(b []byte) float64 { return float64(int16(order.Uint16(b))) }, 2, true
	case "i1":
		return func(b []byte) float64 { return float64(int8(b[0])) }, 1, true
	case "u1", "b1":
		return func(b []byte) float64 { return float64(b[0]) }, 1, true
	}
	return nil, 0, false
}

type reader struct {
	header
	file   *rawfile.File
	target []bool
	order  []int
	raw    []byte    // one row
	row    []float64 // the same, decoded
	at     int64
}

func (r *reader) Close() error { return r.file.Close() }

func (r *reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows && r.at < r.rows {
		if _, err := io.ReadFull(r.file, r.raw); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return &dataset.InputError{File: r.file.Name, Msg: fmt.Sprintf("is truncated: row %d of %d is not whole", r.at+1, r.rows)}
			}
			return r.file.Wrap(err, int(r.at+1))
		}
		r.at++
		if err := r.decode(); err != nil {
			return err
		}
		for i, v := range r.row {
			if !r.target[i] {
				b.X = append(b.X, v)
			}
		}
		for _, i := range r.order {
			b.Y = append(b.Y, r.row[i])
		}
		b.EndRow()
	}
	if b.N > 0 {
		return nil
	}
	if _, err := r.file.ReadByte(); !errors.Is(err, io.EOF) {
		if err != nil {
			return r.file.Wrap(err, int(r.at))
		}
		return &dataset.InputError{File: r.file.Name, Msg: fmt.Sprintf("has more bytes than its %d rows", r.rows)}
	}
	return io.EOF
}

// decode turns the raw row into numbers, all finite.
func (r *reader) decode() error {
	for i := range r.row {
		v := r.get(r.raw[i*r.size:])
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &dataset.InputError{File: r.file.Name, Line: int(r.at), Column: i + 1, Msg: fmt.Sprintf("row %d, column %d is %v, which is not finite", r.at, i+1, v), NonFinite: true}
		}
		r.row[i] = v
	}
	return nil
}
