package cli

import (
	"fmt"
	"io"
	"os"
)

// Open opens a regular file for reading. It refuses devices, because they may have no end, and pipes, because
// opening them may wait for a writer.
func Open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	return os.Open(name)
}

// MaxText is the maximum size of a model or report in bytes. The limit exists because the program reads the whole
// file into memory.
const MaxText = 1 << 30

// ReadText returns the content of a file.
func ReadText(name string) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxText {
		return nil, fmt.Errorf("%s: larger than %d MiB", name, MaxText>>20)
	}
	return io.ReadAll(io.LimitReader(f, MaxText)) // the file may be growing
}
