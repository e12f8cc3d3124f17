// Package wiretest has tests for types that are stored as messages.
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

// A Message is a value that can be written as a message and read back.
type Message interface {
	BinarySize() int64
	MarshalBinary() ([]byte, error)
	UnmarshalBinary([]byte) error
	ReadFrom(io.Reader) (int64, error)
}

// Readers holds functions that return a reader of b. Some of these readers show how many bytes are left, others do
// not.
var Readers = map[string]func(b []byte) io.Reader{
	"bytes":  func(b []byte) io.Reader { return bytes.NewReader(b) },
	"hidden": func(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} },
	"halves": func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	"eof":    func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
}

// Marshal returns m as a message. The test fails if the length of the message is not m.BinarySize().
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

// Refuses reads the bad message b by UnmarshalBinary, and by ReadFrom from each of the Readers. The test fails if a
// call succeeds, returns an error of another type than E, or changes the receiver. Refuses returns the last error.
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

// Seal corrects the checksum at the end of a message, unless the message is too short for a checksum.
func Seal(b []byte) []byte {
	if n := len(b) - 4; n >= 0 {
		binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)))
	}
	return b
}

// Put writes v at an offset of a message.
func Put(b []byte, offset int, v uint64) { binary.LittleEndian.PutUint64(b[offset:], v) }
