package svmlight

import (
	"bytes"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
)

// A format parses the rows of a svmlight file. It implements [chunk.Format].
type format struct {
	d, targets int
	// first is the smallest index, 0 or 1.
	first int
	// keepZeros is true if zeros in the file become entries of the sparse rows. This is so when the rows are read
	// to find the largest index.
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

// plain parses the line at byte p, appends its row to b, and returns the start of the next line. It returns 0 if
// the line needs the slower method Record.
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

// query returns the end of a field of the form qid:n that begins at byte p. If there is no such field, it returns
// 0.
func query(text []byte, p int) int {
	if !bytes.HasPrefix(text[p:], []byte("qid:")) {
		return 0
	}
	for !ends(text[p]) {
		p++
	}
	return p
}

// skipBlanks returns the position of the next field at or after byte p, or of the end of the line.
func skipBlanks(text []byte, p int) int {
	for text[p] != '\n' && blank(text[p]) {
		p++
	}
	return p
}

// ends reports whether the byte c ends a field.
func ends(c byte) bool { return blank(c) || c == '#' }
