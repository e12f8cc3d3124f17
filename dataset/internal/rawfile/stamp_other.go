//go:build !linux

package rawfile

import (
	"os"

	"github.com/fdridge/fdridge/dataset"
)

type status struct{}

func (*status) of(f *os.File) (dataset.Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return dataset.Stamp{}, err
	}
	return dataset.StampOf(info), nil
}
