// Package file opens data by name, whatever their format: the readers of
// dataset/csv, dataset/npy and dataset/svmlight behind one function.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/svmlight"
)

// Formats are the names that Options.Format takes.
var Formats = []string{"auto", "npy", "csv", "svmlight"}

// Options says how to read.
type Options struct {
	// Format is one of Formats; "" is "auto": told by the first bytes.
	Format string
	// Target names the target columns, see csv.Options and npy.Options, or is a
	// single file of their own: what is neither a column's name or number is one
	// if it exists or is called like one. Empty takes no target, but for svmlight its label.
	Target []string
	// Targets is how many targets are asked for; another number is an error. 0
	// takes none, labels included.
	Targets int
	// Features is the number of features of a svmlight file, 0 to find it by
	// reading the file once more.
	Features int
}

// An Opened is a source and the files under it.
type Opened struct {
	dataset.Source
	Format  string
	Scans   int // reads of the files that opening took
	streams []*dataset.Stream
}

// Passes is how often the data have been read, scans included: the most of any
// file.
func (o *Opened) Passes() int {
	most := 0
	for _, s := range o.streams {
		most = max(most, s.Passes())
	}
	return most + o.Scans
}

// Open opens one file or several, one after the other. Errors are
// *[dataset.InputError], or [dataset.ErrShape] where files don't go together.
func Open(paths []string, opts Options) (*Opened, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no files", dataset.ErrShape)
	}
	out := &Opened{}
	var parts []dataset.Source
	ownFile, err := targetIsFile(paths[0], opts)
	if err != nil {
		return nil, err
	}
	inner := opts
	if ownFile {
		inner.Target, inner.Targets = nil, 0
	}
	for _, p := range paths {
		s, format, err := out.one(p, inner)
		if err != nil {
			return nil, err
		}
		if out.Format != "" && out.Format != format {
			return nil, &dataset.InputError{File: p, Msg: fmt.Sprintf("is %s where the files before it are %s", format, out.Format)}
		}
		out.Format = format
		parts = append(parts, s)
	}
	if err := out.sameFeatures(paths, parts, inner); err != nil {
		return nil, err
	}
	if err := sameNames(paths, out.Format); err != nil {
		return nil, err
	}
	x, err := dataset.Concat(parts...)
	if err != nil {
		return nil, err
	}
	from := paths[0]
	if ownFile {
		from = opts.Target[0]
		if x, err = out.zip(x, opts); err != nil {
			return nil, err
		}
	}
	out.Source = x
	if err := out.countTargets(from, opts); err != nil {
		return nil, err
	}
	return out, nil
}

// targetIsFile decides whether the target is a file of its own.
func targetIsFile(path string, opts Options) (bool, error) {
	if len(opts.Target) != 1 {
		return false, nil
	}
	target := opts.Target[0]
	if _, err := strconv.Atoi(target); err == nil || target == "first" || target == "last" {
		return false, nil
	}
	format, err := Format(path, opts.Format)
	if err != nil {
		return false, err
	}
	if format == "csv" {
		names, err := csv.Columns(path, csv.Options{})
		if err != nil || slices.Contains(names, target) {
			return false, err
		}
	}
	_, err = os.Stat(target)
	return err == nil || calledLikeFile(target), nil
}

// calledLikeFile tells a file name that is wrong from a column name that is.
func calledLikeFile(target string) bool {
	return strings.ContainsAny(target, "/\\") || suffixFormat(target) != "" || strings.HasSuffix(target, ".gz") || strings.HasSuffix(target, ".txt")
}

// suffixFormat is the format that a file's name claims, "" for none.
func suffixFormat(path string) string {
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".npy":
		return "npy"
	case ".csv", ".tsv":
		return "csv"
	case ".svm", ".svmlight", ".libsvm":
		return "svmlight"
	}
	return ""
}

// sameNames refuses to stack csv files whose headers differ.
func sameNames(paths []string, format string) error {
	if format != "csv" || len(paths) == 1 {
		return nil
	}
	var names []string
	var from string
	for _, p := range paths {
		own, err := csv.Columns(p, csv.Options{})
		switch {
		case err != nil:
			return err
		case own == nil:
		case names == nil:
			names, from = own, p
		case !slices.Equal(own, names):
			return &dataset.InputError{File: p, Line: 1, Msg: fmt.Sprintf("its columns are not those of %s in the same order", from)}
		}
	}
	return nil
}

