package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
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
	codecHadoop = 5 // lz4 as Hadoop writes it
	codecZstd   = 6
	codecLZ4    = 7 // one block, without a frame
)

// unpacker may run on several goroutines at once.
var unpacker, errUnpacker = zstd.NewReader(
	nil,
	zstd.WithDecodeAllCapLimit(true),
	zstd.WithDecoderConcurrency(0),
	zstd.WithDecoderMaxWindow(maxPage),
)

// decompress decompresses src into dst. It returns an error unless src yields exactly len(dst) bytes. It never
// yields more, because a few compressed bytes can stand for gigabytes.
func decompress(codec int32, dst, src []byte) (err error) {
	n := len(dst)
	switch codec {
	case codecNone:
		n = len(src)
		if n == len(dst) {
			copy(dst, src)
		}
	case codecSnappy:
		n, err = snappy.DecodedLen(src)
		if err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case codecGzip:
		var r gzip.Reader
		err = r.Reset(bytes.NewReader(src))
		if err == nil {
			err = readAll(&r, dst)
		}
	case codecBrotli:
		err = readAll(brotli.NewReader(bytes.NewReader(src)), dst)
	case codecZstd:
		err = errUnpacker
		if err == nil {
			var out []byte
			out, err = unpacker.DecodeAll(src, dst[:0:len(dst)])
			n = len(out)
		}
	case codecLZ4:
		n, err = lz4.UncompressBlock(src, dst)
	case codecHadoop:
		n, err = unHadoop(dst, src)
	default:
		return fmt.Errorf("its compression, number %d, is unknown", codec)
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("a page has %d bytes, its header states %d", n, len(dst))
	}
	return err
}

// unHadoop decompresses lz4 data of the codec with number 5 in Parquet. The program Hadoop writes a sequence of
//
//	size of the text (4 bytes, big-endian), then blocks until their text has this size:
//	size of the block (4 bytes, big-endian), block
//
// Older versions of Arrow wrote a single block, or the lz4 frame format, with the same codec number. unHadoop
// accepts all three.
func unHadoop(dst, src []byte) (n int, err error) {
	n, err = unHadoopBlocks(dst, src)
	if err == nil && n == len(dst) {
		return n, nil
	}
	if len(src) >= 4 && binary.LittleEndian.Uint32(src) == 0x184D2204 { // a frame begins with these bytes
		return len(dst), readAll(lz4.NewReader(bytes.NewReader(src)), dst)
	}
	return lz4.UncompressBlock(src, dst)
}

func unHadoopBlocks(dst, src []byte) (n int, err error) {
	be := binary.BigEndian
	for len(src) > 0 {
		if len(src) < 4 || uint64(be.Uint32(src)) > uint64(len(dst)-n) {
			return 0, errHadoop
		}
		end := n + int(be.Uint32(src))
		src = src[4:]
		for n < end {
			if len(src) < 4 || uint64(be.Uint32(src)) > uint64(len(src)-4) {
				return 0, errHadoop
			}
			block := src[4:][:be.Uint32(src)]
			src = src[4+len(block):]
			got, err := lz4.UncompressBlock(block, dst[n:end])
			if err != nil {
				return 0, err
			}
			n += got
		}
	}
	return n, nil
}

var errHadoop = errors.New("an lz4 block lies outside its page")

// readAll fills dst from r. If r has fewer or more than len(dst) bytes, it returns an error.
func readAll(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("a page has more than %d bytes, as its header states: %v", len(dst), err)
	}
	return nil
}
