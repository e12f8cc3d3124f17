package cli

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/fileformat"
)

// Kinds of files that commands expect as input.
var (
	WantSketch = wanted{"a sketch", "fdridge sketch and fit --save-sketch write one", []fileformat.Kind{fileformat.Sketch}}
	WantModel  = wanted{"a model", "fdridge fit --out and solve --out write one", []fileformat.Kind{fileformat.Model}}
	WantChart  = wanted{
		"a report, a model or a sketch",
		"fdridge fit --json prints a report",
		[]fileformat.Kind{fileformat.Report, fileformat.Model, fileformat.Sketch},
	}
)

type wanted struct {
	name, source string
	kinds        []fileformat.Kind
}

// Check returns an error if the beginning of a file shows that it is not of the wanted kind. An example is a model
// where a sketch is expected. The message names the command that writes the wanted kind. Check returns nil if the
// file cannot be read, or if it is a JSON object of unknown kind.
func (w wanted) Check(name string) error {
	f, err := Open(name)
	if err != nil {
		return nil // the caller opens the file again and returns this error
	}
	defer f.Close() // only read
	head, err := io.ReadAll(io.LimitReader(f, fileformat.Head))
	if err != nil {
		return nil
	}
	switch kind := fileformat.Of(head); {
	case kind == fileformat.JSON || slices.Contains(w.kinds, kind):
		return nil
	case kind == fileformat.Unknown:
		return BadInput("%s is %snot %s; %s", name, table(name), w.name, w.source)
	default:
		return BadInput("%s is %v, not %s; %s", name, kind, w.name, w.source)
	}
}

// table returns a description such as "a csv table, " if the file is a table, otherwise "". The function
// file.Format takes every unknown file for csv. Therefore table requires ".csv" in the name of a csv file.
func table(name string) string {
	format, err := file.Format(name, file.Options{})
	if err != nil || format == "csv" && !strings.Contains(filepath.Base(name), ".csv") {
		return ""
	}
	if strings.ContainsAny(format[:1], "ans") { // an arrow, an npy, an svmlight table
		return "an " + format + " table, "
	}
	return "a " + format + " table, "
}
