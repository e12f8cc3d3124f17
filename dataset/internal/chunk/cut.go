package chunk

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/decimal"
)

// usualSize is how many bytes a chunk has, but where a record is longer: what goes through
// the caches of a core, and takes longer to parse than to hand on.
const usualSize = 1 << 17

// slack are the bytes behind the text of a chunk: the end of a line, and what a parser may
// look at.
const slack = 1 + decimal.Slack

// A cutter divides a file into chunks.
type cutter struct {
	file   *rawfile.File
	quotes bool   // what Format.Quotes says
	size   int    // of a chunk, but where a record is longer
	rest   []byte // what was read behind the last record that ended
	ended  bool
}

// errLong ends a text whose last record is longer than a row may be.
var errLong = errors.New("too long")

// fill reads the next chunk. It reports whether there is one.
func (k *cutter) fill(c *chunk) bool {
	if k.ended {
		return false
	}
	text := append(c.whole[:0], k.rest...)
	k.rest = k.rest[:0]
	want := max(k.size, min(2*len(text), rawfile.MaxRow+usualSize), len(text)+1)
	if p := k.file.Plain; p >= 0 && p < int64(k.size) { // one byte more, to see the end
		want = int(p) + 1
	}
	var err error
	for seen, quotes := 0, 0; ; {
		if len(text) >= want {
			want = longer(want)
		}
		before := len(text)
		if text, err = k.read(text, want); err != nil {
			break
		}
		if k.file.Prompt() && bytes.IndexByte(text[before:], '\n') < 0 && len(text) <= rawfile.MaxRow {
			continue
		}
		if k.quotes {
			quotes += bytes.Count(text[seen:], []byte{'"'})
			seen = len(text)
		}
		if end := lastEnd(text, quotes); end > 0 {
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
	switch {
	case err == io.EOF && k.file.Divided():
		err = errDivided
	case err == io.EOF:
		err = nil
	}
	n := len(text)
	c.whole = append(text, '\n')[:n+slack] // read has made room
	clear(c.whole[n+1:])
	c.lines = Lines{file: k.file, text: c.whole[: n : n+slack], end: err}
	return n > 0 || err != nil && err != errDivided
}

// longer is how many bytes to read where want did not have a whole record: from some size on
// as many as there may be, for each step copies what there is.
func longer(want int) int {
	if want *= 4; want > flight {
		want = rawfile.MaxRow + usualSize
	}
	return want
}

// read reads on until text has so many bytes or, where rows are wanted as they come, has what has
// come.
func (k *cutter) read(text []byte, want int) ([]byte, error) {
	if cap(text) < want+slack { // exactly: it may be large
		text = append(make([]byte, 0, want+slack), text...)
	}
	for len(text) < want {
		n, err := k.file.Text(text[len(text):want])
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

// lastEnd is where the last record that ends in text does, 0 where none does. text begins with
// a record; there are so many quotes in it.
func lastEnd(text []byte, quotes int) int {
	i := bytes.LastIndexByte(text, '\n')
	if quotes == 0 {
		return i + 1
	}
	for i = len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '"':
			quotes--
		case text[i] == '\n' && quotes%2 == 0:
			return i + 1
		}
	}
	return 0
}
