package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/parallel"
)

const (
	magic        = "ARROW1"
	continuation = 0xffffffff
	// Six magic bytes and two bytes of padding precede the first message.
	fileStart = 8
	// The last bytes of a file are the length of the footer, in four bytes, and the magic bytes.
	fileEnd = 4 + len(magic)
)

// messages reads the messages of a file. It reads them in order, or, if index is not nil, at the positions in
// index.
type messages struct {
	file   *rawfile.File
	room   allocator
	index  *index  // nil if the messages are read in order, as in a compressed file
	places []block // locations of the messages to read
	next   int
	asFile bool // a file is read in order, with the magic bytes before the messages and a footer after them
	began  bool
	ended  bool
	batch  int // number of record batches so far
	meta   []byte
	known  int // size of the largest body so far; this size is allocated at once
}

// fail returns an error that names the record batch.
func (m *messages) fail(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if m.batch > 0 {
		msg = fmt.Sprintf("record batch %d: %s", m.batch, msg)
	}
	return &dataset.InputError{File: m.file.Name, Msg: msg}
}

// read reads the next message. The returned h shares memory with m.meta, so the next call overwrites it.
func (m *messages) read() (h head, body []byte, err error) {
	if m.ended {
		return h, nil, io.EOF
	}
	defer func() { m.ended = err == io.EOF }()
	if m.index != nil {
		return m.readPlace()
	}
	first := !m.began
	if first {
		m.began = true
		if m.file.Begins(magic) {
			m.asFile = true
			if _, err := m.file.Discard(fileStart); err != nil {
				return h, nil, m.truncatedError(err)
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
		return h, nil, m.truncatedError(err)
	}
	h, err = m.head()
	if err != nil {
		return h, nil, err
	}
	if first && m.asFile && h.kind != kindSchema {
		return h, nil, &dataset.InputError{
			File: m.file.Name,
			Msg: "has its schema only at the end, so it cannot be read in order; " +
				"write an Arrow stream, or a file that is not compressed",
		}
	}
	body, err = m.body(h.body)
	return h, body, err
}

// prefix reads the bytes before the metadata of the next message and returns the length of the metadata. It returns
// io.EOF if there is no further message.
func (m *messages) prefix() (int, error) {
	var b [8]byte
	n, err := io.ReadFull(m.file, b[:4])
	if n == 0 && err == io.EOF && !m.asFile { // a stream may end like this
		return 0, io.EOF
	}
	if err == nil && binary.LittleEndian.Uint32(b[:]) == continuation {
		_, err = io.ReadFull(m.file, b[4:])
	}
	if err != nil {
		return 0, m.truncatedError(err)
	}
	return m.length(b[:])
}

// length returns the length of the metadata of a message. The argument b holds the eight bytes before the metadata.
// If these bytes mark the end of the messages, length returns io.EOF.
func (m *messages) length(b []byte) (int, error) {
	n := binary.LittleEndian.Uint32(b[4:])
	switch is := binary.LittleEndian.Uint32(b); {
	case is == 0 || is == continuation && n == 0:
		return 0, m.end()
	case is != continuation:
		return 0, m.fail("no message begins at the expected place%s", oldFormat)
	case n < 8 || n > maxMeta:
		return 0, m.fail("the metadata have %d bytes", n)
	}
	return int(n), nil
}

// end checks the data after the last message. It returns io.EOF if the data end correctly, otherwise another error.
func (m *messages) end() error {
	if !m.asFile && m.file.Piped() {
		return io.EOF // a pipe may continue with other data
	}
	var tail []byte
	var b [4096]byte
	for all := 0; ; {
		n, err := m.file.Read(b[:])
		tail = append(tail, b[:n]...)
		tail = tail[max(0, len(tail)-fileEnd):]
		all += n
		if all > maxMeta {
			return m.fail("the footer has more than %d MiB", maxMeta>>20)
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
		return &dataset.InputError{File: m.file.Name, Msg: "has data after the end of the stream"}
	}
	return io.EOF
}

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

// body reads the body of a message, which has size bytes. It allocates memory in steps, because a damaged file may
// state a size beyond the end of the data.
func (m *messages) body(size int64) ([]byte, error) {
	have := 0
	want := int(min(size, max(1<<20, int64(m.known))))
	b, err := m.room.take(want)
	for err == nil {
		var n int
		n, err = io.ReadFull(m.file, b[have:])
		have += n
		if err != nil {
			err = m.truncatedError(err)
			break
		}
		if int64(have) == size {
			m.known = have
			return b, nil
		}
		var more []byte
		more, err = m.room.take(int(min(size, 4*int64(have))))
		if err == nil {
			copy(more, b)
			m.room.free(b)
			b = more
		}
	}
	m.room.free(b)
	if known, ok := errors.AsType[*dataset.InputError](err); ok {
		return nil, known
	}
	return nil, m.fail("%v", err)
}

// truncatedError returns the error for a failed read. If err means the end of the data, the error says that the
// message is truncated.
func (m *messages) truncatedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if _, of := m.file.Peek(1); m.file.Packed() != "" && of != io.EOF { // the compressed stream ends too early
			return m.file.Wrap(err, 0)
		}
		return m.fail("is truncated: the data end within it")
	}
	return m.file.Wrap(err, 0)
}

// readPlace reads the next of the messages whose positions are in m.places. Its first call returns the schema.
func (m *messages) readPlace() (h head, body []byte, err error) {
	if !m.began {
		m.began = true
		m.places = append(slices.Clone(m.index.before), m.index.batches...)
		return head{kind: kindSchema, schema: m.index.schema}, nil, nil
	}
	if m.next == len(m.places) {
		return h, nil, io.EOF
	}
	p := m.places[m.next]
	m.next++
	m.batch++
	m.meta, err = metaAt(m.file, p, m.meta)
	if err != nil {
		return h, nil, m.fail("%v", err)
	}
	h, err = m.head()
	if err != nil {
		return h, nil, err
	}
	if h.body > p.body {
		return h, nil, m.fail("a body has %d bytes, the footer gives it %d", h.body, p.body)
	}
	body, err = m.room.take(int(h.body))
	if err != nil {
		return h, nil, m.fail("%v", err)
	}
	const piece = 1 << 20
	if err := parallel.Do((len(body)+piece-1)/piece, len(body)/8, func(i int) error {
		b := body[i*piece : min((i+1)*piece, len(body))]
		if n, err := m.file.At().ReadAt(b, p.at+p.meta+int64(i)*piece); n < len(b) {
			return m.truncatedError(err)
		}
		return nil
	}); err != nil {
		m.room.free(body)
		return h, nil, err
	}
	return h, body, nil
}

// oldFormat explains a message without the bytes of continuation.
const oldFormat = "; before version 0.15, Arrow wrote another format, which must be written again"

// metaAt reads the metadata of the message at position p. It reads them into buf if buf is large enough.
func metaAt(f *rawfile.File, p block, buf []byte) ([]byte, error) {
	if p.meta > maxMeta+8 ||
		p.at > f.Plain-p.meta ||
		p.body > f.Plain-p.meta-p.at {
		return nil, fmt.Errorf(
			"the message at byte %d, with %d and %d bytes, lies outside the file",
			p.at,
			p.meta,
			p.body,
		)
	}
	b := grown(buf, int(p.meta))
	if n, err := f.At().ReadAt(b, p.at); n < len(b) {
		return nil, err
	}
	if binary.LittleEndian.Uint32(b) != continuation {
		return nil, fmt.Errorf("no message begins at byte %d%s", p.at, oldFormat)
	}
	n := int64(binary.LittleEndian.Uint32(b[4:]))
	if n < 8 || n > p.meta-8 {
		return nil, fmt.Errorf("the metadata have %d bytes, the footer gives them %d", n, p.meta-8)
	}
	return b[8 : 8+n], nil
}

// grown returns b[:size], or a new slice of this length if the capacity of b is too small.
func grown(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size)
	}
	return b[:size]
}

// schema reads the first message, which must be the schema.
func (m *messages) schema() ([]field, error) {
	h, body, err := m.read()
	m.room.free(body)
	switch {
	case err == io.EOF || err == nil && h.kind != kindSchema:
		return nil, &dataset.InputError{File: m.file.Name, Msg: "is empty or has no schema"}
	case err != nil:
		return nil, err
	}
	return h.schema, nil
}
