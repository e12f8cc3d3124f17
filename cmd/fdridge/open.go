package main

import (
	"fmt"
	"io"
	"os"

	"github.com/fdridge/fdridge/internal/rss"
)

// open opens a file to be read to its end. What is not a regular file may have none,
// as a device, or wait for a writer, as a pipe.
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

// fits refuses what would take more bytes than can be had; the message begins with
// what the user has said and ends with a hint.
func fits(bytes float64, hint, format string, args ...any) error {
	there := float64(rss.Available())
	if there == 0 || bytes <= there {
		return nil
	}
	return badInput("%s takes about %.1f GiB, %.1f are available; %s", fmt.Sprintf(format, args...), bytes/(1<<30), there/(1<<30), hint)
}

const manyFeatures = "are there so many features?"
