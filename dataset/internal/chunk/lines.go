package chunk

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Lines reads the lines of a chunk in order. It returns the same lines and errors as [rawfile.File], but counts
// lines from the start of the chunk.
type Lines struct {
	file *rawfile.File
	text []byte
	// end is the reason why text may stop in the middle of a record: a read error, or errDivided. If text stops
	// after a whole record, end is nil.
	end error

	at   int // start of the next line in text
	line int // number of lines before at
	size int // bytes of the lines since the last EndRow
}

// errDivided reports that the text ends because the share of the file ends. More text follows in the file.
var errDivided = errors.New("the share ends")

// NewLines returns the Lines of text. The text must be the start of file and consist of whole records.
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

// ReadLine returns the next line, including its line end. Errors are as in [rawfile.File.ReadLine].
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

// EndRow marks the end of a row, so that the length of the next row is counted from 0. It must be called after the
// last line of each row.
func (l *Lines) EndRow() { l.size = 0 }
