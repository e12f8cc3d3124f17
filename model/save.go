package model

import (
	"fmt"
	"os"
	"strings"

	"github.com/fdridge/fdridge/internal/safefile"
)

// Save writes the model to a file. It uses [Model.WriteArrays] if the name ends in .npz, otherwise [Model.Write].
// An existing file is replaced only when the new file is complete.
func (m *Model) Save(name string) error {
	if strings.HasSuffix(name, ".npz") {
		return safefile.Write(name, m.WriteArrays)
	}
	return safefile.Write(name, m.Write)
}

// Load reads a model from a file. If the file cannot be opened or read, the error is a *[fs.PathError]. Other
// errors are as in [Read].
func Load(name string) (m *Model, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	m, err = Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