// one opens a single file.
func (o *Opened) one(path string, opts Options) (*dataset.Stream, string, error) {
	format, err := Format(path, opts.Format)
	if err != nil {
		return nil, "", err
	}
	var s *dataset.Stream
	switch format {
	case "npy":
		s, err = npy.Open(path, npy.Options{Targets: opts.Target})
	case "csv":
		s, err = csv.Open(path, csv.Options{Targets: opts.Target})
	case "svmlight":
		if len(opts.Target) > 0 {
			return nil, "", &dataset.InputError{File: path, Msg: fmt.Sprintf("the target of a svmlight file is its label; it has no column %q", opts.Target[0])}
		}
		if opts.Features == 0 {
			o.Scans = 1
		}
		s, err = svmlight.Open(path, svmlight.Options{Features: opts.Features, Targets: min(opts.Targets, 1)})
	default:
		return nil, "", fmt.Errorf("dataset: unknown format %q, must be one of %s", format, strings.Join(Formats, ", "))
	}
	if err != nil {
		return nil, "", err
	}
	o.streams = append(o.streams, s)
	return s, format, nil
}

// sameFeatures makes the files of a list agree: svmlight files become as wide as
// the widest, which was found by reading them; others must be equal.
func (o *Opened) sameFeatures(paths []string, parts []dataset.Source, opts Options) error {
	_, d, t := parts[0].Dims()
	widest := d
	for i, p := range parts {
		_, di, ti := p.Dims()
		if ti != t || (di != d && o.Format != "svmlight") {
			return &dataset.InputError{File: paths[i], Msg: fmt.Sprintf("has %d features and %d targets, %s has %d and %d", di, ti, paths[0], d, t)}
		}
		widest = max(widest, di)
	}
	for i, p := range parts {
		if n, di, _ := p.Dims(); di != widest {
			s, err := svmlight.Open(paths[i], svmlight.Options{Features: widest, Targets: min(opts.Targets, 1), Rows: n})
			if err != nil {
				return err
			}
			parts[i], o.streams[i] = s, s
		}
	}
	return nil
}

// zip adds targets from a file of their own.
func (o *Opened) zip(x dataset.Source, opts Options) (dataset.Source, error) {
	y, format, err := o.one(opts.Target[0], Options{})
	if err != nil {
		return nil, err
	}
	if format == "svmlight" {
		return nil, &dataset.InputError{File: opts.Target[0], Msg: "targets cannot come from a svmlight file"}
	}
	return dataset.Zip(x, y)
}

// countTargets holds the source to the number of targets asked for; path is where
// they come from.
func (o *Opened) countTargets(path string, opts Options) error {
	_, _, t := o.Dims()
	switch {
	case t == opts.Targets:
		return nil
	case t == 0:
		return &dataset.InputError{File: path, Msg: "no target is named; say which column it is"}
	}
	return &dataset.InputError{File: path, Msg: fmt.Sprintf("gives %d targets where %d is asked for", t, opts.Targets)}
}

// Format returns the format a file is read in: the one asked for, or what its
// first bytes tell where that is "" or "auto".
func Format(path, asked string) (string, error) {
	if asked != "" && asked != "auto" {
		return asked, nil
	}
	return detect(path)
}

// detect tells a format by the first bytes: the magic of npy; a field index:value
// after the first field makes it svmlight. Where neither is there the file's
// suffix counts, and else it is csv.
func detect(path string) (string, error) {
	f, err := rawfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	head, err := f.Peek(1 << 14)
	if len(head) == 0 {
		if err = f.Wrap(err, 1); err != nil && err != io.EOF {
			return "", err
		}
		return "", &dataset.InputError{File: path, Msg: "is empty"}
	}
	if bytes.HasPrefix(head, []byte("\x93NUMPY")) {
		return "npy", nil
	}
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := bytes.Fields(line)
		for _, f := range fields[min(1, len(fields)):] {
			if isEntry(f) {
				return "svmlight", nil
			}
		}
		if bytes.ContainsAny(line, ",;\t") {
			return "csv", nil
		}
	}
	if format := suffixFormat(path); format != "" {
		return format, nil
	}
	return "csv", nil
}

// isEntry recognises index:value and qid:n; a time of day is neither.
func isEntry(field []byte) bool {
	index, value, ok := bytes.Cut(field, []byte(":"))
	if _, err := strconv.Atoi(string(index)); !ok || (err != nil && string(index) != "qid") {
		return false
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
