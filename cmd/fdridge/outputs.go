package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/internal/checkpoint"
)

// An output is a file that is written, and the flag that names it.
type output struct{ flag, path string }

// checkOut refuses an --out that could not be written once the work is done.
func checkOut(name string) error { return checkOutput("out", name) }

// checkOutput refuses a file that could not be written once the work is done, or that a live sketch or a checkpoint
// is kept in now.
func checkOutput(flag, name string) error {
	return firstError(checkWritable(flag, name), checkFree(flag, name))
}

// checkWritable refuses a file that could not be written once the work is done: its
// folder must exist, and what has its name must be a file, for a folder cannot and a
// device must not be replaced by one.
func checkWritable(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return badInput("--%s: there is no folder %s", flag, filepath.Dir(name))
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist): // it is made
	case err != nil:
		return badInput("--%s: %w", flag, err)
	case !info.Mode().IsRegular():
		return badInput("--%s: %s is not a regular file", flag, name)
	}
	return nil
}

// checkFree refuses a file that another process keeps a live sketch or a checkpoint in.
func checkFree(flag, name string) error {
	if name == "" {
		return nil
	}
	err := checkpoint.Locked(name)
	if _, locked := errors.AsType[*checkpoint.LockedError](err); locked {
		return fmt.Errorf("--%s: %s is a live sketch or a checkpoint that is being kept, and would be replaced: %w", flag, name, err)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// sameFile tells that two names are of one file, which need not be there yet.
func sameFile(a, b string) bool {
	one := func(a, b string) bool {
		x, err := os.Stat(a)
		if err != nil {
			return false
		}
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	return one(a, b) || filepath.Base(a) == filepath.Base(b) && one(filepath.Dir(a), filepath.Dir(b))
}

// distinct refuses outputs that are one of the inputs, or each other.
func distinct(inputs []string, outputs ...output) error {
	for i, out := range outputs {
		if out.path == "" {
			continue
		}
		for _, in := range inputs {
			if in != "" && sameFile(in, out.path) {
				return badInput("--%s: %s is read, and would be overwritten", out.flag, out.path)
			}
		}
		for _, other := range outputs[:i] {
			if other.path != "" && sameFile(other.path, out.path) {
				return badInput("--%s: %s is written by --%s too", out.flag, out.path, other.flag)
			}
		}
	}
	return nil
}
