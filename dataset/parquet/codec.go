package parquet

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// A zstd frame and a snappy block tell how long they are uncompressed, and the
// library takes that much memory before it looks further: up to 64 GiB for a page of
// twenty bytes, which ends the process. The header of a page tells its length too,
// and is held to limitPages. So the two codecs are replaced, as RegisterCodec is
// for, by ones that write no more than a page has room for; the others do so by
// themselves. They don't stream, for a zstd stream may ask for 1 GiB of history.
func init() {
	replace(compress.Codecs.Zstd, decodeZstd)
	replace(compress.Codecs.Snappy, decodeSnappy)
}

func replace(kind compress.Compression, decode func(dst, src []byte) ([]byte, error)) {
	codec, err := compress.GetCodec(kind)
	if err != nil {
		panic("parquet: the library has no codec " + kind.String())
	}
	compress.RegisterCodec(kind, limited{codec, decode})
}

// A limited codec decodes into the memory it is given. Where it is given none, which
// no page is, it is the codec that it replaces.
type limited struct {
	compress.Codec
	decode func(dst, src []byte) ([]byte, error)
}

func (c limited) DecodeWithError(dst, src []byte) ([]byte, error) {
	if dst == nil {
		return compress.Decode(c.Codec, nil, src)
	}
	return c.decode(dst, src)
}

func (c limited) Decode(dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		panic(err) // as the interface has no other way to say so
	}
	return out
}

// unpacker decodes whole pages, from several goroutines at once. A page that was
// compressed in one go has a window of its own size.
var unpacker, errUnpacker = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(mostPage))

func decodeZstd(dst, src []byte) ([]byte, error) {
	if errUnpacker != nil {
		return nil, errUnpacker
	}
	return unpacker.DecodeAll(src, dst[:0:len(dst)])
}

func decodeSnappy(dst, src []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > len(dst) {
		return nil, fmt.Errorf("%d bytes of snappy in a page of %d", n, len(dst))
	}
	return snappy.Decode(dst, src)
}
