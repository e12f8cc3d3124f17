package parquet

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecBrotli = 4
	codecZstd   = 6
	codecLZ4    = 7 // one block, without a frame
)

// unpacker may run on several goroutines at once.
var unpacker, errUnpacker = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxWindow(maxPage))

// decompress fills dst exactly, because few bytes can stand for gigabytes.
func decompress(codec int32, dst, src []byte) (err error) {
	n := len(dst)
	switch codec {
	case codecNone:
		if n = len(src); n == len(dst) {
			copy(dst, src)
		}
	case codecSnappy:
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case codecGzip:
		var r gzip.Reader
		if err = r.Reset(bytes.NewReader(src)); err == nil {
			err = readAll(&r, dst)
		}
	case codecBrotli:
		err = readAll(brotli.NewReader(bytes.NewReader(src)), dst)
	case codecZstd:
		if err = errUnpacker; err == nil {
			var out []byte
			out, err = unpacker.DecodeAll(src, dst[:0:len(dst)])
			n = len(out)
		}
	case codecLZ4:
		n, err = lz4.UncompressBlock(src, dst)
	default:
		return fmt.Errorf("its compression, number %d, is unknown", codec)
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("a page has %d bytes, its header states %d", n, len(dst))
	}
	return err
}

// readAll returns an error unless r has exactly len(dst) bytes.
func readAll(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("a page has more than %d bytes, as its header states: %v", len(dst), err)
	}
	return nil
}
