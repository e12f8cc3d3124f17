package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"

	"github.com/fdridge/fdridge/internal/wire"
)

// A cacheHeader is the first part of the file of a [Cache]. The file is little-endian and consists of
//
//	the cacheHeader
//	for each block: a cacheFrame, the numbers of the block, a CRC-32C of frame and numbers
//	at the end: a cacheFrame with Rows = 0, a CRC-32C of this frame
//
// The numbers of a block of rows are the features X, the targets Y and the weights W, in this form:
//
//	X of sparse rows:  for each row the end of its entries (uint32), then the columns (int32), then the values
//	X of dense rows:   all numbers, row by row
//	Y:                 all numbers, row by row
//	W:                 one number a row, absent if the rows have no weights
//
// Unless stated otherwise, numbers are float64.
type cacheHeader struct {
	Magic             [8]byte
	Features, Targets uint64
	Key               [sha256.Size]byte
}

var cacheMagic = [8]byte{'f', 'd', 'r', 'o', 'w', 's', 0, 1}

type cacheFrame struct {
	Rows, Layout uint32
	Entries      uint64 // number of sparse entries; in the last frame, the number of rows in the file
}

// These are the bits of cacheFrame.Layout.
const (
	cacheSparse = 1 << iota
	cacheWeighted
)

const (
	cacheHeaderSize = 8 + 2*8 + sha256.Size
	cacheFrameSize  = 2*4 + 8
	cacheSumSize    = 4
)

// size returns the number of bytes that a block of rows takes in the file, including its frame and its checksum.
// Each row has d features and t targets.
func (f cacheFrame) size(d, t int) (int64, error) {
	const maxBytes = 1 << 58
	n, words := float64(f.Rows), float64(t)
	if f.Layout&cacheWeighted != 0 {
		words++
	}
	bytes := cacheFrameSize + cacheSumSize + 8*n*words
	if f.Layout&cacheSparse != 0 {
		bytes += 4*n + 12*float64(f.Entries)
	} else {
		bytes += 8 * n * float64(d)
	}
	if bytes > maxBytes || f.Entries > math.MaxUint32 {
		return 0, fmt.Errorf("a block of %g bytes", bytes)
	}
	return int64(bytes), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cacheChunk is the number of bytes that are converted at a time. This many bytes fit in the processor's cache.
const cacheChunk = 1 << 18

// A cacheWriter writes the file of a [Cache].
type cacheWriter struct {
	file     *os.File
	out      *bufio.Writer
	sum      hash.Hash32
	to       io.Writer // writes to both out and sum
	maxBytes int64     // largest file size in bytes; 0: no limit
	wrote    int64
	rows     int64
	chunk    []byte
}

func newCacheWriter(dir string, h cacheHeader, maxBytes int64) (*cacheWriter, error) {
	f, err := os.CreateTemp(dir, "fdridge-*.part")
	if err != nil {
		return nil, err
	}
	w := &cacheWriter{
		file:     f,
		out:      bufio.NewWriterSize(f, cacheChunk),
		sum:      crc32.New(castagnoli),
		maxBytes: maxBytes,
	}
	w.to = io.MultiWriter(w.out, w.sum)
	w.wrote = cacheHeaderSize
	return w, binary.Write(w.out, binary.LittleEndian, h)
}

// block writes the block b, with d features and t targets a row. The source has n rows in all, or n is −1 if their
// number is unknown.
func (w *cacheWriter) block(b Block, n int64, d, t int) error {
	if b.N == 0 {
		return nil
	}
	f := cacheFrame{Rows: uint32(b.N)}
	if b.Sparse != nil {
		f.Layout = cacheSparse
		f.Entries = uint64(b.Sparse.RowPtr[b.N] - b.Sparse.RowPtr[0])
	}
	if b.W != nil {
		f.Layout |= cacheWeighted
	}
	size, err := f.size(d, t)
	if err != nil {
		return err
	}
	all := w.wrote + size
	if w.rows == 0 && n > 0 { // estimate the size of the file before much is written
		all = int64(float64(size) * float64(n) / float64(b.N))
	}
	if w.maxBytes > 0 && all > w.maxBytes {
		return fmt.Errorf("the rows need more than %d bytes", w.maxBytes)
	}
	w.wrote += size
	w.rows += int64(b.N)
	w.sum.Reset()
	if err := binary.Write(w.to, binary.LittleEndian, f); err != nil {
		return err
	}
	return w.numbers(b, d, t)
}

// numbers writes the numbers of the block b and then its checksum. Each row has d features and t targets.
func (w *cacheWriter) numbers(b Block, d, t int) error {
	if s := b.Sparse; s != nil {
		lo, hi := s.RowPtr[0], s.RowPtr[b.N]
		if err := convert(w, s.RowPtr[1:b.N+1], 4, func(to []byte, from []int) {
			for i, end := range from {
				binary.LittleEndian.PutUint32(to[4*i:], uint32(end-lo))
			}
		}); err != nil {
			return err
		}
		if err := convert(w, s.ColIdx[lo:hi], 4, func(to []byte, from []int32) {
			for i, j := range from {
				binary.LittleEndian.PutUint32(to[4*i:], uint32(j))
			}
		}); err != nil {
			return err
		}
		if err := convert(w, s.Val[lo:hi], 8, wire.PutFloats); err != nil {
			return err
		}
	} else if err := convert(w, b.X[:b.N*d], 8, wire.PutFloats); err != nil {
		return err
	}
	for _, x := range [][]float64{b.Y[:b.N*t], b.W} {
		if err := convert(w, x, 8, wire.PutFloats); err != nil {
			return err
		}
	}
	return binary.Write(w.out, binary.LittleEndian, w.sum.Sum32())
}

// convert writes the numbers in from. The function put encodes each number in size bytes.
func convert[T any](
	w *cacheWriter,
	from []T,
	size int,
	put func(to []byte, from []T),
) error {
	w.chunk = slices.Grow(w.chunk[:0], cacheChunk)
	for len(from) > 0 {
		n := min(len(from), cacheChunk/size)
		to := w.chunk[:n*size]
		put(to, from[:n])
		if _, err := w.to.Write(to); err != nil {
			return err
		}
		from = from[n:]
	}
	return nil
}

// finish writes the last frame and closes the file.
func (w *cacheWriter) finish() error {
	w.sum.Reset()
	err := binary.Write(w.to, binary.LittleEndian, cacheFrame{Entries: uint64(w.rows)})
	if err == nil {
		err = binary.Write(w.out, binary.LittleEndian, w.sum.Sum32())
	}
	if err == nil {
		err = w.out.Flush()
	}
	return errors.Join(err, w.file.Close())
}

func (w *cacheWriter) drop() error {
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}
