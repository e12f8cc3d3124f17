package rawfile

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// errBehind reports that bytes after a gzip stream are not gzip.
var errBehind = errors.New("bytes behind the stream")

// A gzipReader reads consecutive gzip streams. Unlike [gzip.Reader], it returns different errors for a truncated
// stream and for bytes after a stream that are not gzip.
type gzipReader struct {
	from   *bufio.Reader
	stream *gzip.Reader
}

// Read implements [io.Reader].
func (g *gzipReader) Read(p []byte) (int, error) {
	for {
		g.stream.Multistream(false)
		n, err := g.stream.Read(p)
		if err != io.EOF || n > 0 {
			if err == io.EOF { // the next Read returns it again
				err = nil
			}
			return n, err
		}
		head, err := g.from.Peek(2)
		switch {
		case len(head) == 0:
			return 0, err
		case len(head) == 1 || string(head) != gzipMagic:
			return 0, errBehind
		}
		if err := g.stream.Reset(g.from); err != nil {
			if err == io.EOF { // within the header
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}
