package rawfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// These are the errors for invalid UTF-16.
var (
	errSurrogate = errors.New("half of a surrogate pair stands alone")
	errHalf      = errors.New("it ends within a character")
)

// A utf16Reader converts UTF-16 to UTF-8.
type utf16Reader struct {
	from  *bufio.Reader
	order binary.ByteOrder
	buf   []byte
	text  []byte // part of buf not yet returned
	err   error  // error after text
}

// newUTF16Reader returns a reader that skips the byte order mark of from and converts the UTF-16 text after it.
func newUTF16Reader(from *bufio.Reader, order binary.ByteOrder) *utf16Reader {
	_, err := from.Discard(2)
	return &utf16Reader{from: from, order: order, err: err}
}

// Read implements [io.Reader].
func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.text) == 0 && u.err == nil {
		u.fill()
	}
	n := copy(p, u.text)
	u.text = u.text[n:]
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

// fill decodes the buffered characters, or waits for one.
func (u *utf16Reader) fill() {
	const most = 1 << 15
	u.buf = u.buf[:0]
	for len(u.buf) < most &&
		(len(u.buf) == 0 || u.from.Buffered() >= 4) {
		var r rune
		r, u.err = u.next()
		if u.err != nil {
			break
		}
		u.buf = utf8.AppendRune(u.buf, r)
	}
	u.text = u.buf
}

// next decodes one character, which consists of one or two units of 16 bits.
func (u *utf16Reader) next() (rune, error) {
	r, err := u.unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	low, err := u.unit()
	if err == io.EOF {
		err = errHalf
	}
	if err != nil {
		return 0, err
	}
	r = utf16.DecodeRune(r, low)
	if r == utf8.RuneError {
		return 0, errSurrogate
	}
	return r, nil
}

// unit reads a unit of 16 bits.
func (u *utf16Reader) unit() (rune, error) {
	b, err := u.from.Peek(2)
	if len(b) < 2 {
		if err == io.EOF && len(b) == 1 {
			err = errHalf
		}
		return 0, err
	}
	r := rune(u.order.Uint16(b))
	_, err = u.from.Discard(2)
	return r, err
}
