package file

import (
	"bytes"
	"encoding/json"
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
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/fileformat"
)

// targetIsFile reports whether opts.Target is the name of a separate file that holds the targets.
func targetIsFile(path string, opts Options) (bool, error) {
	if len(opts.Target) != 1 {
		return false, nil
	}
	target := opts.Target[0]
	if isPosition(target) {
		return false, nil
	}
	format, err := Format(path, opts)
	if err != nil {
		return false, err
	}
	candidates, err := formatByName(format).targetCandidates(path, opts)
	if err != nil || slices.Contains(candidates, target) {
		return false, err
	}
	name, _ := SplitArray(target)
	if !exists(name) && !looksLikeFile(name) {
		return false, nil
	}
	if opts.OnlyNamed {
		return false, &dataset.InputError{
			File: path,
			Msg: "has no target column " + strconv.Quote(errtext.Excerpt(target)) +
				"; if it is a separate file, give its name as the target",
		}
	}
	return true, nil
}

// targetIsArray reports whether target is a single name, and the .npz archive has an array of this name.
func targetIsArray(archive string, target []string) (bool, error) {
	if len(target) != 1 || isPosition(target[0]) {
		return false, nil
	}
	arrays, err := npy.Members(archive)
	return slices.Contains(arrays, target[0]), err
}

// OwnTarget returns where the target is if it is not a column of the file at path. It may be the name of a separate
// file, which need not exist. If the file is a .npz archive, it may also be an array in this archive, in the form
// archive:array. OwnTarget returns "" if the target is a column. Errors are as in [Open].
func OwnTarget(path string, opts Options) (string, error) {
	own, err := targetIsFile(path, opts)
	switch {
	case err != nil:
		return "", err
	case own:
		return opts.Target[0], nil
	}
	if format, err := Format(path, opts); err != nil || formatByName(format).arrays == nil {
		return "", err
	}
	archive, _ := SplitArray(path)
	isArray, err := targetIsArray(archive, opts.Target)
	if err != nil || !isArray {
		return "", err
	}
	return archive + ":" + opts.Target[0], nil
}

