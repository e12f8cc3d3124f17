package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

const (
	magic        = "ARROW1"
	continuation = 0xffffffff
	// fileStart is where the first message of a file is: behind the magic and two bytes.
	fileStart = 8
	// fileEnd are the bytes behind the footer: its length and the magic.
	fileEnd = 4 + len(magic)
)

// messages yields the messages of a stream one after the other, or those of a file at the places
// it is said to have, as the library's reader asks for them: it is an ipc.MessageReader. Lengths are
// held to the limits, and to what is there, before memory is taken for them.
type messages struct {
	file   *rawfile.File
	room   room
	index  *index  // of a file that is not compressed; nil: the messages are read in their order
	places []block // of messages to be read
	next   int
	asFile bool // what is read in order has the magic before it, and behind it a footer
	began  bool
	batch  int // record batches so far
	meta   []byte
	known  int // bytes of body that are read at once: there were as many before
	last   *ipc.Message
}

// Retain and Release are those of ipc.MessageReader; there is one owner.
func (m *messages) Retain()  {}
func (m *messages) Release() {}

// fail is an error that tells the record batch.
func (m *messages) fail(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if m.batch > 0 {
		msg = fmt.Sprintf("record batch %d: %s", m.batch, msg)
	}
	return &dataset.InputError{File: m.file.Name, Msg: msg}
}

// Message returns the next message, valid until the next call, and io.EOF at the end.
func (m *messages) Message() (*ipc.Message, error) {
	h, body, err := m.read()
	if err != nil {
		return nil, err
	}
	if err := checkBody(h, m.meta, body); err != nil && h.kind != kindSchema {
		m.room.Free(body)
		return nil, m.fail("%v", err)
	}
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
	data := memory.NewBufferWithAllocator(body, &m.room)
	defer data.Release()
	meta := append([]byte(nil), m.meta...) // which batches refer to
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), data)
	return m.last, nil
}

// read reads the next message: its metadata to m.meta, its body to memory of the room.
func (m *messages) read() (h head, body []byte, err error) {
	if m.index != nil {
		return m.readPlace()
	}
	first := !m.began
	if first {
		m.began = true
		if m.file.Begins(magic) {
			m.asFile = true
			if _, err := m.file.Discard(fileStart); err != nil {
				return h, nil, m.short(err)
			}
		}
	}
	m.batch++
	length, err := m.prefix()
	if err != nil {
		return h, nil, err
	}
	m.meta = grown(m.meta, length)
	if _, err := io.ReadFull(m.file, m.meta); err != nil {
		return h, nil, m.short(err)
	}
	if h, err = m.head(); err != nil {
		return h, nil, err
	}
	if first && m.asFile && h.kind != kindSchema {
		return h, nil, &dataset.InputError{File: m.file.Name, Msg: "has its schema at its end alone, so it cannot be read in order; write an Arrow stream, or a file that is not compressed"}
	}
	body, err = m.body(h.body)
	return h, body, err
}

// prefix reads how many bytes of metadata follow; io.EOF says that no message does.
func (m *messages) prefix() (int, error) {
	var b [8]byte
	n, err := io.ReadFull(m.file, b[:4])
	if n == 0 && err == io.EOF && !m.asFile { // as a stream may end
		return 0, io.EOF
	}
	if err == nil && binary.LittleEndian.Uint32(b[:]) == continuation {
		_, err = io.ReadFull(m.file, b[4:])
	}
	if err != nil {
		return 0, m.short(err)
	}
	return m.length(b[:])
}

// length is that of the metadata behind the eight bytes before them, io.EOF where these end the stream.
func (m *messages) length(b []byte) (int, error) {
	n := binary.LittleEndian.Uint32(b[4:])
	switch is := binary.LittleEndian.Uint32(b); {
	case is == 0 || is == continuation && n == 0:
		return 0, m.end()
	case is != continuation:
		return 0, m.fail("there is no message where one should begin")
	case n < 8 || n > mostMeta:
		return 0, m.fail("metadata of %d bytes", n)
	}
	return int(n), nil
}

