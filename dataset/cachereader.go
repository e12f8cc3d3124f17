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
	"sync"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/wire"
)

// A cacheReader reads the file of a [Cache].
type cacheReader struct {
	file *os.File
	d, t int
	at   int64 // position of the next byte to read
	left int64 // bytes of the blocks not yet read
	rows int64 // index of the first row of the next block
	sum  uint32
}

var errDamaged = errors.New("is damaged")

// openCache opens a cache file with header h.
func openCache(name string, h cacheHeader) (r *cacheReader, rows int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	r = &cacheReader{
		file: f,
		d:    int(h.Features),
		t:    int(h.Targets),
		at:   cacheHeaderSize,
	}
	rows, err = r.begin(h)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return r, rows, nil
}

// begin checks that the header of the file is want. It returns the number of rows in the file and sets r to read
// the first block.
func (r *cacheReader) begin(want cacheHeader) (rows int64, err error) {
	info, err := r.file.Stat()
	if err != nil {
		return 0, err
	}
	const last = cacheFrameSize + cacheSumSize
	r.left = info.Size() - cacheHeaderSize - last
	if r.left < 0 {
		return 0, errDamaged
	}
	var is cacheHeader
	if err := binary.Read(r.file, binary.LittleEndian, &is); err != nil {
		return 0, err
	}
	if is != want {
		return 0, errDamaged
	}
	end := make([]byte, last)
	if _, err := r.file.ReadAt(end, info.Size()-last); err != nil {
		return 0, err
	}
	var f cacheFrame
	if _, err := binary.Decode(end, binary.LittleEndian, &f); err != nil {
		return 0, err
	}
	sum := crc32.Checksum(end[:cacheFrameSize], castagnoli)
	if f.Rows != 0 ||
		f.Entries > math.MaxInt64 ||
		sum != binary.LittleEndian.Uint32(end[cacheFrameSize:]) {
		return 0, errDamaged
	}
	return int64(f.Entries), nil
}

// read fills b with the next bytes.
func (r *cacheReader) read(b []byte) error {
	_, err := r.file.ReadAt(b, r.at)
	r.at += int64(len(b))
	return err
}

// frame reads the frame of the next block, or returns io.EOF after the last block. The result rest is the number of
// bytes of the block after the frame.
func (r *cacheReader) frame() (f cacheFrame, rest int64, err error) {
	if r.left == 0 {
		return f, 0, io.EOF
	}
	if r.left < cacheFrameSize {
		return f, 0, errDamaged
	}
	b := make([]byte, cacheFrameSize)
	if err := r.read(b); err != nil {
		return f, 0, err
	}
	r.sum = crc32.Checksum(b, castagnoli)
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

// skip moves to the block that contains the given row. If the file has no such row, it moves to the end.
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
		if r.rows+int64(f.Rows) > row { // go back to the start of the frame
			r.at -= cacheFrameSize
			r.left = left
			return nil
		}
		r.at += rest
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
	out.N = n
	out.Sparse = f.Layout&cacheSparse != 0
	out.firstRow = r.rows
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
	if err := r.read(sum[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(sum[:]) != r.sum {
		return errDamaged
	}
	r.rows += int64(n)
	return nil
}

func (r *cacheReader) sparse(to *engine.CSR, n, entries int) error {
	to.RowPtr = slices.Grow(to.RowPtr, n)[:n+1]
	to.ColIdx = slices.Grow(to.ColIdx, entries)[:entries]
	err := integers(r, to.RowPtr[1:])
	if err == nil {
		err = integers(r, to.ColIdx)
	}
	if err == nil {
		to.Val, err = r.floats(to.Val, entries)
	}
	if err == nil &&
		(!slices.IsSorted(to.RowPtr) || to.RowPtr[n] != entries || entries > 0 && (slices.Min(to.ColIdx) < 0 || int(
			slices.Max(to.ColIdx),
		) >= r.d)) {
		err = errDamaged
	}
	return err
}

func integers[T int | int32](r *cacheReader, to []T) error {
	return r.words(len(to), 4, func(first int, b []byte) {
		for i := range len(b) / 4 {
			to[first+i] = T(binary.LittleEndian.Uint32(b[4*i:]))
		}
	})
}

// floats reads the next n numbers of the file and returns them. It uses the memory of to, which must be empty.
func (r *cacheReader) floats(to []float64, n int) ([]float64, error) {
	to = slices.Grow(to, n)[:n]
	return to, r.words(n, 8, func(lo int, b []byte) {
		wire.Floats(to[lo:lo+len(b)/8], b)
	})
}

var cacheChunks = sync.Pool{New: func() any { return new([cacheChunk]byte) }}

// words reads the next n numbers, of size bytes each. It reads them in chunks, in parallel. For each chunk it calls
// take with the bytes b of the chunk; first is the index of the first number in b.
func (r *cacheReader) words(n, size int, take func(first int, b []byte)) error {
	bytes := n * size
	sums := make([]uint32, (bytes+cacheChunk-1)/cacheChunk)
	err := parallel.Do(len(sums), n, func(i int) error {
		memory := cacheChunks.Get().(*[cacheChunk]byte)
		defer cacheChunks.Put(memory)
		at := i * cacheChunk
		b := memory[:min(cacheChunk, bytes-at)]
		if _, err := r.file.ReadAt(b, r.at+int64(at)); err != nil {
			return err
		}
		sums[i] = crc32.Checksum(b, castagnoli)
		take(at/size, b)
		return nil
	})
	for i, sum := range sums {
		r.sum = wire.JoinSums(
			crc32.Castagnoli,
			r.sum,
			sum,
			min(cacheChunk, bytes-i*cacheChunk),
		)
	}
	r.at += int64(bytes)
	return err
}

func (r *cacheReader) close() error { return r.file.Close() }
