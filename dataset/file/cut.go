package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/errtext"
)

// noteCut adds a remark if a text file may have been cut inside its last number. It does nothing unless part p ends
// at the end of the file. A missing line end after the last line is not reason enough, because many programs write
// none. The remark needs one of two further reasons:
//   - The last 8 KiB have at least three lines before the last line, and the last number of each has more digits.
//   - The size of the file is a multiple of 4096 bytes, as if the writer had stopped after a full block.
func (o *Opened) noteCut(p part) error {
	if p.size == 0 || p.hi != p.size {
		return nil
	}
	f, err := rawfile.Reopen(p.path, p.stamp)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	file := f.At()
	if file == nil { // a compressed file that is cut is an error
		return nil
	}
	const most = 1 << 13
	tail := make([]byte, min(p.size, most))
	if _, err := file.ReadAt(tail, p.size-int64(len(tail))); err != nil && err != io.EOF {
		return f.Wrap(err, 0)
	}
	reason := whyCut(tail, p.size)
	if reason == "" {
		return nil
	}
	line, err := countLines(io.NewSectionReader(file, 0, p.size))
	if err != nil {
		return f.Wrap(err, 0)
	}
	o.remarks = append(o.remarks, dataset.Remark{File: p.path, Line: line, Msg: reason + ": the file may be cut"})
	return nil
}

// watchEnd makes [Opened.EndRemarks] examine the end of the text from a pipe. It does nothing if the text is
// compressed or in UTF-16.
func (o *Opened) watchEnd(pipe *dataset.Pipe) error {
	f, err := rawfile.Look("", pipe)
	if err != nil {
		return err
	}
	if f.Packed() == "" {
		o.pipe = pipe
	}
	return f.Close()
}

// EndRemarks returns a remark if the text of a pipe may have been cut inside its last number. Like [Opened.Remarks]
// it returns remarks for the user. It returns nil for files, and before a pass has read the pipe to its end.
func (o *Opened) EndRemarks() []dataset.Remark {
	if o.pipe == nil {
		return nil
	}
	end := o.pipe.Tail()
	if end == nil {
		return nil
	}
	reason := whyCut(end.Text, end.Size)
	if reason == "" {
		return nil
	}
	return []dataset.Remark{{File: o.pipe.Name(), Msg: reason + ": the data may be cut"}}
}

// whyCut returns the reason why a text may have been cut inside its last number, or "" if there is none. The text
// has size bytes and ends with tail.
func whyCut(tail []byte, size int64) string {
	lines := bytes.Split(tail, []byte{'\n'})
	number, digits := lastNumber(lines[len(lines)-1])
	if digits == 0 {
		return ""
	}
	reason := ""
	if fewest, n := fewestDigits(lines[:len(lines)-1]); n >= 3 && digits < fewest {
		reason = "has fewer digits than those of the lines before"
	} else if size%cutBlock == 0 {
		reason = fmt.Sprintf("is at the end of a block of %d bytes", cutBlock)
	} else {
		return ""
	}
	return fmt.Sprintf("the last line has no line end, and its last number (%s) %s", errtext.Excerpt(number), reason)
}

// cutBlock is the size in bytes of the blocks in which many programs write a file. If such a program is stopped,
// the size of its file is often a multiple of cutBlock.
const cutBlock = 1 << 12

// fewestDigits counts the digits of the last number in each line that is not blank. It returns the smallest count,
// and the number of these lines. The first line is left out, because it may be incomplete or a header.
func fewestDigits(lines [][]byte) (digits, n int) {
	lines = lines[min(1, len(lines)):]
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		_, d := lastNumber(line)
		if n == 0 || d < digits {
			digits = d
		}
		n++
	}
	return digits, n
}

// lastNumber returns the longest text at the end of a line that has only characters of numbers, and the number of
// its digits.
func lastNumber(line []byte) (number string, digits int) {
	line = bytes.TrimRight(line, "\r")
	at := len(line)
	for at > 0 && bytes.IndexByte([]byte("+-.0123456789eE"), line[at-1]) >= 0 {
		at--
	}
	for _, c := range line[at:] {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	return string(line[at:]), digits
}

// countLines returns the number of lines of a text whose last line has no line end.
func countLines(text io.Reader) (int, error) {
	lines := 1
	buf := make([]byte, 1<<18)
	for {
		n, err := text.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
