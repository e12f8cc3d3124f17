// Package rawfile opens the files that formats are read from: plain, gzip or
// zstd, told apart by their first bytes. Text in UTF-16 is read as UTF-8.
package rawfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fdridge/fdridge/dataset"
)

// maxWindow bounds how far back a zstd stream may refer, which the decoder keeps
// in memory. It is what the zstd command itself accepts.
const maxWindow = 128 << 20

// MaxRow bounds the text of a row, and so the memory that a file without newlines takes.
// Blank lines and comments count as part of the row behind them: so it also bounds how long
// reading goes on before there is a row or an error.
const MaxRow = 64 << 20

// A File is an open file, uncompressed where it was compressed.
type File struct {
	*bufio.Reader
	Name string
	// Plain is the number of bytes of a file that is not compressed, else -1.
	Plain int64
	// Line is the number of lines that ReadLine has returned.
	Line int

	file    *os.File
	pipe    *dataset.Taken // where the data come from if it is no file, whose file is nil
	decoder decoder
	long    []byte // a line that the Reader's buffer does not hold
	size    int    // bytes of the lines since the last EndRow
	share   share
	stamp   dataset.Stamp // what the file was when it was opened, and has to stay
	status  status
}

// A decoder uncompresses a file, or reads UTF-16 as UTF-8.
type decoder struct {
	name  string    // "gzip", "zstd" or "UTF-16", "" for a file that is read as it is
	text  io.Reader // what comes out: what the Reader of the File reads
	close func()
}

// Reopen opens a file that was seen before. It is an *[dataset.ChangedError] that it has
// changed since; other errors are those of Open.
func Reopen(name string, was dataset.Stamp) (*File, error) {
	return open(name, func(now dataset.Stamp) error { return was.Check(name, now) })
}

// Open opens a regular file. The error is an *[dataset.InputError].
func Open(name string) (*File, error) {
	return open(name, func(dataset.Stamp) error { return nil })
}

// Look is Open, or where there is a pipe what comes from it, to find out what it is: it can be
// looked at again.
func Look(name string, pipe *dataset.Pipe) (*File, error) {
	if pipe == nil {
		return Open(name)
	}
	return of(pipe.Name(), pipe.Look(), nil)
}

// Pass is Reopen, or where there is a pipe what comes from it, for the one pass there is.
func Pass(name string, pipe *dataset.Pipe, was dataset.Stamp) (*File, error) {
	if pipe == nil {
		return Reopen(name, was)
	}
	taken, err := pipe.Take()
	if err != nil {
		return nil, err
	}
	return of(pipe.Name(), taken, taken)
}

// of is the File of what comes from a pipe.
func of(name string, from io.Reader, taken *dataset.Taken) (*File, error) {
	f := &File{Reader: bufio.NewReaderSize(from, bufferSize), Name: name, Plain: -1, pipe: taken, decoder: decoder{text: from, close: func() {}}, share: whole}
	if err := f.unpack(); err != nil {
		return nil, f.Wrap(err, 0)
	}
	return f, nil
}

// open opens a regular file, unless check returns an error for its stamp.
func open(name string, check func(dataset.Stamp) error) (*File, error) {
	// Opening a pipe would wait for its writer: look before.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &dataset.InputError{File: name, Msg: "is not a regular file, which can be read more than once"}
	}
	fail := func(msg string, err error) (*File, error) {
		return nil, &dataset.InputError{File: name, Msg: msg, Err: err}
	}
	file, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail("no such file", fs.ErrNotExist)
		}
		return fail("cannot be opened", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close() // the error at hand says more
		return fail("cannot be opened", err)
	}
	if info.IsDir() {
		file.Close() // nothing was read
		return fail("is a directory", nil)
	}
	stamp := dataset.StampOf(info)
	if err := check(stamp); err != nil {
		file.Close() // nothing was read
		return nil, err
	}
	f := &File{Reader: bufio.NewReaderSize(file, bufferSize), Name: name, Plain: info.Size(), file: file, decoder: decoder{text: file, close: func() {}}, share: whole, stamp: stamp}
	if err := f.unpack(); err != nil {
		file.Close() // the error at hand says more
		return nil, f.Wrap(err, 0)
	}
	return f, nil
}

