package paper

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
)

// A located is a file that has been found and checked.
type located struct {
	path string
	sum  string // sha256 of its text
	what string
}

func joined(files []located) string {
	var out []string
	for _, f := range files {
		out = append(out, fmt.Sprintf("%s (%s, sha256 of the text %s)", filepath.Base(f.path), f.what, f.sum))
	}
	return strings.Join(out, " and ")
}

// locate finds the files of s in the folder given, in the repository and, if asked
// to fetch, at its public home, in this order, and checks them.
func (r *run) locate(ctx context.Context, s *realData) ([]located, error) {
	var folders []string
	if r.Data != "" {
		if _, err := os.ReadDir(r.Data); err != nil {
			return nil, err
		}
		folders = append(folders, r.Data)
	}
	root, err := repository()
	if err != nil {
		return nil, err
	}
	if root != "" {
		folders = append(folders, filepath.Join(root, filepath.FromSlash(s.folder)))
	}
	for _, folder := range folders {
		if found, err := s.in(folder); err != nil || found != nil {
			return found, err
		}
	}
	if r.Fetch {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		return s.fetched(ctx, filepath.Join(cache, "fdridge"))
	}
	return nil, s.missing(folders)
}

// missing is the error for a data set that was not found. It says what to do.
func (s *realData) missing(folders []string) error {
	looked := "there was no folder to look in"
	if len(folders) > 0 {
		looked = "looked in " + strings.Join(folders, ", ")
	}
	var names []string
	for _, e := range s.editions {
		var edition []string
		for _, t := range e {
			edition = append(edition, t.names[0])
		}
		names = append(names, strings.Join(edition, " and "))
	}
	msg := fmt.Sprintf("data set not found: %s. Its public home is %s. Put %s into a folder and name that (--data, FDRIDGE_DATA), or work in a clone of the repository",
		looked, s.home, strings.Join(names, ", or "))
	if s.download != nil {
		msg += ", or have it fetched (--fetch)"
	}
	return &dataset.InputError{File: s.name, Msg: msg}
}

// repository is the root of this module above the working directory, "" if there
// is none.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/fdridge/fdridge\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

// in returns the checked files of the first edition that is complete in a folder, nil if
// none is.
func (s *realData) in(folder string) ([]located, error) {
	for _, edition := range s.editions {
		var found []located
		for _, t := range edition {
			path, err := t.in(folder)
			if err != nil {
				return nil, err
			}
			if path == "" {
				break
			}
			f, err := t.check(path)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
		if len(found) == len(edition) {
			return found, nil
		}
	}
	return nil, nil
}

// in is the path of t in a folder, "" where it is not.
func (t textFile) in(folder string) (string, error) {
	for _, name := range t.names {
		path := filepath.Join(folder, name)
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return "", nil
}

// check holds a file to be one of those known.
func (t textFile) check(path string) (located, error) {
	f, err := os.Open(path)
	if err != nil {
		return located{}, err
	}
	defer f.Close() // only read
	sum, err := sumOfText(f)
	if err != nil {
		return located{}, &dataset.InputError{File: path, Msg: err.Error(), Err: err}
	}
	if t.known == nil {
		return located{path, sum, "of unknown checksum"}, nil
	}
	what, ok := t.known[sum]
	if !ok {
		return located{}, &dataset.InputError{File: path, Msg: mismatch(sum, slices.Sorted(maps.Keys(t.known))...)}
	}
	return located{path, sum, what}, nil
}

func mismatch(sum string, known ...string) string {
	return fmt.Sprintf("is not the public data: the sha256 of its text is %s, it must be %s", sum, strings.Join(known, " or "))
}

// sumOfText is the sha256 of r's text, which may be gzip.
func sumOfText(r io.Reader) (string, error) {
	buffered := bufio.NewReader(r)
	var text io.Reader = buffered
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if text, err = gzip.NewReader(buffered); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	_, err := io.Copy(h, text)
	return hex.EncodeToString(h.Sum(nil)), err
}
