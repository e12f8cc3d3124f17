package chunk

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Lines are the lines of a chunk, for a parser that reads one after the other as
// [rawfile.File] has them: with the same ends and errors, but for the number of the line,
// which counts from the beginning of the chunk.
type Lines struct {
	file *rawfile.File
	text []byte
	// end is why the text ends where no record does: errDivided or an error of reading. nil: a
	// record ends there, or the file.
	end error

	at   int // byte of the text that the next line begins at
	line int // lines before it
	size int // bytes of lines since the last EndRow
}

// errDivided says that the file goes on behind the share that is read.
var errDivided = errors.New("the share ends")

// Name is that of the file.
func (l *Lines) Name() string { return l.file.Name }

// Line is the number of lines that ReadLine has returned.
func (l *Lines) Line() int { return l.line }

// Done reports whether there is no further record.
func (l *Lines) Done() bool {
	return l.at == len(l.text) && (l.end == nil || l.end == errDivided)
}

// ReadLine returns the next line with its end. Errors are those of [rawfile.File.ReadLine].
func (l *Lines) ReadLine() ([]byte, error) {
	text := l.text[l.at:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	} else if l.end == errDivided { // which is behind a whole line
		return nil, l.file.Beyond(l.line)
	} else if l.end != nil {
		l.at = len(l.text)
		if l.size+len(text) > rawfile.MaxRow {
			return nil, l.file.TooLong(l.line + 1)
		}
		return nil, l.file.Wrap(l.end, l.line+1)
	} else if len(text) == 0 {
		return nil, io.EOF
	}
	l.line++
	l.at += len(text)
	if l.size += len(text); l.size > rawfile.MaxRow {
		return nil, l.file.TooLong(l.line)
	}
	return text, nil
}

// EndRow is called when the lines read so far have made a row.
func (l *Lines) EndRow() { l.size = 0 }
