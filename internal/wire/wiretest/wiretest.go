// Package wiretest has tests for types that are stored as messages of package wire.
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

// Readers holds functions that return different readers of the bytes b. Only some of these readers tell how many
// bytes are left.
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

// Refuses reads the invalid message b into receiver: by UnmarshalBinary, and by ReadFrom from each of [Readers].
// The test fails if a call succeeds, returns an error of another type than E, or changes the receiver. Only for an
// empty message, ReadFrom may return io.EOF. Refuses returns the last error of type E.
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

// Seal sets the checksum at the end of the message b to the correct value. If b is too short for a checksum, Seal
// has no effect.
func Seal(b []byte) []byte {
	if n := len(b) - 4; n >= 0 {
		binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)))
	}
	return b
}

// Put writes v at an offset of a message.
func Put(b []byte, offset int, v uint64) { binary.LittleEndian.PutUint64(b[offset:], v) }
