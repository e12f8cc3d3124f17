package chunk

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Lines reads the lines of a chunk in order. Lines and errors are the same as from [rawfile.File], but line numbers
// count from the start of the chunk.
type Lines struct {
	file *rawfile.File
	text []byte
	// end is the reason why text may stop within a record: errDivided or a read error. nil means that text stops after
	// a record.
	end error

	at   int // start of the next line in text
	line int // number of lines before at
	size int // bytes of the lines since the last EndRow
}

// errDivided reports the end of a share within the file.
var errDivided = errors.New("the share ends")

// NewLines returns the lines of text, whole records at the start of file.
func NewLines(file *rawfile.File, text []byte) *Lines {
	return &Lines{file: file, text: text}
}

// Name returns the name of the file.
func (l *Lines) Name() string { return l.file.Name }

// Line returns the number of lines that ReadLine has returned.
func (l *Lines) Line() int { return l.line }

// Done reports whether there is no further record.
func (l *Lines) Done() bool {
	return l.at == len(l.text) && (l.end == nil || l.end == errDivided)
}

// ReadLine returns the next line with its line end. Errors are as in [rawfile.File.ReadLine].
func (l *Lines) ReadLine() ([]byte, error) {
	text := l.text[l.at:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	} else if l.end == errDivided { // the range ends after a whole line, so the record continues outside
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
	l.size += len(text)
	if l.size > rawfile.MaxRow {
		return nil, l.file.TooLong(l.line)
	}
	return text, nil
}

// EndRow must be called after the last line of each row.
func (l *Lines) EndRow() { l.size = 0 }
