package file

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder returns the files of a table that a program such as Spark, Dask or pyarrow wrote as a folder. The files are in
// the order of their numbers: part-00000.csv, part-00001.csv, and so on. The folder must have a file _SUCCESS, or all
// names must begin with part.
//
// Empty files are left out, and so are files whose names begin with . or _, because they hold no rows. The result is
// nil for other folders, for folders with subfolders, and for files.
func Folder(path string) []string {
	// Look before opening, because opening a named pipe would wait for its writer.
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

// IsPattern reports whether path is a pattern of [filepath.Match], such as part-*.csv, and not the name of a file.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[") {
		return false
	}
	name, _ := SplitArray(path)
	_, err := os.Lstat(name)
	return err != nil
}

// Glob returns the files whose names match a pattern of [filepath.Match], in the order of their numbers as in [Folder].
// Empty files are left out. So are files whose names begin with . or _, unless the pattern begins so, too. Folders that
// match stay, because a folder of parts is a table. The only error is [filepath.ErrBadPattern].
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

// compareNames compares names like strings, but runs of digits by their values, so that part.10 follows part.9.
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
