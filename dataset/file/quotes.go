package file

import (
	"bytes"
	"errors"
	"io"

	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/internal/chunk"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// checkFirstLine returns an error if part p of a file begins within a quoted record. If the preceding part of the
// file is read, too, its reader returns the same error and this check is not needed.
func (p part) checkFirstLine(opts csv.Options) error {
	if p.lo == 0 || p.lo >= p.hi {
		return nil
	}
	delimiter, escapes, err := csv.Delimiter(p.path, opts)
	if err != nil {
		return err
	}
	f, err := rawfile.Reopen(p.path, p.stamp)
	if err != nil {
		return err
	}
	f.SkipBOM()
	inside, line, err := quotesBefore(f, p.lo, chunk.NewQuotes(delimiter, escapes))
	switch err = errors.Join(err, f.Close()); {
	case err != nil:
		return f.Wrap(err, line+1)
	case inside:
		return f.Beyond(line)
	}
	return nil
}

// quotesBefore reads the lines that begin before byte lo of the text, and counts them. The result inside is true if
// the last of these lines ends within quotes.
func quotesBefore(text io.Reader, lo int64, quotes chunk.Quotes) (inside bool, lines int, err error) {
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := text.Read(buf)
		seen := buf[:n]
		ended := false
		// The byte before lo may be in the middle of a line. Read to the end of this line.
		if from := max(lo-1-at, 0); from < int64(n) {
			if i := bytes.IndexByte(seen[from:], '\n'); i >= 0 {
				seen = seen[:from+int64(i)+1]
				ended = true
			}
		}
		quotes.Read(seen)
		lines += bytes.Count(seen, []byte{'\n'})
		switch at += int64(n); {
		case ended || err == io.EOF:
			return quotes.Inside() && ended, lines, nil
		case err != nil:
			return false, lines, err
		}
	}
}
