package svmlight

import (
	"bytes"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/decimal"
)

// A format is how the rows of a file are read; it is a [chunk.Format].
type format struct{ d, targets int }

// Quotes is that of [chunk.Format].
func (f *format) Quotes() bool { return false }

// Rows is that of [chunk.Format].
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

// plain appends the row of the line that begins at byte p of text, and returns where the line
// ends. It returns 0, and appends nothing, where the line is no row, or one with what is
// unusual or wrong, for which Record is there.
func (f *format) plain(b *dataset.Buffer, text []byte, p int) int {
	p = skipBlanks(text, p)
	y, n := decimal.Prefix(text[p:])
	if p += n; n == 0 || !ends(text[p]) {
		return 0
	}
	idx, val := b.CSR.ColIdx, b.CSR.Val
	last := 0
	for p = skipBlanks(text, p); text[p] != '\n' && text[p] != '#'; p = skipBlanks(text, p) {
		w, n := decimal.Whole(text[p:])
		if n == 0 || text[p+n] != ':' {
			if p = query(text, p); p > 0 {
				continue
			}
			return 0
		}
		if w <= uint64(last) || w > uint64(f.d) {
			return 0
		}
		last, p = int(w), p+n+1
		v, n := decimal.Prefix(text[p:])
		if p += n; n == 0 || !ends(text[p]) {
			return 0
		}
		if v != 0 {
			idx, val = append(idx, int32(last-1)), append(val, v)
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

// query returns the end of a field qid:n at byte p, 0 where there is none.
func query(text []byte, p int) int {
	if !bytes.HasPrefix(text[p:], []byte("qid:")) {
		return 0
	}
	for !ends(text[p]) {
		p++
	}
	return p
}

// skipBlanks returns where the next field of the line begins, or the line ends.
func skipBlanks(text []byte, p int) int {
	for text[p] != '\n' && blank(text[p]) {
		p++
	}
	return p
}

// ends reports whether a field ends before c.
func ends(c byte) bool { return blank(c) || c == '#' }