// end returns io.EOF where what follows the last message of a stream is what should: nothing, or
// in a file that is read in order its footer.
func (m *messages) end() error {
	if !m.asFile && m.file.Piped() {
		return io.EOF // another stream may follow in a pipe, which is not ours
	}
	var tail []byte
	var b [4096]byte
	for all := 0; ; {
		n, err := m.file.Read(b[:])
		tail = append(tail, b[:n]...)
		tail = tail[max(0, len(tail)-fileEnd):]
		if all += n; all > mostMeta {
			return m.fail("a footer of more than %d MiB", mostMeta>>20)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return m.file.Wrap(err, 0)
		}
	}
	if m.asFile && (len(tail) < fileEnd || string(tail[4:]) != magic) {
		return &dataset.InputError{File: m.file.Name, Msg: "is truncated: it has no footer"}
	}
	if !m.asFile && len(tail) > 0 {
		return &dataset.InputError{File: m.file.Name, Msg: "goes on behind the end of the stream"}
	}
	return io.EOF
}

// head reads the metadata at hand.
func (m *messages) head() (head, error) {
	h, err := headOf(m.meta)
	if err != nil {
		return h, m.fail("%v", err)
	}
	if h.kind != kindBatch {
		m.batch--
	}
	return h, nil
}

// body reads as many bytes, in steps: there may be fewer than are said to follow.
func (m *messages) body(size int64) ([]byte, error) {
	have, want := 0, int(min(size, max(1<<20, int64(m.known))))
	b, err := m.room.take(want)
	for err == nil {
		var n int
		n, err = io.ReadFull(m.file, b[have:])
		if have += n; err != nil {
			err = m.short(err)
			break
		}
		if int64(have) == size {
			m.known = have
			return b, nil
		}
		var more []byte
		if more, err = m.room.take(int(min(size, 4*int64(have)))); err == nil {
			copy(more, b)
			m.room.Free(b)
			b = more
		}
	}
	m.room.Free(b)
	if known, ok := errors.AsType[*dataset.InputError](err); ok {
		return nil, known
	}
	return nil, m.fail("%v", err)
}

// short is the error of a message that ends too early, or of other failures to read it.
func (m *messages) short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if _, of := m.file.Peek(1); m.file.Packed() != "" && of != io.EOF { // what is around it ends too early
			return m.file.Wrap(err, 0)
		}
		return m.fail("is truncated: the data end within it")
	}
	return m.file.Wrap(err, 0)
}

// readPlace reads the next message of a file, wherever it is.
func (m *messages) readPlace() (h head, body []byte, err error) {
	if !m.began {
		m.began, m.places = true, append(slices.Clone(m.index.before), m.index.batches...)
		m.meta = append(m.meta[:0], m.index.schema...)
		return head{kind: kindSchema}, nil, nil
	}
	if m.next == len(m.places) {
		return h, nil, io.EOF
	}
	p := m.places[m.next]
	m.next++
	m.batch++
	if m.meta, err = metaAt(m.file, p, m.meta); err != nil {
		return h, nil, m.fail("%v", err)
	}
	if h, err = m.head(); err != nil {
		return h, nil, err
	}
	if h.body > p.body {
		return h, nil, m.fail("a body of %d bytes where there are %d", h.body, p.body)
	}
	if body, err = m.room.take(int(h.body)); err != nil {
		return h, nil, m.fail("%v", err)
	}
	if n, err := m.file.At().ReadAt(body, p.at+p.meta); n < len(body) {
		m.room.Free(body)
		return h, nil, m.short(err)
	}
	return h, body, nil
}

// metaAt reads the metadata of a message in a file, to memory that it may use.
func metaAt(f *rawfile.File, p block, memory []byte) ([]byte, error) {
	if p.meta > mostMeta+8 || p.at > f.Plain-p.meta || p.body > f.Plain-p.meta-p.at {
		return nil, fmt.Errorf("the message at byte %d, of %d and %d bytes, is not in the file", p.at, p.meta, p.body)
	}
	b := grown(memory, int(p.meta))
	if n, err := f.At().ReadAt(b, p.at); n < len(b) {
		return nil, err
	}
	if binary.LittleEndian.Uint32(b) != continuation {
		return nil, fmt.Errorf("there is no message at byte %d", p.at)
	}
	n := int64(binary.LittleEndian.Uint32(b[4:]))
	if n < 8 || n > p.meta-8 {
		return nil, fmt.Errorf("metadata of %d bytes where there are %d", n, p.meta-8)
	}
	return b[8 : 8+n], nil
}

// grown is memory of size bytes, b's where it has as many.
func grown(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size)
	}
	return b[:size]
}
