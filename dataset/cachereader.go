package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/little"
)

// A cacheReader reads the file of a [Cache].
type cacheReader struct {
	file  *os.File
	d, t  int
	left  int64 // bytes of the blocks not yet read
	rows  int64 // index of the first row of the next block
	sum   uint32
	chunk []byte
}

var errDamaged = errors.New("is damaged")

// openCache opens a cache file with header h.
func openCache(name string, h cacheHeader) (r *cacheReader, rows int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	r = &cacheReader{file: f, d: int(h.Features), t: int(h.Targets), chunk: make([]byte, cacheChunk)}
	if rows, err = r.begin(h); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return r, rows, nil
}

// begin checks the header, reads the row count, and finds the first block.
func (r *cacheReader) begin(want cacheHeader) (rows int64, err error) {
	info, err := r.file.Stat()
	if err != nil {
		return 0, err
	}
	const last = cacheFrameSize + cacheSumSize
	if r.left = info.Size() - cacheHeaderSize - last; r.left < 0 {
		return 0, errDamaged
	}
	var is cacheHeader
	if err := binary.Read(r.file, binary.LittleEndian, &is); err != nil {
		return 0, err
	}
	if is != want {
		return 0, errDamaged
	}
	end := r.chunk[:last]
	if _, err := r.file.ReadAt(end, info.Size()-last); err != nil {
		return 0, err
	}
	var f cacheFrame
	if _, err := binary.Decode(end, binary.LittleEndian, &f); err != nil {
		return 0, err
	}
	sum := crc32.Checksum(end[:cacheFrameSize], castagnoli)
	if f.Rows != 0 || f.Entries > math.MaxInt64 || sum != binary.LittleEndian.Uint32(end[cacheFrameSize:]) {
		return 0, errDamaged
	}
	return int64(f.Entries), nil
}

// read fills b and updates the checksum.
func (r *cacheReader) read(b []byte) error {
	_, err := io.ReadFull(r.file, b)
	r.sum = crc32.Update(r.sum, castagnoli, b)
	return err
}

// frame reads the next frame. The block has rest more bytes.
func (r *cacheReader) frame() (f cacheFrame, rest int64, err error) {
	if r.left == 0 {
		return f, 0, io.EOF
	}
	if r.left < cacheFrameSize {
		return f, 0, errDamaged
	}
	r.sum = 0
	b := r.chunk[:cacheFrameSize]
	if err := r.read(b); err != nil {
		return f, 0, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &f); err != nil {
		return f, 0, err
	}
	size, err := f.size(r.d, r.t)
	if err != nil || f.Rows == 0 || f.Rows > math.MaxInt32 || size > r.left {
		return f, 0, errDamaged
	}
	r.left -= size
	return f, size - cacheFrameSize, nil
}

// skip seeks to the block that holds the given row.
func (r *cacheReader) skip(row int64) error {
	for {
		left := r.left
		f, rest, err := r.frame()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.rows+int64(f.Rows) > row { // seek back to the start of the frame
			_, err := r.file.Seek(-cacheFrameSize, io.SeekCurrent)
			r.left = left
			return err
		}
		if _, err := r.file.Seek(rest, io.SeekCurrent); err != nil {
			return err
		}
		r.rows += int64(f.Rows)
	}
}

// fill reads the next block, or returns io.EOF.
func (r *cacheReader) fill(out *Buffer) error {
	f, _, err := r.frame()
	if err != nil {
		return err
	}
	n := int(f.Rows)
	out.N, out.Sparse, out.firstRow = n, f.Layout&cacheSparse != 0, r.rows
	if out.Sparse {
		err = r.sparse(&out.CSR, n, int(f.Entries))
	} else {
		out.X, err = r.floats(out.X, n*r.d)
	}
	if err == nil {
		out.Y, err = r.floats(out.Y, n*r.t)
	}
	if err == nil && f.Layout&cacheWeighted != 0 {
		out.W, err = r.floats(out.W, n)
	}
	if err != nil {
		return err
	}
	var sum [cacheSumSize]byte
	if _, err := io.ReadFull(r.file, sum[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(sum[:]) != r.sum {
		return errDamaged
	}
	r.rows += int64(n)
	return nil
}

func (r *cacheReader) sparse(to *engine.CSR, n, entries int) error {
	err := r.words(n, 4, func(b []byte) {
		for ; len(b) > 0; b = b[4:] {
			to.RowPtr = append(to.RowPtr, int(binary.LittleEndian.Uint32(b)))
		}
	})
	if err == nil {
		err = r.words(entries, 4, func(b []byte) {
			for ; len(b) > 0; b = b[4:] {
				to.ColIdx = append(to.ColIdx, int32(binary.LittleEndian.Uint32(b)))
			}
		})
	}
	if err == nil {
		to.Val, err = r.floats(to.Val, entries)
	}
	if err == nil && (!slices.IsSorted(to.RowPtr) || to.RowPtr[n] != entries || entries > 0 && (slices.Min(to.ColIdx) < 0 || int(slices.Max(to.ColIdx)) >= r.d)) {
		err = errDamaged
	}
	return err
}

// floats appends the next n numbers to the empty slice to.
func (r *cacheReader) floats(to []float64, n int) ([]float64, error) {
	to = slices.Grow(to, n)
	err := r.words(n, 8, func(b []byte) {
		at := len(to)
		to = to[:at+len(b)/8]
		little.Floats(to[at:], b)
	})
	return to, err
}

// words reads n numbers of size bytes, in chunks passed to take.
func (r *cacheReader) words(n, size int, take func(b []byte)) error {
	for n > 0 {
		k := min(n, cacheChunk/size)
		b := r.chunk[:k*size]
		if err := r.read(b); err != nil {
			return err
		}
		take(b)
		n -= k
	}
	return nil
}

func (r *cacheReader) close() error { return r.file.Close() }
