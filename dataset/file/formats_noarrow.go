//go:build noarrow

package file

import (
	"github.com/fdridge/fdridge/dataset"
)

// LeftOut are the formats that this program was built without, by the tag noarrow. Their files are
// recognised, and refused by a *[dataset.InputError] that says so.
func LeftOut() []string { return []string{"parquet", "arrow"} }

func parquetFormat() format {
	return leftOut(format{name: "parquet", magic: parquetMagic, suffixes: parquetSuffixes, numbered: true})
}

func arrowFormat() format {
	return leftOut(format{name: "arrow", magic: arrowMagic, suffixes: arrowSuffixes, numbered: true, piped: true})
}

// leftOut is f, which refuses all files.
func leftOut(f format) format {
	refuse := func(path string) error {
		return &dataset.InputError{File: path, Msg: "is " + f.name + ", which this program was built without (tag noarrow); write it as csv or npy, or build without the tag"}
	}
	f.open = func(_ *Opened, p part, _ Options) (dataset.Source, error) { return nil, refuse(p.path) }
	f.columns = func(path string, _ Options) ([]string, error) { return nil, refuse(path) }
	f.chosen = func(path string, _ Options) ([]string, []string, error) { return nil, nil, refuse(path) }
	return f
}
