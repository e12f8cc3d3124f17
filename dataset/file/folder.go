package file

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder returns the files of a table that a program such as Spark, Dask or pyarrow wrote as a folder. The folder
// must have a file _SUCCESS, or else the names of all files must begin with part. The files are returned in the
// order of their numbers: part-00000.csv, part-00001.csv, and so on.
//
// Empty files are left out. Files whose names begin with . or _ are left out, too, because they hold no rows. The
// result is nil for other folders, for folders with subfolders, and if path is no folder.
func Folder(path string) []string {
	// This test comes before opening, because opening a named pipe would wait for its writer.
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil // opening the path reports the error
	}
	var out []string
	isDone, areParts := false, true
	for _, e := range entries {
		name := e.Name()
		isDone = isDone || name == "_SUCCESS"
		if name[0] == '.' || name[0] == '_' {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		areParts = areParts && strings.HasPrefix(name, "part")
		if info.Size() > 0 {
			out = append(out, filepath.Join(path, name))
		}
	}
	if !isDone && !areParts {
		return nil
	}
	slices.SortFunc(out, compareNames)
	return out
}

// IsPattern reports whether path is a pattern of [filepath.Match], such as part-*.csv. If a file has this very
// name, path is no pattern.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	name, _ := SplitArray(path)
	_, err := os.Lstat(name)
	return err != nil
}

// Glob returns the files whose names match a pattern of [filepath.Match]. They are in the order of their numbers,
// as in [Folder]. Empty files are left out. Files whose names begin with . or _ are left out, unless the pattern
// begins with the same character.
//
// Folders whose names match are returned, too, because a folder of parts is a table. The only error is
// [filepath.ErrBadPattern].
func Glob(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	wanted := filepath.Base(pattern)[0]
	var out []string
	for _, path := range matches {
		first := filepath.Base(path)[0]
		if (first == '.' || first == '_') && first != wanted {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			continue
		}
		out = append(out, path) // opening the path reports an error of Stat
	}
	slices.SortFunc(out, compareNames)
	return out, nil
}

// compareNames compares names as strings, but compares runs of digits as numbers. So part.9 comes before part.10.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := leadingDigits(x), leadingDigits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p := strings.TrimLeft(x[:m], "0")
		q := strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// leadingDigits returns the number of digits at the start of s.
func leadingDigits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
