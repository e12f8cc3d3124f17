package main

import (
	"fmt"
	"io"
	"os"
)

// open opens a regular file, to be read to its end. A device may have no end, and a pipe may
// wait for a writer.
func open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", name)
	}
	return os.Open(name)
}

// maxText bounds the models and reports that are read, which are held in memory.
const maxText = 1 << 30

// readText returns what is in a file.
func readText(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxText {
		return nil, fmt.Errorf("%s: is larger than %d MiB", name, maxText>>20)
	}
	return io.ReadAll(io.LimitReader(f, maxText)) // it may be growing
}
