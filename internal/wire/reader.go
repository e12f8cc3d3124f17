package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/twofold"
)

// A Reader reads one message, and no byte after this message. After the first error, all further reads return zero
// or nil.
//
// A Reader allocates at most twice the number of bytes received, plus two chunks of 8 KiB. If the source is known
// to hold enough bytes, the Reader allocates memory of the size that the message states. Otherwise it reads parts
// of growing size, and joins them at the end.
type Reader struct {
	src   io.Reader
	n     int64
	sure  int64 // number of bytes of the message that src is known to hold; 0 if unknown
	crc   uint32
	buf   [chunk]byte
	parts [][]byte
	err   error
}

// NewReader returns a Reader of one message in r. The Reader knows the number of bytes in r if r is a regular file,
// or if r has a method Len like bytes.Reader.
func NewReader(r io.Reader) *Reader {
	return &Reader{src: r, sure: remaining(r)}
}

func remaining(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	}:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		return max(0, info.Size()-at)
	}
	return 0
}

// N returns the number of bytes read so far.
func (r *Reader) N() int64 { return r.n }

// Err returns the first error: an error of the source, io.EOF if the source was empty, or an [*Error] about the
// message.
func (r *Reader) Err() error { return r.err }

// Len returns the number of bytes that the source is known to have left. It returns 0 if this number is unknown.
func (r *Reader) Len() int {
	return int(min(max(0, r.sure-r.n), math.MaxInt))
}

// Fail records that the message is wrong at the given offset. The error is an [*Error] that wraps err, which may be
// nil. If there was an error before, Fail has no effect.
func (r *Reader) Fail(offset int64, err error, format string, a ...any) {
	r.Stop(&Error{offset, fmt.Sprintf(format, a...), err})
}

// Within records an error if v is not between lo and hi, both included. The error contains the name of the value,
// what, and its offset in the message.
func (r *Reader) Within(offset int64, what string, v, lo, hi uint64) {
	if v < lo || v > hi {
		r.Fail(offset, nil, "%s is %d, not between %d and %d", what, v, lo, hi)
	}
}

