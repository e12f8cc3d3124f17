package model

import (
	"fmt"
	"os"
	"strings"

	"github.com/fdridge/fdridge/internal/safefile"
)

// Save writes the model to a file: by [Model.WriteArrays] if the name ends in .npz, otherwise by [Model.Write]. An
// existing file is replaced only after the new one is complete.
func (m *Model) Save(name string) error {
	if strings.HasSuffix(name, ".npz") {
		return safefile.Write(name, m.WriteArrays)
	}
	return safefile.Write(name, m.Write)
}

// Load reads a model from a file. Errors are as in [Read], and *[fs.PathError].
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
