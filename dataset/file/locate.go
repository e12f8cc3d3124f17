package file

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// Locate returns the file and the line of a row of the features. Rows are counted from 0, lines from 1. In arrays,
// and in Parquet and Arrow files, the line is the number of the row, counted from 1. The line is 0 if it is
// unknown, because the rows come from a pipe or Open has divided the files. Locate reads all text before the row.
func (o *Opened) Locate(row int64) (path string, line int, err error) {
	f := formatByName(o.Format)
	for i, p := range o.files {
		if !p.whole() {
			return "", 0, nil
		}
		if i == len(o.files)-1 {
			return o.locateIn(p, f, row)
		}
		n, _, _ := o.sources[i].Dims()
		if n < 0 && f.fields {
			n, err = csv.Count(p.path, csvOptions(o.read))
		}
		if n < 0 || err != nil {
			return "", 0, err
		}
		if row < n {
			return o.locateIn(p, f, row)
		}
		row -= n
	}
	return "", 0, nil
}

// locateIn returns the path of a file and the line of a row in it. The row is counted from 0 within the file.
func (o *Opened) locateIn(p part, f format, row int64) (path string, line int, err error) {
	switch {
	case f.fields:
		line, err = csv.LineOf(p.path, csvOptions(o.read), row)
	case f.name == "jsonl":
		line, err = lineOfText(p, row)
	case f.numbered:
		line = int(row) + 1
	}
	return p.path, line, err
}

// lineOfText returns the line of a row, for a text in which every line that is not blank is a row.
func lineOfText(p part, row int64) (int, error) {
	f, err := rawfile.Reopen(p.path, p.stamp)
	if err != nil {
		return 0, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	for {
		text, err := f.ReadLine()
		switch {
		case err == io.EOF:
			return 0, nil
		case err != nil:
			return 0, err
		case len(bytes.TrimSpace(text)) == 0:
			continue
		}
		f.EndRow()
		row--
		if row < 0 {
			return f.Line, nil
		}
	}
}
