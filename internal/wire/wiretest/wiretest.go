// Package wiretest has what the tests of every message share.
package wiretest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing/iotest"

	"pgregory.net/rapid"
)

// A Message is a value that writes itself as a message and reads one.
type Message interface {
	BinarySize() int64
	MarshalBinary() ([]byte, error)
	UnmarshalBinary([]byte) error
	ReadFrom(io.Reader) (int64, error)
}

// Readers are sources that show how much they hold and sources that don't.
var Readers = map[string]func(b []byte) io.Reader{
	"bytes":  func(b []byte) io.Reader { return bytes.NewReader(b) },
	"hidden": func(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} },
	"halves": func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	"eof":    func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
}

// Marshal is m as a message, which must be as long as m says.
func Marshal(t rapid.TB, m Message) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if m.BinarySize() != int64(len(b)) {
		t.Fatalf("BinarySize is %d, the message has %d bytes", m.BinarySize(), len(b))
	}
	return b
}

// Refuses fails unless every way of reading b fails with an E and leaves its
// receiver as it was. It returns the last such error.
func Refuses[E error](t rapid.TB, what string, b []byte, receiver Message) E {
	t.Helper()
	before := Marshal(t, receiver)
	err := receiver.UnmarshalBinary(b)
	format, ok := errors.AsType[E](err)
	if !ok || err.Error() == "" {
		t.Fatalf("%s: UnmarshalBinary: %v", what, err)
	}
	for way, open := range Readers {
		_, err := receiver.ReadFrom(open(b))
		if e, ok := errors.AsType[E](err); ok {
			format = e
		} else if err != io.EOF || len(b) > 0 {
			t.Fatalf("%s: %s: %v", what, way, err)
		}
	}
	if !bytes.Equal(Marshal(t, receiver), before) {
		t.Fatalf("%s: the receiver has changed", what)
	}
	return format
}

// Seal makes the checksum of a message fit, where it has room for one.
func Seal(b []byte) []byte {
	if n := len(b) - 4; n >= 0 {
		binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)))
	}
	return b
}

// Put writes v at an offset of a message.
func Put(b []byte, offset int, v uint64) { binary.LittleEndian.PutUint64(b[offset:], v) }