// Stop records err, if there is no earlier error.
func (r *Reader) Stop(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Preamble reads the start of a message. It records an error if the message is not of the given kind. It returns
// the format version and the size of the content in bytes.
func (r *Reader) Preamble(kind Kind) (version uint32, size int64) {
	_, version, size = r.PreambleOf(kind)
	return version, size
}

// PreambleOf reads the start of a message. It records an error if the message is not of one of the given kinds. It
// returns the kind, the format version, and the size of the content in bytes.
func (r *Reader) PreambleOf(kind Kind, others ...Kind) (of Kind, version uint32, size int64) {
	var p preamble
	r.Struct(&p)
	if slices.Contains(others, p.Kind) {
		kind = p.Kind
	}
	switch {
	case r.err != nil:
	case p.Magic != magic:
		r.Fail(0, nil, "not a message of fdridge")
	case p.Version == 0:
		r.Fail(8, nil, "the format version is 0")
	case p.Version > kind.Version() &&
		(p.Kind == kind || p.Version > p.Kind.Version()):
		r.Fail(
			8,
			ErrVersion,
			"format version %d is newer than %d, the newest that this program reads",
			p.Version,
			kind.Version(),
		)
	case p.Kind != kind:
		r.Fail(12, nil, "holds %v, not %v", p.Kind, kind)
	case p.Length < Frame || p.Length > math.MaxInt64:
		r.Fail(16, nil, "the message has %d bytes", p.Length)
	}
	return kind, p.Version, int64(p.Length) - Frame
}

// Struct reads a value of fixed size into *v. The size must be at most one chunk, which is 8 KiB.
func (r *Reader) Struct(v any) {
	if b := r.buf[:binary.Size(v)]; r.fill(b) {
		_, r.err = binary.Decode(b, binary.LittleEndian, v)
	}
}

// Bytes reads n bytes and returns them in a new slice.
func (r *Reader) Bytes(n int) []byte {
	return elements(r, n, 1, func(dst, b []byte) { copy(dst, b) })
}

// Float64s reads n numbers of type float64 and returns them in a new slice.
func (r *Reader) Float64s(n int) []float64 {
	return elements(r, n, 8, Floats)
}

// Int32s reads n unsigned numbers of 4 bytes and returns them in a new slice. Numbers above the largest int32
// become negative.
func (r *Reader) Int32s(n int) []int32 {
	return elements(r, n, 4, func(dst []int32, b []byte) {
		for i := range dst {
			dst[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	})
}

// Ints reads n unsigned numbers of 8 bytes and returns them in a new slice. On a 64-bit machine, numbers above the
// largest int become negative. On a 32-bit machine, only the lower 4 bytes of a number are kept.
func (r *Reader) Ints(n int) []int {
	return elements(r, n, 8, func(dst []int, b []byte) {
		for i := range dst {
			dst[i] = int(binary.LittleEndian.Uint64(b[8*i:]))
		}
	})
}

// Int64s reads n signed numbers of 8 bytes and returns them in a new slice.
func (r *Reader) Int64s(n int) []int64 {
	return elements(r, n, 8, func(dst []int64, b []byte) {
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	})
}

// Sums reads n compensated sums into new memory.
func (r *Reader) Sums(n int) []twofold.Total {
	return elements(r, n, 16, func(dst []twofold.Total, b []byte) {
		for i := range dst {
			dst[i] = twofold.TotalFromParts(float(b[16*i:]), float(b[16*i+8:]))
		}
	})
}

func float(b []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Read implements [io.Reader], so that a Reader can be the source of a message inside this message.
func (r *Reader) Read(b []byte) (int, error) {
	if !r.fill(b) {
		return 0, r.err
	}
	return len(b), nil
}

// Close reads the checksum at the end of the message. It records an error if the checksum is wrong.
func (r *Reader) Close() {
	at, want := r.n, r.crc
	var got uint32
	r.Struct(&got)
	if r.err == nil && got != want {
		r.Fail(at, nil, "the checksum is %08x, but the bytes have %08x", got, want)
	}
}

// elements reads n elements of width bytes each, and decodes them by the function decode. width must divide 16.
func elements[T any](
	r *Reader,
	n int,
	width int64,
	decode func(dst []T, b []byte),
) []T {
	size := int64(n) * width
	if r.err == nil && r.sure-r.n >= size {
		out := make([]T, n)
		for rest := out; len(rest) > 0 && r.err == nil; {
			k := min(len(rest), int(chunk/width))
			if b := r.buf[:k*int(width)]; r.fill(b) {
				decode(rest[:k], b)
			}
			rest = rest[k:]
		}
		return out
	}
	parts := r.gather(size)
	if r.err != nil {
		return nil
	}
	out := make([]T, n)
	rest := out
	for _, b := range parts {
		k := len(b) / int(width)
		decode(rest[:k], b)
		rest = rest[k:]
	}
	return out
}

// gather reads size bytes and returns them in several parts, which are valid until the next call. The length of
// each part except the last is a multiple of 16 bytes, so that no element is divided. Parts that gather allocates
// grow with the number of bytes read.
func (r *Reader) gather(size int64) [][]byte {
	var parts [][]byte
	for got := int64(0); got < size && r.err == nil; {
		i := len(parts)
		if i == len(r.parts) {
			r.parts = append(r.parts, make([]byte, min(max(chunk, got), (size-got+15)&^15)))
		}
		part := r.parts[i][:min(int64(len(r.parts[i])), size-got)]
		r.fill(part)
		parts = append(parts, part)
		got += int64(len(part))
	}
	return parts
}

// fill reads bytes until b is full. It returns false after an error.
func (r *Reader) fill(b []byte) bool {
	if r.err != nil {
		return false
	}
	n, err := io.ReadFull(r.src, b)
	r.n += int64(n)
	r.crc = crc32.Update(r.crc, castagnoli, b[:n])
	switch err {
	case nil:
		return true
	case io.EOF, io.ErrUnexpectedEOF:
		if r.n == 0 {
			r.err = io.EOF
			break
		}
		r.Fail(r.n, io.ErrUnexpectedEOF, "the message ends early")
	default:
		r.err = err
	}
	return false
}
