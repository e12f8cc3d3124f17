// Package wire is the frame of the messages that packages fd, ridge and checkpoint
// store their state in:
//
//	offset  bytes
//	0       8      magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4      format version, of that kind
//	12      4      kind of message
//	16      8      length of the whole message
//	24      …      content
//	        4      CRC-32C (Castagnoli) of all bytes before
//
// All is little-endian, floating-point numbers are IEEE 754 bits. The magic, after
// that of PNG, does not survive a transfer as text, which changes line ends or
// drops the eighth bit.
package wire

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// A Kind says what a message holds.
type Kind uint32

const (
	Sketch  Kind = 1 // an fd.Sketch
	Summary Kind = 2 // a ridge.Summary
	// Checkpoint is a state of internal/checkpoint, and Pass what a ridge.Journal keeps.
	Checkpoint Kind = 3
	Pass       Kind = 4
	Lanes      Kind = 5 // a ridge.Summary of several lanes
	Window     Kind = 6 // a ridge.Window
	Fading     Kind = 7 // a ridge.Fading
)

// Version is the newest format version of the kind, which is the one that is written unless
// [NewVersionWriter] is told another.
func (k Kind) Version() uint32 {
	switch k {
	case Sketch:
		return 4
	case Summary:
		return 2
	}
	return 1
}

func (k Kind) String() string {
	switch k {
	case Sketch:
		return "a sketch"
	case Summary:
		return "a summary"
	case Checkpoint:
		return "a checkpoint"
	case Pass:
		return "a pass"
	case Lanes:
		return "the lanes of a summary"
	case Window:
		return "a window"
	case Fading:
		return "a fading summary"
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

type preamble struct {
	Magic   [8]byte
	Version uint32
	Kind    Kind
	Length  uint64
}

var magic = [8]byte{0x89, 'F', 'D', 'R', '\r', '\n', 0x1a, '\n'}

// Magic is how every message begins.
func Magic() string { return string(magic[:]) }

// Start is where the content of a message begins, and Frame what a message has beside
// it, in bytes.
const (
	Start = 24
	Frame = Start + 4
)

// chunk is how much is converted at a time, small enough for the nearest cache.
const chunk = 8 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrVersion is in the chain of an Error about a version newer than [Kind.Version].
var ErrVersion = errors.New("newer format version")

// An Error says at which byte a message turned out to be wrong. The packages
// that use this one convert it to their own type of the same fields.
type Error struct {
	Offset int64
	Reason string
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

func (e *Error) Unwrap() error { return e.Err }
