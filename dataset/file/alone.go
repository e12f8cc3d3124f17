package file

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// beginsRow refuses a part of a csv file whose first line goes on with a record of the part
// before: so it does where the quotes before it are odd in number, for a file that can be read
// has them in pairs. It is for a part that is read alone; where all are read, the reader of the
// part before meets the end of its bytes amid a record.
func (p part) beginsRow() error {
	if p.lo == 0 || p.lo >= p.hi {
		return nil
	}
	f, err := rawfile.Reopen(p.path, p.stamp)
	if err != nil {
		return err
	}
	odd, line, err := quotesBefore(f, p.lo)
	switch err = errors.Join(err, f.Close()); {
	case err != nil:
		return f.Wrap(err, line+1)
	case odd:
		return f.Beyond(line)
	}
	return nil
}

// quotesBefore counts the lines of a text until one begins at lo or behind it, and says whether
// the quotes in them are odd in number.
func quotesBefore(text io.Reader, lo int64) (odd bool, lines int, err error) {
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := text.Read(buf)
		seen, ended := buf[:n], false
		// The line that has byte lo − 1 is the last to count.
		if from := max(lo-1-at, 0); from < int64(n) {
			if i := bytes.IndexByte(seen[from:], '\n'); i >= 0 {
				seen, ended = seen[:from+int64(i)+1], true
			}
		}
		odd = odd != (bytes.Count(seen, []byte{'"'})%2 == 1)
		lines += bytes.Count(seen, []byte{'\n'})
		switch at += int64(n); {
		case ended || err == io.EOF:
			return odd && ended, lines, nil
		case err != nil:
			return false, lines, err
		}
	}
}
