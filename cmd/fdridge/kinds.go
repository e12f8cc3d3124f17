package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/filekind"
)

// What a command expects a file to hold.
var (
	wantSketch = wanted{"a sketch", []filekind.Kind{filekind.Sketch}}
	wantModel  = wanted{"a model", []filekind.Kind{filekind.Model}}
	wantChart  = wanted{"a report, a model or a sketch", []filekind.Kind{filekind.Report, filekind.Model, filekind.Sketch}}
)

type wanted struct {
	name  string
	kinds []filekind.Kind
}

// check returns an error for a file whose first bytes tell that it holds something else, and how to
// make what is wanted of it. What cannot be opened, or is of no known kind, is left to the reader.
func (w wanted) check(name string) error {
	kind, table := contentOf(name)
	if kind == filekind.JSON || slices.Contains(w.kinds, kind) || kind == filekind.Unknown && table == "" {
		return nil
	}
	what := kind.String()
	if table != "" {
		what = article(table) + " table"
	}
	return badInput("%s is %s, not %s; %s", name, what, w.name, w.remedy(name, kind))
}

// remedy says how to make what is wanted of a file.
func (w wanted) remedy(name string, has filekind.Kind) string {
	table := has == filekind.Unknown
	switch {
	case w.name == wantSketch.name && table:
		return fmt.Sprintf("make one with fdridge sketch --data %s --out FILE", name)
	case w.name == wantSketch.name:
		return "fdridge sketch and fit --save-sketch write one"
	case w.name == wantModel.name && table:
		return fmt.Sprintf("make one with fdridge fit --data %s --out FILE", name)
	case w.name == wantModel.name && has == filekind.Sketch:
		return fmt.Sprintf("make one with fdridge solve %s --out FILE", name)
	case w.name == wantModel.name:
		return "fdridge fit --out and solve --out write one"
	case table:
		return fmt.Sprintf("make one with fdridge fit --data %s --json", name)
	}
	return "fdridge fit --json prints a report"
}

// contentOf recognises a regular file by its first bytes: by its kind or, of a table, by its format.
func contentOf(name string) (kind filekind.Kind, table string) {
	f, err := open(name)
	if err != nil {
		return filekind.Unknown, ""
	}
	defer f.Close() // only read
	head, err := io.ReadAll(io.LimitReader(f, filekind.Head))
	if err != nil {
		return filekind.Unknown, ""
	}
	if kind = filekind.Of(head); kind != filekind.Unknown {
		return kind, ""
	}
	format, err := file.Format(name, file.Options{})
	if err != nil || format == "csv" && !isTable(name, head) {
		return filekind.Unknown, ""
	}
	return filekind.Unknown, format
}

// isTable reports whether a file that is read as csv is a table, by its name or by the fields of its
// first two lines: any text, and any unknown bytes, are read as csv.
func isTable(name string, head []byte) bool {
	if suffix := filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")); suffix == ".csv" || suffix == ".tsv" {
		return true
	}
	lines := bytes.SplitN(head, []byte("\n"), 3)
	if len(lines) < 3 {
		return false
	}
	return slices.ContainsFunc([]string{",", ";", "\t"}, func(delimiter string) bool {
		n := bytes.Count(lines[0], []byte(delimiter))
		return n > 0 && n == bytes.Count(lines[1], []byte(delimiter))
	})
}

// article is the name of a format with its article.
func article(format string) string {
	switch format {
	case "arrow", "npy", "npz", "svmlight":
		return "an " + format
	}
	return "a " + format
}
