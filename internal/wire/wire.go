// Package wire defines the header and the checksum of messages. Packages fd, ridge and checkpoint store their state
// in such messages:
//
//	offset  bytes
//	0       8      magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4      format version of this kind of message
//	12      4      kind of message
//	16      8      length of the whole message
//	24      …      content
//	        4      CRC-32C (Castagnoli) of all bytes before
//
// Numbers are little-endian, and floating-point numbers are in IEEE 754 format. The magic is similar to the first
// bytes of PNG files. If a file is transferred as text, so that line ends change or the eighth bit is lost, the
// magic changes.
package wire

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// A Kind says what a message contains.
type Kind uint32

const (
	Sketch  Kind = 1 // an fd.Sketch
	Summary Kind = 2 // a ridge.Summary
	// Checkpoint is a state that package internal/checkpoint has saved. Pass is a state that a ridge.Journal has
	// recorded.
	Checkpoint Kind = 3
	Pass       Kind = 4
	Lanes      Kind = 5 // a ridge.Summary with several lanes
	Window     Kind = 6 // a ridge.Window
	Fading     Kind = 7 // a ridge.Fading
)

// kinds has the properties of each kind.
var kinds = map[Kind]struct {
	name      string
	version   uint32 // the newest format version
	isSummary bool
}{
	Sketch:     {name: "a sketch", version: 4},
	Summary:    {name: "a summary", version: 2, isSummary: true},
	Checkpoint: {name: "a checkpoint", version: 1},
	Pass:       {name: "a pass", version: 1},
	Lanes:      {name: "the lanes of a summary", version: 1, isSummary: true},
	Window:     {name: "a window", version: 1, isSummary: true},
	Fading:     {name: "a fading summary", version: 1, isSummary: true},
}

// Version returns the newest format version of messages of this kind. NewWriter writes this version.
func (k Kind) Version() uint32 {
	return max(1, kinds[k].version)
}

// IsSummary reports whether messages of this kind contain a summary of rows.
func (k Kind) IsSummary() bool { return kinds[k].isSummary }

func (k Kind) String() string {
	if of, ok := kinds[k]; ok {
		return of.name
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

// Magic returns the first bytes of every message.
func Magic() string { return string(magic[:]) }

// Start is the offset of the content in a message, in bytes. Frame is the number of bytes of a message that do not
// belong to the content.
const (
	Start = 24
	Frame = Start + 4
)

// chunk is the number of bytes that are encoded or decoded at a time. This number of bytes fits in the L1 cache.
const chunk = 8 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrVersion matches an [Error] about a message whose format version is newer than [Kind.Version]: errors.Is(err,
// ErrVersion) is true.
var ErrVersion = errors.New("newer format version")

// An Error reports that a message is wrong at the byte Offset. Other packages convert it to an exported error of
// their own with the same fields.
type Error struct {
	Offset int64
	Reason string
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason)
}

func (e *Error) Unwrap() error { return e.Err }
