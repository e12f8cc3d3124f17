package main

import (
	"os"
	"path/filepath"
)

// An output is a file that is written, and the flag that names it.
type output struct{ flag, path string }

// checkOut refuses an --out that could not be written once the work is done.
func checkOut(name string) error { return checkOutput("out", name) }

// checkOutput refuses a file that could not be written once the work is done: its
// folder must exist, and what has its name must be a file, for a folder cannot and a
// device must not be replaced by one.
func checkOutput(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return badInput("--%s: there is no folder %s", flag, filepath.Dir(name))
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return badInput("--%s: %s is not a regular file", flag, name)
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
