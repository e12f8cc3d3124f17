// Package rawfile opens files for the packages that read file formats. It decompresses gzip and
// zstd, which it recognises by their first bytes, and converts text from UTF-16 to UTF-8.
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

// maxWindow limits the memory for the earlier text to which a zstd stream may refer (its window), in bytes. The
// command zstd has the same limit.
const maxWindow = 128 << 20

// MaxRow is the largest number of bytes of text for one row, with the blank lines and comments before the row. It
// also limits the memory for a file without line ends.
const MaxRow = 64 << 20

// A File is an open file, decompressed if necessary.
type File struct {
	*bufio.Reader
	Name string
	// Plain is the size of the file in bytes, or -1 for a pipe, a compressed file or UTF-16 text.
	Plain int64
	// Line is the number of lines that ReadLine has returned.
	Line int
	// MaxRow is the largest number of bytes of text for one row. It is the package constant MaxRow unless the
	// caller sets a smaller limit.
	MaxRow int

	file    *os.File
	pipe    *dataset.Taken // source of the data if file is nil
	decoder decoder
	long    []byte // a copy of the current line if it is longer than the Reader's buffer
	size    int    // bytes of the lines since the last EndRow
	share   share
	stamp   dataset.Stamp // stamp of the file when it was opened
	status  status
}

// A decoder holds how a file is decoded: by decompression, by conversion from UTF-16 to UTF-8, or not at all.
type decoder struct {
	name  string    // "gzip", "zstd" or "UTF-16"; "" for a file read unchanged
	text  io.Reader // the decoded data, from which the Reader of the File reads
	close func()
}

// Reopen opens a file that was opened before, when it had the stamp was. A stamp is the size and the modification
// time of a file. If the file now has another stamp, the error is a *[dataset.ChangedError]. Other errors are as in
// Open.
func Reopen(name string, was dataset.Stamp) (*File, error) {
	return open(name, func(now dataset.Stamp) error { return was.Check(name, now) })
}

// Open opens a regular file. Errors are *[dataset.InputError].
func Open(name string) (*File, error) {
	return open(name, func(dataset.Stamp) error { return nil })
}

// Look opens the pipe, or the named file if pipe is nil, to examine the first bytes. Look leaves the data in the
// pipe, so it may be called repeatedly for a pipe.
func Look(name string, pipe *dataset.Pipe) (*File, error) {
	if pipe == nil {
		return Open(name)
	}
	return of(pipe.Name(), pipe.Look(), nil)
}

// Pass opens the pipe, or the named file if pipe is nil, to read all rows. For a pipe, Pass may be called only
// once. The argument was is the stamp (size and modification time) that the file had earlier. If the file now has
// another stamp, the error is a *[dataset.ChangedError].
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

// PassRange opens the pipe or the file like [Pass]. The File returns only the rows whose first byte is in the range
// part of the text. The text must have no header line.
func PassRange(name string, pipe *dataset.Pipe, was dataset.Stamp, part dataset.Range) (*File, error) {
	f, err := Pass(name, pipe, was)
	if err != nil {
		return nil, err
	}
	f.SkipBOM()
	if err := f.Limit(part); err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, err
	}
	return f, nil
}

// of returns a File that reads the data of a pipe.
func of(name string, from io.Reader, taken *dataset.Taken) (*File, error) {
	f := &File{
		Reader:  bufio.NewReaderSize(from, bufferSize),
		Name:    name,
		Plain:   -1,
		MaxRow:  MaxRow,
		pipe:    taken,
		decoder: decoder{text: from, close: func() {}},
		share:   wholeFile,
	}
	if err := f.unpack(); err != nil {
		return nil, f.Wrap(err, 0)
	}
	return f, nil
}

// open opens a regular file. It calls check with the stamp (size and modification time) of the file, and returns
// the error of check.
func open(name string, check func(dataset.Stamp) error) (*File, error) {
	// Check that name is not a pipe before opening it, because opening a pipe would wait for its writer.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &dataset.InputError{File: name, Msg: "is not a regular file, so it cannot be read more than once"}
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
		file.Close() // err is more informative than an error of Close
		return fail("cannot be opened", err)
	}
	if info.IsDir() {
		file.Close() // nothing was read
		return nil, &dataset.InputError{
			File: name,
			Msg:  "is a directory",
			Hint: "name its files (A,B): a folder is read if it has a file _SUCCESS, or only files part…",
		}
	}
	stamp := dataset.StampOf(info)
	if err := check(stamp); err != nil {
		file.Close() // nothing was read
		return nil, err
	}
	f := &File{
		Reader:  bufio.NewReaderSize(file, int(min(info.Size()+1, bufferSize))),
		Name:    name,
		Plain:   info.Size(),
		MaxRow:  MaxRow,
		file:    file,
		decoder: decoder{text: file, close: func() {}},
		share:   wholeFile,
		stamp:   stamp,
	}
	if err := f.unpack(); err != nil {
		file.Close() // err is more informative than an error of Close
		return nil, f.Wrap(err, 0)
	}
	return f, nil
}