const bufferSize = 1 << 18

// gzipMagic is how a gzip stream begins.
const gzipMagic = "\x1f\x8b"

// unpack puts a decoder before a compressed file, and before text in UTF-16.
func (f *File) unpack() error {
	switch {
	case f.Begins(gzipMagic):
		f.decoder.name = "gzip"
		z, err := gzip.NewReader(f.Reader)
		if err == io.EOF { // amid the header
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		f.decode(&gzipReader{f.Reader, z})
	case f.Begins("\x28\xb5\x2f\xfd") || f.beginsSkippable():
		f.decoder.name = "zstd"
		z, err := zstd.NewReader(f.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		f.decoder.close = z.Close
		f.decode(z)
	default:
		for _, other := range foreign {
			if f.Begins(other.magic) {
				return &dataset.InputError{File: f.Name, Msg: fmt.Sprintf("is compressed by %s, which is not read: unpack it, or let %s -dc write into a pipe", other.name, other.name)}
			}
		}
	}
	switch {
	case f.Begins("\xff\xfe\x00\x00") || f.Begins("\x00\x00\xfe\xff"):
		return &dataset.InputError{File: f.Name, Msg: "is UTF-32, which is not read", Hint: convert("UTF-32")}
	case f.Begins("\xff\xfe"):
		f.recode(binary.LittleEndian)
	case f.Begins("\xfe\xff"):
		f.recode(binary.BigEndian)
	}
	return nil
}

// recode puts a decoder before UTF-16.
func (f *File) recode(order binary.ByteOrder) {
	f.decoder.name = cmp.Or(f.decoder.name, "UTF-16")
	f.decode(newUTF16Reader(f.Reader, order))
}

// decode reads the text of a decoder in place of what it decodes.
func (f *File) decode(text io.Reader) {
	f.Reader, f.decoder.text, f.Plain = bufio.NewReaderSize(text, bufferSize), text, -1
}

// beginsSkippable reports whether the file begins with a skippable frame of zstd, as pzstd writes.
func (f *File) beginsSkippable() bool {
	const least, most, magic = 0x50, 0x5f, "\x2a\x4d\x18"
	head, err := f.Peek(1)
	return err == nil && least <= head[0] && head[0] <= most && f.Begins(string(head)+magic)
}

// convert says how text of another encoding is made UTF-8.
func convert(from string) string {
	return "UTF-8 is read, and UTF-16 with a byte order mark: convert it, as by iconv -f " + from + " -t UTF-8"
}

// ErrDamaged is the cause of an error of a file that made its reader panic.
var ErrDamaged = errors.New("the file is damaged, its parts contradict each other")

// NotUTF8 completes the error of text that is not UTF-8.
func NotUTF8(err *dataset.InputError) error {
	err.Hint = convert("LATIN1")
	return err
}

// foreign are the first bytes of what other programs compress: no text begins so.
var foreign = []struct{ magic, name string }{
	{"\xfd7zXZ\x00", "xz"},
	{"BZh91AY&SY", "bzip2"},
	{"\x04\x22\x4d\x18", "lz4"},
}

// Begins reports whether what is to be read begins with some bytes. It waits for no more of a pipe
// than it takes to know.
func (f *File) Begins(with string) bool {
	for i := range with {
		head, err := f.Peek(i + 1) // an error comes again when it is read
		if err != nil || head[i] != with[i] {
			return false
		}
	}
	return true
}

// Head returns what is to be read, as much as the buffer holds. Of a pipe it is what has come when
// that is enough: enough is asked whenever a line has ended.
func (f *File) Head(enough func(head []byte) bool) []byte {
	if f.file != nil {
		head, _ := f.Peek(f.Size()) // an error comes again when it is read
		return head
	}
	for seen := 0; ; {
		head, err := f.Peek(min(max(f.Buffered(), seen+1), f.Size()))
		if len(head) == f.Size() || err != nil || bytes.IndexByte(head[seen:], '\n') >= 0 && enough(head) {
			return head
		}
		seen = len(head)
	}
}

// Close closes the file.
func (f *File) Close() error {
	f.Stop()
	f.decoder.close()
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Stop ends a read that waits for a pipe, and those to come.
func (f *File) Stop() {
	if f.pipe != nil {
		f.pipe.Stop()
	}
}

// Piped says that it is no file.
func (f *File) Piped() bool { return f.file == nil }

// Prompt says that rows are wanted as soon as they come from a pipe.
func (f *File) Prompt() bool { return f.pipe != nil && f.pipe.Prompt() }

// Available is how many bytes can be read without waiting for a pipe, as far as that is known.
func (f *File) Available() int {
	n := f.Buffered()
	if f.pipe != nil && f.decoder.name == "" {
		n += f.pipe.Available()
	}
	return n
}

// Stamp is what the file was when it was opened.
func (f *File) Stamp() dataset.Stamp { return f.stamp }

// Unchanged returns an *[dataset.ChangedError] where the file was written to since it
// was opened. It looks at the open file, whatever file now has its name.
func (f *File) Unchanged() error {
	if f.file == nil { // nothing can be told of a pipe
		return nil
	}
	now, err := f.status.of(f.file)
	if err != nil {
		return f.Wrap(err, 0)
	}
	return f.stamp.Check(f.Name, now)
}

// At returns the file for reading anywhere in it, nil for a compressed one and for a pipe.
func (f *File) At() *os.File {
	if f.decoder.name != "" {
		return nil
	}
	return f.file
}

// Packed is the name of the compression or "UTF-16", "" for a file that is read as it is.
func (f *File) Packed() string { return f.decoder.name }

// SkipBOM drops a byte order mark, as text may begin with.
func (f *File) SkipBOM() {
	if f.Begins("\ufeff") {
		f.share.mark, _ = f.Discard(3) // they are in the buffer
	}
}

// ReadLine returns the next line with its end, valid until the next call. At the end of
// the file it returns io.EOF. More than MaxRow bytes without an EndRow are an error, and so
// is a line that belongs to another share.
func (f *File) ReadLine() ([]byte, error) {
	if f.Done() {
		return nil, f.beyond()
	}
	text, err := f.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		f.long = append(f.long[:0], text...)
		for err == bufio.ErrBufferFull {
			if f.size+len(f.long) > MaxRow {
				return nil, f.TooLong(f.Line + 1)
			}
			text, err = f.ReadSlice('\n')
			f.long = append(f.long, text...)
		}
		text = f.long
	}
	if err != nil && (err != io.EOF || len(text) == 0) {
		return nil, f.Wrap(err, f.Line+1)
	}
	f.Line++
	f.share.next += int64(len(text) + f.share.mark)
	f.share.mark = 0
	if f.size += len(text); f.size > MaxRow {
		return nil, f.TooLong(f.Line)
	}
	return text, nil
}

// EndRow is called when the lines read so far have made a row.
func (f *File) EndRow() { f.size = 0 }

// TooLong is the error of a row of more than MaxRow bytes.
func (f *File) TooLong(line int) error {
	return &dataset.InputError{File: f.Name, Line: line, Msg: fmt.Sprintf("the row, with the blank lines before it, is longer than %d MiB", MaxRow>>20)}
}

// Wrap turns an error of reading at a line into an *[dataset.InputError]; io.EOF
// stays as it is.
func (f *File) Wrap(err error, line int) error {
	var known *dataset.InputError
	var system *fs.PathError
	fail := func(msg string, err error) error {
		return &dataset.InputError{File: f.Name, Line: line, Msg: msg, Err: err}
	}
	switch {
	case err == nil || err == io.EOF || errors.As(err, &known):
		return err
	case f.file == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return err // nothing is wrong with the data
	case f.decoder.name == "" || errors.As(err, &system):
		return fail("cannot be read", err)
	case err == errBehind:
		return fail("bytes that are not gzip follow the gzip stream: remove them", nil)
	case err == errSurrogate || err == errHalf:
		return fail("the UTF-16 text is damaged", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fail("the "+f.decoder.name+" stream is truncated", nil)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fail(fmt.Sprintf("the zstd stream needs a window of more than %d MiB", maxWindow>>20), nil)
	}
	return fail("the "+f.decoder.name+" stream is damaged", err)
}
