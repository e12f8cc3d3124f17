package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// limit is the longest time that a command may take.
const limit = 5 * time.Minute

// An outcome maps names to outputs. A name is the name of a file, or the number of a command line and the
// name of a stream.
type outcome map[string][]byte

// environment fixes what else influences results and texts: the number of threads, and the folder of the
// paper's data. It also lets mpirun start more ranks than there are cores.
var environment = []string{
	"GOMAXPROCS=1", "FDRIDGE_THREADS=1", "FDRIDGE_DATA=", "LC_ALL=C",
	"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
}

// play creates the folder dir with a link to the data, and runs the command lines of the entry in it.
func play(ctx context.Context, e *entry, binary, data, dir string) (outcome, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(data, filepath.Join(dir, "in")); err != nil {
		return nil, err
	}
	out, begun := make(outcome), time.Now()
	for i, c := range e.commands {
		if err := c.play(ctx, binary, dir, fmt.Sprintf("line %d", i+1), out); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := out.collect(dir); err != nil {
		return nil, err
	}
	for _, c := range e.commands {
		for _, name := range c.timed {
			if _, ok := out[name]; !ok {
				return nil, fmt.Errorf("%s, which should contain times, was not written", name)
			}
			out[name] = maskTimes(out[name], begun, time.Now())
		}
	}
	return out, nil
}

// play runs the command line and adds its output to out.
func (c *command) play(ctx context.Context, binary, dir, name string, out outcome) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := append([]string{binary}, c.args...)
	if c.ranks > 0 {
		words = append([]string{"mpirun", "-n", strconv.Itoa(c.ranks)}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdin != "" {
		rows, err := os.Open(filepath.Join(dir, c.stdin))
		if err != nil {
			return err
		}
		defer rows.Close() // it was opened for reading, so an error of Close is harmless
		cmd.Stdin = rows
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.until != "" {
		return interrupted(cmd, filepath.Join(dir, c.until))
	}
	if err := cmd.Wait(); err != nil && !failed(err) {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out[name+", exit code"] = fmt.Appendln(nil, cmd.ProcessState.ExitCode())
	out[name+", stderr"] = place(stderr.Bytes(), dir)
	if c.stdout != "" {
		return os.WriteFile(filepath.Join(dir, c.stdout), stdout.Bytes(), 0o600)
	}
	out[name+", stdout"] = place(stdout.Bytes(), dir)
	return nil
}

// failed reports whether an error means only that the command had a nonzero exit code.
func failed(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// interrupted waits until the file exists, interrupts the command, and waits for its end. It returns an error
// if the command ends before the file exists.
func interrupted(cmd *exec.Cmd, name string) error {
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	for {
		select {
		case err := <-end:
			return fmt.Errorf("it ended before it could be interrupted: %v", err)
		case <-time.After(time.Millisecond):
		}
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		if err := <-end; !failed(err) || cmd.ProcessState.ExitCode() != 1 {
			return fmt.Errorf("interrupted, it ended with %v", cmd.ProcessState)
		}
		return nil
	}
}

// place replaces the name of the folder dir in text by DIR.
func place(text []byte, dir string) []byte {
	return bytes.ReplaceAll(text, []byte(dir), []byte("DIR"))
}

// collect adds all files and folders in dir to o.
func (o outcome) collect(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			o[name+"/"] = nil
			return nil
		}
		b, err := os.ReadFile(path)
		o[name] = place(b, dir)
		return err
	})
}

// asExpected returns an error if the exit code of a command is not the required one. Two binaries that fail
// in the same way would otherwise count as equal.
func (e *entry) asExpected(o outcome) error {
	for i, c := range e.commands {
		name := fmt.Sprintf("line %d, exit code", i+1)
		got, ok := o[name]
		if want := strconv.Itoa(c.exit); ok && strings.TrimSpace(string(got)) != want {
			return fmt.Errorf(
				"%s is %s, not %s: %.300s",
				name,
				bytes.TrimSpace(got),
				want,
				o[fmt.Sprintf("line %d, stderr", i+1)],
			)
		}
	}
	return nil
}

// names returns the names in an outcome in sorted order.
func (o outcome) names() []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
