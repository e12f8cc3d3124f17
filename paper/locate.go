package paper

import (
	"bufio"
	"compress/gzip"
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

// A located is a file that was found and checked.
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

// locate finds and checks the files of s in the given folder, or in the repository.
func (r *run) locate(s *realData) ([]located, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	var folders []string
	if r.Data != "" {
		if _, err := os.ReadDir(r.Data); err != nil {
			return nil, err
		}
		folders = append(folders, r.Data)
	}
	if root != "" {
		folders = append(folders, filepath.Join(root, filepath.FromSlash(s.folder)))
	}
	for _, folder := range folders {
		if found, err := s.findIn(folder); err != nil || found != nil {
			return found, err
		}
	}
	return nil, s.missing(folders)
}

// missing returns the error that a data set was not found, with instructions.
func (s *realData) missing(folders []string) error {
	looked := "there was no folder to look in"
	if len(folders) > 0 {
		looked = "looked in " + strings.Join(folders, ", ")
	}
	return &dataset.InputError{
		File: s.name,
		Msg: fmt.Sprintf(
			"data set not found: %s. Its public home is %s. Put %s into a folder and name that (--data, "+
				"FDRIDGE_DATA), or work in a clone of the repository",
			looked,
			s.home,
			s.editions[0][0].names[0],
		),
	}
}

// repository returns the root folder of this module if the working directory is inside it, otherwise "".
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil &&
			strings.HasPrefix(string(text), "module github.com/fdridge/fdridge\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

// findIn checks the files in a folder. It returns the files of the first edition of the data set whose files are all
// there, or nil.
func (s *realData) findIn(folder string) ([]located, error) {
	for _, edition := range s.editions {
		var found []located
		for _, t := range edition {
			for _, name := range t.names {
				f, err := t.check(filepath.Join(folder, name))
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return nil, err
				}
				found = append(found, f)
				break
			}
		}
		if len(found) == len(edition) {
			return found, nil
		}
	}
	return nil, nil
}

// check checks that a file is one of the known ones.
func (t textFile) check(path string) (located, error) {
	f, err := os.Open(path)
	if err != nil {
		return located{}, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	sum, err := sumOfText(f)
	if err != nil {
		return located{}, &dataset.InputError{File: path, Msg: err.Error(), Err: err}
	}
	if t.known == nil {
		return located{path, sum, "of unknown checksum"}, nil
	}
	what, ok := t.known[sum]
	if !ok {
		return located{}, &dataset.InputError{
			File: path,
			Msg:  mismatch(sum, slices.Sorted(maps.Keys(t.known))...),
		}
	}
	return located{path, sum, what}, nil
}

func mismatch(sum string, known ...string) string {
	return fmt.Sprintf(
		"is not the public data: the sha256 of its text is %s, it must be %s",
		sum,
		strings.Join(known, " or "),
	)
}

// sumOfText returns the sha256 of the text in r, which may be compressed by gzip.
func sumOfText(r io.Reader) (string, error) {
	buffered := bufio.NewReader(r)
	var text io.Reader = buffered
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		text, err = gzip.NewReader(buffered)
		if err != nil {
			return "", err
		}
	}
	h := sha256.New()
	_, err := io.Copy(h, text)
	return hex.EncodeToString(h.Sum(nil)), err
}

// A realData describes a public data set.
type realData struct {
	name     string
	format   string // as in dataset/file
	target   []string
	features int
	home     string       // website of the data set
	folder   string       // folder in the repository
	editions [][]textFile // alternatives, each a list of files; the first one found is used
}

// A textFile is a file of a data set, plain or gzip.
type textFile struct {
	names []string          // possible names
	known map[string]string // descriptions by the sha256 of the text; nil accepts any text
}

// realSets are the three real data sets of the paper.
var realSets = map[string]*realData{
	"w8a": {
		name:     "w8a",
		format:   "svmlight",
		features: 300,
		home:     "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#w8a",
		folder:   "testdata",
		editions: [][]textFile{{{[]string{"w8a.svm.gz", "w8a.svm", "w8a"}, map[string]string{
			"6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2": "complete",
		}}}},
	},
	"covtype": {
		name:     "covtype",
		format:   "csv",
		target:   []string{"last"},
		features: 54,
		home:     "https://archive.ics.uci.edu/dataset/31/covertype",
		folder:   "paper/data",
		editions: [][]textFile{{{[]string{"covtype.data.gz", "covtype.data"}, map[string]string{
			"0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945": "complete",
			"6603b4648ee485554500a20eccba49d5db6c99c8c79f8251ba2515e33718add8": "first 100000 of 581012 rows",
		}}}},
	},
	"YearPredictionMSD": {
		name:     "YearPredictionMSD",
		format:   "csv",
		target:   []string{"first"},
		features: 90,
		home:     "https://archive.ics.uci.edu/dataset/203/yearpredictionmsd",
		folder:   "paper/data",
		editions: [][]textFile{
			{{[]string{"YearPredictionMSD.txt", "YearPredictionMSD.txt.gz"}, nil}},
			{
				{[]string{"YearPredictionMSD.head1176.txt.gz"}, map[string]string{
					"fba15e46fff5a1d60cf590d5156ae993410e98b008abefd4f3a27f3d8d1af6db": "first 1176 of 515345 rows",
				}},
				{[]string{"YearPredictionMSD.sample7000.txt.gz"}, map[string]string{
					"8a4ce8cb596a43893e201b0b4727fed26d2547da832b872804f8dcb84813a15b": "7000 random rows of the first 463715",
				}},
			},
		},
	},
}