// bufferSize is the size of the buffer of a file, in bytes. For a smaller file, the buffer is one byte larger than
// the file. One read then finds both the data and the end of the file.
const bufferSize = 1 << 18

// gzipMagic is the beginning of a gzip stream.
const gzipMagic = "\x1f\x8b"

// unpack makes f read decoded data if its first bytes show that it is compressed or UTF-16 text.
func (f *File) unpack() error {
	switch {
	case f.Begins(gzipMagic):
		f.decoder.name = "gzip"
		z, err := gzip.NewReader(f.Reader)
		if err == io.EOF { // within the header
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		f.decode(&gzipReader{f.Reader, z})
	case f.Begins("\x28\xb5\x2f\xfd") || f.beginsSkippable():
		f.decoder.name = "zstd"
		z, err := zstd.NewReader(
			f.Reader,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow),
		)
		if err != nil {
			return err
		}
		f.decoder.close = z.Close
		f.decode(z)
	default:
		for _, other := range foreign {
			if f.Begins(other.magic) {
				return &dataset.InputError{
					File: f.Name,
					Msg: fmt.Sprintf(
						"is compressed by %s, which is not supported: decompress it, or let %s -dc write to a pipe",
						other.name,
						other.name,
					),
				}
			}
		}
	}
	switch {
	case f.Begins("\xff\xfe\x00\x00") || f.Begins("\x00\x00\xfe\xff"):
		return &dataset.InputError{File: f.Name, Msg: "is UTF-32, which is not supported", Hint: convert("UTF-32")}
	case f.Begins("\xff\xfe"):
		f.recode(binary.LittleEndian)
	case f.Begins("\xfe\xff"):
		f.recode(binary.BigEndian)
	}
	return nil
}

// recode makes f convert its text from UTF-16 to UTF-8.
func (f *File) recode(order binary.ByteOrder) {
	f.decoder.name = cmp.Or(f.decoder.name, "UTF-16")
	f.decode(newUTF16Reader(f.Reader, order))
}

// decode makes f read from text, a reader of the decoded data.
func (f *File) decode(text io.Reader) {
	f.Reader = bufio.NewReaderSize(text, bufferSize)
	f.decoder.text = text
	f.Plain = -1
}

// beginsSkippable reports whether the file begins with a skippable zstd frame, which pzstd writes.
func (f *File) beginsSkippable() bool {
	const least, most, magic = 0x50, 0x5f, "\x2a\x4d\x18"
	head, err := f.Peek(1)
	return err == nil &&
		least <= head[0] &&
		head[0] <= most &&
		f.Begins(string(head)+magic)
}

func convert(from string) string {
	return "text must be UTF-8, or UTF-16 with a byte order mark: " +
		"convert it, for instance by iconv -f " + from + " -t UTF-8"
}

// ErrDamaged reports that a file made its decoder panic.
var ErrDamaged = errors.New("the file is damaged, its parts contradict each other")

// NotUTF8 returns err, an error about text that is not UTF-8, with a hint. The hint says how to convert text from
// CP1252, which Excel writes. CP1252 is Latin-1 with further characters in the bytes 0x80 to 0x9f.
func NotUTF8(err *dataset.InputError) error {
	err.Hint = convert("CP1252")
	return err
}

// foreign lists the first bytes of unsupported compressed files.
var foreign = []struct{ magic, name string }{
	{"\xfd7zXZ\x00", "xz"},
	{"BZh91AY&SY", "bzip2"},
	{"\x04\x22\x4d\x18", "lz4"},
}

// Begins reports whether the unread data begin with the bytes in with. It reads only up to the first byte that
// differs, because a pipe may have no further bytes yet.
func (f *File) Begins(with string) bool {
	for i := range with {
		head, err := f.Peek(i + 1) // a later read returns the error again
		if err != nil || head[i] != with[i] {
			return false
		}
	}
	return true
}