// isPosition reports whether target is "first", "last" or the number of a column.
func isPosition(target string) bool {
	_, err := strconv.Atoi(target)
	return err == nil || target == "first" || target == "last"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func looksLikeFile(target string) bool {
	return strings.ContainsAny(target, "/\\") ||
		suffixFormat(target) != "" ||
		trimCompression(target) != target ||
		strings.HasSuffix(target, ".txt")
}

// trimCompression returns the file name without a suffix .gz or .zst at its end.
func trimCompression(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
}

// suffixFormat returns the name of the format whose suffix the file name has, or "" if there is none.
func suffixFormat(path string) string {
	suffix := filepath.Ext(trimCompression(path))
	for _, f := range formats() {
		if slices.Contains(f.suffixes, suffix) {
			return f.name
		}
	}
	return ""
}

// SplitArray splits a name of the form FILE.npz:NAME into the file FILE.npz and the array NAME. If the name has no
// :NAME, or if it is itself the name of an existing file, array is "".
func SplitArray(path string) (name, array string) {
	if i := strings.LastIndexByte(path, ':'); i >= 0 &&
		!exists(path) &&
		(exists(path[:i]) || formatByName(suffixFormat(path[:i])).arrays != nil) {
		return path[:i], path[i+1:]
	}
	return path, ""
}

// A headKey identifies the format that detect found.
type headKey struct {
	name string
	pipe *dataset.Pipe
}

// Format returns the format of the file or pipe. It is opts.Format, or the detected format if opts.Format is "" or
// "auto".
func Format(path string, opts Options) (string, error) {
	if asked := opts.Format; asked != "" && asked != "auto" {
		return asked, nil
	}
	name, array := SplitArray(path)
	key := headKey{name, opts.Pipe}
	format, err := rawfile.Keep(opts.Heads, key, func() (string, error) {
		return detect(name, opts.Pipe)
	})
	if err == nil && array != "" && formatByName(format).arrays == nil {
		return "", &dataset.InputError{
			File: name,
			Msg:  "is " + format + ", which has no arrays such as " + strconv.Quote(errtext.Excerpt(array)),
		}
	}
	return format, err
}

// detect returns the format of a file by these rules:
//   - A binary format is recognised by its first bytes.
//   - Text that begins with a JSON object is JSON lines, unless fdridge wrote it as another kind of file.
//   - Other text is svmlight if a field after the first has the form index:value, and csv if a line has a
//     delimiter.
//   - Otherwise the suffix of the name decides. The default is csv.
//
// From a pipe, detect reads only as many lines as necessary.
func detect(path string, pipe *dataset.Pipe) (string, error) {
	f, err := rawfile.Look(path, pipe)
	if err != nil {
		return "", err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	if _, err := f.Peek(1); err != nil {
		err = f.Wrap(err, 1)
		if err != io.EOF {
			return "", err
		}
		return "", &dataset.InputError{File: f.Name, Msg: "is empty"}
	}
	if f.Begins("PK\x03\x04") {
		head, _ := f.Peek(fileformat.Head)   // the reader reports the error later
		isNpz := suffixFormat(path) == "npz" // the reader of arrays names what is in the archive
		if kind := fileformat.Of(head); kind != fileformat.Unknown &&
			kind != fileformat.Model &&
			!isNpz {
			return "", notTableError(f.Name, kind)
		}
	}
	for _, known := range formats() {
		if slices.ContainsFunc(known.magic, f.Begins) {
			return known.name, nil
		}
	}
	if f.Begins(fileformat.Magic) {
		head, _ := f.Peek(fileformat.Head) // the reader reports the error later
		return "", notTableError(f.Name, fileformat.Of(head))
	}
	head := f.Head(func(head []byte) bool { // the last line may be incomplete
		return len(head) >= maxDetected ||
			fileformat.Of(head) == fileformat.JSON ||
			formatOfLines(head[:bytes.LastIndexByte(head, '\n')+1]) != ""
	})
	switch kind := fileformat.Of(head); {
	case kind == fileformat.JSON,
		kind == fileformat.Report &&
			(isLines(head) || suffixFormat(path) == "jsonl" && filepath.Ext(trimCompression(path)) != ".json"):
		return "jsonl", nil
	case kind != fileformat.Unknown:
		return "", notTableError(f.Name, kind)
	}
	if format := formatOfLines(head[:min(len(head), maxDetected)]); format != "" {
		return format, nil
	}
	if format := suffixFormat(path); format != "" {
		return format, nil
	}
	return "csv", nil
}

// isLines reports whether the first line of a text is a JSON object and a second object follows it.
func isLines(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte{'{'}) &&
		json.Valid(first)
}

func notTableError(name string, kind fileformat.Kind) error {
	return &dataset.InputError{
		File: name,
		Msg:  "is " + kind.String() + ", not a table of rows",
		Hint: kind.Use(),
	}
}

// maxDetected is the number of bytes of text examined.
const maxDetected = 1 << 14

// formatOfLines returns the format of the text in head, or "" if no line decides. A line is svmlight if a field
// after its first has the form index:value. Fields that may be times such as 10:30, or ratios such as 16:9, are not
// enough.
func formatOfLines(head []byte) string {
	const most = 20
	unsure := 0
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := bytes.Fields(line)
		entries := 0
		sure := len(fields) > 0 && fields[0][0] == '+'
		for _, f := range fields[min(1, len(fields)):] {
			if isEntry(f) {
				entries++
				sure = sure || !isRatio(f)
			}
		}
		if entries > 0 && sure {
			return "svmlight"
		}
		if bytes.ContainsAny(line, ",;\t|") {
			return "csv"
		}
		if entries > 0 {
			unsure++
		}
		if unsure == most {
			return "csv"
		}
	}
	return ""
}

// isRatio reports whether an entry index:value may be a time such as 10:30, or a ratio such as 16:9. It then has
// two whole numbers of one or two digits. The second number has two digits, or it is more than 1 and less than the
// first.
func isRatio(entry []byte) bool {
	left, right, _ := bytes.Cut(entry, []byte{':'})
	a, err1 := strconv.Atoi(string(left))
	b, err2 := strconv.Atoi(string(right))
	switch {
	case err1 != nil || err2 != nil || len(left) > 2 || len(right) > 2 || a > 24:
		return false
	case len(right) == 2:
		return b < 60
	}
	return 1 < b && b < a
}

// isEntry reports whether field is an entry of a svmlight row: index:value or qid:number.
func isEntry(field []byte) bool {
	index, value, ok := bytes.Cut(field, []byte(":"))
	if _, err := strconv.Atoi(string(index)); !ok ||
		(err != nil && string(index) != "qid") {
		return false
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
