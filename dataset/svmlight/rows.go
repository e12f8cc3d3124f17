package svmlight

import (
	"bytes"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
)

// A format parses the rows of a file; it implements [chunk.Format].
type format struct {
	d, targets int
	// first is the smallest index, 0 or 1.
	first int
	// keepZeros is true if explicit zeros become entries, because a scan looks for the largest index.
	keepZeros bool
}

// Quotes implements [chunk.Format].
func (f *format) Quotes() *chunk.Quotes { return nil }

// Rows implements [chunk.Format].
func (f *format) Rows(b *dataset.Buffer, text []byte, at, size int) int {
	for at < size {
		next := f.plain(b, text, at)
		if next == 0 {
			break
		}
		at = next
	}
	return min(at, size)
}

// plain appends the row at byte p and returns its end. It returns 0 if only the slower method Record can parse the
// line.
func (f *format) plain(b *dataset.Buffer, text []byte, p int) int {
	p = skipBlanks(text, p)
	y, n := cell.Prefix(text[p:])
	p += n
	if n == 0 || !ends(text[p]) {
		return 0
	}
	idx, val := b.CSR.ColIdx, b.CSR.Val
	last := f.first - 1
	for p = skipBlanks(text, p); text[p] != '\n' && text[p] != '#'; p = skipBlanks(text, p) {
		w, n := cell.Whole(text[p:])
		if n == 0 || text[p+n] != ':' {
			p = query(text, p)
			if p > 0 {
				continue
			}
			return 0
		}
		if int(w) <= last || w >= uint64(f.d+f.first) {
			return 0
		}
		last = int(w)
		p += n + 1
		v, n := cell.Prefix(text[p:])
		p += n
		if n == 0 || !ends(text[p]) {
			return 0
		}
		if v != 0 || f.keepZeros {
			idx = append(idx, int32(last-f.first))
			val = append(val, v)
		}
	}
	b.CSR.ColIdx, b.CSR.Val = idx, val
	if f.targets > 0 {
		b.Y = append(b.Y, y)
	}
	b.EndRow()
	if text[p] == '#' {
		p += bytes.IndexByte(text[p:], '\n')
	}
	return p + 1
}

// query returns the end of the field qid:n that begins at byte p, or 0 if there is no such field.
func query(text []byte, p int) int {
	if !bytes.HasPrefix(text[p:], []byte("qid:")) {
		return 0
	}
	for !ends(text[p]) {
		p++
	}
	return p
}

// skipBlanks returns the next field's start, or the line's end.
func skipBlanks(text []byte, p int) int {
	for text[p] != '\n' && blank(text[p]) {
		p++
	}
	return p
}

// ends reports whether the byte c ends a field.
func ends(c byte) bool { return blank(c) || c == '#' }
