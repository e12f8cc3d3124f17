package chunk

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// chunkSize is the number of bytes of a chunk, unless a record is longer. A chunk of this size fits in the cache of
// a core. Parsing it takes more time than handing it to another goroutine.
const chunkSize = 1 << 17

// padding is the number of bytes after the text of a chunk: a line end, and bytes that parsers may read beyond the
// text.
const padding = 1 + cell.Slack

// A cutter divides a file into chunks.
type cutter struct {
	file   *rawfile.File
	quotes *Quotes // result of Format.Quotes
	size   int     // bytes of a chunk without long records
	rest   []byte  // bytes read after the last complete record
	ended  bool
	// emptyRows is true if an empty line is a record, except at the end of the file. Whether the file ends is only
	// known with the next chunk. So a chunk ends with a line that is not empty, and empty lines after it begin the
	// next chunk.
	emptyRows bool
}

// errLong is the error of a chunk whose last record is longer than rawfile.MaxRow bytes.
var errLong = errors.New("too long")

// fill reads the next chunk into c. It returns false at the end of the text, which is the end of the share if the
// file is read in shares.
func (k *cutter) fill(c *chunk) bool {
	if k.ended {
		return false
	}
	text := append(c.whole[:0], k.rest...)
	k.rest = k.rest[:0]
	want := max(k.size, min(2*len(text), rawfile.MaxRow+chunkSize), len(text)+1)
	if p := k.file.Plain; p >= 0 && p < int64(k.size) { // one more byte, to detect the end of the file
		want = int(p) + 1
	}
	var err error
	var quotes Quotes
	if k.quotes != nil {
		quotes = *k.quotes
	}
	for seen, lastEnd := 0, 0; ; {
		if len(text) >= want {
			want = nextSize(want)
		}
		before := len(text)
		text, err = k.read(text, want)
		if err != nil {
			break
		}
		if k.file.Prompt() &&
			bytes.IndexByte(text[before:], '\n') < 0 &&
			len(text) <= rawfile.MaxRow {
			continue
		}
		if k.quotes == nil {
			lastEnd = bytes.LastIndexByte(text, '\n') + 1
		} else if n := quotes.Read(text[seen:]); n > 0 {
			lastEnd = seen + n
		}
		seen = len(text)
		end := lastEnd
		if k.emptyRows {
			end = withoutEmptyLines(text[:end])
		}
		if end > 0 {
			k.rest = append(k.rest, text[end:]...)
			text = text[:end]
			break
		}
		if len(text) > rawfile.MaxRow {
			err = errLong
			break
		}
	}
	k.ended = err != nil
	if err == io.EOF &&
		k.emptyRows &&
		len(text) > 0 &&
		!(k.file.Divided() && k.file.HasMoreText()) {
		text = text[:withoutEmptyLines(text)]
	}
	switch {
	case err == io.EOF && k.file.Divided():
		err = errDivided
	case err == io.EOF:
		err = nil
	}
	n := len(text)
	c.whole = append(text, '\n')[:n+padding] // read has allocated these bytes
	clear(c.whole[n+1:])
	c.lines = Lines{file: k.file, text: c.whole[: n : n+padding], end: err}
	return n > 0 || err != nil && err != errDivided
}

// withoutEmptyLines returns the length that text has without the empty lines at its end.
func withoutEmptyLines(text []byte) int {
	end := len(bytes.TrimRight(text, "\r\n"))
	if end == 0 {
		return 0
	}
	if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
		return end + i + 1
	}
	return len(text)
}

// nextSize returns the total number of bytes of text to read, if the first size bytes do not contain a whole
// record. It multiplies a small size by 4. For a large size it returns the maximum at once, because each increase
// copies the text.
func nextSize(size int) int {
	size *= 4
	if size > maxText {
		size = rawfile.MaxRow + chunkSize
	}
	return size
}

// read appends data of the file to text until text has size bytes. From a pipe with the option Prompt, it appends
// only the bytes that have arrived.
func (k *cutter) read(text []byte, size int) ([]byte, error) {
	if cap(text) < size+padding { // allocate no more than needed, because text may be large
		text = append(make([]byte, 0, size+padding), text...)
	}
	for len(text) < size {
		n, err := k.file.Text(text[len(text):size])
		text = text[:len(text)+n]
		if err != nil {
			return text, err
		}
		if n > 0 && k.file.Prompt() {
			break
		}
	}
	return text, nil
}
