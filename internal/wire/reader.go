package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/little"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// A Reader reads one message and no byte beyond it. The first error sticks; what is
// read after it is zero or nil.
//
// It allocates no more than twice the bytes that it has received, and
// two chunks: the sizes in a header are believed only where the source shows that
// it holds as much. Data of a source that doesn't are gathered in parts that
// double, and put together once they are complete.
type Reader struct {
	src   io.Reader
	n     int64
	sure  int64 // message bytes that src is known to hold, 0 if it doesn't say
	crc   uint32
	buf   [chunk]byte
	parts [][]byte
	err   error
}

// NewReader returns a Reader of one message. The source shows how much it holds if it
// is a regular file or has Len, as a bytes.Reader has.
func NewReader(r io.Reader) *Reader { return &Reader{src: r, sure: remaining(r)} }

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

// N is how many bytes have been read.
func (r *Reader) N() int64 { return r.n }

// Err is the first error: of the source, io.EOF where there was not a single byte,
// or *Error.
func (r *Reader) Err() error { return r.err }

// Len is how many more bytes the source is known to hold.
func (r *Reader) Len() int { return int(min(max(0, r.sure-r.n), math.MaxInt)) }

// Fail makes the message wrong at an offset, err being what the reason is known as,
// or nil. An earlier error stays.
func (r *Reader) Fail(offset int64, err error, format string, a ...any) {
	r.Stop(&Error{offset, fmt.Sprintf(format, a...), err})
}

// Stop makes err the error of the message if there was none before.
func (r *Reader) Stop(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Preamble reads the start of a message of the kind and returns its format version and
// the size of its content.
func (r *Reader) Preamble(kind Kind) (version uint32, size int64) {
	_, version, size = r.PreambleOf(kind)
	return version, size
}

// PreambleOf is Preamble for a message of the kind or one of others, and says of which it is.
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
		r.Fail(8, nil, "format version 0")
	case p.Version > kind.Version() && (p.Kind == kind || p.Version > p.Kind.Version()):
		r.Fail(8, ErrVersion, "format version %d is newer than %d, the newest that this program reads", p.Version, kind.Version())
	case p.Kind != kind:
		r.Fail(12, nil, "holds %v, not %v", p.Kind, kind)
	case p.Length < Frame || p.Length > math.MaxInt64:
		r.Fail(16, nil, "message of %d bytes", p.Length)
	}
	return kind, p.Version, int64(p.Length) - Frame
}

// Struct reads the value of fixed size, at most a chunk, that v points to.
func (r *Reader) Struct(v any) {
	if b := r.buf[:binary.Size(v)]; r.fill(b) {
		_, r.err = binary.Decode(b, binary.LittleEndian, v)
	}
}

// Bytes reads n bytes into new memory.
func (r *Reader) Bytes(n int) []byte {
	return elements(r, n, 1, func(dst, b []byte) { copy(dst, b) })
}

// Float64s reads n numbers into new memory.
func (r *Reader) Float64s(n int) []float64 {
	return elements(r, n, 8, little.Floats)
}

// Int32s reads n numbers into new memory. Those above the largest int32 become negative.
func (r *Reader) Int32s(n int) []int32 {
	return elements(r, n, 4, func(dst []int32, b []byte) {
		for i := range dst {
			dst[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	})
}

// Ints reads n numbers of 8 bytes into new memory. Those above the largest int come out wrong: they
// are negative, or where an int has 4 bytes some other number.
func (r *Reader) Ints(n int) []int {
	return elements(r, n, 8, func(dst []int, b []byte) {
		for i := range dst {
			dst[i] = int(binary.LittleEndian.Uint64(b[8*i:]))
		}
	})
}

// Int64s reads n numbers, of either sign, into new memory.
func (r *Reader) Int64s(n int) []int64 {
	return elements(r, n, 8, func(dst []int64, b []byte) {
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	})
}

// Sums reads n sums with their corrections into new memory.
func (r *Reader) Sums(n int) []neumaier.Sum {
	return elements(r, n, 16, func(dst []neumaier.Sum, b []byte) {
		for i := range dst {
			dst[i] = neumaier.FromParts(float(b[16*i:]), float(b[16*i+8:]))
		}
	})
}

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Read makes r the source of a message that is part of its own.
func (r *Reader) Read(b []byte) (int, error) {
	if !r.fill(b) {
		return 0, r.err
	}
	return len(b), nil
}

// Close reads the checksum and compares.
func (r *Reader) Close() {
	at, want := r.n, r.crc
	var got uint32
	r.Struct(&got)
	if r.err == nil && got != want {
		r.Fail(at, nil, "checksum is %08x, that of the bytes before is %08x", got, want)
	}
}

// elements reads n elements of width bytes, a divisor of 16.
func elements[T any](r *Reader, n int, width int64, decode func(dst []T, b []byte)) []T {
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

// gather reads size bytes in parts, which are valid until the next call. Each new
// part is as long as those before it together, and of a multiple of 16 bytes.
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

// fill reads all of b and reports whether it could.
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
