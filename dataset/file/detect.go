package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/filekind"
)

// targetIsFile decides whether the target is a file of its own.
func targetIsFile(path string, opts Options) (bool, error) {
	if len(opts.Target) != 1 {
		return false, nil
	}
	target := opts.Target[0]
	if isPlace(target) {
		return false, nil
	}
	format, err := Format(path, opts)
	if err != nil {
		return false, err
	}
	inside, err := named(format).inside(path, opts)
	if err != nil || slices.Contains(inside, target) {
		return false, err
	}
	name, _ := SplitArray(target)
	if !exists(name) && !calledLikeFile(name) {
		return false, nil
	}
	if opts.OnlyNamed {
		return false, &dataset.InputError{File: path, Msg: "has no target column " + strconv.Quote(excerpt.Of(target)) + "; where that is a file of its own, name it (--target)"}
	}
	return true, nil
}

// targetIsArray decides whether the target is an array of the .npz archive.
func targetIsArray(archive string, target []string) (bool, error) {
	if len(target) != 1 || isPlace(target[0]) {
		return false, nil
	}
	arrays, err := npy.Members(archive)
	return slices.Contains(arrays, target[0]), err
}

// OwnTarget returns where the target of the rows at path is, if it is one and no column of
// theirs: a file of its own, which need not exist, or an array of the same .npz archive,
// written archive:array as [Open] takes it. For a column it returns "". Errors are those of
// [Open].
func OwnTarget(path string, opts Options) (string, error) {
	own, err := targetIsFile(path, opts)
	switch {
	case err != nil:
		return "", err
	case own:
		return opts.Target[0], nil
	}
	if format, err := Format(path, opts); err != nil || named(format).arrays == nil {
		return "", err
	}
	archive, _ := SplitArray(path)
	inside, err := targetIsArray(archive, opts.Target)
	if err != nil || !inside {
		return "", err
	}
	return archive + ":" + opts.Target[0], nil
}

// isPlace recognises "first", "last" and column numbers.
func isPlace(target string) bool {
	_, err := strconv.Atoi(target)
	return err == nil || target == "first" || target == "last"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// calledLikeFile guesses whether a target that is neither a column nor a file was meant to
// be a file.
func calledLikeFile(target string) bool {
	return strings.ContainsAny(target, "/\\") || suffixFormat(target) != "" || unpacked(target) != target || strings.HasSuffix(target, ".txt")
}

// unpacked is a name without the suffix of a compression.
func unpacked(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
}

// suffixFormat is the format that a file's name claims, "" for none.
func suffixFormat(path string) string {
	suffix := filepath.Ext(unpacked(path))
	for _, f := range formats() {
		if slices.Contains(f.suffixes, suffix) {
			return f.name
		}
	}
	return ""
}

// SplitArray splits FILE.npz:NAME, as [Open] takes it, into the file and the name of the
// array, "" where none is said. What exists by the whole name is a file.
func SplitArray(path string) (name, array string) {
	if i := strings.LastIndexByte(path, ':'); i >= 0 && !exists(path) && (exists(path[:i]) || named(suffixFormat(path[:i])).arrays != nil) {
		return path[:i], path[i+1:]
	}
	return path, ""
}

// Format returns the format that a file, or opts.Pipe, is read in: the one that opts asks for, or
// what its first bytes tell where that is "" or "auto".
func Format(path string, opts Options) (string, error) {
	if asked := opts.Format; asked != "" && asked != "auto" {
		return asked, nil
	}
	name, array := SplitArray(path)
	format, err := detect(name, opts.Pipe)
	if err == nil && array != "" && named(format).arrays == nil {
		return "", &dataset.InputError{File: name, Msg: "is " + format + ", which has no arrays such as " + strconv.Quote(excerpt.Of(array))}
	}
	return format, err
}

// detect tells a format by the first bytes, where all its files begin with the same. Text is
// told by its lines: a field index:value after the first field makes it svmlight, a delimiter
// csv. Where there is neither the file's suffix counts, and else it is csv. Of a pipe it waits
// for no more lines than it takes to tell.
func detect(path string, pipe *dataset.Pipe) (string, error) {
	f, err := rawfile.Look(path, pipe)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	if _, err := f.Peek(1); err != nil {
		if err = f.Wrap(err, 1); err != io.EOF {
			return "", err
		}
		return "", &dataset.InputError{File: f.Name, Msg: "is empty"}
	}
	for _, known := range formats() {
		if slices.ContainsFunc(known.magic, f.Begins) {
			return known.name, nil
		}
	}
	if f.Begins(filekind.Magic) {
		head, _ := f.Peek(filekind.Head) // an error comes again when it is read
		return "", noTable(f.Name, filekind.Of(head))
	}
	head := f.Head(func(head []byte) bool { // whose last line may go on
		return len(head) >= mostDetected || ofLines(head[:bytes.LastIndexByte(head, '\n')+1]) != ""
	})
	if kind := filekind.Of(head); kind != filekind.Unknown {
		return "", noTable(f.Name, kind)
	}
	if format := ofLines(head[:min(len(head), mostDetected)]); format != "" {
		return format, nil
	}
	if format := suffixFormat(path); format != "" {
		return format, nil
	}
	return "csv", nil
}

// noTable is the error of a file that holds something else.
func noTable(name string, kind filekind.Kind) error {
	return &dataset.InputError{File: name, Msg: "is " + kind.String() + ", not a table of rows", Hint: kind.Use()}
}

// mostDetected is how many bytes of text are looked at to tell its format.
const mostDetected = 1 << 14

// ofLines is the format of text by its lines, "" where none tells.
func ofLines(head []byte) string {
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := bytes.Fields(line)
		for _, f := range fields[min(1, len(fields)):] {
			if isEntry(f) {
				return "svmlight"
			}
		}
		if bytes.ContainsAny(line, ",;\t") {
			return "csv"
		}
	}
	return ""
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
