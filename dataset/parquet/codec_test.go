package parquet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// TestLimited: the codecs decode what they are given room for, and tell what is wrong
// otherwise, as an error or, where the interface has none, a panic.
func TestLimited(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 50)
	for _, c := range []struct {
		kind         compress.Compression
		full, broken string
	}{
		{compress.Codecs.Zstd, "decompressed size", "magic number mismatch"},
		{compress.Codecs.Snappy, "500 bytes of snappy in a page of 499", "corrupt input"},
	} {
		codec, err := compress.GetCodec(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(nil, text)
		decode := func(dst, src []byte) (out []byte, failure string) {
			defer func() {
				if p := recover(); p != nil {
					failure = p.(error).Error()
				}
			}()
			return codec.Decode(dst, src), ""
		}
		for _, dst := range [][]byte{nil, make([]byte, len(text))} {
			if out, failure := decode(dst, packed); failure != "" || !bytes.Equal(out, text) {
				t.Errorf("%s into %d bytes: %d bytes, %s", c.kind, len(dst), len(out), failure)
			}
		}
		if _, failure := decode(make([]byte, len(text)-1), packed); !strings.Contains(failure, c.full) {
			t.Errorf("%s in too little room: %s", c.kind, failure)
		}
		if _, failure := decode(make([]byte, len(text)), bytes.Repeat([]byte{0xff}, 20)); !strings.Contains(failure, c.broken) {
			t.Errorf("%s, broken: %s", c.kind, failure)
		}
	}
}
