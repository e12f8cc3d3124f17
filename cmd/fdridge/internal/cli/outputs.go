package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/internal/safefile"
)

// An Output is the path of an output file, and the name (without dashes) of the flag that gave the path.
type Output struct{ Flag, Path string }

// CheckOut is CheckOutput for --out.
func CheckOut(name string) error { return CheckOutput("out", name) }

// CheckOutput returns an error if a file cannot be written, or if another process has locked it. The argument name
// is the path of the file, and flag is the name of the flag that gave the path.
func CheckOutput(flag, name string) error {
	return FirstError(CheckWritable(flag, name), CheckFree(flag, name))
}

// CheckWritable returns an error if the folder of an output file does not exist, or if the path exists but is not a
// regular file. The argument name is the path, and flag is the name of the flag that gave the path. An empty path
// is no error.
func CheckWritable(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return BadInput("--%s: no such folder: %s", flag, filepath.Dir(name))
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist): // a new file
	case err != nil:
		return BadInput("--%s: %w", flag, err)
	case !info.Mode().IsRegular():
		return BadInput("--%s: %s is not a regular file", flag, name)
	}
	return nil
}

// CheckFree returns an error if another process has locked a file. The commands fit --checkpoint and sketch --every
// lock the files that they write. The argument name is the path of the file, and flag is the name of the flag that
// gave the path.
func CheckFree(flag, name string) error {
	if name == "" {
		return nil
	}
	err := safefile.Locked(name)
	if _, locked := errors.AsType[*safefile.LockedError](err); locked {
		return fmt.Errorf("--%s: %s is in use as a live sketch or a checkpoint: %w", flag, name, err)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// SameFile reports whether two paths refer to the same file. It also compares paths of files that do not exist yet.
func SameFile(a, b string) bool {
	one := func(a, b string) bool {
		x, err := os.Stat(a)
		if err != nil {
			return false
		}
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	return one(a, b) ||
		filepath.Base(a) == filepath.Base(b) && one(filepath.Dir(a), filepath.Dir(b))
}

// Distinct returns an error if an output is the same file as an input or as another output.
func Distinct(inputs []string, outputs ...Output) error {
	for i, out := range outputs {
		if out.Path == "" {
			continue
		}
		for _, in := range inputs {
			if in != "" && SameFile(in, out.Path) {
				return BadInput("--%s: %s is an input and would be overwritten", out.Flag, out.Path)
			}
		}
		for _, other := range outputs[:i] {
			if other.Path != "" && SameFile(other.Path, out.Path) {
				return BadInput("--%s: %s is also written by --%s", out.Flag, out.Path, other.Flag)
			}
		}
	}
	return nil
}