// Head returns the beginning of the unread data, at most a full buffer. A later read returns these data again. For
// a pipe, Head calls isEnough with the data so far after each read that adds a line end. It returns as soon as
// isEnough returns true.
func (f *File) Head(isEnough func(head []byte) bool) []byte {
	if f.file != nil {
		head, _ := f.Peek(f.Size()) // a later read returns the error again
		return head
	}
	for seen := 0; ; {
		head, err := f.Peek(min(max(f.Buffered(), seen+1), f.Size()))
		if len(head) == f.Size() ||
			err != nil ||
			bytes.IndexByte(head[seen:], '\n') >= 0 && isEnough(head) {
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

// Stop makes the current and all future reads from a pipe return. For a file, Stop does nothing.
func (f *File) Stop() {
	if f.pipe != nil {
		f.pipe.Stop()
	}
}

// Piped reports whether the data come from a pipe.
func (f *File) Piped() bool { return f.file == nil }

// Prompt reports whether the data come from a pipe whose rows must be delivered without delay.
func (f *File) Prompt() bool {
	return f.pipe != nil && f.pipe.Prompt()
}

// Available returns how many bytes can be read from a pipe without waiting, or a smaller number.
func (f *File) Available() int {
	n := f.Buffered()
	if f.pipe != nil && f.decoder.name == "" {
		n += f.pipe.Available()
	}
	return n
}

// Stamp returns the stamp (the size and the modification time) that the file had when it was opened.
func (f *File) Stamp() dataset.Stamp { return f.stamp }

// Unchanged returns a *[dataset.ChangedError] if the open file has changed since it was opened. It does not notice
// that another file now has this name. For a pipe it returns nil.
func (f *File) Unchanged() error {
	if f.file == nil { // a pipe has no stamp
		return nil
	}
	now, err := f.status.of(f.file)
	if err != nil {
		return f.Wrap(err, 0)
	}
	return f.stamp.Check(f.Name, now)
}

// At returns the open file, for reads at arbitrary positions. It returns nil for a pipe, a compressed file and
// UTF-16 text.
func (f *File) At() *os.File {
	if f.decoder.name != "" {
		return nil
	}
	return f.file
}

// Packed returns "gzip" or "zstd" for a compressed file, and "UTF-16" for UTF-16 text without compression. It
// returns "" if the file is read unchanged.
func (f *File) Packed() string { return f.decoder.name }

// SkipBOM skips a byte order mark at the beginning.
func (f *File) SkipBOM() {
	if f.Begins("\ufeff") {
		f.share.mark, _ = f.Discard(3) // the bytes are in the buffer
	}
}

// ReadLine returns the next line with its line end, valid until the next call of ReadLine. At the end of the file
// it returns io.EOF. The lines since the last call of EndRow count as one row. If this row has more than f.MaxRow
// bytes, ReadLine returns an error. It also returns an error if the next line begins after the range set by Limit.
func (f *File) ReadLine() ([]byte, error) {
	if f.Done() {
		return nil, f.beyond()
	}
	text, err := f.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		f.long = append(f.long[:0], text...)
		for err == bufio.ErrBufferFull {
			if f.size+len(f.long) > f.MaxRow {
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
	f.size += len(text)
	if f.size > f.MaxRow {
		return nil, f.TooLong(f.Line)
	}
	return text, nil
}

// EndRow tells f that a row ends here. The next line then begins a new row, and f counts its bytes up to the limit
// f.MaxRow. Readers must call EndRow after the last line of each row.
func (f *File) EndRow() { f.size = 0 }

// TooLong returns the error for a row of more than MaxRow bytes. The error names the given line.
func (f *File) TooLong(line int) error {
	return &dataset.InputError{
		File: f.Name,
		Line: line,
		Msg:  fmt.Sprintf("the row and the blank lines before it are longer than %d MiB", MaxRow>>20),
	}
}

// Wrap converts an error of reading the given line to an *[dataset.InputError]. Two errors are returned unchanged:
// io.EOF, and, for a pipe, the error of a cancelled context.
func (f *File) Wrap(err error, line int) error {
	var known *dataset.InputError
	var system *fs.PathError
	fail := func(msg string, err error) error {
		return &dataset.InputError{
			File: f.Name,
			Line: line,
			Msg:  msg,
			Err:  err,
		}
	}
	switch {
	case err == nil || err == io.EOF || errors.As(err, &known):
		return err
	case f.file == nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return err // the error is not about the contents of the file
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
